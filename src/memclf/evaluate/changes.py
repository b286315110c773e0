"""What an edit of a memory classifier changes in its answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.answers import Answers
from memclf.evaluate import metrics


@dataclass(frozen=True)
class Changes:
    """Answers to the same cases before and after an edit.

    Attributes
    ----------
    before, after : Answers
    fitted : int
        How many local classifiers are other ones than before.
    y : ndarray or None
        Labels of the cases, where they are known.
    unknown_label : label
    """

    before: Answers
    after: Answers
    fitted: int
    y: Array | None
    unknown_label: Any

    @property
    def positions(self) -> Array:
        """The cases that are answered otherwise than before."""
        return np.flatnonzero(self.before.labels != self.after.labels)

    @property
    def counts(self) -> dict[str, int]:
        """How many answers differ, cases are claimed by no memory, and classifiers are new."""
        return {
            "fitted": self.fitted,
            "answered_otherwise": len(self.positions),
            "unknown_before": int((~self.before.routes.known).sum()),
            "unknown_after": int((~self.after.routes.known).sum()),
        }

    @property
    def measures(self) -> dict[str, tuple[float, float]]:
        """Accuracy, balanced accuracy and coverage before and after; {} without labels."""
        if self.y is None or not len(self.y):
            return {}
        return {
            each.__name__: (
                each(self.y, self.before.labels, unknown_label=self.unknown_label),
                each(self.y, self.after.labels, unknown_label=self.unknown_label),
            )
            for each in (metrics.accuracy, metrics.balanced_accuracy, metrics.coverage)
        }


def find_changes(before: Any, after: Any, X: Any, y: Any = None, *, answers: Answers | None = None) -> Changes:
    """Ask a memory classifier and its edited version about the same cases.

    Parameters
    ----------
    before, after : MemoryClassifier
    X : cases
    y : array of labels or None
    answers : Answers or None
        Those of the classifier before the edit, if they are known already.

    Examples
    --------
    >>> from memclf import MemoryClassifier
    >>> from memclf.similarity import RBFSimilarity
    >>> X, y = [[0.0], [0.2], [5.0], [5.2]], ["low", "low", "high", "high"]
    >>> clf = MemoryClassifier(RBFSimilarity(gamma=1.0), threshold=0.8, random_state=0).fit(X, y)
    >>> found = find_changes(clf, clf.set_threshold(0, 1.0), X, y)
    >>> found.counts["answered_otherwise"], found.measures["coverage"]
    (1, (1.0, 0.75))
    """
    old = before.answers(X) if answers is None else answers
    y = None if y is None else np.asarray(y)
    return Changes(old, after.answers(X), count_fitted(before, after), y, before.unknown_label_)


def count_fitted(before: Any, after: Any) -> int:
    """How many local classifiers are other ones than before."""
    known, new = ({id(each) for each in clf.estimators_} for clf in (before, after))
    return len(new - known)
