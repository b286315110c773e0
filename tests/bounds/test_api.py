"""The functions that users call: what they refuse, and where the bound goes."""

import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import memclf
from memclf import MemoryClassifier
from memclf.bounds import bounds_of, generalization_bound
from memclf.similarity import (
    RBFSimilarity,
)


def test_bound__no_fitted_memory_classifier__is_refused(problem):
    X, y = problem(n=50)
    with pytest.raises(NotFittedError):
        generalization_bound(MemoryClassifier(), X, y)
    with pytest.raises(TypeError, match="bounds are about memory classifiers; got LogisticRegression"):
        generalization_bound(LogisticRegression().fit(X, y), X, y)


def test_bound__wrong_cases_or_options__are_refused(problem, fitted):
    X, y = problem()
    clf = fitted(X, y)
    other, labels = problem(seed=1)
    with pytest.raises(ValueError, match="600, not 100"):
        generalization_bound(clf, X[:100], y[:100])
    with pytest.raises(ValueError, match="not the cases that the classifier was fitted on"):
        generalization_bound(clf, other, labels)
    with pytest.raises(ValueError, match="not the cases that the classifier was fitted on"):
        generalization_bound(clf, X[::-1], y[::-1])
    with pytest.raises(ValueError, match="its memories are not where they were"):
        generalization_bound(clf, X + 1e-3, y)
    with pytest.raises(ValueError, match="'held-out' is for others"):
        generalization_bound(clf, X, y, kind="held-out")
    with pytest.raises(ValueError, match="kind must be one of"):
        generalization_bound(clf, X, y, kind="tight")
    for delta in (5, 0, "a", True):
        with pytest.raises(ValueError, match="delta must be between"):
            generalization_bound(clf, X, y, delta=delta)
    with pytest.raises(ValueError, match="given must be a list"):
        generalization_bound(clf, X, y, given="similarity")
    with pytest.raises(ValueError, match="given must be a list of names among .*; got 'luck'"):
        generalization_bound(clf, X, y, given=["luck"])
    with pytest.raises(ValueError, match="complexity must be"):
        generalization_bound(clf, X, y, complexity="low")
    with pytest.raises(ValueError, match="does not know: 7"):
        generalization_bound(clf, X, np.where(y == 0, 7, y))
    weights = np.repeat([0.0, 1.0], [50, len(y) - 50])
    weighted = MemoryClassifier(RBFSimilarity(gamma=0.1), threshold=0.3, random_state=0).fit(X, y, weights)
    with pytest.raises(ValueError, match="weight 0"):
        generalization_bound(weighted, X, y)


def test_bounds_of__kind_that_is_not_defined__is_an_error_in_the_list(fitted, problem):
    X, y = problem()
    found = bounds_of(fitted(X, y, n_memories=1, threshold=1e-6), X, y)
    assert [type(each).__name__ for each in found] == ["Bound", "Bound", "Bound", "Bound", "ValueError"]


def test_bound__as_json_and_picture__keeps_its_values(problem, fitted, tmp_path):
    X, y = problem()
    bound = generalization_bound(fitted(X, y), X, y)
    back = json.loads(json.dumps(bound.as_dict()))
    assert back["value"] == bound.value
    assert back["vacuous"] is False
    assert back["assumptions"][0]["state"] == "for you to judge"
    bound.plot().savefig(tmp_path / "bound.png")
    assert (tmp_path / "bound.png").stat().st_size > 3000
    with pytest.raises(KeyError, match="no term 'luck'; it has 'errors"):
        bound["luck"]


def test_bound__of_the_classifier__is_explained_and_saved(problem, fitted, tmp_path):
    X, y = problem(n=3000)
    clf = fitted(X, y)
    assert clf.bound_ is None
    assert "promise" not in str(clf.explain(X[:1])[0])
    clf.bound_ = bound = generalization_bound(clf, X, y)
    said = str(clf.explain(X[:1])[0])
    assert f"at most {100 * bound.value:.1f} % are answered wrongly or not at all (95 % sure)" in said
    memclf.save(clf, tmp_path / "model")
    again = memclf.load(tmp_path / "model")
    assert again.bound_ == bound
    assert str(again.explain(X[:1])[0]) == said
    clf.fit(X, y)
    assert clf.bound_ is None


def test_bound__vacuous__is_explained_as_such(problem, fitted):
    X, y = problem(n=100)
    clf = fitted(X, y)
    clf.bound_ = generalization_bound(clf, X, y)
    said = str(clf.explain(X[:1])[0])
    assert "vacuous" in said
