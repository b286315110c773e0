"""Thresholds that keep a promise: of cases like the training cases, at most a given share comes out unknown."""

from __future__ import annotations

import numpy as np

from memclf._numbers import Array


def conformal_thresholds(similarity: Array, labels: Array, q: int, rate: float) -> Array:
    """One threshold per memory, from held-out similarities.

    The m-th smallest of n held-out similarities, m = floor(rate (n + 1)): a new case that is exchangeable with them
    falls below it with probability at most m / (n + 1), which is at most `rate`, whatever the distribution. A memory
    with too few cases for m to be 1 shares the threshold of all such memories together; when even those are too few,
    nothing is unknown to them.

    Parameters
    ----------
    similarity : ndarray of shape (n,)
        Of held-out cases to their nearest memory, the memories having been chosen without them.
    labels : ndarray of shape (n,)
        Number of the memory whose threshold each case helps to set.
    q : int
        Number of memories.
    rate : float
        Share that may come out unknown.

    Examples
    --------
    >>> conformal_thresholds(np.linspace(0.01, 1.0, 100), np.zeros(100, dtype=int), 2, 0.05)
    array([5.00000000e-002, 2.22507386e-308])
    """
    thresholds = np.full(q, np.finfo(float).tiny)
    small = []
    for k in range(q):
        own = similarity[labels == k]
        if _place(len(own), rate):
            thresholds[k] = _lowest(own, rate)
        else:
            small.append(k)
    together = similarity[np.isin(labels, small)]
    if _place(len(together), rate):
        thresholds[small] = _lowest(together, rate)
    return np.clip(thresholds, np.finfo(float).tiny, 1.0)


def _place(n: int, rate: float) -> int:
    return int(np.floor(rate * (n + 1) + 1e-12))


def _lowest(similarity: Array, rate: float) -> float:
    return float(np.sort(similarity)[_place(len(similarity), rate) - 1])
