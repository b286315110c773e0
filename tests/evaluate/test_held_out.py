"""Held-out folds: who is fitted on what, what is stored, and cases that were answered."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from memclf import MemoryClassifier
from memclf.evaluate import Results, StageOne, evaluate_held_out, keep_answered, store_answers
from memclf.evaluate.store import CLEAN, Cases, ModelId
from memclf.similarity import RBFSimilarity


class Recites(ClassifierMixin, BaseEstimator):
    """Answers rightly what it was fitted on, and "never" what it was not."""

    def fit(self, X, y):
        self.known_ = dict(zip(X[:, 0].tolist(), y, strict=True))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.array([self.known_.get(value, "never") for value in X[:, 0].tolist()])


X = np.arange(40.0)[:, None]
Y = np.array(["low", "high"])[(X[:, 0] >= 20).astype(int)]


def accuracy(store, name):
    return Results(store).mean(ModelId(name), [CLEAN]).value


def test_evaluate_held_out__contender_that_recites__is_never_right():
    sizes = []
    store = evaluate_held_out({"baseline": lambda n: sizes.append(n) or Recites()}, X, Y, cv=4)
    assert accuracy(store, "baseline") == 0.0
    assert sizes == [30] * 4
    assert len(store.cases().keys) == 40


def test_evaluate_held_out__groups__stay_together_and_reach_memory_classifiers():
    seen = []

    class Remembers(MemoryClassifier):
        def fit(self, X, y, **params):
            seen.append((X[:, 0], params["groups"]))
            return super().fit(X, y, **params)

    def make(n):
        return Remembers(RBFSimilarity(gamma=0.1), threshold=0.2, fallback="nearest", random_state=0)

    groups = np.arange(40) // 4
    store = evaluate_held_out(
        {"memory": make}, X, Y, cv=5, groups=groups, derive=lambda f: {"stage1": StageOne(f["memory"])}
    )
    assert all((groups[rows.astype(int)] == given).all() for rows, given in seen)
    assert [len(set(given)) for _, given in seen] == [8] * 5  # of ten groups two are held out, whole
    assert accuracy(store, "memory") > 0.7
    assert {row["model"] for row in store.rows()} == {"memory", "stage1"}
    assert store.cases().groups.tolist() == groups.tolist()


def test_keep_answered__unknown_of_one_contender__are_left_out_for_all():
    cases = Cases(list("abcd"), np.array([0, 0, 1, 1]), ["x", "y"], np.array([0, 0, 1, 1]))
    store = store_answers({"memory": np.array([0, -1, 1, -1]), "baseline": np.array([0, 1, 0, 1])}, cases)
    kept = keep_answered(store, "memory")
    assert kept.cases().keys == ["a", "c"]
    assert accuracy(kept, "memory") == 1.0
    assert accuracy(kept, "baseline") == 0.5
    assert accuracy(store, "memory") == 0.5


def test_evaluate_held_out__too_few_cases__says_so():
    with pytest.raises(ValueError, match="too few for cv=5 folds"):
        evaluate_held_out({"baseline": lambda n: Recites()}, X[:6], Y[17:23])
