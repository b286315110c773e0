"""A classifier that sees what the expert's features measure, and nothing else of a case."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from memclf._numbers import Array
from memclf.cases import Cases
from memclf.cases.chunks import Chunks, map_parts
from memclf.similarity.base import inspect

TREES = 200
LEAST = 5  # cases in a leaf of a tree
CASES = 50  # that the forest's opinion stands for, beside one with the class frequencies


def fit_measured(parts: Any, cases: Cases | Chunks, y: Array, counted: Array, weight: Array | None) -> Any:
    """A forest on what the expert's features measure; None if there are no such features.

    Cases that are tables have none: classifiers see all of their columns already.
    """
    found = map_parts(inspect, parts.similarity, cases.take(counted))
    if any(each is None for each in found):
        return None
    numbers = np.concatenate(found)
    forest = RandomForestClassifier(TREES, min_samples_leaf=LEAST, random_state=0)
    return forest.fit(numbers, y[counted], None if weight is None else weight[counted])


def ask_measured(forest: Any, parts: Any, cases: Cases) -> Array | None:
    """The forest's probabilities for all classes; none is certain. None without a forest."""
    if forest is None:
        return None
    said = np.zeros((len(cases), len(parts.classes)))
    said[:, np.searchsorted(parts.classes, forest.classes_)] = forest.predict_proba(inspect(parts.similarity, cases))
    return np.asarray((CASES * said + parts.frequencies) / (CASES + 1))
