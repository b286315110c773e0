"""Evidence for one answer: weights or importances of features in the local classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from memclf._numbers import Array, format_number
from memclf.cases import Cases, containers
from memclf.cases.steps import count_known, rows_before_last

TOP = 3


@dataclass(frozen=True)
class Evidence:
    """One feature behind an answer.

    `value` is the case's, `memory_value` the memory's. `weight` is what the feature adds to the answer's score
    (linear classifiers), or its importance in the cluster (forests and trees); `kind` says which.
    """

    feature: str
    value: float
    memory_value: float
    weight: float
    kind: str

    def __str__(self) -> str:
        values = f"{self.feature} = {format_number(self.value)} (memory: {format_number(self.memory_value)}"
        if self.kind == "importance":
            return f"{values}; importance {self.weight:.2f})"
        return f"{values}) adds {format_number(self.weight, 3, sign='+')}"


def evidence_for(estimator: Any, case: Any, memory: Any, answer: Any) -> tuple[Evidence, ...]:
    """The features of largest weight for a batch of one case; () if there are no weights."""
    here, there = Cases.of(case), Cases.of(memory)
    case, memory = here.data, there.data
    names = [str(name) for name in case.columns] if containers.is_table(case) else None
    shown, shown_memory = _row(case), _row(memory)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        before = estimator[:-1]
        known = count_known(estimator, here)
        case, memory = (rows_before_last(estimator, each, known) for each in (here, there))
        try:
            out = [str(name) for name in before.get_feature_names_out(names)]
        except (AttributeError, ValueError):
            out = []
        if names and out:
            names, shown, shown_memory = _as_in_the_table(out, here.data, there.data, _row(case), _row(memory))
        elif not out or out != [f"x{j}" for j in range(len(out))]:  # not surely column by column
            names, shown, shown_memory = out, _row(case), _row(memory)
    if isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    weights, kind = _weights(estimator, answer)
    values = _row(case)
    if weights is None or values is None or shown is None or shown_memory is None:
        return ()
    if not len(weights) == len(values) == len(shown) == len(shown_memory):
        return ()
    if kind == "contribution":
        weights = weights * values
    if not names or len(names) != len(values):
        names = [f"feature {position}" for position in range(len(values))]
    top = np.argsort(-np.abs(weights), kind="stable")[:TOP]
    return tuple(
        Evidence(names[j], float(shown[j]), float(shown_memory[j]), float(weights[j]), kind)
        for j in top
        if weights[j] != 0
    )


def _as_in_the_table(
    out: list[str], case: Any, memory: Any, row: Array | None, memory_row: Array | None
) -> tuple[list[str], Array | None, Array | None]:
    """Names and values of a pipeline's columns; of columns of the table, the table's own.

    A column transformer writes the step's name before that of the column. Values of the pipeline are often scaled,
    which nobody can read.
    """
    if row is None or memory_row is None or not len(row) == len(memory_row) == len(out):
        return out, row, memory_row
    names, shown, shown_memory = list(out), row.copy(), memory_row.copy()
    columns = {str(name): name for name in case.columns}
    for j, name in enumerate(out):
        column = columns.get(name, columns.get(name.partition("__")[2]))
        if column is not None and case[column].dtype.kind in "biuf":
            names[j] = str(column)
            shown[j], shown_memory[j] = (float(each[column].iloc[0]) for each in (case, memory))
    return names, shown, shown_memory


def _weights(estimator: Any, answer: Any) -> tuple[Array | None, str]:
    # Which weights a classifier has depends on its kind, and in an SVC on its kernel.
    coefficients = getattr(estimator, "coef_", None)
    # A classifier that is not scikit-learn's need not have `classes_`.
    if coefficients is not None and np.ndim(coefficients) == 2 and answer in getattr(estimator, "classes_", ()):
        position = int(np.flatnonzero(estimator.classes_ == answer)[0])
        if len(coefficients) == 1:
            return np.asarray(coefficients[0]) * (1 if position == 1 else -1), "contribution"
        # Only support vector machines have it; theirs is one row for each pair of classes.
        if len(coefficients) == len(estimator.classes_) and not hasattr(estimator, "n_support_"):
            return np.asarray(coefficients[position]), "contribution"
        return None, ""  # one row per pair of classes: no feature's share in one answer
    # Trees and forests have importances, as do others that are not scikit-learn's.
    importances = getattr(estimator, "feature_importances_", None)
    return (None, "") if importances is None else (np.asarray(importances), "importance")


def _row(case: Any) -> Array | None:
    """The one row of a batch of one as numbers, if it is numbers."""
    try:
        dense = case.toarray() if sp.issparse(case) else np.asarray(case)
        return np.asarray(dense, dtype=np.float64).reshape(1, -1)[0] if dense.ndim == 2 else None
    except (TypeError, ValueError):
        return None
