"""Rows of numbers in an object that gives slices of them, such as a dataset of h5py or zarr."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp

from memclf._numbers import Array
from memclf.protocols import Slices

SPAN = 1024  # rows that are read at once where some of them are picked


class SlicedRows:
    """The rows of an object as an array that is read when rows are asked for, by slices alone.

    Files want no index arrays, or sorted ones without repeats; every one of them has slices.
    """

    ndim = 2

    def __init__(self, data: Any):
        self.data = data
        self.dtype = data.dtype
        self.shape: tuple[int, int] = tuple(map(int, data.shape))  # type: ignore[assignment]
        self._lock = Lock()  # files need not bear several threads

    @classmethod
    def of(cls, X: Any) -> Any:
        """X as such rows if its slices are two-dimensional arrays of numbers; else X itself."""
        if isinstance(X, (np.ndarray, cls)) or sp.issparse(X) or not isinstance(X, Slices):
            return X
        if not (isinstance(X.dtype, np.dtype) and X.dtype.kind in "fiub" and X.ndim == 2):
            return X
        first = X[0:1]  # those of other libraries are arrays of their own
        return cls(X) if type(first) is np.ndarray and first.shape == (min(1, X.shape[0]), X.shape[1]) else X

    def __repr__(self) -> str:
        return f"SlicedRows({type(self.data).__name__}, {self.shape[0]} rows, {self.shape[1]} columns)"

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Array:
        if isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(len(self))
            return self._read(start, max(start, stop))
        rows = index if isinstance(index, np.ndarray) and index.dtype != bool else np.arange(len(self))[index]
        flat = np.atleast_1d(rows)
        wanted, back = np.unique(np.where(flat < 0, flat + len(self), flat), return_inverse=True)
        found = np.empty((len(wanted), self.shape[1]), dtype=self.dtype)
        starts = np.flatnonzero(np.diff(wanted // SPAN, prepend=-1))
        for here in np.split(np.arange(len(wanted)), starts[1:]):
            if len(here):
                first, last = int(wanted[here[0]]), int(wanted[here[-1]])
                found[here] = self._read(first, last + 1)[wanted[here] - first]
        found = found[back]
        return found if np.ndim(rows) else found[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self[:] if dtype is None else self[:].astype(dtype, copy=False)

    def _read(self, start: int, stop: int) -> Array:
        with self._lock:
            return np.asarray(self.data[start:stop])
