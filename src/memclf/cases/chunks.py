"""Cases in chunks that stay where they are: Dask arrays, data frames and bags."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sized
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from memclf._numbers import Array
from memclf.cases import containers
from memclf.cases.adapter import Cases
from memclf.cases.distinct import content_keys
from memclf.cases.executors import Executor, find_executor, import_dask
from memclf.cases.memory import ROOM, Memory
from memclf.cases.shifts import can_shift_rows, shift_rows
from memclf.protocols import Delays

SHOWN = 5  # columns that a message names


class About(NamedTuple):
    """What is told of a chunk before anything is computed with its cases."""

    n: int
    columns: tuple[Any, ...] | None  # names in a table, the number in an array, None elsewhere
    infinite: tuple[int, Any, float] | None  # first row and column of a number that is not finite, and the number
    keys: Array | None  # one number per case that equal rows share

    def take(self, positions: Array) -> About:
        """The same about some cases of a chunk whose numbers were checked."""
        return About(len(positions), self.columns, None, None if self.keys is None else self.keys[positions])


class Source(NamedTuple):
    """A chunk that cases are picked from, its memory, where both should be, and the positions."""

    chunk: Any
    memory: Any
    home: str
    positions: Array | None = None  # None: all

    def take(self, positions: Array) -> Source:
        """The same with some of the cases."""
        return self._replace(positions=positions if self.positions is None else self.positions[positions])


class Chunks:
    """Cases in chunks, on the workers of a cluster or in this process.

    Parameters
    ----------
    X : Dask array, data frame or bag
        A chunk is a block of rows, a partition of a data frame, or a list of cases (paths of images, texts).
    look : bool
        Look at every chunk first: its length, its columns, numbers that are not finite, and keys of its rows.

    Attributes
    ----------
    chunks : list
        Dask's delayed values, or handles; chunks without cases are left out.
    numbers : list of int
        Their numbers in X, for messages.
    lengths, starts : ndarray
        Cases of each chunk, and the row of its first case.
    sources : list of Source
        What each chunk was picked from. What is computed about its cases is cached there, and so all that is picked
        from the same chunk shares it.
    """

    def __init__(self, X: Any, *, look: bool = True):
        import_dask()
        self.executor: Executor = find_executor()
        chunks = list_chunks(X)
        told: list[About] = self._look(chunks) if look else []
        lengths = [each.n for each in told] if look else list(X.chunks[0])
        filled = [i for i, n in enumerate(lengths) if n]
        if not filled:
            raise ValueError("X has no cases (n_samples=0)")
        self.chunks = [chunks[i] for i in filled]
        self.numbers = filled
        self.lengths = np.array([lengths[i] for i in filled])
        self.starts = np.cumsum(self.lengths) - self.lengths
        self.told = [told[i] for i in filled] if look else []
        _check_columns(self.numbers, self.told)
        self.sources = self._make_sources(self.executor.place(self.chunks))

    def _make_sources(self, homes: list[str]) -> list[Source]:
        """These chunks as sources, each with a new memory at its home."""
        room = max(1, ROOM * len(set(homes)) // len(homes))  # for each of them, so that a worker has its share
        memories = self.executor.start(Memory, [(int(n), None, room) for n in self.lengths], homes)
        return list(map(Source, self.chunks, memories, homes))

    def __len__(self) -> int:
        return int(self.lengths.sum())

    def _look(self, chunks: list[Any]) -> list[About]:
        calls = [(number, _look_at, chunk) for number, chunk in enumerate(chunks)]
        return self.executor.get(self.executor.start(_on_chunk, calls), what="looking at chunks", verbose=None)

    @property
    def keys(self) -> Array | None:
        """A number per case that equal rows share; None if the cases are no rows of numbers."""
        keys = [each.keys for each in self.told]
        return None if any(each is None for each in keys) else np.concatenate(keys)  # type: ignore[arg-type]

    @cached_property
    def data(self) -> Any:
        """The first case, in a container of the kind of the chunks: its columns are those of all."""
        return self.keep(np.zeros(1, dtype=np.intp))

    def check_finite(self, hint: str) -> None:
        """Raise an error that names the first chunk and row with NaN or infinity."""
        for number, start, told in zip(self.numbers, self.starts, self.told, strict=True):
            if told.infinite is not None:
                row, column, value = told.infinite
                raise ValueError(
                    f"X contains {value} in chunk {number}, row {row} of the chunk (row {start + row} of X), column "
                    f"{column!r}, but all numbers must be finite. {hint}"
                )

    def start(self, work: Callable[..., Any], *shared: Any, own: list[Any] | None = None) -> list[Any]:
        """Handles of ``work(*shared, chunk)`` for each chunk; `own` adds an argument for each."""
        shared = tuple(map(self.executor.put, shared))
        own = [()] * len(self.chunks) if own is None else [(each,) for each in own]
        calls = [
            (number, work, *shared, chunk, *mine)
            for number, chunk, mine in zip(self.numbers, self.chunks, own, strict=True)
        ]
        return self.executor.start(_on_chunk, calls)

    def start_on_cases(self, work: Callable[[Any, Cases], Any], model: Any) -> list[Any]:
        """Handles of ``work(model, cases)`` for each chunk; its cases have the chunk's cache."""
        model = self.executor.put(model)
        calls = [
            (number, _on_cases, work, model, source.chunk, source.memory, source.positions)
            for number, source in zip(self.numbers, self.sources, strict=True)
        ]
        return self.executor.start(_on_chunk, calls, [source.home for source in self.sources])

    def pieces(self, rows: Array) -> list[Any]:
        """Handles of the cases at these rows, which must ascend: one of each chunk that has some."""
        found = locate(self.starts, rows)
        calls = [(self.numbers[i], _pick, self.chunks[i], positions) for i, positions in found]
        return self.executor.start(_on_chunk, calls)

    def keep(self, rows: Array) -> Any:
        """The cases at these rows, in this process."""
        order = np.argsort(rows, kind="stable")
        found = containers.stack(self.executor.get(self.pieces(rows[order])))
        return containers.take(found, np.argsort(order, kind="stable"))

    def take(self, rows: Array) -> Chunks:
        """The cases at these rows, which must ascend: in chunks that stay where they are."""
        found = locate(self.starts, rows)
        places = [i for i, _ in found]
        delayed = import_dask().delayed(_pick, pure=False)
        told = [self.told[i].take(positions) for i, positions in found] if self.told else []
        new = self._replaced([delayed(self.chunks[i], positions) for i, positions in found], places, told)
        new.sources = [self.sources[i].take(positions) for i, positions in found]
        return new

    @property
    def can_change(self) -> bool:
        """Whether the cases can be changed mildly: as a collection of images can. Chunks cannot."""
        return False

    @property
    def can_shift(self) -> bool:
        """Whether the cases can be changed strongly; see `Cases.can_shift`."""
        return can_shift_rows(self.data, len(self))

    def shifted(self, seed: int) -> Chunks:
        """The same cases, each changed strongly; see `Cases.shifted`.

        What a case gets depends on all others, so one worker changes all of them.
        """
        (whole,) = self.executor.start(_shift_pieces, [(self.pieces(np.arange(len(self))), int(seed))])
        parts = [slice(start, start + n) for start, n in zip(self.starts, self.lengths, strict=True)]
        changed = self.executor.start(containers.take_slice, [(whole, part) for part in parts])
        told = [each._replace(keys=None) for each in self.told]  # they were those of the cases as they are
        new = self._replaced(changed, list(range(len(parts))), told)
        new.sources = new._make_sources([source.home for source in self.sources])
        return new

    def _replaced(self, chunks: list[Any], places: list[int], told: list[About]) -> Chunks:
        """Other chunks in the places of some of these; `told` is about them."""
        new = copy.copy(self)
        new.chunks, new.told = chunks, told
        new.numbers = [self.numbers[i] for i in places]
        new.lengths = np.array([each.n for each in told]) if told else self.lengths[places]
        new.starts = np.cumsum(new.lengths) - new.lengths
        return new

    def piles(self, groups: list[Array]) -> list[list[Any]]:
        """For each group of ascending rows the handles of its cases, each chunk being read once."""
        wanted: list[list[tuple[int, Array]]] = [[] for _ in self.chunks]
        for k, rows in enumerate(groups):
            for i, positions in locate(self.starts, rows):
                wanted[i].append((k, positions))
        piles: list[list[Any]] = [[] for _ in groups]
        picked = self.start(_pick_several, own=[[positions for _, positions in each] for each in wanted])
        calls = [(several, j) for several, each in zip(picked, wanted, strict=True) for j in range(len(each))]
        pieces = iter(self.executor.start(_entry, calls))
        for each in wanted:
            for k, _ in each:
                piles[k].append(next(pieces))
        return piles


