"""Evaluations of a classifier with competence: what is too strange to its classifier counts as unknown."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

from memclf import MemoryClassifier
from memclf.answers import ProductAnswer
from memclf.evaluate import StageOne, evaluate
from memclf.similarity import RBFSimilarity

rng = np.random.default_rng(0)
GROUP = rng.integers(0, 2, 400)
X = np.column_stack([GROUP * 6 + rng.normal(0, 1, 400), rng.normal(0, 1, (400, 2))])
y = (X[:, 1] > 0).astype(int)


def first(A):
    return A[:, :1]


@pytest.fixture(scope="module")
def clf():
    """Compares the first column only, so that a case can be similar to its memory and strange to the classifier."""
    similarity = RBFSimilarity(0.2, features=FunctionTransformer(first))
    rule = ProductAnswer(balance=0.0)
    settings = {"n_memories": 2, "unknown_rate": 0.1, "answer": rule, "random_state": 0}
    return MemoryClassifier(similarity, LogisticRegression(), **settings).fit(X, y)


def test_stage_one__strange_cases__are_answered_by_the_labels_of_the_memory(clf):
    new = X[:80] + np.array([0, 0, 9])
    ways, alone = clf.route(new), StageOne(clf)
    assert not ways.familiar.any()
    similar = ways.similarity >= ways.threshold
    np.testing.assert_array_equal(alone.route(new).memory, np.where(similar, ways.nearest, -1))
    np.testing.assert_array_equal(alone.predict(new) != -1, similar)


def test_evaluate__cases_become_strange__are_unknown_in_every_measure(clf):
    clean, moved = evaluate({"memory": clf}, X[:80], y[:80], {("drift", 1): X[:80] + np.array([0, 0, 9])})
    assert clean["coverage"] == np.mean(clf.predict(X[:80]) != -1)
    assert clean["oracle_accuracy"] == clean["accuracy"] > 0.7
    assert (moved["coverage"], moved["accuracy"]) == (0.0, 0.0)
    assert moved["stage1_accuracy"] == clean["stage1_accuracy"] > 0.4  # what is compared has not changed
    assert moved["routing_stability"] == np.mean(clf.route(X[:80]).memory == -1)  # these were unknown before
    assert moved["oracle_accuracy"] == 0.0  # where they are sent, they are strange too


def test_evaluate__oracle_routes__strangeness_is_measured_for_the_memory_that_cases_are_sent_to(clf):
    """Cases that moved to the other memory are familiar there, and strange to the classifier they came from."""
    here = np.flatnonzero((GROUP == 0) & clf.route(X).known)[:40]
    moved = evaluate({"memory": clf}, X[here], y[here], {("drift", 1): X[here] + np.array([6, 0, 0])})[1]
    assert moved["accuracy"] > 0.7
    assert moved["routing_stability"] < 0.1
    assert moved["oracle_accuracy"] < 0.1
