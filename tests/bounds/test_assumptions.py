"""What bounds assume, and which classifiers meet it."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from memclf import MemoryClassifier
from memclf.bounds import generalization_bound
from memclf.similarity import (
    RBFSimilarity,
)


def by_name(bound):
    return {each.name: each for each in bound.assumptions}


def test_two_classes__three_string_labels__compression_alone_is_valid():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    clf = MemoryClassifier(RBFSimilarity(gamma=0.1), DecisionTreeClassifier(max_depth=1), random_state=0).fit(X, names)
    bound = generalization_bound(clf, X, names)
    assert bound.valid
    assert by_name(generalization_bound(clf, X, names, kind="cascade"))["two classes"].met is False


def test_complexities__steps_that_learn__are_named(problem, fitted):
    X, y = problem()
    harmless = make_pipeline(StandardScaler(), LogisticRegression())
    assert generalization_bound(fitted(X, y, harmless), X, y).valid
    chosen = make_pipeline(SelectKBest(k=1), LogisticRegression())
    bound = generalization_bound(fitted(X, y, chosen), X, y)
    assert "SelectKBest" in by_name(bound)["complexities"].why
    assert by_name(bound)["complexities"].met is None
    assert by_name(generalization_bound(fitted(X, y, chosen), X, y, given=["inputs"]))["complexities"].met is True


def test_local_answers__product__is_not_met(problem, fitted):
    X, y = problem()
    clf = fitted(X, y, answer="product", cv=2)
    found = by_name(generalization_bound(clf, X, y))["local answers"]
    assert found.met is False
    assert "answer rule" in found.why


def test_assumptions__values_of_the_user__are_for_the_user_to_judge(problem, fitted):
    X, y = problem()
    assert by_name(generalization_bound(fitted(X, y), X, y, complexity=0.1))["complexities"].met is None
    by_row = fitted(X, y, thresholds={int(fitted(X, y).memory_indices_[0]): 0.4})
    assert by_name(generalization_bound(by_row, X, y))["thresholds"].met is None
    scaled, fixed = fitted(X, y, SVC(C=0.1)), fitted(X, y, SVC(C=0.1, gamma=0.5))
    assert "gamma" in by_name(generalization_bound(scaled, X, y))["complexities"].why
    assert by_name(generalization_bound(fixed, X, y))["complexities"].met is True


def test_thresholds__fitted_and_deciding_the_route__is_not_met(problem, fitted):
    X, y = problem()
    clf = fitted(X, y, thresholds="tight", rule="check_then_argmax", fallback="nearest")
    assert by_name(generalization_bound(clf, X, y))["thresholds"].met is False


def test_memories__chosen_by_fit__is_not_met_by_bounds_for_fixed_ones(problem, fitted):
    X, y = problem()
    clf = fitted(X, y)
    for kind in ("direct", "cascade", "paper"):
        assert by_name(generalization_bound(clf, X, y, kind=kind))["memories"].met is False
    said = by_name(generalization_bound(clf, X, y, kind="direct", given=["memories"]))["memories"]
    assert said.met is False
    assert said.why == "3 of the 3 memories are among these cases"
    new, labels = problem(seed=1)
    assert by_name(generalization_bound(clf, new, labels, kind="direct", given=["memories"]))["memories"].met is True
    assert by_name(generalization_bound(clf, X, y, kind="paper"))["proof"].met is False
    assert by_name(generalization_bound(clf, X, y, delta=0.4, kind="paper"))["small delta"].met is False