def map_parts(work: Callable[[Any, Cases], Any], model: Any, cases: Cases | Chunks) -> list[Any]:
    """``work(model, cases)``, for cases in chunks that of each chunk, computed where it is."""
    if not isinstance(cases, Chunks):
        return [work(model, cases)]
    return cases.executor.get(cases.start_on_cases(work, model))


def is_chunked(X: Any) -> TypeGuard[Any]:
    """Whether X is a collection of Dask; Dask is not imported for it."""
    return type(X).__module__.partition(".")[0] == "dask" and isinstance(X, Delays)


def open_cases(X: Any) -> Cases | Chunks:
    """X as cases: in chunks if they are, else as `Cases` with a cache."""
    return Chunks(X) if is_chunked(X) else Cases.of(X).remembering()


def compute_if_chunked(values: Any) -> Any:
    """One value per case (labels, weights), in this process."""
    return values.compute() if is_chunked(values) else values


def locate(starts: Array, rows: Array) -> list[tuple[int, Array]]:
    """Of each chunk that has some of these ascending rows: its place, and their positions in it."""
    ends = np.append(np.searchsorted(rows, starts), len(rows))
    return [(i, rows[ends[i] : ends[i + 1]] - starts[i]) for i in range(len(starts)) if ends[i] < ends[i + 1]]


