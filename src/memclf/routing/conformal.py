"""Thresholds that keep a promise: of cases like the training cases, at most a given share comes out unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memclf._numbers import Array

FEW = 20  # cases; the memories of smaller clusters share what is usual


@dataclass(frozen=True)
class Usual:
    """Which similarities are usual in the cluster of each memory.

    Attributes
    ----------
    values, levels : lists of ndarray
        For each memory similarities in ascending order, and the share of its cluster that is less similar.
    """

    values: list[Array]
    levels: list[Array]

    @classmethod
    def of(cls, similarity: Array, labels: Array, q: int) -> Usual:
        """From the similarities of training cases to their memories; small clusters are told together."""
        sizes = np.bincount(labels, minlength=q)
        together = similarity[np.isin(labels, np.flatnonzero(sizes < FEW))]
        found = [_levels(similarity[labels == k] if sizes[k] >= FEW else together) for k in range(q)]
        return cls([values for values, _ in found], [levels for _, levels in found])

    def level(self, similarity: Array, memory: Array) -> Array:
        """Share of the memory's cluster that is less similar than each case, from 0 to 1."""
        out = np.empty(len(similarity))
        for k in np.unique(memory):
            rows = memory == k
            out[rows] = np.interp(similarity[rows], self.values[k], self.levels[k])
        return out

    def at(self, level: float) -> Array:
        """For each memory the similarity that has this level."""
        return np.array([np.interp(level, ls, vs) for vs, ls in zip(self.values, self.levels, strict=True)])


def conformal_thresholds(held: Array, usual: Usual, rate: float) -> Array:
    """One threshold per memory, such that at most `rate` of new cases fall below theirs.

    A case's level says how unusual its similarity is for the memory it goes to, so that levels of different memories
    can be compared. The common level is the m-th smallest of n held-out ones, m = floor(rate (n + 1)): a new case that
    is exchangeable with them has a smaller one with probability at most m / (n + 1), which is at most `rate`. When n
    is too small for m to be 1, nothing is unknown.

    Parameters
    ----------
    held : ndarray
        Levels of held-out cases, each by memories and clusters that were found without it.
    usual : Usual
        Of the memories that thresholds are wanted for.
    rate : float
        Share that may come out unknown.

    Examples
    --------
    >>> usual = Usual.of(np.linspace(0.1, 1.0, 99), np.zeros(99, dtype=int), 1)
    >>> conformal_thresholds(np.linspace(0.01, 1.0, 100), usual, 0.05).round(2)
    array([0.14])
    """
    place = int(np.floor(rate * (len(held) + 1) + 1e-12))
    thresholds = usual.at(float(np.sort(held)[place - 1])) if place else np.zeros(len(usual.values))
    return np.clip(thresholds, np.finfo(float).tiny, 1.0)


def _levels(similarity: Array) -> tuple[Array, Array]:
    """Distinct similarities and their levels; the ends are 0 and 1."""
    values, counts = np.unique(np.concatenate([similarity, [1.0]]), return_counts=True)
    levels = np.cumsum(counts) / (len(similarity) + 1)
    if values[0] > 0:
        values, levels = np.concatenate([[0.0], values]), np.concatenate([[0.0], levels])
    return values, levels
