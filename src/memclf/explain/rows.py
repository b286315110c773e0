"""Answers as rows of a table: what commands write into files and the service sends."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from memclf._numbers import reaches
from memclf.answers.base import Answers
from memclf.routing import Route

INSTEAD = {"nearest": "its classifier answers all the same", "global": "the global classifier answers instead"}


@dataclass(frozen=True)
class AnswerRow:
    """The answer to one case, in plain Python values.

    Attributes
    ----------
    answer : label
        The class, or the unknown label.
    probability : float or None
        Of the answer; None for unknown, and where a classifier gives no probabilities.
    memory : int
        Number of the memory that was considered, for unknown cases too.
    similarity : float
        To that memory.
    known : bool
        Whether that memory answers.
    reason : str
        Why, in a few words. `MemoryClassifier.explain` says more.
    """

    answer: Any
    probability: float | None
    memory: int
    similarity: float
    known: bool
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """The row as a dictionary, in the order of its columns."""
        return asdict(self)


def answer_rows(clf: Any, X: Any) -> list[AnswerRow]:
    """Answer some cases: one row for each.

    >>> from memclf import MemoryClassifier
    >>> from memclf.similarity import RBFSimilarity
    >>> clf = MemoryClassifier(RBFSimilarity(gamma=0.1), random_state=0)
    >>> clf = clf.fit([[0.0], [1.0], [9.0], [9.0], [9.0]], ["low", "low", "high", "high", "high"])
    >>> for row in answer_rows(clf, [[9.5], [20.0]]):
    ...     print(row.answer, row.memory, row.known, row.reason)
    high 0 True similarity 0.975 to memory 0 reaches its threshold 0.700
    unknown 0 False similarity 0.000 to memory 0 is below its threshold 0.700
    """
    return list_rows(clf, clf.answers(X))


def list_rows(clf: Any, found: Answers) -> list[AnswerRow]:
    """Rows of answers that a fitted memory classifier gave."""
    instead = clf.fallback if isinstance(clf.fallback, str) else type(clf.fallback).__name__
    places = {label: place for place, label in enumerate(clf.classes_.tolist())}
    labels = np.asarray(found.labels).tolist()
    rows = []
    for i, label in enumerate(labels):
        way = found.routes[i]
        answered = way.known or instead != "unknown"
        chance = None
        if answered and found.probabilities is not None and label in places:
            chance = float(found.probabilities[i, places[label]])
        reason = say_route(way)
        if answered and not way.known:
            reason += "; " + INSTEAD.get(instead, f"{instead} answers instead")
        rows.append(AnswerRow(label, chance, int(way.nearest), float(way.similarity), bool(way.known), reason))
    return rows


def say_route(way: Route) -> str:
    """Why a memory answers a case, or why it does not."""
    near = f"similarity {way.similarity:.3f} to memory {way.nearest}"
    if way.known:
        return f"{near} reaches its threshold {way.threshold:.3f}"
    if not way.trusted:
        return "the features do not trust their description of the case"
    if reaches(np.asarray(way.similarity), np.asarray(way.threshold)):
        return f"{near} is enough, but the case is too strange to its classifier"
    return f"{near} is below its threshold {way.threshold:.3f}"
