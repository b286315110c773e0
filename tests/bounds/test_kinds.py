"""Bounds by kind: every term beside a computation by hand, and the registry."""

import math
from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from memclf import MemoryClassifier, MemorySelector
from memclf.bounds import KINDS, TRAINING_KINDS, bounds_of, formulas, generalization_bound, terms
from memclf.similarity import (
    CombinedSimilarity,
    CosineSimilarity,
    RBFSimilarity,
    TreeSimilarity,
)

DELTA = 0.05


def by_name(bound):
    return {each.name: each for each in bound.assumptions}


# Of three clusters with trees of one cut, computed before the kinds became classes.
STORED = {
    "compression": 0.7538595206340124,
    "direct": 1.2079961717639374,
    "cascade": 1.8191551765678753,
    "paper-min": 4.900113027531431,
    "paper": 16.969561649549444,
}


def test_kinds__stored_values__are_reproduced(problem, fitted):
    X, y = problem()
    clf = fitted(X, y, DecisionTreeClassifier(max_depth=1, random_state=0))
    found = {bound.kind: bound.value for bound in bounds_of(clf, X, y)}
    assert found == pytest.approx(STORED, rel=1e-9)


@pytest.mark.parametrize("name", KINDS)
def test_kinds__each_in_the_registry__describes_itself(name, problem, fitted):
    kind = KINDS[name]
    assert kind.name == name
    assert kind.label
    X, y = problem()
    new = (X, y) if kind.uses_training_cases else problem(seed=1)
    bound = generalization_bound(fitted(X, y), *new, kind=name)
    assert bound.kind == name
    assert {term.name for term in bound.terms} <= set(terms.LOOKS)
    assert bound.assumptions[0].name == "same distribution"


@pytest.mark.parametrize("kind", TRAINING_KINDS)
def test_kinds__any_kind__terms_add_up_to_the_value(kind, problem, fitted):
    X, y = problem()
    bound = generalization_bound(fitted(X, y), X, y, kind=kind)
    assert bound.value == pytest.approx(sum(term.value for term in bound.terms))
    assert all(term.value >= 0 for term in bound.terms)
    assert bound.vacuous == (bound.value >= 1)
    assert ("vacuous" in str(bound)) == bound.vacuous or bound.memories[0].promise is not None


@pytest.mark.parametrize("kind", TRAINING_KINDS)
def test_kinds__more_cases__make_every_bound_smaller(kind, problem, fitted):
    values = []
    for n in (300, 1200, 4800):
        X, y = problem(n)
        values.append(generalization_bound(fitted(X, y, DecisionTreeClassifier(max_depth=1)), X, y, kind=kind).value)
    assert all(later < earlier for earlier, later in pairwise(values))


def test_compression__constants__equals_the_formula_by_hand(problem, fitted, constants):
    X, y = problem()
    clf = fitted(X, y, constants)
    bound = generalization_bound(clf, X, y)
    n, q = len(y), 3
    others = np.setdiff1d(np.arange(n), clf.memory_indices_)
    wrong = (clf.predict(X) != y)[others]
    memory = clf.route(X).memory
    local = 0.0
    for k in range(q):
        classes = y[others][memory[others] == k]
        local += 2 * formulas.mean_largest_walk(np.bincount(classes, minlength=2)) / len(others)
    union = math.log(2 / DELTA) + math.log(math.comb(n, q)) + math.log(q * (q + 1))
    assert bound["errors on the training cases"] == pytest.approx(wrong.mean())
    assert bound["local classifiers"] == pytest.approx(local)
    assert bound["choice of memories and confidence"] == pytest.approx(3 * math.sqrt(union / (2 * (n - q))))
    assert bound.value == pytest.approx(wrong.mean() + local + 3 * math.sqrt(union / (2 * (n - q))))


def test_compression__trees__equals_the_formula_by_hand(problem, fitted):
    X, y = problem()
    clf = fitted(X, y, DecisionTreeClassifier(max_depth=1))
    bound = generalization_bound(clf, X, y)
    others = np.setdiff1d(np.arange(len(y)), clf.memory_indices_)
    sizes = np.bincount(clf.route(X).memory[others], minlength=3)
    counts = [math.log(2 * (m + 1)) + 2 * math.log(2) for m in sizes]
    local = sum(2 * m / len(others) * math.sqrt(count / (2 * m)) for m, count in zip(sizes, counts, strict=True))
    assert bound["local classifiers"] == pytest.approx(local)
    for each, m, count in zip(bound.memories, sizes, counts, strict=True):
        assert each.complexity == pytest.approx(math.sqrt(count / (2 * m)))
        assert each.cases == m
        union = math.log(2 / DELTA) + math.log(math.comb(len(y), 3)) + math.log(12) + math.log(3)
        own = each.errors / m + 2 * each.complexity + 3 * math.sqrt(union / (2 * m))
        assert each.promise == pytest.approx(own)


