"""The answers of one memory classifier in detail: confusions, memories, risk by coverage.

Means, gains and intervals are not made here but by `memclf.evaluate.results`, for all contenders alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from memclf._numbers import Array, reaches
from memclf.answers import Answers
from memclf.evaluate.metrics import RiskCoverage, risk_coverage
from memclf.routing import Routes

LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 1.0)  # shares of cases to answer, for a few points of the curve


@dataclass(frozen=True)
class Assessment:
    """What a memory classifier answers on a test set.

    Attributes
    ----------
    classes : list
        The classes of the classifier.
    confusion : ndarray of shape (n_classes + 1, n_classes)
        How many cases of a class (column) got an answer (row); the last row is unknown.
    by_memory : list of dict
        For each memory: how many cases are most similar to it, how many of them it answers, how many of these rightly.
    curve : RiskCoverage
        The error among the cases answered, when the least confident are left out.
    confidence : {"probability", "similarity"}
        What confidence is: the probability of the answer, or where a classifier gives none, the similarity.
    like_training : bool
        Whether every memory is among the cases: they are the training cases then, and all figures are too good.
    """

    classes: list[Any]
    confusion: Array
    by_memory: list[dict[str, Any]]
    curve: RiskCoverage
    confidence: str
    like_training: bool

    @property
    def by_class(self) -> list[dict[str, Any]]:
        """For each class: its cases, how many were answered rightly, wrongly and not at all."""
        total, right, none = self.confusion.sum(axis=0), np.diag(self.confusion), self.confusion[-1]
        return [
            {"class": label, "cases": int(n), "right": int(r), "wrong": int(n - r - u), "unknown": int(u)}
            for label, n, r, u in zip(self.classes, total, right, none, strict=True)
        ]

    def points(self, levels: tuple[float, ...] = LEVELS) -> list[dict[str, float]]:
        """A few points of the curve: the first that answers each share of the cases.

        Shares that are never answered, because more cases are unknown, are left out.
        """
        places = np.searchsorted(self.curve.coverage, np.array(levels) - 1e-9)
        found = dict.fromkeys(int(place) for place in places if place < len(self.curve.coverage))
        columns = {name: getattr(self.curve, name) for name in ("coverage", "risk", "threshold")}
        return [{name: float(values[place]) for name, values in columns.items()} for place in found]


def assess(clf: Any, X: Any, y: Any) -> Assessment:
    """Look at the answers of a fitted memory classifier on test cases with labels.

    >>> from memclf import MemoryClassifier
    >>> from memclf.similarity import RBFSimilarity
    >>> X, y = [[0.0], [0.2], [0.4], [0.5], [5.0], [5.2], [5.4]], ["low", "low", "high", "high", "low", "high", "high"]
    >>> clf = MemoryClassifier(RBFSimilarity(gamma=1.0), threshold=0.8, random_state=0).fit(X, y)
    >>> assess(clf, [[0.1], [5.3], [99.0]], ["low", "high", "low"]).confusion
    array([[1, 0],
           [0, 1],
           [0, 1]])
    """
    found: Answers = clf.answers(X)
    y = np.asarray(y)
    routes, unknown = found.routes, len(clf.classes_)
    positions = {label: code for code, label in enumerate(clf.classes_.tolist())}
    said = np.array([positions.get(label, unknown) for label in found.labels.tolist()])
    truth = np.array([positions[label] for label in y.tolist()])
    confusion = np.zeros((unknown + 1, unknown), dtype=np.intp)
    np.add.at(confusion, (said, truth), 1)
    confident, how = routes.similarity, "similarity"
    if found.probabilities is not None:
        confident, how = found.probabilities.max(axis=1), "probability"
    return Assessment(
        classes=clf.classes_.tolist(),
        confusion=confusion,
        by_memory=[_count_at(k, routes, said, truth, unknown) for k in range(routes.n_memories)],
        curve=risk_coverage(truth, np.where(said == unknown, -1, said), confident, unknown_label=-1),
        confidence=how,
        like_training=len(set(routes.nearest[reaches(routes.similarity, 1.0)].tolist())) == routes.n_memories,
    )


def _count_at(memory: int, routes: Routes, said: Array, truth: Array, unknown: int) -> dict[str, Any]:
    here = routes.nearest == memory
    answered = here & (said != unknown)
    right = int((said == truth)[answered].sum())
    return {"memory": memory, "cases": int(here.sum()), "answered": int(answered.sum()), "right": right}
