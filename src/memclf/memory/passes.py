"""What is done with a block of cases in a pass over all of them.

These functions know a block and what they are given, nothing else: they run in threads of this process or on the
machines of a cluster. `part` are the rows of the block among all cases, `Z` its descriptions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from memclf._numbers import TOLERANCE, Array, first_best, reaches
from memclf.cases import containers
from memclf.cases.distinct import content_keys
from memclf.similarity.base import compared, nearest_two


class Located(NamedTuple):
    """For cases their memory, and how similar they are to it and to the next best."""

    near: Array
    best: Array
    next: Array


class Sums(NamedTuple):
    """What a block tells of its assignment to memories."""

    objective: float
    stands_for: Array  # the weight of the cases of each memory
    sizes: Array  # their number
    uncovered: Array  # rows below the threshold; none where they are not asked for
    tied: bool  # whether a case is equally similar to two memories


class Witnesses(NamedTuple):
    """Cases of a cluster by which candidates are judged; `next`: their next best similarity."""

    rows: Array
    weights: Array
    next: Array

    def first(self, size: int) -> Witnesses:
        """The first of them: as good a sample as all."""
        return Witnesses(self.rows[:size], self.weights[:size], self.next[:size])


def assign(
    similarity: Any, M: Any, memories: Array, threshold: float | None, part: slice, Z: Any, weights: Array | None
) -> tuple[Located, Sums]:
    """The most similar memory of each case of a block; with a threshold, the uncovered cases."""
    two = nearest_two(similarity, M, Z, memories, np.arange(part.start, part.stop))
    found = Located(two.near.astype(np.int32), two.best, two.next.astype(np.float32))
    weights = np.ones(len(two.best)) if weights is None else weights
    bare = np.zeros(0, dtype=np.intp)
    if threshold is not None:
        bare = part.start + np.flatnonzero(~reaches(two.best, threshold) & (weights > 0))
    q = len(memories)
    sizes = np.bincount(two.near, minlength=q)
    tied = bool((two.best - two.next <= TOLERANCE).any())
    return found, Sums(float(two.best @ weights), np.bincount(two.near, weights, q), sizes, bare, tied)


def find_keys(part: slice, Z: Any) -> Array:
    """A number per case that equal descriptions share."""
    return content_keys(Z)


def judge_members(
    similarity: Any,
    witnesses: list[Witnesses],
    described: list[Any],
    size: int,
    part: slice,
    Z: Any,
    found: Located,
    may: Array | None,
) -> list[tuple[int, Array, Array]]:
    """Of each cluster the cases of a block that are best for its witnesses: number, rows, worth."""
    q = len(witnesses)
    near = found.near if may is None else np.where(may, found.near, q)
    kept = []
    for k, members in enumerate(by_cluster(near, q)):
        if len(members) and described[k] is not None:
            rows = members + part.start
            worth = measure_worth(similarity, containers.take(Z, members), rows, described[k], witnesses[k])
            best = largest(worth, size)
            kept.append((k, rows[best], worth[best]))
    return kept


def measure_worth(similarity: Any, cases: Any, rows: Array, Z: Any, witnesses: Witnesses) -> Array:
    """Mean similarity of the witnesses with each case in place of their memory; none is its own."""
    served = compared(similarity, cases, Z, rows, witnesses.rows)
    served = np.maximum(served, witnesses.next)
    itself = rows[:, None] == witnesses.rows
    served[itself] = 0.0
    left = witnesses.weights.sum() - itself @ witnesses.weights
    return np.asarray(served @ witnesses.weights / np.maximum(left, np.finfo(float).tiny))


def find_stand_ins(similarity: Any, B: Any, others: Array, part: slice, Z: Any, allowed: Array) -> tuple[Array, Array]:
    """The allowed cases of a block that are most similar to some others: similarities and rows."""
    positions = np.flatnonzero(allowed)
    if not len(positions):
        return np.zeros(len(others)), np.zeros(len(others), dtype=np.intp)
    rows = positions + part.start
    alike = compared(similarity, containers.take(Z, positions), B, rows, others)
    best = first_best(alike)
    return alike[best, np.arange(len(others))], rows[best]


def strike_out(
    similarity: Any, M: Any, memories: Array, drawn: Array, threshold: float, part: slice, Z: Any, is_left: Array | None
) -> tuple[Array, tuple[int, Array]]:
    """Which cases of a block stay uncovered, how many were compared, and the rows that are left.

    The cases that the memories were drawn from are covered, whatever the threshold.
    """
    is_left = np.ones(containers.count(Z), dtype=bool) if is_left is None else is_left.copy()
    is_left[_inside(drawn, part)] = False
    positions = np.flatnonzero(is_left)
    if len(positions):
        rows = positions + part.start
        best = nearest_two(similarity, M, containers.take(Z, positions), memories, rows).best
        is_left[positions[reaches(best, threshold)]] = False
    return is_left, (len(positions), part.start + np.flatnonzero(is_left))


def count_covers(
    similarity: Any, M: Any, memories: Array, threshold: float, part: slice, Z: Any, times: Array | None
) -> tuple[Array, Array]:
    """How many memories cover each case of a block, and how many cases each memory covers."""
    covered = _covered(similarity, M, memories, threshold, part, Z)
    found = covered.sum(axis=0, dtype=np.int32)
    return found if times is None else times + found, covered.sum(axis=1)


class Covers(NamedTuple):
    """For each case how many memories cover it, and one bit for each of some memories that does."""

    times: Array
    bits: Array


def find_bits(
    similarity: Any,
    M: Any,
    memories: Array,
    threshold: float,
    dropped: np.uint64,
    part: slice,
    Z: Any,
    times: Array,
    before: Covers | None,
    is_counted: Array | None,
) -> tuple[Covers, Array]:
    """Take dropped memories from the counts; then one bit per case and memory of the next few.

    What travels are the distinct bits of cases that no other memories cover: they alone forbid to drop memories.
    """
    times = times if before is None else before.times - count_bits(before.bits & dropped)
    covered = _covered(similarity, M, memories, threshold, part, Z)
    bits = (np.uint64(1) << np.arange(len(memories), dtype=np.uint64)) @ covered
    alone = times == covered.sum(axis=0)
    alone = alone if is_counted is None else alone & is_counted
    return Covers(times, bits), np.unique(bits[alone])


def count_bits(bits: Array) -> Array:
    """The number of bits that are set in each 64-bit number.

    >>> count_bits(np.array([0, 5, 2**63], dtype=np.uint64))
    array([0, 2, 1], dtype=int32)
    """
    eights = np.ascontiguousarray(bits).view(np.uint8).reshape(len(bits), 8)
    return np.unpackbits(eights, axis=1).sum(axis=1, dtype=np.int32)


def by_cluster(near: Array, q: int) -> list[Array]:
    """The positions of each cluster's cases, in their order."""
    order = np.argsort(near, kind="stable")
    ends = np.searchsorted(near[order], np.arange(q + 1))
    return [order[ends[k] : ends[k + 1]] for k in range(q)]


def largest(values: Array, size: int) -> Array:
    """Positions of the largest values, in no order."""
    return np.arange(len(values)) if len(values) <= size else np.argpartition(-values, size)[:size]


def _inside(rows: Array, part: slice) -> Array:
    """Positions in a block of those rows that lie in it."""
    return rows[(rows >= part.start) & (rows < part.stop)] - part.start


def _covered(similarity: Any, M: Any, memories: Array, threshold: float, part: slice, Z: Any) -> Array:
    covered = reaches(compared(similarity, M, Z, memories, np.arange(part.start, part.stop)), threshold)
    own = np.flatnonzero((memories >= part.start) & (memories < part.stop))
    covered[own, memories[own] - part.start] = True
    return covered
