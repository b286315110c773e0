"""First memories: enough that every case is within the threshold of one (Algorithm 2).

Each function returns positions of memories, those that are given first. `spread` and `greedy_spread` are for a fixed
number of memories. Only `allowed` cases become memories; a cover need not cover those that no allowed case covers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memclf._numbers import Array, first_largest, reaches, rounding
from memclf.cases import containers
from memclf.memory.columns import BLOCK, Columns
from memclf.memory.wishes import Places

TRIES = 4  # candidates per step of `spread`, as in greedy k-means++


def find_uncoverable(columns: Columns, threshold: float, allowed: Array) -> Array:
    """Positions of the cases that no allowed case covers. An allowed one covers itself."""
    others, candidates = np.flatnonzero(~allowed), np.flatnonzero(allowed)
    best = np.zeros(len(others))
    for part in containers.chunks(len(candidates) if len(others) else 0, max(1, BLOCK // max(1, len(others)))):
        best = np.maximum(best, columns.compare(candidates[part], others).max(axis=0))
    return others[~reaches(best, threshold)]


def random_cover(
    columns: Columns,
    threshold: float,
    rng: np.random.Generator,
    places: Places | None = None,
    excused: Array | None = None,
) -> Array:
    """Add a random uncovered case to the memories, until every case is covered.

    The memory itself always counts as covered, so this ends for any threshold (spec, A8). Memories that the
    later ones have made superfluous are dropped.
    """
    places = Places.none(columns.n) if places is None else places
    memories, covers = draw_cover(columns, threshold, rng, places, excused)
    return _needed(memories, covers, columns.n, len(places.given))


def draw_cover(
    columns: Columns,
    threshold: float,
    rng: np.random.Generator,
    places: Places | None = None,
    excused: Array | None = None,
) -> tuple[Array, list[Array]]:
    """The same with all memories that were drawn, and for each the cases that it covers."""
    places = Places.none(columns.n) if places is None else places
    memories: list[int] = []
    covers: list[Array] = []
    uncovered = np.ones(columns.n, dtype=bool)
    given = places.given.tolist()
    if excused is not None:
        uncovered[excused] = False
    while given or uncovered.any():
        if given:
            position = given.pop(0)
        else:
            left = np.flatnonzero(uncovered)
            position = int(left[rng.integers(len(left))])
            if not places.allowed[position]:
                uncovered[position] = False
                position = _draw_stand_in(columns, position, threshold, places.allowed, rng)
        column = columns.block(np.array([position]))[0]
        columns.own(position, column[position], threshold)
        covered = reaches(column, threshold)
        covered[position] = True
        memories.append(position)
        covers.append(np.flatnonzero(covered))
        uncovered[covered] = False
    return np.array(memories), covers


def _draw_stand_in(columns: Columns, position: int, threshold: float, allowed: Array, rng: np.random.Generator) -> int:
    """A random allowed case that covers a case that is not allowed."""
    candidates = np.flatnonzero(allowed)
    able = candidates[reaches(columns.compare(candidates, np.array([position]))[:, 0], threshold)]
    return int(able[rng.integers(len(able))])


def _needed(memories: Array, covers: list[Array], n: int, n_given: int) -> Array:
    """The given memories and those that are needed beside them; the smallest covers go first."""
    times = np.zeros(n, dtype=np.intp)
    for covered in covers:
        times[covered] += 1
    keep = np.ones(len(memories), dtype=bool)
    for k in np.argsort([len(covered) for covered in covers], kind="stable"):
        if k >= n_given and (times[covers[k]] > 1).all():
            times[covers[k]] -= 1
            keep[k] = False
    return memories[keep]


def greedy_cover(
    columns: Columns, threshold: float, weights: Array, places: Places | None = None, excused: Array | None = None
) -> Array:
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
    places = Places.none(columns.n) if places is None else places
    uncovered = np.ones(columns.n)
    if excused is not None:
        uncovered[excused] = 0.0
    memories = _greedy(columns, weights, uncovered, worth, absorb, places)
    return _needed(memories, covers, columns.n, len(places.given))


def greedy_spread(columns: Columns, n_memories: int, weights: Array, places: Places | None = None) -> Array:
    """Add the case that raises the objective most, `n_memories` times (PAM's BUILD)."""
    count = 0

    def worth(block: Array, best: Array) -> Array:
        return np.maximum(block - best, 0.0)

    def absorb(position: int, best: Array) -> tuple[Array, bool]:
        nonlocal count
        count += 1
        return np.maximum(best, columns.block(np.array([position]))[0]), count < n_memories

    places = Places.none(columns.n) if places is None else places
    return _greedy(columns, weights, np.zeros(columns.n), worth, absorb, places)


def _greedy(
    columns: Columns,
    weights: Array,
    state: Array,
    worth: Callable[[Array, Array], Array],
    absorb: Callable[[int, Array], tuple[Array, bool]],
    places: Places,
) -> Array:
    """Take the candidate of largest total worth, again and again.

    A candidate's worth for a case depends on their similarity and the case's state. After each choice only
    the cases whose state has changed are looked at anew, which happens to a covered case just once.
    """
    everyone = np.arange(columns.n)
    memories: list[int] = places.given.tolist()
    more = bool(places.allowed.any())
    for position in memories:
        state, more = absorb(position, state)
    if not more:
        return np.array(memories, dtype=np.intp)
    gain = np.concatenate([worth(block, state) @ weights for _, block in columns.blocks(everyone)])
    gain[memories], gain[~places.allowed] = -np.inf, -np.inf
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
    columns: Columns,
    n_memories: int,
    weights: Array,
    rng: np.random.Generator,
    given: Array | None = None,
    allowed: Array | None = None,
) -> Array:
    """Draw `n_memories` cases, those that are less similar to memories with more probability."""
    memories = [] if given is None else [int(position) for position in given]
    best = columns.block(np.array(memories)).max(axis=0) if memories else np.zeros(columns.n)
    while len(memories) < n_memories:
        closed = np.zeros(columns.n, dtype=bool) if allowed is None else ~allowed
        closed[memories] = True
        chance = np.where(closed, 0.0, weights * (1 - best))
        if not chance.sum() > 0:  # everything is fully represented already: any further case will do
            chance = np.where(closed, 0.0, 1.0)
        drawn = rng.choice(columns.n, size=TRIES if memories else 1, p=chance / chance.sum())
        block = columns.block(drawn)
        better = np.maximum(block - best, 0.0) @ weights
        winner = first_largest(better, rounding(weights))
        memories.append(int(drawn[winner]))
        best = np.maximum(best, block[winner])
    return np.array(memories)
