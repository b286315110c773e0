"""Very many cases, read and described a block at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed

from memclf._numbers import TOLERANCE, Array, TwoBest
from memclf._threads import count_threads
from memclf.cases import containers
from memclf.cases.distinct import content_keys
from memclf.memory.budget import ASSUMED_MEMORIES, rows_within
from memclf.memory.columns import Columns
from memclf.similarity.base import compared, is_lawful, nearest_two

ROWS = 2**16  # rows of a block at most
BLOCK_BYTES = 2**24  # of the cases in a block
SAMPLE, SAMPLE_OF_A_FUNCTION = 20_000, 2_000  # cases of the first search among some, and witnesses of the swaps
PER_MEMORY = 40  # the same for each memory, where there are many

Result = TypeVar("Result")


@dataclass
class Assigned:
    """For every case its memory, and how similar it is to it and to the next best."""

    near: Array
    best: Array
    next: Array
    tied: bool = False  # whether a case is equally similar to two memories


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
        found = containers.stack([self._described(containers.take(self.data, part)) for part in parts])
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return containers.take(found, back)

    def map(self, work: Callable[[slice, Any], Result]) -> list[Result]:
        """``work(part, descriptions)`` of every block, in their order, by several threads."""
        parts = list(containers.chunks(self.n, self.rows))
        if self.n_jobs == 1 or len(parts) == 1:
            return [work(part, self.read(part)) for part in parts]
        run = Parallel(n_jobs=self.n_jobs, require="sharedmem")
        return list(run(delayed(lambda part: work(part, self.read(part)))(part) for part in parts))

    def columns(self, rows: Array) -> Columns:
        """Some of the cases as the search among few cases takes them."""
        return Columns(self.similarity, self.take(rows), rows)

    def pick(self, Z: Any, positions: Array) -> Any:
        """Some of the descriptions of a block."""
        return containers.take(Z, positions)

    def compare(self, A: Any, B: Any, rows: Array, columns: Array) -> Array:
        """Similarities of descriptions of the cases in these rows."""
        return compared(self.similarity, A, B, rows, columns)

    def nearest(self, A: Any, B: Any, rows: Array, columns: Array) -> TwoBest:
        """The two most similar in `A` to each in `B`."""
        return nearest_two(self.similarity, A, B, rows, columns)

    def assign(self, memories: Array) -> Assigned:
        """For every case the most similar of these memories, in one exact pass."""
        M = self.take(memories)
        found = Assigned(np.empty(self.n, dtype=np.int32), np.empty(self.n), np.empty(self.n, dtype=np.float32))

        def work(part: slice, Z: Any) -> bool:
            two = self.nearest(M, Z, memories, np.arange(part.start, part.stop))
            found.near[part], found.best[part], found.next[part] = two.near, two.best, two.next
            return bool((two.best - two.next <= TOLERANCE).any())

        found.tied = any(self.map(work))
        self.n_evaluations += self.n * len(memories)
        return found

    def keys(self) -> Array | None:
        """A number per case that equal descriptions share; None if they are not numbers."""
        one = self.read(slice(0, 1))
        if not isinstance(one, np.ndarray) or one.dtype.kind not in "fiub":
            return None
        keys = np.empty(self.n, dtype=np.uint64)

        def work(part: slice, Z: Any) -> None:
            keys[part] = content_keys(Z)

        self.map(work)
        return keys

    def keep_within(self, max_memory: Any, n_memories: int | None) -> None:
        """Make blocks so small that a search stays within the budget, or say the least that works."""
        q = n_memories or ASSUMED_MEMORIES
        row = containers.row_bytes(self.data)
        sample = min(self.n, sample_size(q, self.lawful))
        self.rows = rows_within(max_memory, self.n, row, q, sample, self.n_jobs, self.rows)

    def check_finite(self, hint: str) -> None:
        """Raise an error that names the first row with NaN or infinity in rows of numbers."""

        def work(part: slice, Z: Any) -> None:
            if Z.dtype.kind == "f" and not np.isfinite(Z.sum()) and not np.isfinite(Z).all():
                row, column = (int(each[0]) for each in np.nonzero(~np.isfinite(Z)))
                raise ValueError(
                    f"X contains {Z[row, column]} in row {part.start + row}, column {column}, but all numbers must be "
                    f"finite. {hint}"
                )

        self.map(work)

    def _described(self, block: Any) -> Any:
        return block if self._describe is None else self._describe(block)


def block_rows(data: Any) -> int:
    """Rows of a block, so many that it stays small."""
    return int(2 ** np.floor(np.log2(np.clip(BLOCK_BYTES // max(1, containers.row_bytes(data)), 256, ROWS))))


def sample_size(q: int, lawful: bool) -> int:
    """Cases that the exact search among some of them takes."""
    return max(SAMPLE if lawful else SAMPLE_OF_A_FUNCTION, PER_MEMORY * q)
