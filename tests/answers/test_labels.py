"""Stage 1 alone as a classifier: the labels of the memory answer, and nothing else is fitted."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import memclf
from memclf import MemoryClassifier
from memclf.answers import LabelsAnswer
from memclf.bounds import generalization_bound
from memclf.evaluate import StageOne
from memclf.evaluate.describe import describe_model
from memclf.similarity import CosineSimilarity, RBFSimilarity

X, BLOB = make_blobs(240, n_features=3, centers=6, cluster_std=2.0, random_state=0)
Y = np.array(["ash", "birch", "cedar"])[BLOB % 3]
Y[::7] = "ash"
NEW = np.concatenate([X[::4] + 0.5, np.full((3, 3), 99.0)])


class NeverFitted(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        raise AssertionError("no classifier is to be fitted")


def fitted(estimator=None, weight=None, **settings):
    settings = {"n_memories": 4, "random_state": 0, "answer": "labels", **settings}
    return MemoryClassifier(RBFSimilarity(0.01), estimator, 0.3, **settings).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize(
    "settings", [{}, {"start": "global"}, {"min_cluster_size": 999}, {"unknown_rate": 0.1}, {"fallback": "nearest"}]
)
def test_labels_answer__any_setting__fits_no_classifier(settings):
    clf = fitted(NeverFitted(), **settings)
    assert clf.global_ is None
    assert clf.pool_.origins == ["labels"] * 4
    np.testing.assert_array_equal(clf.pool_.trained_with, range(4))


def test_labels_answer__known_and_unknown_cases__label_distribution_of_the_memory():
    clf = fitted()
    found = clf.answers(NEW)
    known = found.routes.known
    assert 0 < known.sum() < len(NEW)
    expected = clf.label_distributions_[found.routes.nearest]
    np.testing.assert_allclose(found.probabilities[known], expected[known], atol=1e-9)
    np.testing.assert_array_equal(found.labels[known], clf.classes_[expected.argmax(axis=1)][known])
    np.testing.assert_array_equal(found.labels[~known], "unknown")
    assert not found.probabilities[~known].any()


@pytest.mark.parametrize("balance", [0.0, 0.5, 1.0])
def test_labels_answer__beside_the_control_stage_one__answers_the_same(balance):
    clf = fitted(answer=LabelsAnswer(balance=balance))
    of_another = StageOne(fitted(GaussianNB(), answer="local"), balance)
    np.testing.assert_array_equal(clf.predict(NEW), of_another.predict(NEW))


def test_labels_answer__balance__weighs_rare_classes_up():
    plain, weighed = (fitted(answer=LabelsAnswer(balance=balance)) for balance in (0.0, 1.0))
    P, Q = plain.predict_proba(X), weighed.predict_proba(X)
    ratio = P / plain.frequencies_
    np.testing.assert_allclose(Q, ratio / ratio.sum(axis=1, keepdims=True), atol=1e-9)
    rare = plain.frequencies_.argmin()
    assert (Q[:, rare] >= P[:, rare]).all()


def test_labels_answer__equal_but_for_rounding__the_first_class_is_answered():
    one = MemoryClassifier(RBFSimilarity(0.01), n_memories=1, random_state=0, answer=LabelsAnswer(balance=1.0))
    assert set(one.set_params(fallback="nearest").fit(X, Y).predict(X)) == {"ash"}  # one cluster holds everything


def test_labels_answer__weights__count_in_the_distributions():
    weight = np.where(Y == "birch", 50.0, 1.0)
    weight[Y == "cedar"] = 0.0
    clf = fitted(weight=weight)
    found = clf.answers(X)
    assert (found.probabilities[:, 2] == 0).all()
    assert (found.labels[found.routes.known] == "birch").mean() > 0.5


@pytest.mark.parametrize("wrong", [-0.1, 1.5, True, "much"], ids=repr)
def test_labels_answer__balance_out_of_range__is_refused(wrong):
    with pytest.raises(ValueError, match="balance must be a number from 0 to 1, got"):
        fitted(answer=LabelsAnswer(balance=wrong))


# ---------------------------------------------------------------------------------------------------------- fallback


def test_labels_answer__global_fallback__the_estimator_answers_far_cases():
    clf = fitted(GaussianNB(), fallback="global")
    found = clf.answers(NEW)
    far = ~found.routes.known
    np.testing.assert_array_equal(found.labels[far], clf.fallback_.predict(NEW[far]))
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)


def test_labels_answer__fallback_without_probabilities__gives_labels_alone():
    clf = fitted(fallback=LinearSVC())
    found = clf.answers(NEW)
    assert found.probabilities is None
    assert "unknown" not in found.labels
    assert "answer" in clf.explain(NEW[:1])[0].sentence


# ------------------------------------------------------------------------------- explained, saved, bounded, described


def test_labels_answer__explanation__labels_answer_and_are_listed():
    clf = fitted()
    for item in clf.explain(NEW):
        assert item.answered_by == ("labels" if item.known else "none")
        listed = [f"{n} of {label!r}" for label, n in item.cluster_classes.items() if n]
        assert all(each in item.sentence for each in listed) == item.known
        assert not item.evidence


def test_labels_answer__words(item):
    """The words themselves, once: a change of wording is made here too."""
    said = "the labels of its cluster (5 of 'a', 3 of 'b') answer"
    assert LabelsAnswer().say(item()) == f"{said}, with probability 0.80"
    assert LabelsAnswer(balance=0.5).say(item(probabilities=None)) == f"{said}, rare classes weighed up (balance 0.5)"


def test_labels_answer__saved_and_loaded__answers_and_explains_the_same(tmp_path):
    clf = fitted(answer=LabelsAnswer(balance=0.5), unknown_rate=0.1)
    memclf.save(clf, tmp_path / "model")
    loaded = memclf.load(tmp_path / "model")
    assert loaded.answer_.balance == 0.5
    np.testing.assert_array_equal(loaded.predict_proba(NEW), clf.predict_proba(NEW))
    assert str(loaded.explain(NEW)) == str(clf.explain(NEW))


def test_labels_answer__bound__counts_constants():
    clf = fitted(LogisticRegression(), answer=LabelsAnswer(balance=0.5))
    bound = generalization_bound(clf, X, Y)
    assert "local answers" in {each.name for each in bound.assumptions if each.met}
    assert all("constants" in term.how for term in bound.memories)


def test_labels_answer__texts_without_an_estimator__need_none():
    texts, y = ["a b", "a a b", "b b c", "c b b"] * 5, ["x", "x", "y", "y"] * 5
    letters = MemoryClassifier(
        CosineSimilarity(features=lambda text: [text.count(letter) for letter in "abc"]), n_memories=2, answer="labels"
    )
    assert letters.set_params(random_state=0).fit(texts, y).predict(["a a", "c c b"]).tolist() == ["x", "y"]


def test_describe_model__labels_answer__names_no_classifier():
    assert "LogisticRegression" not in describe_model(fitted(LogisticRegression()))