def test_direct__trees__equals_the_formula_by_hand(problem, fitted):
    X, y = problem(n=40_000)
    clf = fitted(X, y, DecisionTreeClassifier(max_depth=1), search=MemorySelector(max_swaps=20))
    bound = generalization_bound(clf, X, y, kind="direct")
    n, q = len(y), 3
    selector = math.sqrt((math.log(n) + math.log(math.comb(n - 1, q - 1))) / (2 * n))
    local = math.sqrt((math.log(2 * (n + 1)) + 2 * math.log(2)) / (2 * n))
    correct = clf.predict(X) == y
    parts = [min((correct & (clf.route(X).memory == k)).mean(), 2 * (selector + local)) for k in range(q)]
    tail = 3 * math.sqrt((q * math.log(2) + math.log(2 / DELTA)) / (2 * n))
    assert bound.value == pytest.approx((~correct).mean() + sum(parts) + tail)
    assert [each.won for each in bound.memories] == ["complexity"] * q
    assert bound["selector"] == pytest.approx(q * 2 * selector)
    assert bound["local classifiers"] == pytest.approx(q * 2 * local)


def test_direct__memory_with_few_cases__is_given_up(problem, fitted):
    X, y = problem(n=300)
    bound = generalization_bound(fitted(X, y), X, y, kind="direct")
    assert {each.won for each in bound.memories} == {"share"}
    clf = fitted(X, y)
    assert bound["memories given up"] == pytest.approx((clf.predict(X) == y).mean())
    assert bound["selector"] == bound["local classifiers"] == 0


def test_cascade_and_paper__trees__equal_the_formulas_by_hand(problem, fitted):
    X, y = problem()
    clf = fitted(X, y, DecisionTreeClassifier(max_depth=1))
    n, q = len(y), 3
    correct = clf.predict(X) == y
    risk, shares = (~correct).mean(), [(correct & (clf.route(X).memory == k)).mean() for k in range(q)]
    rad = math.sqrt(2 * (math.log(2 * (n + 1)) + 2 * math.log(2)) / n)
    log_n = math.log(n) + math.log(math.comb(n - 1, q - 1))
    rho = 1 / (q + 1)
    c = math.sqrt(math.log(q + 1) / n) * (2 + math.sqrt(math.log(rho**2 * n / math.log(q + 1)))) / rho
    c += math.sqrt(math.log(4 / DELTA) / n)
    repaired = risk + sum(min(share, 4 * (rad + math.sqrt(log_n / (2 * n)))) for share in shares) + c
    assert generalization_bound(clf, X, y, kind="cascade").value == pytest.approx(repaired)
    selector = (q * (1 + math.log(n)) + 1) / math.sqrt(n)

    def printed(families):
        inner = math.log(n / q**2 / math.log(families))
        first = math.sqrt(math.log(families) / n) * (2 + math.sqrt(inner)) / DELTA
        return first + math.sqrt(math.log(4 / DELTA) / n)

    whole = risk + 4 * q * (selector + rad) + printed(q)
    assert generalization_bound(clf, X, y, kind="paper").value == pytest.approx(whole)
    smaller = risk + sum(min(share, 4 * (rad + selector)) for share in shares) + printed(q + 1)
    assert generalization_bound(clf, X, y, kind="paper-min").value == pytest.approx(smaller)


def test_paper__many_cases__is_vacuous_where_compression_is_not(problem, fitted):
    X, y = problem(n=4000)
    clf = fitted(X, y)
    assert generalization_bound(clf, X, y).value < 0.6
    for kind in ("paper", "paper-min", "cascade"):
        assert generalization_bound(clf, X, y, kind=kind).vacuous


def test_compression__learned_similarity__costs_ln_of_its_trees(problem, fitted):
    X, y = problem()
    clf = fitted(X, y, similarity=TreeSimilarity(random_state=0), n_memories=None, threshold=0.5)
    bound = generalization_bound(clf, X, y)
    n, q = len(y), len(clf.memory_indices_)
    log_trees = 7 * math.log(2 * (n + 1)) + 8 * math.log(2)
    union = math.log(2 / DELTA) + math.log(math.comb(n, q)) + math.log(q * (q + 1))
    constant = any(origin == "constant" for origin in clf.pool_.origins)
    union += math.log(n + 1) + q * math.log(2) if constant else 0.0
    both = bound["choice of memories and confidence"] + bound["learned similarity"]
    assert both == pytest.approx(3 * math.sqrt((union + log_trees) / (2 * (n - q))))
    assert by_name(bound)["similarity"].met is None
    given = generalization_bound(clf, X, y, given=["similarity"])
    assert given.value == pytest.approx(bound.value - bound["learned similarity"])
    assert by_name(given)["similarity"].met is True
    assert by_name(generalization_bound(clf, X, y, kind="paper"))["similarity"].met is False


def test_compression__graded_and_combined_trees__are_counted_without_labels(problem, fitted):
    X, y = problem()
    tree = TreeSimilarity(graded=True, random_state=0)
    both = CombinedSimilarity([("tree", tree), ("angle", CosineSimilarity())])
    for similarity in (tree, both):
        clf = fitted(X, y, similarity=similarity)
        q = len(clf.memory_indices_)
        extra = 7 * math.log(2 * (len(y) + 1))
        if (clf.route(X).margin == 0).any():  # as near to one memory as to another
            extra += math.log(math.factorial(q))
        bound = generalization_bound(clf, X, y)
        expected = formulas.compression_confidence(len(y), q, DELTA, extra)
        assert bound["choice of memories and confidence"] + bound["learned similarity"] == pytest.approx(expected)


