"""The cases of a bound: which are recognised, which are refused, and what counts as an error."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.dummy import DummyClassifier
from sklearn.svm import SVC

from memclf import MemoryClassifier
from memclf.bounds import generalization_bound
from memclf.similarity import (
    CosineSimilarity,
    FunctionSimilarity,
    GowerSimilarity,
)


def by_name(bound):
    return {each.name: each for each in bound.assumptions}


def test_evidence__training_cases_called_held_out__are_recognised(problem, fitted):
    X, y = problem()
    clf = fitted(X, y)
    new, labels = problem(seed=1)
    assert generalization_bound(clf, new, labels, kind="held-out").valid
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = generalization_bound(clf, X[order], y[order], kind="held-out")
    assert not shuffled.valid
    assert "3 of the 3 memories, which are training cases" in by_name(shuffled)["held out"].why
    assert "they are not" in shuffled.sentence
    mixed = generalization_bound(clf, np.vstack([new, X[clf.memory_indices_[:1]]]), [*labels, 0], kind="held-out")
    assert not mixed.valid


def test_evidence__rows_of_a_table__are_recognised(problem):
    pd = pytest.importorskip("pandas")
    X, y = problem()
    frame = pd.DataFrame({"where": X[:, 0], "sign": X[:, 1], "kind": np.where(X[:, 0] > 2, "b", "a")})
    clf = MemoryClassifier(GowerSimilarity(), DummyClassifier(), threshold=0.5, random_state=0).fit(frame, y)
    assert generalization_bound(clf, frame, y).n == len(y)
    order = np.random.default_rng(0).permutation(len(y))
    assert not generalization_bound(clf, frame.iloc[order], y[order], kind="held-out").valid
    assert not by_name(generalization_bound(clf, frame, y))["similarity"].met


def by_first_letter(a, b):
    return float(a[0] == b[0])


@pytest.mark.parametrize("kind", ["sparse", "texts"])
def test_evidence__sparse_rows_and_texts__are_recognised(kind, problem):
    X, y = problem()
    if kind == "sparse":
        cases, similarity = sp.csr_array(np.round(np.abs(X))), CosineSimilarity()
    else:
        cases = np.array([f"{'abc'[int(x > 2) + int(x > 6)]} {v:.6f}" for x, v in X])
        similarity = FunctionSimilarity(by_first_letter)
    clf = MemoryClassifier(similarity, DummyClassifier(), threshold=0.5, random_state=0).fit(cases, y)
    assert generalization_bound(clf, cases, y).n == len(y)
    held = np.setdiff1d(np.arange(len(y)), clf.memory_indices_)
    found = generalization_bound(clf, cases[held], y[held], kind="held-out")
    assert found.valid == (kind == "texts")  # rounded rows occur twice
    shuffled = np.random.default_rng(0).permutation(len(y))[:-1]
    assert not generalization_bound(clf, cases[shuffled], y[shuffled], kind="held-out").valid


def test_evidence__errors__are_described_in_words(problem, fitted):
    X, y = problem()
    strict = generalization_bound(fitted(X, y, thresholds=0.98), X, y)
    assert "of them unknown" in strict.terms[0].how
    close = generalization_bound(fitted(X, y, SVC(C=0.1)), X, y)
    assert "right by less than a margin" in close.terms[0].how
    assert "wrong or too close" in str(close)
    assert "answered wrongly or not at all" in generalization_bound(fitted(X, y), X, y).sentence
