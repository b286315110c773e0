"""What an edit changes: answers, measures and classifiers, as they are counted from both classifiers."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import GaussianNB

from memclf import MemoryClassifier
from memclf.evaluate import accuracy, coverage, find_changes
from memclf.similarity import RBFSimilarity

X, BLOB = make_blobs(80, centers=4, random_state=0)
Y = BLOB % 2


@pytest.fixture(scope="module")
def clf():
    return MemoryClassifier(RBFSimilarity(gamma=0.1), GaussianNB(), 0.5, random_state=0).fit(X[:60], Y[:60])


def test_find_changes__dropped_memory__counts_and_measures_both(clf):
    edited = clf.drop(1)
    found = find_changes(clf, edited, X[60:], Y[60:], answers=clf.answers(X[60:]))
    before, after = clf.predict(X[60:]), edited.predict(X[60:])
    np.testing.assert_array_equal(found.positions, np.flatnonzero(before != after))
    assert len(found.positions)
    assert found.counts["answered_otherwise"] == len(found.positions)
    assert found.counts["unknown_after"] == int((~edited.route(X[60:]).known).sum())
    assert found.measures["accuracy"] == (accuracy(Y[60:], before), accuracy(Y[60:], after))
    assert found.measures["coverage"] == (coverage(Y[60:], before), coverage(Y[60:], after))


def test_find_changes__no_edit__changes_nothing(clf):
    found = find_changes(clf, clf.pin(0), X[60:])
    assert found.counts["fitted"] == found.counts["answered_otherwise"] == 0
    assert found.measures == {}
