"""Bounds of a classifier with competence: what is too strange to its classifier counts as unknown."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from memclf import MemoryClassifier
from memclf.answers import ProductAnswer
from memclf.bounds import evidence
from memclf.similarity import RBFSimilarity


def test_evidence__strange_cases__are_unknown():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 1] > 0).astype(int)
    rule = ProductAnswer(balance=0.0)
    settings = {"n_memories": 2, "unknown_rate": 0.1, "answer": rule, "random_state": 0}
    clf = MemoryClassifier(RBFSimilarity(0.2), LogisticRegression(), **settings).fit(X, y)
    found = evidence.collect(clf, X, y, held_out=False, given=())
    unknown = clf.predict(X) == -1
    assert (unknown & (clf.route(X).similarity >= clf.route(X).threshold)).any()
    np.testing.assert_array_equal(found.branch < 0, unknown)
    assert f", {unknown.sum()} of them unknown" in found.describe_errors(~found.correct, found.n)
