"""Thresholds that keep a promise: of cases like the training cases, at most a given share comes out unknown."""

from __future__ import annotations

import numpy as np

from memclf._numbers import TOLERANCE, Array

ENOUGH = 10  # cases beside the memories from which on clusters tell how wide they are
FEW = 5  # cases of average width that are added to every cluster, so that small ones share
TINY = np.finfo(float).tiny


def widths(similarity: Array, labels: Array, q: int) -> Array:
    """How wide the cluster of each memory is: the mean of -log(similarity) of its cases, drawn towards that of all.

    The memory itself does not count. Where hardly a case lies beside the memories, or all are alike, clusters tell
    nothing (`tell_widths`) and are all of width 1.
    """
    if not tell_widths(similarity, q):
        return np.ones(q)
    apart = distance(similarity)
    sizes = np.maximum(np.bincount(labels, minlength=q) - 1, 0)
    sums = np.bincount(labels, weights=apart, minlength=q)
    usual = apart.sum() / max(1, sizes.sum())
    return np.asarray((sums + FEW * usual) / (sizes + FEW))


def tell_widths(similarity: Array, q: int) -> bool:
    """Whether enough cases lie beside their memories, and apart from them, to say how wide clusters are."""
    return len(similarity) - q >= ENOUGH and float(distance(similarity).sum()) > q * TOLERANCE


def distance(similarity: Array) -> Array:
    """-log(similarity), which for RBF is the squared distance."""
    return -np.log(np.maximum(similarity, TINY))


def conformal_thresholds(held: Array, wide: Array, rate: float) -> Array:
    """One threshold per memory, such that at most `rate` of new cases fall below theirs.

    How far a case is from its memory is measured in widths of the memory's cluster, so that memories can be compared.
    The common bound is the m-th largest of n held-out distances, m = floor(rate (n + 1)): a new case that is
    exchangeable with them is farther with probability at most m / (n + 1), which is at most `rate`. When n is too
    small for m to be 1, nothing is unknown.

    Parameters
    ----------
    held : ndarray
        Distances of held-out cases in widths, each by memories and clusters that were found without it; infinite for
        those that are unknown for another reason, which comes out of the same rate.
    wide : ndarray
        `widths` of the memories that thresholds are wanted for.
    rate : float
        Share that may come out unknown.

    Examples
    --------
    >>> conformal_thresholds(np.linspace(0.1, 3.0, 99), np.array([0.1, 0.2]), 0.05).round(2)
    array([0.75, 0.56])
    """
    place = int(np.floor(rate * (len(held) + 1) + 1e-12))
    bound = np.sort(held)[-place] if place else np.inf
    return np.clip(np.exp(-bound * wide), TINY, 1.0)
