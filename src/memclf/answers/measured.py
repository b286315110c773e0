"""A classifier that sees what the expert's features measure, and nothing else of a case."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, SplineTransformer

from memclf._numbers import Array, column_medians
from memclf.cases import Cases
from memclf.cases.chunks import Chunks, map_parts
from memclf.local.competence import Mahalanobis
from memclf.similarity.base import inspect

TREES = 200
LEAST = 5  # cases in a leaf of a tree
RANKS = 100  # quantiles that a measurement is compared with
KNOTS = 5  # of the curve of each measurement
CASES = 50  # that the opinion stands for, beside one with the class frequencies


class TreesAndCurves(ClassifierMixin, BaseEstimator):
    """The mean of a forest and of an additive model.

    The additive model adds up smooth curves, one of the rank of each number. Trees learn what numbers mean together,
    curves learn from fewer cases. Beyond the training cases both stay as they are at the last one, so that no
    measurement, however large, outweighs all others. Where there was nothing to measure, a number may be NaN: to the
    curves it is the median then. Units do not matter: numbers are divided by a power of two near their spread.
    """

    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> Self:
        self.usual_ = column_medians(X)
        known = [x[~np.isnan(x)] for x in X.T]
        self.exponents_ = np.frexp([np.std(each) if len(each) else 0.0 for each in known])[1]
        self.gaps_ = np.isnan(X).any(axis=0)
        scaled = self._scale(X)
        self.trees_ = RandomForestClassifier(TREES, min_samples_leaf=LEAST, random_state=0)
        self.trees_.fit(scaled, y, sample_weight)
        self.classes_ = self.trees_.classes_
        self.curves_ = None
        if len(self.classes_) > 1:
            ranks = QuantileTransformer(n_quantiles=min(RANKS, len(X)), output_distribution="normal", random_state=0)
            curves = SplineTransformer(KNOTS, knots="quantile", extrapolation="constant")
            self.curves_ = make_pipeline(ranks, curves, LogisticRegression(max_iter=1000))
            # The sum of all weights stays, for the penalty on steep curves is counted beside it.
            share = None if sample_weight is None else sample_weight * (len(X) / np.sum(sample_weight))
            self.curves_.fit(self._scale(self.fill(X)), y, logisticregression__sample_weight=share)
        return self

    def fill(self, X: Array) -> Array:
        """The numbers, with the median of the training cases where one is missing."""
        return np.where(np.isnan(X), self.usual_, X)

    def lacks(self, X: Array) -> Array:
        """Whether a number is missing in each case that no training case lacked."""
        return np.asarray((np.isnan(X) & ~self.gaps_).any(axis=1))

    def _scale(self, X: Array) -> Array:
        return np.asarray(np.ldexp(X, -self.exponents_))

    def predict_proba(self, X: Array) -> Array:
        said = self.trees_.predict_proba(self._scale(X))
        if self.curves_ is None:
            return np.asarray(said)
        return np.asarray((said + self.curves_.predict_proba(self._scale(self.fill(X)))) / 2)

    def predict(self, X: Array) -> Array:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def is_whole(self) -> bool:
        """Whether both parts fit the same classes and numbers; a damaged file may hold others."""
        numbers = ("usual_", "exponents_", "gaps_")
        if not {"trees_", "curves_", "classes_", *numbers} <= set(vars(self)):
            return False
        parts = [self.trees_] if self.curves_ is None else [self.trees_, self.curves_]
        return all(np.array_equal(part.classes_, self.classes_) for part in parts) and all(
            np.shape(getattr(self, name)) == (self.trees_.n_features_in_,) for name in numbers
        )


def fit_measured(
    parts: Any, cases: Cases | Chunks, y: Array, counted: Array, weight: Array | None
) -> tuple[TreesAndCurves | None, Mahalanobis | None]:
    """A classifier on what the expert's features measure, and a detector of odd measurements.

    Both are None without such features. Cases that are tables have none: classifiers see all of their columns already.
    """
    found = map_parts(inspect, parts.similarity, cases.take(counted))
    if any(each is None for each in found):
        return None, None
    numbers, weights = np.concatenate(found), None if weight is None else weight[counted]
    told = TreesAndCurves().fit(numbers, y[counted], weights)
    return told, Mahalanobis(scaled=True).learn(told.fill(numbers), y[counted])


def ask_measured(classifier: Any, odd: Any, parts: Any, cases: Cases) -> tuple[Array | None, Array | None]:
    """Probabilities by the measurements, none of them certain, and how odd these are.

    None without what tells it.
    """
    if classifier is None:
        return None, None
    numbers, said = np.asarray(inspect(parts.similarity, cases)), np.zeros((len(cases), len(parts.classes)))
    said[:, np.searchsorted(parts.classes, classifier.classes_)] = classifier.predict_proba(numbers)
    said, oddness = (CASES * said + parts.frequencies) / (CASES + 1), None
    if odd is not None and isinstance(classifier, TreesAndCurves):  # models of before have a forest
        oddness = np.where(classifier.lacks(numbers), np.inf, odd.judge(classifier.fill(numbers)))
    elif odd is not None:
        oddness = odd.judge(numbers)
    return said, oddness
