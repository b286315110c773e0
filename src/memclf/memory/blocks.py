"""Very many cases, read and described a block at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import fsum
from typing import Any, TypeVar

import numpy as np

from memclf._numbers import Array
from memclf._threads import count_threads, map_in_threads
from memclf.cases import containers, distinct
from memclf.memory import passes
from memclf.memory.budget import ASSUMED_MEMORIES, batch_need, exact_need, rows_within
from memclf.memory.columns import Columns
from memclf.memory.passes import Located
from memclf.similarity.base import can_order, is_lawful

ROWS = 2**16  # rows of a block at most
BLOCK_BYTES = 2**24  # of the cases in a block
SAMPLE, SAMPLE_OF_A_FUNCTION = 20_000, 2_000  # cases of the first search among some, and witnesses of the swaps
PER_MEMORY = 40  # the same for each memory, where there are many

Result = TypeVar("Result")
Kept = Any  # what stays with the blocks, one entry per block: a list here, elsewhere what stands for one


@dataclass(frozen=True)
class Assigned:
    """Which memory every case belongs to, kept with the blocks, and sums over all cases."""

    kept: Kept
    objective: float
    stands_for: Array
    sizes: Array
    uncovered: Array
    tied: bool


class Blocks:
    """Descriptions that need not fit into memory: passes over all, and picks of some.

    Parameters
    ----------
    data : descriptions, or cases if `describe` is given
        Whatever has rows: an array, a memory map, a Parquet file, a list.
    similarity : Similarity
        Compares descriptions.
    describe : function or None
        Turns a block of `data` into descriptions. It is called anew in every pass.
    n_jobs : int or None
        Threads. None: as many as BLAS may use.
    rows : int or None
        Rows of a block.
    """

    _max_memory: Any = None  # the budget that was given

    def __init__(
        self,
        data: Any,
        similarity: Any,
        describe: Callable[[Any], Any] | None = None,
        *,
        n_jobs: int | None = None,
        rows: int | None = None,
    ):
        self.data = data
        self.similarity = similarity
        self.n = containers.count(data)
        self.n_evaluations = 0
        self.lawful = is_lawful(similarity)
        self._describe = describe
        self.rows = block_rows(data) if rows is None else rows
        # A user's function need not bear threads, and has workers of its own.
        self.n_jobs = count_threads(n_jobs) if self.lawful else 1

    def read(self, part: slice) -> Any:
        """The descriptions of consecutive cases."""
        return self._described(containers.take_slice(self.data, part))

    def take(self, rows: Array) -> Any:
        """The descriptions of the cases at these rows."""
        order = np.argsort(rows, kind="stable")  # files are read in their own order
        parts = [rows[order[part]] for part in containers.chunks(len(rows), self.rows)]
        found = containers.stack([self._described(containers.take_ascending(self.data, part)) for part in parts])
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return containers.take(found, back)

    @property
    def parts(self) -> list[slice]:
        """The rows of each block."""
        return list(containers.chunks(self.n, self.rows))

    def map(self, work: Callable[..., Result], *kept: Kept) -> list[Result]:
        """``work(part, descriptions, ...)`` of every block, in their order, by several threads.

        `kept` are what stays with the blocks, or None; `work` gets what belongs to its block. It must be a function
        of a module, or a `partial` of one.
        """
        parts = self.parts
        own: list[tuple[Any, ...]] = [
            tuple(None if each is None else each[i] for each in kept) for i in range(len(parts))
        ]

        def on_block(number: int) -> Result:
            found = work(parts[number], self.read(parts[number]), *own[number])
            containers.release_pages(self.data, parts[number])
            return found

        return map_in_threads(on_block, range(len(parts)), min(self.n_jobs, len(parts)))

    def keep(self, work: Callable[..., tuple[Any, Result]], *kept: Kept) -> tuple[Kept, list[Result]]:
        """The same for work that gives two results: the first stays with its block."""
        found = self.map(work, *kept)
        return [each[0] for each in found], [each[1] for each in found]

    def split(self, values: Array | None) -> Kept:
        """One value per case, to stay with the blocks; None stays None."""
        return None if values is None else [values[part] for part in self.parts]

    def look_up(self, kept: Kept, rows: Array) -> Located:
        """What was located for the cases at these rows."""
        block, position = np.divmod(rows, self.rows)
        found = [np.empty(len(rows), dtype=each.dtype) for each in kept[0]]
        for number in np.unique(block):
            here = block == number
            for out, values in zip(found, kept[number], strict=True):
                out[here] = values[position[here]]
        return Located(*found)

    def collect(self, kept: Kept) -> Located:
        """What was located for all cases."""
        return Located(*(np.concatenate(each) for each in zip(*kept, strict=True)))

    def columns(self, rows: Array) -> Columns:
        """Some of the cases as the search among few cases takes them."""
        return Columns(self.similarity, self.take(rows), rows)

    def assign(self, memories: Array, weights: Kept = None, threshold: float | None = None) -> Assigned:
        """For every case the most similar of these memories, in one exact pass.

        With a threshold, the rows of the cases that do not reach it are found as well.
        """
        work = partial(passes.assign, self.similarity, self.take(memories), memories, threshold)
        kept, sums = self.keep(work, weights)
        self.n_evaluations += self.n * len(memories)
        objective, stands_for, sizes, uncovered, tied = zip(*sums, strict=True)
        totals = np.sum(stands_for, axis=0), np.sum(sizes, axis=0), np.concatenate(uncovered)
        return Assigned(kept, fsum(objective), *totals, any(tied))

    def keys(self) -> Array | None:
        """A number per case that equal descriptions share; None if they are not numbers."""
        one = self.take(np.zeros(1, dtype=np.intp))
        if not isinstance(one, np.ndarray) or one.dtype.kind not in "fiub":
            return None
        return np.concatenate(self.map(passes.find_keys))

    def distinct(self, rows: Array) -> tuple[Array, Array]:
        """Of descriptions that are no numbers the first of each kind among `rows`, and the groups."""
        return distinct(containers.take(self.data, rows))

    def keep_within(
        self, max_memory: Any, n_memories: int | None, *, exact: bool = False, found: bool = False, judged: bool = True
    ) -> None:
        """Make blocks so small that a search stays within the budget, or say the least that works.

        `exact` says that exact swaps would be used if they fitted, `found` that a cover has found this number of
        memories. Without `judged`, no exact swaps judge a sample by all memories.
        """
        self._max_memory = max_memory
        row = containers.row_bytes(self.data)
        sample = min(self.n, sample_size(n_memories or ASSUMED_MEMORIES, self.lawful))
        wide = n_memories if n_memories is not None and found and not can_order(self.similarity) else 0
        need = partial(batch_need, self.n, row, n_memories, sample, self.n_jobs, wide=wide, judged=judged)
        search = f"the search among {self.n:,} cases"
        search += f", whose cover has found {n_memories:,} memories" if found else ""
        self.rows = rows_within(
            max_memory, need, self.rows, search, exact_need(self.n, row, n_memories) if exact else None
        )

    def keep_found_within(self, n_found: int, *, judged: bool) -> None:
        """The same for a given budget, once a cover has found the number of memories."""
        if self._max_memory is not None:
            self.keep_within(self._max_memory, n_found, found=True, judged=judged)

    def check_finite(self, hint: str) -> None:
        """Raise an error that names the first row with NaN or infinity in rows of numbers."""
        self.map(partial(_check_finite, hint))

    def _described(self, block: Any) -> Any:
        return block if self._describe is None else self._describe(block)


def _check_finite(hint: str, part: slice, Z: Array) -> None:
    if (bad := containers.find_infinite(Z)) is not None:
        row, column = bad
        raise ValueError(
            f"X contains {Z[row, column]} in row {part.start + row}, column {column}, but all numbers must be "
            f"finite. {hint}"
        )


def block_rows(data: Any) -> int:
    """Rows of a block, so many that it stays small."""
    return int(2 ** np.floor(np.log2(np.clip(BLOCK_BYTES // max(1, containers.row_bytes(data)), 256, ROWS))))


def sample_size(q: int, lawful: bool) -> int:
    """Cases that the exact search among some of them takes."""
    return max(SAMPLE if lawful else SAMPLE_OF_A_FUNCTION, PER_MEMORY * q)
