"""A cover of very many cases: covers of samples of what is left, until nothing is left.

A greedy cover of a sample covers all but about q of m cases like those of the sample. One pass over all cases finds
what is left, which is covered in the same way. Covering the leftovers keeps the promise of the threshold for every
case. Memories that later ones have made superfluous are dropped.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from memclf._numbers import Array
from memclf.cases import distinct
from memclf.memory import cover as covers
from memclf.memory import passes
from memclf.memory.blocks import Blocks, Kept
from memclf.memory.sampling import Population

TOGETHER = 64  # memories whose cases are held at once, one bit each


def wide_cover(
    blocks: Blocks, population: Population, threshold: float, sample: int, rng: np.random.Generator
) -> Array:
    """Rows of memories such that every case is within the threshold of one."""
    memories = np.zeros(0, dtype=np.intp)
    left, is_counted = population, blocks.split(population.mask(blocks.n))
    is_left = is_counted
    while len(left):
        rows = left.draw(sample, rng).rows
        rows = rows[distinct(blocks.take(rows))[0]]  # in an order that depends on the descriptions alone
        columns = blocks.columns(rows)
        if blocks.lawful:
            found = covers.greedy_cover(columns, threshold, np.ones(columns.n))
        else:
            found = covers.random_cover(columns, threshold, rng)
        blocks.n_evaluations += columns.n_evaluations
        new = rows[found]
        memories = np.concatenate([memories, new])
        work = partial(passes.strike_out, blocks.similarity, blocks.take(new), new, rows, threshold)
        is_left, told = blocks.keep(work, is_left)
        blocks.n_evaluations += sum(compared for compared, _ in told) * len(new)
        remaining = np.zeros(blocks.n, dtype=bool)
        remaining[np.concatenate([some for _, some in told])] = True
        left = left.restrict(remaining[left.rows])
    return _needed(blocks, is_counted, memories, threshold)


def _needed(blocks: Blocks, is_counted: Kept, memories: Array, threshold: float) -> Array:
    """The memories without those whose cases others cover; the smallest covers go first."""
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
        drop = _superfluous(np.unique(np.concatenate(patterns)), len(some))
        keep[some[drop]] = False
        dropped = np.bitwise_or.reduce(np.uint64(1) << np.flatnonzero(drop).astype(np.uint64), initial=np.uint64(0))
    blocks.n_evaluations += 2 * blocks.n * len(memories)
    return memories[keep]


def _superfluous(patterns: Array, n: int) -> Array:
    """Which of n memories can go one after the other; each pattern has the bits of all that cover a case."""
    covers_of = (patterns[:, None] >> np.arange(n, dtype=np.uint64)) & np.uint64(1) == 1
    times = covers_of.sum(axis=1)
    drop = np.zeros(n, dtype=bool)
    for j in range(n):
        mine = covers_of[:, j]
        if (times[mine] > 1).all():
            times[mine] -= 1
            drop[j] = True
    return drop


def _parts(memories: Array) -> list[Array]:
    return [memories[start : start + TOGETHER] for start in range(0, len(memories), TOGETHER)]
