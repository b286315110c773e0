"""Scores of single measurements: separation of classes, steadiness, overlap."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from memclf._numbers import Array

SHRUNK = 0.05  # of the correlations, so that measurements that follow from each other do not divide by zero
EXTREME = 0.02  # share of the cases on either side beyond which values are cut
DIGITS = 9  # of a number in units of its spread; the rest depends on the processor


def fill_gaps(values: Array, like: Array) -> Array:
    """Missing numbers become a number below all others of their column in `like`."""
    spread = np.nanmax(like, axis=0, initial=0.0) - np.nanmin(like, axis=0, initial=0.0)
    return np.where(np.isnan(values), np.nanmin(like, axis=0, initial=0.0) - spread - 1, values)


def rank(values: Array, among: Array) -> Array:
    """Where numbers would stand in a row of others, from 0 to 1; equal ones share their place.

    >>> rank(np.array([0.0, 5.0, 9.0]), np.array([5.0, 5.0, 7.0, 9.0]))
    array([0.   , 0.25 , 0.875])
    """
    unit = float(np.ptp(among)) or 1.0
    values, ordered = np.round(values / unit, DIGITS), np.sort(np.round(among / unit, DIGITS))
    ends = [np.searchsorted(ordered, values, side) for side in ("left", "right")]
    return np.asarray((ends[0] + ends[1]) / (2 * len(ordered)))


def steadiness(clean: Array, changed: Sequence[Array], among: Array) -> float:
    """How little a measurement moves, from 0 to 1.

    1: it stays. 0: it moves as far as from one case to another one taken at random. The range of the cases ends at
    their extreme fiftieths, and no case moves further than that range, so that a few wild values do not decide.

    >>> row = np.arange(100.0)
    >>> steadiness(row, [row], row), round(steadiness(row, [row + 10], row), 1)
    (1.0, 0.7)
    """
    low, high = np.quantile(among, (EXTREME, 1 - EXTREME))
    low, high = (low, high) if low < high else (among.min(), among.max())
    unit = float(high - low)
    if unit == 0:  # it is the same for all cases
        return 1.0 if all(np.allclose(clean, each) for each in changed) else 0.0
    places = np.clip((among - low) / unit, 0, 1)
    usual = float(np.abs(places[:, None] - places[None, :]).mean())
    moved = np.mean([np.minimum(np.abs(each - clean) / unit, 1).mean() for each in changed])
    return float(np.clip(1 - moved / usual, 0, 1))


def classify(values: Array, y: Array, folds: Sequence[tuple[Array, Array]], versions: Sequence[Array]) -> Array:
    """The class that one measurement speaks for, of cases as they are (first row) and changed.

    A small tree with balanced classes learns from the cases of the other folds as they are, and answers for the
    left-out cases. -1 stands for no answer.

    Parameters
    ----------
    values : array of one number per case
    y : array of whole numbers from 0, the classes
    folds : pairs of training and test positions
    versions : arrays of one number per case, NaN for cases that were not changed
    """
    n_classes = int(y.max()) + 1
    said = np.full((1 + len(versions), len(y)), -1)
    asked = [values, *versions]
    for train, test in folds:
        tree = DecisionTreeClassifier(
            max_leaf_nodes=2 * n_classes,
            min_samples_leaf=max(2, len(train) // 50),
            class_weight="balanced",
            random_state=0,
        ).fit(values[train, None], y[train])
        for number, each in enumerate(asked):
            there = test[~np.isnan(each[test])]
            if len(there):
                said[number, there] = tree.predict(each[there, None])
    return said


def separation(said: Array, y: Array) -> float:
    """Balanced accuracy of the answers, rescaled so that 0 is chance and 1 is all right."""
    n_classes = int(y.max()) + 1
    shares = [np.mean(said[(y == k) & (said >= 0)] == k) for k in range(n_classes) if ((y == k) & (said >= 0)).any()]
    return _rescale(float(np.mean(shares)), n_classes) if shares else 0.0


def separation_interval(said: Array, y: Array, groups: Array | None, tried: int = 1) -> tuple[float, float]:
    """The 95 % interval of the separation, of `tried` measurements together (Bonferroni).

    The share of each class that is right has the interval of Agresti and Coull, which is wide where there are few cases
    and all of them are right. Cases of one group count as one.

    >>> y = np.repeat([0, 1], 10)
    >>> separation_interval(y, y, None)
    (0.46, 1.0)
    """
    n_classes = int(y.max()) + 1
    sure = NormalDist().inv_cdf(1 - 0.025 / tried)
    middle = variance = 0.0
    for k in range(n_classes):
        right = said[y == k] == k
        n = len(right) if groups is None else len(np.unique(groups[y == k]))
        share = (n * float(right.mean()) + sure**2 / 2) / (n + sure**2)
        middle += share / n_classes
        variance += share * (1 - share) / (n + sure**2) / n_classes**2
    half = sure * float(np.sqrt(variance))
    low, high = (round(_rescale(end, n_classes), 2) for end in (middle - half, middle + half))
    return low, min(1.0, max(high, round(separation(said, y), 2)))  # all right: the estimate is an end of it


def _rescale(accuracy: float, n_classes: int) -> float:
    return max(0.0, (accuracy - 1 / n_classes) / (1 - 1 / n_classes))


def overlap(values: Array) -> tuple[Array, Array]:
    """Absolute rank correlations of all pairs, and how far the others predict each.

    The latter is the share of a measurement's variance, in ranks, that a linear rule of all others explains.
    """
    n = values.shape[1]
    ranks = np.column_stack([rank(column, column) for column in values.T])
    centred = ranks - ranks.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    units = centred / np.where(length > 0, length, 1)
    shared = units.T @ units
    np.fill_diagonal(shared, 1.0)
    inverse = np.linalg.inv((1 - SHRUNK) * shared + SHRUNK * np.eye(n))
    predictable = np.where(length > 0, np.clip(1 - 1 / np.diag(inverse), 0, 1), 0.0)
    np.fill_diagonal(shared, 0.0)
    return np.abs(shared), predictable
