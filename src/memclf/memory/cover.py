"""First memories: enough that every case is within the threshold of one (Algorithm 2).

Each function returns positions of memories. `spread` and `greedy_spread` are for a fixed number of memories.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memclf._numbers import Array, first_largest, reaches, rounding
from memclf.cases import containers
from memclf.memory.columns import BLOCK, Columns

TRIES = 4  # candidates per step of `spread`, as in greedy k-means++


def random_cover(columns: Columns, threshold: float, rng: np.random.Generator) -> Array:
    """Add a random uncovered case to the memories, until every case is covered.

    The memory itself always counts as covered, so this ends for any threshold (spec, A8). Memories that the
    later ones have made superfluous are dropped.
    """
    memories, covers = draw_cover(columns, threshold, rng)
    return _needed(memories, covers, columns.n)


def draw_cover(columns: Columns, threshold: float, rng: np.random.Generator) -> tuple[Array, list[Array]]:
    """The same with all memories that were drawn, and for each the cases that it covers."""
    memories: list[int] = []
    covers: list[Array] = []
    uncovered = np.ones(columns.n, dtype=bool)
    while uncovered.any():
        left = np.flatnonzero(uncovered)
        position = int(left[rng.integers(len(left))])
        column = columns.block(np.array([position]))[0]
        columns.own(position, column[position], threshold)
        covered = reaches(column, threshold)
        covered[position] = True
        memories.append(position)
        covers.append(np.flatnonzero(covered))
        uncovered[covered] = False
    return np.array(memories), covers


def _needed(memories: Array, covers: list[Array], n: int) -> Array:
    """The memories without those whose cases others cover; the smallest covers go first."""
    times = np.zeros(n, dtype=np.intp)
    for covered in covers:
        times[covered] += 1
    keep = np.ones(len(memories), dtype=bool)
    for k in np.argsort([len(covered) for covered in covers], kind="stable"):
        if (times[covers[k]] > 1).all():
            times[covers[k]] -= 1
            keep[k] = False
    return memories[keep]


def greedy_cover(columns: Columns, threshold: float, weights: Array) -> Array:
    """Add the case that covers most uncovered cases to the memories, until all are covered.

    Compares all pairs about twice (never held together), and reaches the threshold with fewer memories.
    Among cases that cover equally much, the one more similar to what it covers wins.
    """

    def worth(block: Array, uncovered: Array) -> Array:
        return np.asarray(reaches(block, threshold) * (1 + 1e-6 * block) * uncovered)

    def absorb(position: int, uncovered: Array) -> tuple[Array, bool]:
        column = columns.block(np.array([position]))[0]
        columns.own(position, column[position], threshold)
        covered = reaches(column, threshold)
        covered[position] = True
        covers.append(np.flatnonzero(covered))
        left = np.where(covered, 0.0, uncovered)
        return left, bool(left.any())

    covers: list[Array] = []
    memories = _greedy(columns, weights, np.ones(columns.n), worth, absorb)
    return _needed(memories, covers, columns.n)


def greedy_spread(columns: Columns, n_memories: int, weights: Array) -> Array:
    """Add the case that raises the objective most, `n_memories` times (PAM's BUILD)."""
    count = 0

    def worth(block: Array, best: Array) -> Array:
        return np.maximum(block - best, 0.0)

    def absorb(position: int, best: Array) -> tuple[Array, bool]:
        nonlocal count
        count += 1
        return np.maximum(best, columns.block(np.array([position]))[0]), count < n_memories

    return _greedy(columns, weights, np.zeros(columns.n), worth, absorb)


def _greedy(
    columns: Columns,
    weights: Array,
    state: Array,
    worth: Callable[[Array, Array], Array],
    absorb: Callable[[int, Array], tuple[Array, bool]],
) -> Array:
    """Take the candidate of largest total worth, again and again.

    A candidate's worth for a case depends on their similarity and the case's state. After each choice only
    the cases whose state has changed are looked at anew, which happens to a covered case just once.
    """
    everyone = np.arange(columns.n)
    gain = np.concatenate([worth(block, state) @ weights for _, block in columns.blocks(everyone)])
    memories: list[int] = []
    more = True
    while more:
        position = first_largest(gain, rounding(weights))
        memories.append(position)
        new, more = absorb(position, state)
        changed = np.flatnonzero(new != state)
        for part in containers.chunks(columns.n if more else 0, max(1, BLOCK // max(1, len(changed)))):
            block = columns.block(everyone[part], changed)
            gain[part] += (worth(block, new[changed]) - worth(block, state[changed])) @ weights[changed]
        gain[memories] = -np.inf
        state = new
    return np.array(memories)


def spread(
    columns: Columns, n_memories: int, weights: Array, rng: np.random.Generator, given: Array | None = None
) -> Array:
    """Draw `n_memories` cases, those that are less similar to memories with more probability."""
    memories = [] if given is None else [int(position) for position in given]
    best = columns.block(np.array(memories)).max(axis=0) if memories else np.zeros(columns.n)
    while len(memories) < n_memories:
        chance = weights * (1 - best)
        chance[memories] = 0.0
        if not chance.sum() > 0:  # everything is fully represented already: any further case will do
            chance = np.ones(columns.n)
            chance[memories] = 0.0
        drawn = rng.choice(columns.n, size=TRIES if memories else 1, p=chance / chance.sum())
        block = columns.block(drawn)
        better = np.maximum(block - best, 0.0) @ weights
        winner = first_largest(better, rounding(weights))
        memories.append(int(drawn[winner]))
        best = np.maximum(best, block[winner])
    return np.array(memories)
