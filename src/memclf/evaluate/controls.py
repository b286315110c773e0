"""Controls: simple classifiers that a memory classifier must beat before a gain is claimed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

from memclf import unknown
from memclf._numbers import Array
from memclf.answers import Answers
from memclf.answers.labels import weigh_labels
from memclf.protocols import gives_probabilities
from memclf.routing import Routes
from memclf.similarity.base import inspect

TEMPERATURE = 2.0


class StageOne(ClassifierMixin, BaseEstimator):
    """Stage 1 of a fitted memory classifier alone: the labels of the memory's cluster answer.

    A control that costs nothing beside the memory classifier. For a classifier of its own, which fits no local
    classifiers and can be saved and explained, give ``MemoryClassifier(..., answer="labels")``: wherever a threshold is
    met it answers the same.

    Parameters
    ----------
    memory_classifier : fitted MemoryClassifier
    balance : float
        How far rare classes are weighed up; see `memclf.answers.LabelsAnswer`.
    """

    def __init__(self, memory_classifier: Any, balance: float = 0.0):
        self.memory_classifier = memory_classifier
        self.balance = balance

    @property
    def classes_(self) -> Array:
        return self.memory_classifier.classes_

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing to learn: the memory classifier is fitted. Returns self."""
        return self

    def route(self, X: Any) -> Routes:
        """The routes of the memory classifier, before competence is considered."""
        return self.memory_classifier.route(X).stage_one

    def predict(self, X: Any) -> Array:
        return self.answers(X).labels

    def answers(self, X: Any, routes: Routes | None = None) -> Answers:
        """The most probable label of each route's memory; unknown where there is none."""
        routes = self.route(X) if routes is None else routes
        return Answers(labels_of_memories(self.memory_classifier, routes, self.balance), None, routes)


class SoftenedNetwork(ClassifierMixin, BaseEstimator):
    """A classifier's probabilities, softened by a temperature, times the class frequencies.

    A control without memories: under corruption a network becomes overconfident, and drawing it towards the common
    classes gains accuracy by itself.

    Parameters
    ----------
    classifier : fitted classifier with `predict_proba`
    frequencies : array
        Of its classes in the training data.
    temperature : float
    balance : float
        From 0 (times the frequencies) to 1 (not at all), as that of the memory classifier it is compared with.
    """

    def __init__(self, classifier: Any, frequencies: Any, temperature: float = TEMPERATURE, balance: float = 0.0):
        self.classifier = classifier
        self.frequencies = frequencies
        self.temperature = temperature
        self.balance = balance

    @property
    def classes_(self) -> Array:
        return self.classifier.classes_

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing to learn: the classifier is fitted. Returns self."""
        return self

    def predict(self, X: Any) -> Array:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        common = np.asarray(self.frequencies) ** (1 - self.balance)
        weighed = self.classifier.predict_proba(X) ** (1 / self.temperature) * common
        total = weighed.sum(axis=1, keepdims=True)  # zero for unknown
        return np.divide(weighed, total, out=np.zeros_like(weighed), where=total > 0)


class Ensemble(ClassifierMixin, BaseEstimator):
    """The mean of several classifiers' probabilities; costs as much to train as folds do.

    Parameters
    ----------
    classifiers : list of fitted classifiers
        With `predict_proba` and the same classes.
    """

    def __init__(self, classifiers: Any):
        self.classifiers = classifiers

    @property
    def classes_(self) -> Array:
        return self.classifiers[0].classes_

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing to learn: the classifiers are fitted. Returns self."""
        return self

    def predict(self, X: Any) -> Array:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        return np.mean([each.predict_proba(X) for each in self.classifiers], axis=0)


class Measured(ClassifierMixin, BaseEstimator):
    """The expert's measurements alone, as a memory classifier with `answer="auto"` reads them.

    Parameters
    ----------
    memory_classifier : fitted MemoryClassifier
    """

    def __init__(self, memory_classifier: Any):
        self.memory_classifier = memory_classifier

    @property
    def classes_(self) -> Array:
        return self.memory_classifier.classes_

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing to learn: the memory classifier is fitted. Returns self."""
        return self

    def predict(self, X: Any) -> Array:
        clf = self.memory_classifier
        return np.asarray(clf.answer_.measured_.predict(inspect(clf.similarity_, X)))


def labels_of_memories(clf: Any, routes: Routes, balance: float = 0.0) -> Array:
    """The most probable label of each route's memory; unknown where none is similar enough."""
    routes = routes.stage_one
    chances = weigh_labels(clf.label_distributions_, clf.frequencies_, balance)
    labels = unknown.answers(clf.classes_, len(routes), clf.unknown_label_)
    known = routes.memory >= 0
    labels[known] = clf.classes_[chances.argmax(axis=1)][routes.memory[known]]
    return labels


def controls_of(clf: Any, baseline: Any = None) -> Mapping[str, Any]:
    """Controls of a fitted memory classifier that need no training: majority, stage1 and prior.

    For one that weights rare classes up (`balance`), also stage 1 and the baseline weighted in the same way.
    `baseline` is the estimator trained on everything; by default the memory classifier's own global classifier.
    Without one, there is no `prior`.
    """
    baseline = clf.global_ if baseline is None else baseline
    counts = clf.cluster_counts_.sum(axis=0)
    labels = np.repeat(clf.classes_, counts)
    majority = DummyClassifier(strategy="most_frequent").fit(np.zeros((len(labels), 1)), labels)
    found: dict[str, Any] = {"majority": majority}
    own = float(clf.answer_.balance)
    for suffix, balance in {"": 0.0, "-balanced": own}.items():
        if suffix and not balance:
            continue
        found[f"stage1{suffix}"] = StageOne(clf, balance)
        if baseline is not None and gives_probabilities(baseline):
            columns = np.searchsorted(clf.classes_, baseline.classes_)
            found[f"prior{suffix}"] = SoftenedNetwork(baseline, counts[columns] / counts.sum(), balance=balance)
    return found
