"""`assess`: the answers of one memory classifier in detail."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import confusion_matrix
from sklearn.svm import LinearSVC

from memclf import MemoryClassifier
from memclf.evaluate.assess import assess
from memclf.similarity import RBFSimilarity

X, y = load_iris(return_X_y=True)
TRAIN, TEST = np.arange(0, 150, 2), np.arange(1, 150, 2)
FAR = X[TEST].copy()
FAR[:10] += 100.0


@pytest.fixture(scope="module")
def clf():
    return MemoryClassifier(RBFSimilarity(gamma=0.5), threshold=0.6, random_state=0).fit(X[TRAIN], y[TRAIN])


@pytest.fixture(scope="module")
def found(clf):
    return assess(clf, FAR, y[TEST])


def test_assess__confusion__is_that_of_scikit_learn_with_unknown_last(clf, found):
    said = clf.predict(FAR)
    wanted = confusion_matrix(y[TEST], said, labels=[0, 1, 2, clf.unknown_label_])  # rows are the truth there
    assert np.array_equal(found.confusion, wanted.T[:, :3])
    assert found.confusion[-1].sum() >= 10
    for each in found.by_class:
        assert each["right"] + each["wrong"] + each["unknown"] == each["cases"] == np.sum(y[TEST] == each["class"])


def test_assess__by_memory__adds_up_to_all_cases(clf, found):
    said = clf.predict(FAR)
    assert sum(each["cases"] for each in found.by_memory) == len(TEST)
    assert sum(each["answered"] for each in found.by_memory) == np.sum(said != clf.unknown_label_)
    assert sum(each["right"] for each in found.by_memory) == np.sum(said == y[TEST])


def test_assess__points__end_with_what_is_answered_at_all(found):
    points = found.points((0.25, 0.5, 1.0))
    assert len(points) == 2  # ten cases are never answered
    assert points[0]["coverage"] >= 0.25
    assert points[0]["threshold"] >= points[1]["threshold"]


def test_assess__classifiers_without_probabilities__similarity_is_the_confidence():
    clf = MemoryClassifier(RBFSimilarity(gamma=0.5), LinearSVC(), threshold=0.6, random_state=0).fit(X[TRAIN], y[TRAIN])
    assert assess(clf, X[TEST], y[TEST]).confidence == "similarity"


def test_assess__training_cases__are_noticed(clf, found):
    assert assess(clf, X[TRAIN], y[TRAIN]).like_training
    assert not found.like_training


def test_assess__nothing_answered__has_no_curve(clf):
    empty = assess(clf, X[TEST] + 100.0, y[TEST])
    assert empty.points() == []
    assert np.isnan(empty.curve.area)