def test_compression__clusters_of_one_class__are_constants_and_paid_for(fitted):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(at, 0.3, size=(200, 1)) for at in (0, 5)])
    y = np.repeat([0, 1], 200)
    clf = fitted(X, y, n_memories=2)
    assert clf.pool_.origins == ["constant", "constant"]
    bound = generalization_bound(clf, X, y)
    n, q = 400, 2
    assert [each.flag for each in bound.memories] == ["exact", "exact"]
    extra = math.log(n + 1) + q * math.log(2)
    assert bound["choice of memories and confidence"] == pytest.approx(
        formulas.compression_confidence(n, q, DELTA, extra)
    )
    for each in bound.memories:  # 199 cases of one class: half the mean distance of a random walk
        assert each.complexity == pytest.approx(formulas.mean_absolute_walk(199) / 2 / 199)


def test_compression__fitted_thresholds__cost_a_term(problem, fitted):
    X, y = problem()
    clf = fitted(X, y, thresholds="tight")
    bound = generalization_bound(clf, X, y)
    others = np.setdiff1d(np.arange(len(y)), clf.memory_indices_)
    sizes = np.bincount(clf.route(X).nearest[others])
    assert bound["fitted thresholds"] == pytest.approx(2 * np.sqrt(sizes).sum() / len(others))
    assert by_name(bound)["thresholds"].met is True
    assert bound.memories[0].promise is None
    other_rule = fitted(X, y, thresholds="tight", rule="check_then_argmax")
    assert by_name(generalization_bound(other_rule, X, y))["thresholds"].met is False


def test_kinds__unknown_cases__are_errors_and_a_fallback_is_a_branch(problem, fitted):
    X, y = problem()
    strict = fitted(X, y, thresholds=0.98)
    unknown = (strict.predict(X) == -1).mean()
    assert unknown > 0.1
    assert generalization_bound(strict, X, y)["errors on the training cases"] >= unknown - 0.01
    helped = fitted(X, y, thresholds=0.98, fallback="global")
    bound = generalization_bound(helped, X, y)
    assert bound.memories[-1].memory is None
    assert "fallback" in str(bound)
    assert bound["errors on the training cases"] < unknown
    assert len(generalization_bound(helped, X, y, kind="direct").memories) == 4
    nearest = fitted(X, y, thresholds=0.98, fallback="nearest")
    assert generalization_bound(nearest, X, y)["errors on the training cases"] < 0.1


def test_compression__ties__make_the_order_of_memories_a_choice(fitted):
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(300, 5)).astype(float)
    y = (X[:, 0] > X[:, 1]).astype(int)
    clf = fitted(X, y, n_memories=4, threshold=0.01)
    assert (clf.route(X).margin < 1e-12).any()
    bound = generalization_bound(clf, X, y)
    extra = math.log(math.factorial(4))
    if any(origin == "constant" for origin in clf.pool_.origins):
        extra += math.log(301) + 4 * math.log(2)
    expected = formulas.compression_confidence(300, 4, DELTA, extra)
    assert bound["choice of memories and confidence"] == pytest.approx(expected)
    assert by_name(bound)["no ties"].met is True
    assert by_name(generalization_bound(clf, X, y, kind="direct"))["no ties"].met is None


def test_compression__estimators_by_number__make_the_order_a_choice(problem, fitted):
    X, y = problem()
    plain, listed = fitted(X, y), fitted(X, y, dict.fromkeys(range(3), LogisticRegression()))
    extra = formulas.compression_confidence(len(y), 3, DELTA, math.log(6))
    assert generalization_bound(listed, X, y)["choice of memories and confidence"] == pytest.approx(extra)
    assert generalization_bound(plain, X, y)["choice of memories and confidence"] < extra


def test_paper_min__wide_rows__counts_plain_errors_without_margins():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 200)), np.arange(300) % 2
    X[:, 0] += np.where(y, 3.0, -3.0)
    clf = MemoryClassifier(RBFSimilarity(gamma=1e-6), LogisticRegression(), random_state=0).fit(X, y)
    bound = generalization_bound(clf, X, y, kind="paper-min")
    assert bound["errors on the training cases"] == (clf.predict(X) != y).mean()
    assert bound.memories[0].complexity == 0.5


def test_held_out__new_cases__give_a_binomial_interval(problem, fitted):
    X, y = problem()
    clf = fitted(X, y)
    new, labels = problem(seed=1)
    bound = generalization_bound(clf, new, labels, kind="held-out")
    errors = int((clf.predict(new) != labels).sum())
    assert bound.value == pytest.approx(formulas.binomial_upper(errors, len(labels), DELTA))
    assert bound.value < generalization_bound(clf, X, y).value
    assert bound.promise_for(0) > bound.memories[0].errors / bound.memories[0].cases
