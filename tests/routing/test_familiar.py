"""Cases that are too strange to their classifier: `route`, `predict`, `answers` and `explain` agree about them."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

from memclf import MemoryClassifier
from memclf.answers import ProductAnswer, product
from memclf.similarity import RBFSimilarity

rng = np.random.default_rng(0)
GROUP = rng.integers(0, 2, 400)
X = np.column_stack([GROUP * 6 + rng.normal(0, 1, 400), rng.normal(0, 1, (400, 2))])
y = (X[:, 1] > 0).astype(int)
NEW = X[:80] + rng.normal(0, 0.4, (80, 3)) + [0, 0, 1] * rng.integers(0, 5, (80, 1))  # strange in what is not compared


def first(A):
    return A[:, :1]


def fitted(answer=None, **settings):
    settings = {"unknown_rate": 0.1, "n_memories": 2, "random_state": 0, **settings}
    similarity = RBFSimilarity(0.2, features=FunctionTransformer(first))
    answer = ProductAnswer(balance=0.0) if answer is None else answer
    return MemoryClassifier(similarity, LogisticRegression(), 0.5, answer=answer, **settings).fit(X, y)


@pytest.fixture
def looks(monkeypatch):
    """Gets an entry each time that strangeness is measured."""
    made = []
    measure = product.measure_strangeness

    def counted(*args):
        made.append(1)
        return measure(*args)

    monkeypatch.setattr(product, "measure_strangeness", counted)
    return made


SETTINGS = {
    "competence": {},
    "balance": {"answer": ProductAnswer("neighbours", balance=0.5)},
    "energy": {"answer": ProductAnswer("energy", balance=0.0)},
    "no competence": {"answer": ProductAnswer(competence=None)},
    "the paper's rule": {"answer": "local"},
    "common thresholds": {"unknown_rate": None},
    "common thresholds, the paper's rule": {"unknown_rate": None, "answer": "local"},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_known__is_what_is_not_answered_unknown(settings):
    clf = fitted(**settings)
    ways, found = clf.route(NEW), clf.answers(NEW)
    np.testing.assert_array_equal(ways.known, clf.predict(NEW) != -1)
    np.testing.assert_array_equal(ways.known, clf.predict_proba(NEW).any(axis=1))
    np.testing.assert_array_equal(ways.known, found.routes.known)
    np.testing.assert_array_equal(ways.known, [item.known for item in clf.explain(NEW)])
    np.testing.assert_array_equal(ways.memory, np.where(ways.known, ways.nearest, -1))
    np.testing.assert_array_equal(ways.branch, np.where(ways.known, ways.nearest, 2))


def test_familiar__similar_cases__can_be_too_strange():
    clf = fitted()
    ways = clf.route(NEW)
    near = ways.similarity >= ways.threshold
    np.testing.assert_array_equal(ways.familiar, clf.answers(NEW).competence > clf.answer_.strange_rate_)
    np.testing.assert_array_equal(ways.known, near & ways.familiar)
    assert (near & ~ways.familiar).any()
    assert ways.to_frame()["familiar"].tolist() == [way.familiar for way in ways]


@pytest.mark.parametrize("settings", [{"unknown_rate": None}, {"answer": "local"}], ids=str)
def test_route__nothing_is_dropped_as_strange__strangeness_is_not_measured(settings, looks):
    clf = fitted(**settings)
    looks.clear()
    assert clf.route(NEW).familiar.all()
    assert not looks


@pytest.mark.parametrize("fallback", ["unknown", "nearest", "global"])
def test_strangeness__is_measured_once_in_every_call(fallback, looks):
    clf = fitted(fallback=fallback)
    for method in (clf.predict, clf.predict_proba, clf.route, clf.answers, clf.explain):
        looks.clear()
        method(NEW)
        assert len(looks) == 1, method


def test_strangeness__given_routes_that_hold_it__is_not_measured_again(looks):
    clf = fitted()
    ways, found = clf.route(NEW), clf.answers(NEW)
    looks.clear()
    again = clf.answers(NEW, ways)
    assert not looks
    np.testing.assert_array_equal(again.labels, found.labels)
    np.testing.assert_array_equal(again.probabilities, found.probabilities)
    np.testing.assert_array_equal(again.competence, found.competence)
    assert clf.answer_.drop_strange(clf._parts, None, ways) is ways


def test_stage_one__routes__are_by_similarity_alone():
    ways = fitted().route(NEW)
    alone = ways.stage_one
    similar = ways.similarity >= ways.threshold
    assert not ways.familiar.all()
    assert alone.familiar.all()
    assert alone.strangeness is None
    np.testing.assert_array_equal(alone.memory, np.where(similar, ways.nearest, -1))
    np.testing.assert_array_equal(alone.known, similar)
