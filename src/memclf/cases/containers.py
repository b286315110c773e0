"""Containers of cases (arrays, tables, sparse matrices, lists): counting, picking, stacking."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Iterator, Mapping, Sized
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, validate_data

from memclf._numbers import Array
from memclf.cases.parquet import SUFFIX, ParquetRows
from memclf.cases.sliced import SlicedRows
from memclf.protocols import Table

ROW_BYTES = 256  # assumed for what is no array
ARRAYS = (np.ndarray, ParquetRows, SlicedRows)  # whose rows are picked by brackets
FEW = 1024  # rows that are picked from a memory map at a time


def count(cases: Any) -> int:
    """The number of cases."""
    return int(_num_samples(cases))


def take(cases: Any, indices: Array) -> Any:
    """The cases at `indices`, in the same kind of container."""
    if isinstance(cases, ARRAYS):
        return cases[indices]
    return _safe_indexing(cases, indices)


def take_slice(cases: Any, part: slice) -> Any:
    """Consecutive cases, in the same kind of container; of an array without a copy."""
    return cases[part] if isinstance(cases, ARRAYS) else take(cases, np.arange(part.start, part.stop))


def take_ascending(cases: Any, indices: Array) -> Any:
    """The cases at ascending `indices`; few pages of a memory map are in memory at a time."""
    if _memory_map(cases) is None or len(indices) <= FEW:
        return take(cases, indices)
    found = []
    for part in chunks(len(indices), FEW):
        found.append(take(cases, indices[part]))
        release_pages(cases, slice(int(indices[part][0]), int(indices[part][-1]) + 1))
    return stack(found)


def release_pages(cases: Any, part: slice) -> None:
    """Give the pages of a memory map that hold these cases back to the system.

    Otherwise all pages that were ever read count as memory of the process. They are read again when they are asked for.
    Of other cases it does nothing.
    """
    root = _memory_map(cases)
    if root is None:
        return
    some, mapped = cases[part], root.ctypes.data - root.offset % mmap.ALLOCATIONGRANULARITY
    first = some.ctypes.data - mapped
    begin, end = -(-first // mmap.PAGESIZE), (first + some.nbytes) // mmap.PAGESIZE
    if some.flags.c_contiguous and end > begin:
        root.base.madvise(mmap.MADV_DONTNEED, begin * mmap.PAGESIZE, (end - begin) * mmap.PAGESIZE)


def _memory_map(cases: Any) -> Any:
    """The memory map that an array is a part of, if its pages can be given back; else None.

    Those of a map that may be written to can hold changes that no file has; other systems than Linux take them back
    by themselves or not at all.
    """
    root = cases
    while isinstance(root, np.ndarray) and isinstance(root.base, np.ndarray):
        root = root.base
    mapped = isinstance(root, np.memmap) and isinstance(root.base, mmap.mmap) and root.mode == "r"
    return root if mapped and sys.platform == "linux" else None


def take_columns(cases: Any, indices: Array) -> Any:
    """The columns at `indices` of an array or a table."""
    return _safe_indexing(np.asarray(cases) if isinstance(cases, (list, tuple)) else cases, indices, axis=1)


def as_container(X: Any) -> Any:
    """X itself if single cases can be picked from it, else the array that it can be turned into."""
    if sp.issparse(X):
        return X.tocsr()
    if isinstance(X, (str, os.PathLike)) and str(X).endswith(SUFFIX):
        return ParquetRows(X)
    if isinstance(X, (str, bytes, dict)):
        raise TypeError(f"X must hold several cases, got one {type(X).__name__}; wrap a single case in a list")
    if isinstance(X, Number):
        raise TypeError(f"X must hold several cases, as an array, a table or a list; got {X!r}")
    # Anything may hold cases; numpy's protocol turns what has no rows to pick (an xarray, a tensor) into an array.
    return X if hasattr(X, "__getitem__") or not hasattr(X, "__array__") else np.asarray(X)


def check_columns(estimator: Any, X: Any, *, reset: bool = False) -> None:
    """Store the columns of tables and arrays in training, and compare later ones with them."""
    # Lists and collections of images have no dimensions, and no columns to check.
    if getattr(X, "ndim", None) == 2 and not (reset and 0 in X.shape):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    elif reset:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                delattr(estimator, name)


def is_rows_of_numbers(cases: Any) -> bool:
    """An array, memory map, Parquet file or dataset that gives slices, with rows of numbers."""
    return isinstance(cases, (ParquetRows, SlicedRows)) or (
        isinstance(cases, np.ndarray) and cases.ndim == 2 and cases.dtype.kind in "fiub"
    )


def find_infinite(rows: Any) -> tuple[int, int] | None:
    """Row and column of the first number that is NaN or infinite; None if all are finite."""
    if rows.dtype.kind != "f" or np.isfinite(rows.sum()) or np.isfinite(rows).all():
        return None
    row, column = (int(each[0]) for each in np.nonzero(~np.isfinite(rows)))
    return row, column


def row_bytes(cases: Any) -> int:
    """Bytes of a row as double numbers; a guess for what has no columns."""
    return 8 * int(np.prod(cases.shape[1:])) if isinstance(cases, ARRAYS) else ROW_BYTES


def is_table(cases: Any) -> bool:
    """A data frame (of pandas or polars): named columns, each with its own type."""
    return isinstance(cases, Table)


def row_label(case: Any) -> Any:
    """The index label of the one row of a table or series of pandas; None for everything else."""
    return case.index.tolist()[0] if type(case).__module__.partition(".")[0] == "pandas" else None


def as_sequence(cases: Any) -> Any:
    """Cases one by one: rows of a table become dictionaries, all others stay as they are."""
    if is_table(cases):
        # Polars and pandas have different names for it, and neither need be installed.
        return object_array(cases.to_dicts() if hasattr(cases, "to_dicts") else cases.to_dict("records"))
    if sp.issparse(cases):
        return cases.tocsr()
    if isinstance(cases, np.ndarray):
        return cases
    return object_array(list(cases))


def object_array(items: list[Any]) -> Array:
    """A 1-d array whose entries are the items themselves, even when they are sequences."""
    array = np.empty(len(items), dtype=object)
    for position, item in enumerate(items):
        array[position] = item
    return array


def chunks(n: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most `size` that together make up ``range(n)``."""
    for start in range(0, n, max(1, size)):
        yield slice(start, min(n, start + size))


def stack(parts: list[Any]) -> Any:
    """Several containers of the same kind as one."""
    if any(sp.issparse(part) for part in parts):
        return sp.vstack(parts, format="csr")
    if is_table(parts[0]):
        import pandas as pd

        return pd.concat(parts)
    if all(isinstance(part, list) for part in parts):
        return [case for part in parts for case in part]
    return np.concatenate([np.asarray(part) for part in parts])


def take_if_per_case(value: Any, rows: Array, n: int) -> Any:
    """The entries of a fit parameter for these rows of n; all of it if it is not one per case."""
    per_case = isinstance(value, Sized) and not isinstance(value, (str, bytes, Mapping)) and len(value) == n
    return take(value, rows) if per_case else value
