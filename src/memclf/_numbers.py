"""When two numbers count as equal, and how a number is shown: one rule for all parts.

Sums inside BLAS depend on the shape of the batch in their last digits, and every sum and exponential on the
processor. Without a tolerance, the answer to a case that is equally similar to two memories would depend on which
other cases happen to be in its batch, and a search among equally good candidates on the machine.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

TOLERANCE = 1e-12


def reaches(similarity: Array, threshold: Array | float, *, strict: bool = False) -> Array:
    """Whether a similarity meets a threshold: ``>=``, or ``>`` when `strict`."""
    if strict:
        return np.asarray(similarity > np.asarray(threshold) + TOLERANCE)
    return np.asarray(similarity >= np.asarray(threshold) - TOLERANCE)


def rounding(weights: Array) -> float:
    """By how much two sums of weighted similarities may differ through rounding alone."""
    return float(TOLERANCE * weights.sum())


def first_largest(values: Array, tolerance: float = TOLERANCE) -> int:
    """Position of the largest value; of values that are equal but for rounding, the first.

    >>> first_largest(np.array([0.1, 0.3, 0.1 + 0.2]))
    1
    """
    return int((values >= values.max() - tolerance).argmax())


def first_best(block: Array) -> Array:
    """Row of the largest value in each column, the smallest row among equals.

    >>> first_best(np.array([[0.2, 0.5], [0.9, 0.5]]))
    array([1, 0])
    """
    return np.asarray((block >= block.max(axis=0) - TOLERANCE).argmax(axis=0))


class TwoBest(NamedTuple):
    """For each case its most similar memory and the next: their numbers and their similarities.

    With a single memory, `second` is -1 and `next` is 0.
    """

    near: Array
    best: Array
    second: Array
    next: Array


def two_best(block: Array) -> TwoBest:
    """The two largest values of each column; among equals, the smallest rows.

    >>> two_best(np.array([[0.2, 0.5], [0.9, 0.5], [0.4, 0.1]])).second
    array([2, 1])
    """
    q, n = block.shape
    cases = np.arange(n)
    near = first_best(block)
    best = block[near, cases]
    if q == 1:
        return TwoBest(near, best, np.full(n, -1), np.zeros(n))
    rest = block.copy()
    rest[near, cases] = -1.0
    second = first_best(rest)
    return TwoBest(near, best, second, rest[second, cases])


def shares(groups: Array) -> Array:
    """The share that each case has in its group: 1 over the size of the group.

    >>> shares(np.array(["a", "b", "a"]))
    array([0.5, 1. , 0.5])
    """
    _, group, size = np.unique(groups, return_inverse=True, return_counts=True)
    return 1 / size[group.reshape(-1)]


def column_medians(X: Array) -> Array:
    """The median of each column's values; NaN stands for none, and 0 where a column has none.

    >>> column_medians(np.array([[1.0, np.nan], [3.0, np.nan]]))
    array([2., 0.])
    """
    known = [x[~np.isnan(x)] for x in X.T]
    return np.array([np.median(each) if len(each) else 0.0 for each in known])


def format_number(value: float, digits: int = 4, *, sign: str = "") -> str:
    """A number of any size, for people: with so many digits, but large ones in full.

    >>> format_number(3.14159), format_number(46128.3), format_number(1234.5, 3, sign="+"), format_number(2e12)
    ('3.142', '46,128', '+1,234', '2e+12')
    """
    if 10**digits - 0.5 <= abs(value) < 1e9:
        return f"{value:{sign},.0f}"
    return f"{value:{sign}.{digits}g}"
