"""The paper's rule: the classifier of the memory answers, and its sentence says so."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from memclf import MemoryClassifier
from memclf.answers import LocalAnswer, ProductAnswer, answer_rule_for
from memclf.similarity import RBFSimilarity

X, BLOB = make_blobs(240, n_features=3, centers=6, random_state=0)
Y = np.array(["ash", "birch", "cedar"])[BLOB % 3]
NEW = np.concatenate([X[::4] + 0.5, np.full((3, 3), 99.0)])


class Counting(GaussianNB):
    """Counts how often it is asked, and about how many cases."""

    asked = []

    def predict(self, X):
        type(self).asked.append(("predict", len(X)))
        return super().predict(X)

    def predict_proba(self, X):
        type(self).asked.append(("predict_proba", len(X)))
        return super().predict_proba(X)


def fitted(estimator=None, **settings):
    settings = {"n_memories": 4, "min_cluster_size": 5, "random_state": 0, **settings}
    return MemoryClassifier(RBFSimilarity(0.01), estimator or GaussianNB(), 0.3, **settings).fit(X, Y)


def own_answers(clf, routes, method):
    """What the classifier of each case's memory says, asked case by case."""
    return [getattr(clf.estimators_[k], method)(NEW[[i]])[0] for i, k in enumerate(routes.nearest)]


def test_local_answer__known_cases__the_classifier_of_the_memory_answers():
    clf = fitted()
    found = clf.answers(NEW)
    known = found.routes.known
    assert 0 < known.sum() < len(NEW) == len(found)
    np.testing.assert_array_equal(found.labels[known], np.array(own_answers(clf, found.routes, "predict"))[known])
    np.testing.assert_array_equal(found.labels[~known], "unknown")
    assert not found.probabilities[~known].any()
    np.testing.assert_allclose(found.probabilities[known].sum(axis=1), 1)
    np.testing.assert_array_equal(found.labels, clf.predict(NEW))
    np.testing.assert_array_equal(found.probabilities, clf.predict_proba(NEW))


def test_local_answer__given_routes__are_followed():
    clf = fitted()
    routes = clf.route(NEW[::-1])
    found = clf.answers(NEW, routes)
    assert found.routes is routes
    sent = [clf.estimators_[k].predict(NEW[[i]])[0] if k >= 0 else "unknown" for i, k in enumerate(routes.memory)]
    np.testing.assert_array_equal(found.labels, sent)


@pytest.mark.parametrize("fallback", ["nearest", "global", DecisionTreeClassifier(max_depth=2)], ids=str)
def test_local_answer__fallback__answers_what_no_memory_does(fallback):
    clf = fitted(fallback=fallback)
    found = clf.answers(NEW)
    far = ~found.routes.known
    nearest = np.array(own_answers(clf, found.routes, "predict"))
    expected = nearest if fallback == "nearest" else clf.fallback_.predict(NEW)
    np.testing.assert_array_equal(found.labels, np.where(far, expected, nearest))
    assert found.labels.dtype == clf.classes_.dtype  # which cannot hold "unknown", and need not
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)


def test_local_answer__no_probabilities__labels_alone():
    found = fitted(LinearSVC()).answers(NEW)
    assert found.probabilities is None
    assert set(found.labels) == {"ash", "birch", "cedar", "unknown"}


def test_local_answer__each_classifier__is_asked_once_and_only_for_what_is_wanted():
    clf = fitted(Counting())
    trained = len({id(each) for each in clf.estimators_ if isinstance(each, Counting)})
    for ask, methods in (
        (clf.predict, {"predict"}),
        (clf.predict_proba, {"predict_proba"}),
        (clf.answers, {"predict", "predict_proba"}),
        (clf.explain, {"predict", "predict_proba"}),
    ):
        Counting.asked.clear()
        ask(NEW)
        assert {method for method, _ in Counting.asked} == methods
        assert len(Counting.asked) == trained * len(methods)


def test_similarities__to_every_memory__hold_those_of_the_routes():
    clf = fitted()
    found, routes = clf.similarities(NEW), clf.route(NEW)
    assert found.shape == (len(NEW), 4)
    np.testing.assert_allclose(found[np.arange(len(NEW)), routes.nearest], routes.similarity)


# ---------------------------------------------------------------------------------------------------- rules by name


def test_answer_rule_for__names_and_objects():
    assert type(answer_rule_for("local")) is LocalAnswer
    assert type(answer_rule_for("product")) is ProductAnswer
    rule = ProductAnswer(balance=0.1)
    assert answer_rule_for(rule) is rule


@pytest.mark.parametrize("wrong", ["sum", None, ProductAnswer, 3], ids=repr)
def test_answer_rule_for__no_rule__is_named(wrong):
    with pytest.raises(ValueError, match="answer must be 'local', .*, or an object .*; got "):
        answer_rule_for(wrong)


def test_fit__answer_rule__is_cloned_and_stays_unfitted():
    rule = ProductAnswer(competence=None)
    clf = fitted(answer=rule)
    assert clf.answer_ is not rule
    assert not hasattr(rule, "weights_")
    assert clf.answer_.get_params() == rule.get_params()


# -------------------------------------------------------------------------------------------------------- sentences


@pytest.mark.parametrize("origin", ["fresh", "merged", "handed to global", "constant"])
def test_local_answer__sentence__names_answer_classifier_and_cluster(origin, item):
    shown = item(origin=origin)
    said = LocalAnswer().say(shown)
    if origin == "constant":
        assert repr(shown.answer) in said
        assert str(shown.cluster_size) in said
    else:
        assert shown.local_classifier in said
        assert f"{shown.probabilities['a']:.2f}" in said
        assert all(f"{n} of {label!r}" in said for label, n in shown.cluster_classes.items() if n)
        assert "'c'" not in said  # there is none in the cluster
    assert ("shares" in said) == (origin == "merged")
    assert ("global" in said) == (origin == "handed to global")


def test_local_answer__words(item):
    """The words themselves, once: a change of wording is made here too."""
    fresh = "its LogisticRegression says so with probability 0.80; its cluster holds 5 of 'a', 3 of 'b'"
    found = {
        "fresh": item(),
        "merged": item(origin="merged"),
        "global": item(origin="handed to global"),
        "constant": item(origin="constant"),
        "alone": item(origin="constant", cluster_size=1),
        "no probabilities": item(probabilities=None),
    }
    assert {name: LocalAnswer().say(each) for name, each in found.items()} == {
        "fresh": fresh,
        "merged": f"{fresh} and shares a classifier with the cluster of another memory",
        "global": f"{fresh} and is too small for a classifier of its own, so the global one answers",
        "constant": "all 8 cases of its cluster are 'a'",
        "alone": "it is alone in its cluster and is 'a'",
        "no probabilities": "its LogisticRegression says so; its cluster holds 5 of 'a', 3 of 'b'",
    }
