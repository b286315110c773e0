"""Bootstrap intervals of means over test cases.

They are paired where two contenders answered the same cases. Test cases are resampled, each with all its conditions and
seeds, because its answers under fog and under snow are not two independent trials. Where cases come in groups (lesions
of one face), whole groups are resampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from memclf._numbers import Array

DRAWS = 2000
LEVEL = 0.95
CACHED = 4_000_000  # numbers of resamples that are cached for the next mean over as many cases

Summing = Callable[[Array], Array]


class Interval(NamedTuple):
    """A value and the ends of its interval."""

    value: float
    low: float
    high: float


@lru_cache(maxsize=8)  # drawing takes longer than the sums, and many means are over the same cases
def _cached_resamples(sizes: tuple[int, ...], draws: int, seed: int) -> list[Summing]:
    rng = np.random.default_rng(seed)
    drawn = [rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float32) for n in sizes]
    return [times.__matmul__ for times in drawn]


def _resamples(sizes: tuple[int, ...], draws: int, seed: int) -> Iterator[Summing]:
    """For each class a function from its cases' scores to their sum in each resample.

    It makes one resample at a time.
    """
    rng = np.random.default_rng(seed)
    for n in sizes:
        chances = np.full(n, 1 / n)

        def summed(scores: Array, n: int = n, chances: Array = chances) -> Array:
            return np.array([rng.multinomial(n, chances) @ scores for _ in range(draws)])

        yield summed


def mean_interval(
    right: Array,
    labels: Array | None = None,
    *,
    groups: Array | None = None,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = 0,
) -> Interval:
    """Mean score of the cases, with a percentile bootstrap interval.

    Parameters
    ----------
    right : ndarray of shape (n,) or (..., n)
        Scores of the cases, 0 and 1 or fractions; leading axes (conditions, seeds) are averaged first.
    labels : ndarray of shape (n,) or None
        With labels the mean is balanced: every class has the same weight, and cases are resampled within their class.
    groups : ndarray of shape (n,) or None
        Cases of one group are not independent: groups are resampled, each with all its cases.

    Examples
    --------
    >>> mean_interval(np.repeat([1.0, 0.0], 50))
    Interval(value=0.5, low=0.4, high=0.59)
    """
    right = np.asarray(right, dtype=np.float64)
    if not right.size:
        raise ValueError("there are no cases to resample")
    per_case = right.reshape(-1, right.shape[-1]).mean(axis=0)
    classes = [np.arange(len(per_case))]
    if labels is not None:
        classes = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    value = float(np.mean([per_case[rows].mean() for rows in classes]))
    resamples = _cached_resamples if draws * len(per_case) <= CACHED else _resamples
    if groups is not None:
        drawn = _resample_groups(per_case, classes, groups, resamples, draws, seed)
    else:
        every = zip(classes, resamples(tuple(map(len, classes)), draws, seed), strict=True)
        drawn = np.mean([summed(per_case[rows]) / len(rows) for rows, summed in every], axis=0)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value, float(low), float(high))


def _resample_groups(
    per_case: Array, classes: list[Array], groups: Array, resamples: Any, draws: int, seed: int
) -> Array:
    """Balanced means of resampled groups.

    For each class the drawn scores are divided by the number of drawn cases.
    """
    names, code = np.unique(groups, return_inverse=True)
    parts = [np.bincount(code[rows], w, len(names)) for rows in classes for w in (per_case[rows], None)]
    (summed,) = resamples((len(names),), draws, seed)
    found = summed(np.stack(parts, axis=1))
    scores, cases = found[:, ::2], found[:, 1::2]
    usual = np.array([per_case[rows].mean() for rows in classes])  # for a class of which no case is drawn
    share = np.divide(scores, cases, out=np.broadcast_to(usual, scores.shape).copy(), where=cases > 0)
    return np.asarray(share.mean(axis=1))


def seeds_interval(
    right: Array, *, groups: Array | None = None, draws: int = DRAWS, level: float = LEVEL, seed: int = 0
) -> Interval:
    """Mean score over seeds and cases; both are resampled, so that both count as chance.

    Parameters
    ----------
    right : ndarray of shape (seeds, n)
        Scores of the cases, one row for each seed. With one seed this is `mean_interval`. Two or three seeds say
        little about further ones, so the interval is rough then.
    groups : ndarray of shape (n,) or None
        Groups are resampled, each with all its cases.

    Examples
    --------
    >>> one, both = np.repeat([1.0, 0.0], 50), np.repeat([1.0, 0.0], [60, 40])
    >>> seeds_interval(np.array([one, both])).value
    0.55
    """
    right = np.asarray(right, dtype=np.float64)
    if right.ndim != 2 or not right.size:
        raise ValueError(f"scores must have the shape (seeds, cases), got {right.shape}")
    if len(right) == 1:
        return mean_interval(right, groups=groups, draws=draws, level=level, seed=seed)
    code = np.arange(right.shape[1]) if groups is None else np.unique(groups, return_inverse=True)[1]
    n = int(code.max()) + 1
    sums = [np.bincount(code, scores, n) for scores in (*right, np.ones(right.shape[1]))]
    (summed,) = (_cached_resamples if draws * n <= CACHED else _resamples)((n,), draws, seed)
    *drawn_scores, drawn_cases = summed(np.stack(sums, axis=1)).T
    times = np.random.default_rng([seed, 1]).multinomial(len(right), np.full(len(right), 1 / len(right)), size=draws)
    drawn = (np.array(drawn_scores).T * times).sum(axis=1) / drawn_cases / len(right)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(right.mean()), float(low), float(high))


def paired_interval(
    right: Array,
    other: Array,
    labels: Array | None = None,
    *,
    groups: Array | None = None,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = 0,
) -> Interval:
    """Mean difference between `right` and `other` on the same cases, with its interval.

    >>> better, worse = np.ones((3, 40)), np.repeat([1.0, 0.0], 20) * np.ones((3, 1))
    >>> paired_interval(better, worse)
    Interval(value=0.5, low=0.35, high=0.65)
    """
    right, other = np.asarray(right, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if right.shape != other.shape:
        raise ValueError(f"paired scores must be of the same cases and conditions, got {right.shape} and {other.shape}")
    return mean_interval(right - other, labels, groups=groups, draws=draws, level=level, seed=seed)
