"""What local classifiers cost in a bound: by counting, by margin and norm, as given."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from memclf import MemoryClassifier
from memclf.bounds import formulas, generalization_bound
from memclf.similarity import (
    RBFSimilarity,
)

DELTA = 0.05


def by_name(bound):
    return {each.name: each for each in bound.assumptions}


def test_cost__wide_linear_classifier__is_judged_by_its_margins():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 300))
    X /= np.linalg.norm(X, axis=1)[:, None]
    X[:, 0] += np.where(np.arange(400) % 2, 1.5, -1.5)
    y = np.arange(400) % 2
    clf = MemoryClassifier(RBFSimilarity(gamma=1e-6), LogisticRegression(C=100.0), random_state=0).fit(X, y)
    bound = generalization_bound(clf, X, y)
    (only,) = bound.memories
    assert "margin" in only.how
    assert only.complexity < 0.5
    assert bound.valid
    # By hand, for the power of two that was taken.
    power = int(math.log2(int(only.how.split("/ ")[1])))
    rows = np.column_stack([X, np.ones(400)])[np.arange(400) != clf.memory_indices_[0]]
    labels = y[np.arange(400) != clf.memory_indices_[0]]
    weight = np.append(clf.estimators_[0].coef_, clf.estimators_[0].intercept_)
    assert only.complexity == pytest.approx(2**power * np.linalg.norm(rows) / len(rows))
    margins = (2 * labels - 1) * (rows @ weight) / np.linalg.norm(weight)
    assert only.errors == (margins * 2**power < 1).sum()
    union = formulas.compression_confidence(400, 1, DELTA, math.log((power + 1) * (power + 2)))
    assert bound["choice of memories and confidence"] == pytest.approx(union)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", [SVC(), SVC(kernel="poly"), MLPClassifier((4,), max_iter=40, random_state=0)])
def test_cost__kernels_and_networks__are_judged_by_their_norms(estimator, problem, fitted):
    X, y = problem()
    bound = generalization_bound(fitted(X, y, estimator), X, y)
    assert all(each.flag == "upper bound" for each in bound.memories)
    assert all(0 < each.complexity <= 0.5 for each in bound.memories)
    assert any(word in bound.memories[0].how for word in ("kernel scores", "Frobenius norms"))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_kernel__support_vector_machine__norm_is_that_of_its_scores(kernel, problem):
    """Scores are linear in the kernel's space: with the constant, norm times root of k(x, x) + 1 is never exceeded."""
    from memclf.bounds.local_cost import _kernel

    X, y = problem(n=150)
    svc = SVC(kernel=kernel).fit(X, y)
    found = _kernel(svc, X)
    from sklearn.metrics.pairwise import pairwise_kernels

    options = {"rbf": {"gamma": svc._gamma}, "poly": {"gamma": svc._gamma, "degree": 3, "coef0": 0.0}, "linear": {}}
    diagonal = np.diag(pairwise_kernels(X, metric=kernel, **options[kernel])) + 1
    assert (np.abs(found.values[:, 0]) <= found.norm * np.sqrt(diagonal) + 1e-9).all()
    assert found.unit == pytest.approx(math.sqrt(diagonal.sum()) / len(X))


def test_cost__forest__is_that_of_all_functions(problem, fitted):
    X, y = problem()
    bound = generalization_bound(fitted(X, y, RandomForestClassifier(5, random_state=0)), X, y)
    assert bound["local classifiers"] == pytest.approx(1.0)
    assert bound.vacuous


def test_cost__random_labels__is_flagged_as_a_heuristic(problem, fitted):
    X, y = problem(n=200)
    clf = fitted(X, y, RandomForestClassifier(5, max_depth=1, random_state=0))
    bound = generalization_bound(clf, X, y, complexity="random labels")
    assert 0 < bound["local classifiers"] < 1
    assert not bound.valid
    assert "heuristic" in by_name(bound)["complexities"].why
    assert "were its assumptions met; they are not" in bound.sentence or bound.vacuous


def test_cost__number_or_function__is_taken_as_given(problem, fitted):
    X, y = problem()
    clf = fitted(X, y)
    assert generalization_bound(clf, X, y, complexity=0.1)["local classifiers"] == pytest.approx(0.1)
    asked = []
    found = generalization_bound(clf, X, y, complexity=lambda estimator, cases: asked.append(len(cases)) or 0.2)
    assert found["local classifiers"] == pytest.approx(0.2)
    assert sum(asked) == len(y) - 3


def test_cost__tree_of_no_fixed_size__counts_its_cuts_and_pays_for_them(problem, fitted):
    """Found in review: by min_samples_leaf, a tree grown on other cases was taken for smaller than it was."""
    X, y = problem()
    tree = DecisionTreeClassifier(min_samples_leaf=40, random_state=0)
    clf = fitted(X, y, tree, thresholds=0.995, fallback="global")
    bound = generalization_bound(clf, X, y)
    leaves = [each.tree_.n_leaves for each in [*clf.estimators_, clf.fallback_]]
    for each, count in zip(bound.memories, leaves, strict=True):
        cuts = f"at most {count - 1} cut{'s' if count != 2 else ''}"
        assert cuts in each.how or "every way" in each.how
    union = sum(math.log(count * (count + 1)) for count in leaves)
    expected = formulas.compression_confidence(len(y), 3, DELTA, union)
    assert bound["choice of memories and confidence"] == pytest.approx(expected)


def test_cost__pairwise_scores_of_three_classes__are_not_linear_scores():
    X, y = load_iris(return_X_y=True)
    clf = MemoryClassifier(RBFSimilarity(gamma=1e-6), SVC(kernel="linear"), random_state=0).fit(X, y)
    (only,) = generalization_bound(clf, X, y).memories
    assert only.complexity == 0.5
    assert "no class of functions is known" in only.how


def test_cost__merged_small_cluster__is_that_of_its_classifier(fitted):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(at, 0.1, size=(size, 1)) for at, size in ((0, 200), (1.5, 4), (9, 200))])
    y = np.repeat([0, 1], [204, 200])
    y[[0, 210]] = 1, 0
    y[:204] = 0
    clf = fitted(X, y, DecisionTreeClassifier(max_depth=1), similarity=RBFSimilarity(gamma=1.0), min_cluster_size=10)
    assert "merged" in clf.pool_.origins
    assert "constant" in clf.pool_.origins
    found = {each.complexity for each in generalization_bound(clf, X, y, kind="direct").memories}
    assert len(found) == 1
