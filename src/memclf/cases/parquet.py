"""Rows of numbers in a Parquet file, read a part at a time (needs the extra `scale`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.exceptions import MissingExtraError

SUFFIX = ".parquet"
SHOWN = 5  # columns that a message names


class ParquetRows:
    """The numeric columns of a Parquet file as an array that is read when rows are asked for.

    Parameters
    ----------
    path : path
    columns : list of str or None
        Columns to take, in this order. None: all of them, which must then hold numbers.

    Gaps in the file are NaN. One row group is held in memory, so write files with row groups of moderate size.
    """

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, path: str | os.PathLike[str], columns: Sequence[str] | None = None):
        self.path = Path(path)
        self._asked = None if columns is None else list(columns)
        self._lock = Lock()
        self._group: tuple[int, Any] = (-1, None)
        self._names = self._check_columns()

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "columns": self._asked}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"ParquetRows({str(self.path)!r}, {len(self)} rows, {len(self._names)} columns)"

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), len(self._names)

    def __getitem__(self, index: Any) -> Array:
        rows = np.arange(len(self))[index] if not isinstance(index, np.ndarray) or index.dtype == bool else index
        rows = np.arange(len(self))[index] if isinstance(rows, np.ndarray) and rows.dtype == bool else rows
        flat = np.atleast_1d(rows)
        found = np.empty((len(flat), len(self._names)))
        group = np.searchsorted(self._starts, flat, side="right") - 1
        for number in np.unique(group):
            here = group == number
            found[here] = self._read(int(number))[flat[here] - self._starts[number]]
        return found if np.ndim(rows) else found[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self[:].astype(dtype, copy=False) if dtype is not None else self[:]

    @cached_property
    def _file(self) -> Any:
        try:
            import pyarrow.parquet as parquet
        except ImportError as error:
            raise MissingExtraError("reading Parquet files needs pyarrow: pip install 'memclf[scale]'") from error
        return parquet.ParquetFile(self.path)

    @cached_property
    def _starts(self) -> Array:
        """The first row of each row group, and the number of rows."""
        about = self._file.metadata
        return np.cumsum([0, *(about.row_group(i).num_rows for i in range(about.num_row_groups))])

    def _read(self, group: int) -> Array:
        with self._lock:  # a ParquetFile does not bear several threads
            if self._group[0] != group:
                self._group = (-1, None)  # one group at a time is in memory
                table = self._file.read_row_group(group, columns=self._names)
                found = np.empty((table.num_rows, len(self._names)))
                for j, column in enumerate(table.columns):
                    found[:, j] = column.to_numpy()
                self._group = (group, found)
            return self._group[1]

    def _check_columns(self) -> list[str]:
        import_types = self._file.schema_arrow  # first, so that a missing pyarrow is named by the extra
        from pyarrow import types

        known = {field.name: field.type for field in import_types}
        names = list(known) if self._asked is None else self._asked
        if missing := [name for name in names if name not in known]:
            raise ValueError(f"{self.path.name} has no columns {missing[:SHOWN]}; it has {list(known)[:SHOWN]} ...")
        numeric = [name for name in names if _is_number(types, known[name])]
        if others := [f"{name!r} ({known[name]})" for name in names if name not in numeric]:
            more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
            raise ValueError(
                f"{self.path.name} holds columns that are no numbers: {', '.join(others[:SHOWN])}{more}. Take the "
                f"others with ParquetRows({self.path.name!r}, columns=[...]), or read the file with "
                "pandas.read_parquet and use GowerSimilarity, which compares categories too"
            )
        return names


def _is_number(types: Any, kind: Any) -> bool:
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))
