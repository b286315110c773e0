"""Training cases most like a case, and labels that contradict those around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import Cases, containers
from memclf.classifier.reassign import describe_training
from memclf.similarity.base import compared, describe

BLOCK = 2**21  # similarities held at once
AROUND = 8  # cases whose labels are compared with that of a case


@dataclass(frozen=True)
class Alike:
    """The training cases most like each of some cases, the most similar first.

    Attributes
    ----------
    rows : ndarray of shape (cases, n)
        Rows in the training data.
    similarity : ndarray of shape (cases, n)
    """

    rows: Array
    similarity: Array


@dataclass(frozen=True)
class LabelCheck:
    """Labels of training cases beside those of the most similar other cases.

    Attributes
    ----------
    rows : ndarray
        Rows in the training data that were looked at.
    alike : Alike
        The other cases around each of them.
    agreement : ndarray
        Share of the cases around that have its label.
    around : ndarray
        The commonest label of the cases around.
    around_share : ndarray
        Their share with that label.
    """

    rows: Array
    alike: Alike
    agreement: Array
    around: Array
    around_share: Array

    @property
    def doubtful(self) -> Array:
        """Positions in `rows` of cases whose label none of the cases around has, the surest first."""
        found = np.flatnonzero(self.agreement == 0)
        surest = np.lexsort((-self.alike.similarity[found].mean(axis=1), -self.around_share[found]))
        return found[surest]


def find_alike(clf: Any, X: Any, n: int = 12) -> Alike:
    """The n training cases most like each of the cases X, by a classifier's similarity.

    The classifier must have its training cases; a loaded one gets them with ``with_training``.

    >>> from memclf import MemoryClassifier
    >>> from memclf.similarity import RBFSimilarity
    >>> clf = MemoryClassifier(RBFSimilarity(gamma=1.0), random_state=0)
    >>> clf = clf.fit([[0.0], [0.1], [0.4], [5.0], [5.1]], ["a", "a", "b", "b", "b"])
    >>> find_alike(clf, [[0.2], [9.0]], n=2).rows
    array([[1, 0],
           [4, 3]])
    """
    _, Z = describe_training(clf)
    return _find(clf.similarity_, Z, describe(clf.similarity_, Cases.of(X)), n, None)


def check_labels(clf: Any, rows: Any = None, n: int = AROUND) -> LabelCheck:
    """Compare labels of training cases with those of the n most similar other training cases.

    Parameters
    ----------
    clf : fitted MemoryClassifier
        With its training cases.
    rows : array of int or None
        Training cases to look at. None: all.
    n : int
        How many others to compare a case with.

    Examples
    --------
    >>> from memclf import MemoryClassifier
    >>> from memclf.similarity import RBFSimilarity
    >>> clf = MemoryClassifier(RBFSimilarity(gamma=1.0), random_state=0)
    >>> clf = clf.fit([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], ["a", "a", "a", "b", "a", "b"])
    >>> found = check_labels(clf, n=2)
    >>> found.rows[found.doubtful], found.around[found.doubtful]
    (array([4]), array(['b'], dtype='<U1'))
    """
    _, Z = describe_training(clf)
    y = clf.training_.y
    rows = np.arange(len(y)) if rows is None else np.asarray(rows, dtype=np.intp)
    alike = _find(clf.similarity_, Z, containers.take(Z, rows), n, rows)
    codes = np.searchsorted(clf.classes_, y)
    shares = (codes[alike.rows][:, :, None] == np.arange(len(clf.classes_))).mean(axis=1)
    commonest = shares.argmax(axis=1)
    each = np.arange(len(rows))
    return LabelCheck(rows, alike, shares[each, codes[rows]], clf.classes_[commonest], shares[each, commonest])


def _find(similarity: Any, Z: Any, own: Any, n: int, rows: Array | None) -> Alike:
    """The n most similar of `Z` for each of `own`; those are the cases of `rows`, if given."""
    count, some = containers.count(Z), containers.count(own)
    n = min(n, count - (rows is not None))
    best, near = np.empty((some, n), dtype=np.intp), np.empty((some, n))
    for part in containers.chunks(some, max(1, BLOCK // count)):
        names = -1 - np.arange(part.start, part.stop) if rows is None else rows[part]
        block = compared(similarity, Z, containers.take_slice(own, part), np.arange(count), names).T
        if rows is not None:
            block[np.arange(len(block)), rows[part]] = -1.0
        best[part] = np.argsort(-block, axis=1, kind="stable")[:, :n]
        near[part] = np.take_along_axis(block, best[part], axis=1)
    return Alike(best, near)
