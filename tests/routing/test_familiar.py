"""Cases that are too strange to their classifier: `route`, `predict` and all the others agree about them."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

from memclf import MemoryClassifier, answer
from memclf.bounds import evidence
from memclf.evaluate import StageOne, evaluate
from memclf.similarity import RBFSimilarity

rng = np.random.default_rng(0)
GROUP = rng.integers(0, 2, 400)
X = np.column_stack([GROUP * 6 + rng.normal(0, 1, 400), rng.normal(0, 1, (400, 2))])
y = (X[:, 1] > 0).astype(int)
NEW = X[:80] + rng.normal(0, 0.4, (80, 3)) + [0, 0, 1] * rng.integers(0, 5, (80, 1))  # strange in what is not compared


def first(A):
    return A[:, :1]


def nudged(A, number):
    return A + 0.2 * number


def fitted(**settings):
    settings = {"threshold": "conformal", "competence": "mahalanobis", **settings}
    settings |= {"unknown_rate": 0.1} if settings["threshold"] == "conformal" else {}
    similarity = RBFSimilarity(0.2, features=FunctionTransformer(first))
    return MemoryClassifier(similarity, LogisticRegression(), n_memories=2, random_state=0, **settings).fit(X, y)


@pytest.fixture
def looks(monkeypatch):
    """How often somebody looks how strange cases are."""
    made = []
    look = answer.strangeness

    def counted(*args):
        made.append(1)
        return look(*args)

    monkeypatch.setattr(answer, "strangeness", counted)
    return made


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"guard": "hard"},
        {"combine": "product"},
        {"combine": "stacked", "balance": 0.5},
        {"views": 1, "perturb": nudged},
        {"competence": "agreement", "perturb": nudged},
        {"competence": None},
        {"threshold": 0.5},
        {"threshold": 0.5, "competence": None},
    ],
    ids=lambda settings: ", ".join(settings) or "as it is",
)
def test_known_is_what_is_not_answered_unknown(settings):
    clf = fitted(**settings)
    ways = clf.route(NEW)
    np.testing.assert_array_equal(ways.known, clf.predict(NEW) != -1)
    np.testing.assert_array_equal(ways.known, clf.predict_proba(NEW).any(axis=1))
    np.testing.assert_array_equal(ways.known, [item.known for item in clf.explain(NEW)])
    np.testing.assert_array_equal(ways.memory, np.where(ways.known, ways.nearest, -1))
    np.testing.assert_array_equal(ways.branch, np.where(ways.known, ways.nearest, 2))


def test_cases_that_are_similar_enough_can_be_too_strange():
    clf = fitted()
    ways = clf.route(NEW)
    near = ways.similarity >= ways.threshold
    np.testing.assert_array_equal(ways.familiar, ~clf.too_strange(clf.competences(NEW)))
    np.testing.assert_array_equal(ways.known, near & ways.familiar)
    assert (near & ~ways.familiar).any()
    assert ways.to_frame()["familiar"].tolist() == [way.familiar for way in ways]


@pytest.mark.parametrize("settings", [{"threshold": 0.5}, {"competence": None}], ids=str)
def test_everything_is_familiar_where_nobody_looks(settings, looks):
    clf = fitted(**settings)
    looks.clear()
    assert clf.route(NEW).familiar.all()
    assert not looks


@pytest.mark.parametrize("fallback", ["unknown", "nearest", "global"])
def test_nobody_looks_twice_how_strange_cases_are(fallback, looks):
    clf = fitted(fallback=fallback)
    looks.clear()
    answers, chances = clf.predict(NEW), clf.predict_proba(NEW)
    assert len(looks) == 2
    ways = clf.route(NEW)
    assert len(looks) == 3
    np.testing.assert_array_equal(clf.predict_routed(NEW, ways), answers)
    np.testing.assert_array_equal(clf.predict_proba_routed(NEW, ways), chances)
    assert np.isfinite(clf.strangeness_routed(NEW, ways)).all()
    assert len(looks) == 3
    clf.explain(NEW)
    assert len(looks) == 4


def test_stage_one_alone_does_not_ask_what_is_strange_to_classifiers():
    clf = fitted()
    ways, alone = clf.route(NEW), StageOne(clf)
    assert not ways.familiar.all()
    similar = ways.similarity >= ways.threshold
    np.testing.assert_array_equal(alone.route(NEW).memory, np.where(similar, ways.nearest, -1))
    np.testing.assert_array_equal(alone.predict(NEW) != -1, similar)


def test_bounds_count_what_is_too_strange_as_unknown():
    clf = fitted()
    found = evidence.collect(clf, X, y, held_out=False, given=())
    unknown = clf.predict(X) == -1
    assert unknown.any()
    np.testing.assert_array_equal(found.branch < 0, unknown)
    assert f", {unknown.sum()} of them unknown" in found.describe_errors(~found.correct, found.n)


def test_an_evaluation_counts_what_becomes_too_strange_as_unknown_everywhere():
    clf, strange = fitted(), X[:80] + np.array([0, 0, 9])
    clean, moved = evaluate({"memory": clf}, X[:80], y[:80], {("drift", 1): strange})
    assert clean["coverage"] == np.mean(clf.predict(X[:80]) != -1)
    assert clean["oracle_accuracy"] == clean["accuracy"] > 0.7
    assert (moved["coverage"], moved["accuracy"]) == (0.0, 0.0)
    assert moved["stage1_accuracy"] == clean["stage1_accuracy"] > 0.4  # what is compared has not changed
    assert moved["routing_stability"] == np.mean(clf.route(X[:80]).memory == -1)  # these were unknown before
    assert moved["oracle_accuracy"] == 0.0  # where they are sent, they are strange too


def test_cases_sent_elsewhere_are_looked_at_anew():
    """Cases that moved to the other memory are familiar there, and strange to the classifier they came from."""
    clf = fitted()
    here = np.flatnonzero((GROUP == 0) & clf.route(X).known)[:40]
    moved = evaluate({"memory": clf}, X[here], y[here], {("drift", 1): X[here] + np.array([6, 0, 0])})[1]
    assert moved["accuracy"] > 0.7
    assert moved["routing_stability"] < 0.1
    assert moved["oracle_accuracy"] < 0.1