def list_chunks(X: Any) -> list[Any]:
    """The chunks of a Dask collection, each with all columns of its cases."""
    if is_array(X):
        if X.ndim == 0:
            raise ValueError("X must hold several cases; got a Dask array without dimensions")
        X = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
        return list(X.to_delayed().ravel())
    return list(X.to_delayed())


def is_array(X: Any) -> bool:
    """Whether a Dask collection is an array: it alone knows the lengths of its chunks."""
    return type(X).__module__.startswith("dask.array")


def as_chunk(data: Any) -> Any:
    """What Dask computed for a chunk as a container: the iterators of a bag become lists."""
    return containers.as_container(data if isinstance(data, Sized) else list(data))


def _on_chunk(number: int, work: Callable[..., Any], *arguments: Any) -> Any:
    """A call whose errors name the chunk."""
    try:
        return work(*arguments)
    except Exception as error:
        error.add_note(f"This happened in chunk {number} of X.")
        raise


def _look_at(chunk: Any) -> About:
    data = as_chunk(chunk)
    n, infinite = containers.count(data), find_infinite(data)
    if containers.is_table(data):
        return About(n, tuple(data.columns), infinite, None)
    if not containers.is_rows_of_numbers(data):
        return About(n, None, None, None)
    return About(n, (data.shape[1],), infinite, content_keys(data) if n else np.zeros(0, dtype=np.uint64))


def find_infinite(data: Any) -> tuple[int, Any, float] | None:
    """Row, column and value of the first number that is not finite; None if there is none."""
    if containers.is_table(data):
        return _find_infinite_in_table(data)
    bad = containers.find_infinite(data) if containers.is_rows_of_numbers(data) else None
    return None if bad is None else (*bad, float(data[bad]))


def _find_infinite_in_table(table: Any) -> tuple[int, Any, float] | None:
    """Row, name of the column and value of the first number that is not finite."""
    found = []
    for j, name in enumerate(table.columns):
        values = np.asarray(table.iloc[:, j])
        if values.dtype.kind == "f" and not (finite := np.isfinite(values)).all():
            row = int(finite.argmin())
            found.append((row, j, name, float(values[row])))
    row, _, name, value = min(found, key=lambda each: each[:2], default=(0, 0, None, 0.0))
    return (row, name, value) if found else None


def _check_columns(numbers: list[int], told: list[About]) -> None:
    for number, each in zip(numbers[1:], told[1:], strict=True):
        first = told[0].columns
        if each.columns == first:
            continue
        here = f"chunk {number} of X has {_say_columns(each.columns)}, but chunk {numbers[0]} has {_say_columns(first)}"
        raise ValueError(f"{here}. All chunks must have the same columns, in the same order")


def _say_columns(columns: tuple[Any, ...] | None) -> str:
    if columns is None:
        return "no columns"
    if len(columns) == 1 and isinstance(columns[0], int):
        return f"{columns[0]} column" if columns[0] == 1 else f"{columns[0]} columns"
    more = f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN else ""
    return f"the columns {', '.join(map(repr, columns[:SHOWN]))}{more}"


def _on_cases(
    work: Callable[[Any, Cases], Any], model: Any, chunk: Any, memory: Memory, positions: Array | None
) -> Any:
    cases = Cases.of(as_chunk(chunk)).remembering(memory)
    return work(model, cases if positions is None else cases.take(positions))


def _shift_pieces(pieces: list[Any], seed: int) -> Any:
    return shift_rows(containers.stack(pieces), seed)


def _pick(chunk: Any, positions: Array) -> Any:
    return containers.take(as_chunk(chunk), positions)


def _pick_several(chunk: Any, wanted: list[Array]) -> list[Any]:
    data = as_chunk(chunk)
    return [containers.take(data, positions) for positions in wanted]


def _entry(several: list[Any], j: int) -> Any:
    return several[j]
