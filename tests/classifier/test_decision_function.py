"""`decision_function`, the paper's F(x), and the labels -1 and +1 that its sign gives."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import memclf
from memclf import MemoryClassifier
from memclf.bounds import generalization_bound
from memclf.bounds.terms import HELD_OUT_ERRORS
from memclf.evaluate import coverage
from memclf.similarity import RBFSimilarity

FAR = np.array([[500.0, 500.0]])


def two_kinds(labels=(-1, 1), seed=0):
    points, _ = make_blobs(120, 2, centers=4, cluster_std=1.5, random_state=seed)
    return points, np.asarray(labels)[np.random.default_rng(seed).integers(0, len(labels), 120)]


def fitted(labels=(-1, 1), estimator=None, **settings):
    A, b = two_kinds(labels)
    estimator = GaussianNB() if estimator is None else estimator
    return MemoryClassifier(RBFSimilarity(0.1), estimator, 0.6, random_state=0, **settings).fit(A, b), A, b


class Stubborn(GaussianNB):
    """A classifier that contradicts its own probabilities."""

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Torn(GaussianNB):
    """A classifier for which both classes are equally probable."""

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


@pytest.mark.parametrize("answer", ["local", "labels", "product", "auto"])
@pytest.mark.parametrize("fallback", ["unknown", "nearest", "global"])
def test_decision_function__minus_one_and_one__has_the_sign_of_the_answer(answer, fallback):
    clf, A, _ = fitted(answer=answer, fallback=fallback)
    cases = np.vstack([A, FAR])
    F, said = clf.decision_function(cases), clf.predict(cases)
    assert F.shape == (len(cases),)
    np.testing.assert_array_equal(np.sign(F), said)
    assert set(said[:-1]) == {-1, 1}
    assert (F[-1] == 0) == (fallback == "unknown")


@pytest.mark.parametrize(
    "estimator", [Stubborn(), Torn(), LinearSVC(), LogisticRegression(), RandomForestClassifier(2)]
)
def test_decision_function__classifiers_with_odd_probabilities__still_agrees_with_predict(estimator):
    clf, A, _ = fitted(estimator=estimator)
    np.testing.assert_array_equal(np.sign(clf.decision_function(A)), clf.predict(A))


def test_decision_function__two_classes__is_the_difference_of_the_probabilities():
    clf, A, _ = fitted(["sick", "sound"])
    P = clf.predict_proba(A)
    np.testing.assert_allclose(clf.decision_function(A), P[:, 1] - P[:, 0], atol=1e-9)
    np.testing.assert_array_equal(clf.decision_function(A) > 0, clf.predict(A) == "sound")


def test_decision_function__classifiers_without_probabilities__votes_with_one():
    clf, A, _ = fitted(estimator=LinearSVC())
    np.testing.assert_array_equal(clf.decision_function(np.vstack([A, FAR])), [*clf.predict(A), 0])


def test_decision_function__three_classes__is_positive_for_the_answer_alone():
    clf, A, _ = fitted(["a", "b", "c"])
    F = clf.decision_function(np.vstack([A, FAR]))
    np.testing.assert_array_equal(F[:-1] > 0, clf.predict(A)[:, None] == clf.classes_)
    top = np.sort(clf.predict_proba(A), axis=1)
    np.testing.assert_allclose(F[:-1].max(axis=1), top[:, -1] - top[:, -2], atol=1e-9)
    np.testing.assert_array_equal(F[-1], [0, 0, 0])


def test_decision_function__in_a_scorer_of_scikit_learn__is_used():
    clf, A, b = fitted()
    assert 0.5 < get_scorer("roc_auc")(clf, A, b) <= 1


def test_labels_minus_one_and_one__all_that_a_classifier_does__works(tmp_path):
    clf, A, b = fitted()
    assert clf.unknown_label_ == 0
    assert clf.predict(FAR).tolist() == [0]
    np.testing.assert_array_equal(clf.predict_proba(FAR), [[0, 0]])
    assert coverage(b, [*clf.predict(A[1:]), 0]) == pytest.approx(1 - 1 / len(b))
    near, far = clf.explain(np.vstack([A[:1], FAR]))
    assert near.answer == clf.predict(A[:1])[0]
    assert repr(near.answer) in str(near)
    assert str(far).startswith("Unknown")
    assert far.answer == 0
    others, truth = two_kinds(seed=1)
    bound = generalization_bound(clf, others, truth, kind="held-out")
    assert bound[HELD_OUT_ERRORS] == pytest.approx(np.mean(clf.predict(others) != truth))
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    assert new.unknown_label_ == 0
    cases = np.vstack([A, FAR])
    np.testing.assert_array_equal(new.predict(cases), clf.predict(cases))
    np.testing.assert_array_equal(new.decision_function(cases), clf.decision_function(cases))


def test_unknown_label__minus_one_given_while_a_class__is_still_refused():
    with pytest.raises(ValueError, match="the class -1 in y is also the label that stands for unknown"):
        fitted(unknown_label=-1)
