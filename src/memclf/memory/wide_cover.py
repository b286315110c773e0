"""A cover of very many cases: covers of samples of what is left, until nothing is left.

A greedy cover of a sample covers all but about q of m cases like those of the sample. One pass over all cases finds
what is left, which is covered in the same way. Covering the leftovers keeps the promise of the threshold for every
case. Memories that later ones have made superfluous are dropped.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from memclf._numbers import Array, first_best, reaches
from memclf.cases import distinct
from memclf.memory import cover as covers
from memclf.memory import passes
from memclf.memory.blocks import Blocks, Kept
from memclf.memory.sampling import Population
from memclf.memory.wishes import NONE, Places

TOGETHER = 64  # memories whose cases are held at once, one bit each


def wide_cover(
    blocks: Blocks, population: Population, threshold: float, sample: int, rng: np.random.Generator, places: Places
) -> tuple[Array, Array]:
    """Rows of memories such that every case is within the threshold of one.

    Also returns the rows of cases that no allowed case covers. Only allowed cases are drawn as memories; what is left
    of the others then gets the most similar allowed case.
    """
    is_counted = blocks.split(population.mask(blocks.n))
    left = _Left(blocks, is_counted, population, threshold)
    memories = places.given
    if len(memories):
        left.strike_out(memories, memories)
    while len(candidates := left.cases.restrict(places.allowed[left.cases.rows])):
        rows = candidates.draw(sample, rng).rows
        rows = rows[distinct(blocks.take(rows))[0]]  # in an order that depends on the descriptions alone
        columns = blocks.columns(rows)
        if blocks.lawful:
            found = covers.greedy_cover(columns, threshold, np.ones(columns.n))
        else:
            found = covers.random_cover(columns, threshold, rng)
        blocks.n_evaluations += columns.n_evaluations
        memories = np.concatenate([memories, rows[found]])
        left.strike_out(rows[found], rows)
    more, uncoverable = find_stand_ins(blocks, left.cases.rows, places.allowed, threshold)
    memories = np.concatenate([memories, np.setdiff1d(more, memories)])
    return _needed(blocks, is_counted, memories, threshold, len(places.given)), uncoverable


class _Left:
    """The cases that no memory covers yet."""

    def __init__(self, blocks: Blocks, is_counted: Kept, cases: Population, threshold: float):
        self.blocks, self.cases, self.threshold = blocks, cases, threshold
        self._is_left = is_counted

    def strike_out(self, memories: Array, drawn: Array) -> None:
        """Leave out what these memories cover, and the cases that they were drawn from."""
        blocks = self.blocks
        work = partial(passes.strike_out, blocks.similarity, blocks.take(memories), memories, drawn, self.threshold)
        self._is_left, told = blocks.keep(work, self._is_left)
        blocks.n_evaluations += sum(compared for compared, _ in told) * len(memories)
        remaining = np.zeros(blocks.n, dtype=bool)
        remaining[np.concatenate([rows for _, rows in told])] = True
        self.cases = self.cases.restrict(remaining[self.cases.rows])


def find_stand_ins(blocks: Blocks, bare: Array, allowed: Array, threshold: float) -> tuple[Array, Array]:
    """The most similar allowed cases of cases that are not, and rows of those that none covers."""
    found, uncoverable = [NONE], [NONE]
    own = blocks.split(allowed) if len(bare) else None
    for some in _parts(bare):
        told = blocks.map(partial(passes.find_stand_ins, blocks.similarity, blocks.take(some), some), own)
        values, rows = (np.array(each) for each in zip(*told, strict=True))
        blocks.n_evaluations += int(allowed.sum()) * len(some)
        best = first_best(values)
        reached = reaches(values.max(axis=0), threshold)
        found.append(np.unique(rows[best, np.arange(len(some))][reached]))
        uncoverable.append(some[~reached])
    return np.unique(np.concatenate(found)), np.concatenate(uncoverable)


def _needed(blocks: Blocks, is_counted: Kept, memories: Array, threshold: float, n_given: int) -> Array:
    """The given memories and those that are needed beside them; the smallest covers go first."""
    times, sizes = None, []
    for some in _parts(memories):
        work = partial(passes.count_covers, blocks.similarity, blocks.take(some), some, threshold)
        times, told = blocks.keep(work, times)
        sizes.append(np.sum(told, axis=0))
    keep = np.ones(len(memories), dtype=bool)
    before, dropped = None, np.uint64(0)
    for some in _parts(np.argsort(np.concatenate(sizes), kind="stable")):
        rows = memories[some]
        look = partial(passes.find_bits, blocks.similarity, blocks.take(rows), rows, threshold, dropped)
        before, patterns = blocks.keep(look, times, before, is_counted)
        drop = _superfluous(np.unique(np.concatenate(patterns)), some >= n_given)
        keep[some[drop]] = False
        dropped = np.bitwise_or.reduce(np.uint64(1) << np.flatnonzero(drop).astype(np.uint64), initial=np.uint64(0))
    blocks.n_evaluations += 2 * blocks.n * len(memories)
    return memories[keep]


def _superfluous(patterns: Array, may_go: Array) -> Array:
    """Which memories can go one by one; a pattern has a bit for each that covers a case."""
    n = len(may_go)
    covers_of = (patterns[:, None] >> np.arange(n, dtype=np.uint64)) & np.uint64(1) == 1
    times = covers_of.sum(axis=1)
    drop = np.zeros(n, dtype=bool)
    for j in np.flatnonzero(may_go):
        mine = covers_of[:, j]
        if (times[mine] > 1).all():
            times[mine] -= 1
            drop[j] = True
    return drop


def _parts(memories: Array) -> list[Array]:
    return [memories[start : start + TOGETHER] for start in range(0, len(memories), TOGETHER)]
