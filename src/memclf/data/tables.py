"""Table files: CSV, Parquet and Arrow, read as a whole or block by block."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from memclf.data.columns import list_names
from memclf.exceptions import DataError, MissingExtraError

CSV, PARQUET = (".csv",), (".parquet",)
ARROW = (".arrow", ".feather", ".ipc")
SUFFIXES = (*CSV, *PARQUET, *ARROW)


class TableFile:
    """A table in a file; its names and rows are read when they are asked for.

    Parameters
    ----------
    path : Path
        A file with one of the endings in `SUFFIXES`.
    """

    def __init__(self, path: Path):
        self.path, self._suffix = path, path.suffix.lower()
        if self._suffix not in SUFFIXES:
            raise DataError(f"{path} is no table that can be read; tables end in {', '.join(SUFFIXES)}")
        self._pandas = _require("pandas", "tables", path)

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns."""
        with self._explained():
            if self._suffix in CSV:
                return [str(name) for name in self._pandas.read_csv(self.path, nrows=0).columns]
            return [str(name) for name in self._arrow.names]

    @property
    def hint(self) -> str:
        """What may be wrong where an expected column is not there."""
        one = len(self.names) == 1 and any(each in self.names[0] for each in ";\t")
        return "; columns must be separated by commas" if one else ""

    def read(self) -> Any:
        """The whole table, with the types that the file shows."""
        with self._explained():
            csv = self._suffix in CSV
            frame = self._pandas.read_csv(self.path, low_memory=False) if csv else self._arrow.read()
        if not len(frame):
            raise DataError(f"{self.path} has columns ({list_names(self.names)}) and no rows")
        return frame

    def read_as_written(self, name: str) -> list[Any]:
        """The values of one column as they are written: in a CSV file texts, of which a gap is ""."""
        with self._explained():
            if self._suffix in CSV:
                options = {"usecols": [name], "dtype": str, "keep_default_na": False}
                return list(self._pandas.read_csv(self.path, **options)[name])
            return list(self._arrow.read([name])[name])

    def blocks(self, size: int, *, start: int = 0, words: Collection[str] = ()) -> Iterator[Any]:
        """Blocks of rows from row `start` on; the index holds the numbers of the rows.

        Columns in `words` are texts, also where a block holds nothing but numbers in them.
        """
        at = 0
        with self._explained():
            for frame in self._all_blocks(size, words):
                frame.index = self._pandas.RangeIndex(at, at + len(frame))
                at += len(frame)
                if at > start:
                    yield frame[max(0, start - int(frame.index[0])) :]

    def ranges(self, start: int, most: int) -> list[tuple[int, int]] | None:
        """Ranges of rows from `start` on that can be read apart; None for CSV files."""
        if self._suffix in CSV:
            return None
        with self._explained():
            return self._arrow.ranges(start, most)

    def read_range(self, start: int, stop: int) -> Any:
        """The rows of a range of `ranges`; the index holds their numbers."""
        with self._explained():
            frame = self._arrow.read_range(start, stop)
        frame.index = self._pandas.RangeIndex(start, stop)
        return frame

    def __getstate__(self) -> dict[str, Any]:
        """Without what is open; another process may be in another folder."""
        state = {name: value for name, value in vars(self).items() if name not in ("_arrow", "_pandas")}
        return {**state, "path": self.path.absolute()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._pandas = _require("pandas", "tables", self.path)

    def count(self) -> int | None:
        """Number of rows where the file tells it, None for CSV files."""
        with self._explained():
            return None if self._suffix in CSV else int(self._arrow.count)

    def _all_blocks(self, size: int, words: Collection[str]) -> Iterator[Any]:
        if self._suffix in CSV:
            types = {name: str for name in self.names if name in words}
            yield from self._pandas.read_csv(self.path, chunksize=size, dtype=types)
        else:
            yield from self._arrow.blocks(size)

    @cached_property
    def _arrow(self) -> _ArrowFile:
        _require("pyarrow", "scale", self.path)
        return _open_parquet(self.path) if self._suffix in PARQUET else _open_arrow(self.path)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the readers into one that names the file."""
        if not self.path.is_file():
            raise DataError(f"there is no file {self.path}")
        if not self.path.stat().st_size:
            raise DataError(f"{self.path} is empty")
        try:
            yield
        except DataError:
            raise
        except (OSError, ValueError) as error:
            raise DataError(f"{self.path} cannot be read as a table: {error}") from error


class _ArrowFile:
    """A file whose blocks are record batches of Arrow.

    Parameters
    ----------
    schema : Schema
    lengths : list of int
        Rows of each group: the smallest part of the file that can be read apart.
    batches : function of names of columns and a number of rows
        All batches of the file.
    group : function of a number
        One group, as a table or record batch.
    """

    def __init__(
        self,
        schema: Any,
        lengths: Sequence[int],
        batches: Callable[[Sequence[str] | None, int], Iterator[Any]],
        group: Callable[[int], Any],
    ):
        self.names, self.count = list(schema.names), sum(lengths)
        self._ends, self._batches, self._group = list(accumulate(lengths)), batches, group

    def ranges(self, start: int, most: int) -> list[tuple[int, int]]:
        """Ranges of at most `most` rows, none of them in two groups."""
        edges = [0, *self._ends]
        inner = [range(a, b, most) for a, b in pairwise(edges)]
        cuts = sorted({start, self.count, *(at for each in inner for at in each if at > start)})
        return list(pairwise(cuts))

    def read_range(self, start: int, stop: int) -> Any:
        group = bisect_right(self._ends, start)
        first = self._ends[group - 1] if group else 0
        found = self._group(group).slice(start - first, stop - start)
        return _as_frame(found)

    def read(self, names: Sequence[str] | None = None) -> Any:
        import pandas as pd

        frames = [_as_frame(batch) for batch in self._batches(names, 65536)]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=names or self.names)

    def blocks(self, size: int) -> Iterator[Any]:
        for batch in self._batches(None, size):
            for at in range(0, batch.num_rows, size):
                yield _as_frame(batch.slice(at, size))


def _as_frame(found: Any) -> Any:
    """A batch or table without the notes of pandas, by which an index would be no column."""
    import pyarrow

    table = found if isinstance(found, pyarrow.Table) else pyarrow.Table.from_batches([found])
    return table.to_pandas(ignore_metadata=True)


def _open_parquet(path: Path) -> _ArrowFile:
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    about = file.metadata
    return _ArrowFile(
        file.schema_arrow,
        [about.row_group(number).num_rows for number in range(about.num_row_groups)],
        lambda names, size: file.iter_batches(batch_size=size, columns=None if names is None else list(names)),
        file.read_row_group,
    )


def _open_arrow(path: Path) -> _ArrowFile:
    from pyarrow import ipc, memory_map

    file = ipc.open_file(memory_map(str(path)))
    numbers = range(file.num_record_batches)

    def batches(names: Sequence[str] | None, size: int) -> Iterator[Any]:
        for batch in map(file.get_batch, numbers):
            yield batch if names is None else batch.select(list(names))

    return _ArrowFile(file.schema, [file.get_batch(number).num_rows for number in numbers], batches, file.get_batch)


def _require(package: str, extra: str, path: Path) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingExtraError(f'{path} needs {package}: pip install "memclf[{extra}]"') from error
