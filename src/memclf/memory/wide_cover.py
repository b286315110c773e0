"""A cover of very many cases: covers of samples of what is left, until nothing is left.

A greedy cover of a sample covers all but about q of m cases like those of the sample. One pass over all cases finds
what is left, which is covered in the same way. Covering the leftovers keeps the promise of the threshold for every
case. Memories that later ones have made superfluous are dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from memclf._numbers import Array, first_best, reaches
from memclf.cases import distinct
from memclf.memory import cover as covers
from memclf.memory.blocks import Blocks
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
    memories, allowed = places.given, places.allowed[population.rows]
    is_left = np.zeros(blocks.n, dtype=bool)
    is_left[population.rows] = True
    is_left[memories] = False
    if len(memories):
        _strike_out(blocks, is_left, memories, threshold)
    left = population.restrict(allowed & is_left[population.rows])
    while len(left):
        rows = left.draw(sample, rng).rows
        rows = rows[distinct(blocks.take(rows))[0]]  # in an order that depends on the descriptions alone
        columns = blocks.columns(rows)
        if blocks.lawful:
            found = covers.greedy_cover(columns, threshold, np.ones(columns.n))
        else:
            found = covers.random_cover(columns, threshold, rng)
        blocks.n_evaluations += columns.n_evaluations
        memories = np.concatenate([memories, rows[found]])
        is_left[rows] = False  # a case that covers itself is covered, whatever the threshold
        _strike_out(blocks, is_left, rows[found], threshold)
        left = left.restrict(is_left[left.rows])
    bare = population.rows[~allowed & is_left[population.rows]]
    more, uncoverable = find_stand_ins(blocks, bare, places.allowed, threshold)
    memories = np.concatenate([memories, np.setdiff1d(more, memories)])
    return _needed(blocks, population, memories, threshold, len(places.given)), uncoverable


def find_stand_ins(blocks: Blocks, bare: Array, allowed: Array, threshold: float) -> tuple[Array, Array]:
    """The most similar allowed cases of cases that are not, and rows of those that none covers."""
    found, uncoverable = [NONE], [NONE]
    for some in _parts(bare):
        B = blocks.take(some)

        def work(part: slice, Z: Any, B: Any = B, some: Array = some) -> tuple[Array, Array]:
            rows = np.flatnonzero(allowed[part])
            if not len(rows):
                return np.zeros(len(some)), np.zeros(len(some), dtype=np.intp)
            alike = blocks.compare(blocks.pick(Z, rows), B, rows + part.start, some)
            best = first_best(alike)
            return alike[best, np.arange(len(some))], rows[best] + part.start

        values, rows = (np.array(each) for each in zip(*blocks.map(work), strict=True))
        blocks.n_evaluations += int(allowed.sum()) * len(some)
        best = first_best(values)
        reached = reaches(values.max(axis=0), threshold)
        found.append(np.unique(rows[best, np.arange(len(some))][reached]))
        uncoverable.append(some[~reached])
    return np.unique(np.concatenate(found)), np.concatenate(uncoverable)


def _strike_out(blocks: Blocks, is_left: Array, memories: Array, threshold: float) -> None:
    """Mark the cases that these memories cover as covered."""
    M = blocks.take(memories)

    def work(part: slice, Z: Any) -> int:
        positions = np.flatnonzero(is_left[part])
        if len(positions):
            rows = positions + part.start
            best = blocks.nearest(M, blocks.pick(Z, positions), memories, rows).best
            is_left[rows[reaches(best, threshold)]] = False
        return len(positions)

    blocks.n_evaluations += sum(blocks.map(work)) * len(memories)


def _needed(blocks: Blocks, population: Population, memories: Array, threshold: float, n_given: int) -> Array:
    """The given memories and those that are needed beside them; the smallest covers go first."""
    times = np.zeros(blocks.n, dtype=np.int32)
    sizes = np.concatenate([_covered(blocks, some, threshold, times)[1] for some in _parts(memories)])
    keep = np.ones(len(memories), dtype=bool)
    is_counted = np.zeros(blocks.n, dtype=bool)
    is_counted[population.rows] = True
    order = np.argsort(sizes, kind="stable")
    for some in _parts(order):
        bits, _ = _covered(blocks, memories[some], threshold, None)
        for j, k in enumerate(some):
            mine = np.flatnonzero((bits >> np.uint64(j)) & np.uint64(1) & is_counted)
            mine = np.union1d(mine, memories[k])
            if k >= n_given and (times[mine] > 1).all():
                times[mine] -= 1
                keep[k] = False
    return memories[keep]


def _parts(memories: Array) -> list[Array]:
    return [memories[start : start + TOGETHER] for start in range(0, len(memories), TOGETHER)]


def _covered(blocks: Blocks, memories: Array, threshold: float, times: Array | None) -> tuple[Array, Array]:
    """For every case one bit per memory that covers it, and how many cases each covers."""
    M = blocks.take(memories)
    bits = np.zeros(blocks.n, dtype=np.uint64)
    value = np.uint64(1) << np.arange(len(memories), dtype=np.uint64)

    def work(part: slice, Z: Any) -> Array:
        rows = np.arange(part.start, part.stop)
        covered = reaches(blocks.compare(M, Z, memories, rows), threshold)
        inside = np.flatnonzero((memories >= part.start) & (memories < part.stop))
        covered[inside, memories[inside] - part.start] = True
        bits[part] = value @ covered
        if times is not None:
            times[part] += covered.sum(axis=0, dtype=np.int32)
        return covered.sum(axis=1)

    sizes = np.sum(blocks.map(work), axis=0)
    blocks.n_evaluations += blocks.n * len(memories)
    return bits, sizes
