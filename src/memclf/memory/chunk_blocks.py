"""Described cases that stay in chunks on the workers of a cluster, as the search takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import containers
from memclf.cases.chunks import Chunks, locate
from memclf.memory.blocks import Blocks, Kept, Result, block_rows
from memclf.memory.passes import Located
from memclf.similarity.base import is_lawful


class ChunkBlocks(Blocks):
    """The same passes and picks as `Blocks`, by tasks where the descriptions are.

    A task goes through the blocks of one chunk. What stays with the blocks stays on the worker, as a list per chunk.

    Parameters
    ----------
    chunks : Chunks
        The cases.
    described : list of handles
        The descriptions of each chunk.
    similarity : Similarity
        Compares descriptions.
    """

    def __init__(self, chunks: Chunks, described: list[Any], similarity: Any):
        self.executor, self.starts, self.lengths = chunks.executor, chunks.starts, chunks.lengths
        self.described = described
        self.similarity = similarity
        self.n = len(chunks)
        self.n_evaluations = 0
        self.lawful = is_lawful(similarity)
        self.n_jobs = 1
        self.data = self.take(np.zeros(1, dtype=np.intp))  # tells of what kind descriptions are
        self.rows = block_rows(self.data)

    def take(self, rows: Array) -> Any:
        """The descriptions of the cases at these rows."""
        order = np.argsort(rows, kind="stable")
        calls = [(self.described[i], positions) for i, positions in locate(self.starts, rows[order])]
        found = containers.stack(self.executor.get(self.executor.start(containers.take, calls)))
        return containers.take(found, np.argsort(order, kind="stable"))

    def map(self, work: Callable[..., Result], *kept: Kept) -> list[Result]:
        """``work(part, descriptions, ...)`` of every block, on the workers."""
        return [each for several in self.executor.get(self._start(work, kept)) for each in several]

    def keep(self, work: Callable[..., tuple[Any, Result]], *kept: Kept) -> tuple[Kept, list[Result]]:
        """The same for work that gives two results: the first stays on the worker."""
        handles = self._start(work, kept)
        stays, travels = (self.executor.start(_halves, [(each, half) for each in handles]) for half in (0, 1))
        return stays, [each for several in self.executor.get(travels) for each in several]

    def split(self, values: Array | None) -> Kept:
        """One value per case, to stay on the workers; None stays None."""
        if values is None:
            return None
        calls = [(values[start : start + n], self.rows) for start, n in zip(self.starts, self.lengths, strict=True)]
        return self.executor.start(_cut, calls)

    def look_up(self, kept: Kept, rows: Array) -> Located:
        """What was located for the cases at these rows."""
        order = np.argsort(rows, kind="stable")
        calls = [(kept[i], positions) for i, positions in locate(self.starts, rows[order])]
        found = self.executor.get(self.executor.start(_look_up, calls))
        back = np.argsort(order, kind="stable")
        return Located(*(np.concatenate(each)[back] for each in zip(*found, strict=True)))

    def collect(self, kept: Kept) -> Located:
        """What was located for all cases."""
        found = [each for several in self.executor.get(list(kept)) for each in several]
        return Located(*(np.concatenate(each) for each in zip(*found, strict=True)))

    def distinct(self, rows: Array) -> tuple[Array, Array]:
        """Descriptions that are no numbers count as distinct: comparing them would move them."""
        return np.arange(len(rows)), np.arange(len(rows))

    def gather(self) -> Any:
        """All descriptions, in this process."""
        return containers.stack(self.executor.get(self.described))

    def _start(self, work: Callable[..., Any], kept: tuple[Kept, ...]) -> list[Any]:
        shared = self.executor.put(work)
        return self.executor.start(
            _each_block,
            [
                (shared, int(start), self.rows, Z, *(None if each is None else each[i] for each in kept))
                for i, (start, Z) in enumerate(zip(self.starts, self.described, strict=True))
            ],
        )


def _each_block(work: Callable[..., Result], start: int, rows: int, Z: Any, *kept: Any) -> list[Result]:
    found = []
    for i, part in enumerate(containers.chunks(containers.count(Z), rows)):
        own = [None if each is None else each[i] for each in kept]
        found.append(work(slice(start + part.start, start + part.stop), containers.take_slice(Z, part), *own))
    return found


def _halves(several: list[tuple[Any, Any]], half: int) -> list[Any]:
    return [each[half] for each in several]


def _cut(values: Array, rows: int) -> list[Array]:
    return [values[part] for part in containers.chunks(len(values), rows)]


def _look_up(located: list[Located], positions: Array) -> Located:
    whole = [np.concatenate(each) for each in zip(*located, strict=True)]
    return Located(*(each[positions] for each in whole))
