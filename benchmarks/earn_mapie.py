"""MAPIE as a rule for declining: a case is answered if its set of possible classes holds no second one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import cross_val_predict

from memclf.classifier.fit import Seeds
from memclf.classifier.folds import FoldPlan

FOLDS = 3
LEVELS = np.linspace(0.01, 0.99, 99)  # of confidence; MAPIE needs 100 cases for the last


class Opinion(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose cases are probabilities, which it repeats."""

    def __init__(self, classes: Any = None):
        self.classes = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> Any:
        return self.classes

    def predict_proba(self, P: Any) -> Any:
        return P

    def predict(self, P: Any) -> Any:
        return self.classes[np.argmax(P, axis=1)]


def find_levels(model: Any, split: Any, seed: int, chances: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """For each test part, up to which level of confidence MAPIE's set holds no second class.

    MAPIE learns from held-out training cases, cut into the folds that auto learns from. Equal levels are ordered by the
    model's own confidence.
    """
    from mapie.classification import SplitConformalClassifier

    y = np.asarray(split.y_train)
    folds = FoldPlan.create(FOLDS, split.groups, len(y)).split(y, np.arange(len(y)), Seeds.draw(seed).folds)
    held_out = cross_val_predict(model, split.X_train, y, cv=folds, method="predict_proba")
    rule = SplitConformalClassifier(Opinion(np.unique(y)), confidence_level=LEVELS.tolist(), prefit=True)
    rule.conformalize(held_out, y)
    found = {}
    for part, P in chances.items():
        alone = rule.predict_set(P)[1].sum(axis=1) <= 1
        found[part] = np.round(alone.mean(axis=1) + P.max(axis=1) / 1000, 6)
    return found
