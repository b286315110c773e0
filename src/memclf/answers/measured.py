"""A classifier that sees what the expert's features measure, and nothing else of a case."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from memclf._numbers import Array
from memclf.cases import Cases
from memclf.cases.chunks import Chunks, map_parts
from memclf.local.competence import Mahalanobis
from memclf.similarity.base import inspect

TREES = 200
LEAST = 5  # cases in a leaf of a tree
CASES = 50  # that the forest's opinion stands for, beside one with the class frequencies


def fit_measured(
    parts: Any, cases: Cases | Chunks, y: Array, counted: Array, weight: Array | None
) -> tuple[RandomForestClassifier | None, Mahalanobis | None]:
    """A forest on what the expert's features measure, and a detector of odd measurements.

    Both are None without such features. Cases that are tables have none: classifiers see all of their columns already.
    """
    found = map_parts(inspect, parts.similarity, cases.take(counted))
    if any(each is None for each in found):
        return None, None
    numbers, weights = np.concatenate(found), None if weight is None else weight[counted]
    forest = RandomForestClassifier(TREES, min_samples_leaf=LEAST, random_state=0).fit(numbers, y[counted], weights)
    return forest, Mahalanobis(scaled=True).learn(numbers, y[counted])


def ask_measured(forest: Any, odd: Any, parts: Any, cases: Cases) -> tuple[Array | None, Array | None]:
    """The forest's probabilities, none of them certain, and how odd the measurements are.

    None without what tells it.
    """
    if forest is None:
        return None, None
    numbers, said = inspect(parts.similarity, cases), np.zeros((len(cases), len(parts.classes)))
    said[:, np.searchsorted(parts.classes, forest.classes_)] = forest.predict_proba(numbers)
    return (CASES * said + parts.frequencies) / (CASES + 1), None if odd is None else odd.judge(numbers)
