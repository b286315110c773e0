"""Metrics of answers that may be unknown: an error for accuracy, no answer for coverage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import column_or_1d

from memclf import unknown
from memclf._numbers import Array


def _answered(y_true: Any, y_pred: Any, unknown_label: Any) -> tuple[Array, Array, Array]:
    plain = all(isinstance(y, np.ndarray) and y.ndim == 1 for y in (y_true, y_pred))
    if not plain:  # scikit-learn's look at other containers takes longer than the metric
        y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    check_consistent_length(y_true, y_pred)
    if not len(y_true):
        raise ValueError("there are no cases to measure")
    label = unknown.label_for(y_true, unknown_label)
    none = label != label  # NaN, which equals nothing
    answered = [answer == answer if none else answer != label for answer in y_pred.tolist()]
    return y_true, y_pred, np.array(answered, dtype=bool)


def accuracy(y_true: Any, y_pred: Any, *, unknown_label: Any = unknown.AUTO) -> float:
    """Share of all cases answered correctly; unknown counts as an error.

    >>> accuracy(["a", "b", "a", "b"], ["a", "b", "b", "unknown"])
    0.5
    """
    y_true, y_pred, answered = _answered(y_true, y_pred, unknown_label)
    return float(np.mean(answered & (y_true == y_pred)))


def balanced_accuracy(y_true: Any, y_pred: Any, *, unknown_label: Any = unknown.AUTO) -> float:
    """Mean over the classes of the share of correct answers; unknown counts as an error.

    >>> balanced_accuracy(["a", "a", "a", "b"], ["a", "a", "a", "unknown"])
    0.5
    """
    y_true, y_pred, answered = _answered(y_true, y_pred, unknown_label)
    right = answered & (y_true == y_pred)
    return float(np.mean([right[y_true == label].mean() for label in np.unique(y_true)]))


def coverage(y_true: Any, y_pred: Any, *, unknown_label: Any = unknown.AUTO) -> float:
    """Share of the cases that got an answer.

    >>> coverage(["a", "b", "a", "b"], ["a", "b", "b", "unknown"])
    0.75
    """
    return float(np.mean(_answered(y_true, y_pred, unknown_label)[2]))


def selective_accuracy(y_true: Any, y_pred: Any, *, unknown_label: Any = unknown.AUTO) -> float:
    """Share of the answered cases that were answered correctly; NaN when none was answered.

    >>> round(selective_accuracy(["a", "b", "a", "b"], ["a", "b", "b", "unknown"]), 3)
    0.667
    """
    y_true, y_pred, answered = _answered(y_true, y_pred, unknown_label)
    return float(np.mean((y_true == y_pred)[answered])) if answered.any() else float("nan")


@dataclass(frozen=True)
class RiskCoverage:
    """Error (`risk`) by the share of cases answered (`coverage`), most confident first.

    `risk` is the error among the answered cases. `threshold` holds the confidence at which each point is reached.
    `area` is the mean risk over all numbers of answered cases (AURC): the smaller the better.
    """

    coverage: Array
    risk: Array
    threshold: Array
    area: float


def risk_coverage(y_true: Any, y_pred: Any, confidence: Any, *, unknown_label: Any = unknown.AUTO) -> RiskCoverage:
    """The risk-coverage curve and its area.

    Cases answered "unknown" are never answered: the curve ends at the share of the others. Cases of equal
    confidence are answered together, so their order does not matter.

    >>> curve = risk_coverage([0, 1, 1, 0], [0, 1, 0, 0], [0.9, 0.8, 0.3, 0.7])
    >>> curve.coverage, curve.risk
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.  , 0.  , 0.  , 0.25]))
    >>> curve.area
    0.0625
    """
    y_true, y_pred, answered = _answered(y_true, y_pred, unknown_label)
    confidence = np.asarray(column_or_1d(confidence), dtype=np.float64)
    check_consistent_length(y_true, confidence)
    if np.isnan(confidence[answered]).any():
        raise ValueError("confidence is NaN for answered cases")
    if not answered.any():
        return RiskCoverage(np.array([]), np.array([]), np.array([]), float("nan"))
    order = np.argsort(-confidence[answered], kind="stable")
    wrong = (y_true != y_pred)[answered][order].astype(np.float64)
    level = confidence[answered][order]
    last = np.flatnonzero(np.append(np.diff(level) != 0, True))  # the last case of each level
    number = last + 1
    risk = np.cumsum(wrong)[last] / number
    area = float(np.sum(risk * np.diff(number, prepend=0)) / number[-1])
    return RiskCoverage(coverage=number / len(y_true), risk=risk, threshold=level[last], area=area)
