"""Bounds against the truth, on problems whose risk is known exactly."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from memclf import MemoryClassifier, MemorySelector
from memclf.bounds import formulas, generalization_bound
from memclf.similarity import RBFSimilarity, TreeSimilarity

DELTA = 0.05
RUNS = 200


class World:
    """Cases from finitely many places, each with its probability and its share of class 1: every risk is a sum."""

    def __init__(self, clusters=3, levels=6, noise=0.1, n_classes=2):
        rng = np.random.default_rng(7)
        grid = np.array([(4.0 * c, v) for c in range(clusters) for v in np.linspace(-1, 1, levels)])
        self.places = grid + rng.normal(0, 0.05, size=grid.shape)
        self.chance = rng.dirichlet(np.full(len(grid), 3.0))
        right = np.array(
            [
                int((v > 0) ^ (c % 2 == 1)) + (n_classes == 3) * (c == 2)
                for c in range(clusters)
                for v in np.linspace(-1, 1, levels)
            ]
        )
        self.classes = np.full((len(grid), n_classes), noise / (n_classes - 1))
        self.classes[np.arange(len(grid)), right] = 1 - noise

    def draw(self, n, rng):
        where = rng.choice(len(self.places), size=n, p=self.chance)
        y = (rng.random(n)[:, None] > self.classes[where].cumsum(axis=1)).sum(axis=1)
        return self.places[where], y

    def risk(self, clf):
        answers = clf.predict(self.places)
        right = np.zeros(len(answers))
        known = answers >= 0
        right[known] = self.classes[np.flatnonzero(known), answers[known]]
        return float((self.chance * (1 - right)).sum())


def share_that_holds(world, build, bound, n, runs=RUNS):
    held = []
    for seed in range(runs):
        X, y = world.draw(n, np.random.default_rng(seed))
        clf = build(seed).fit(X, y)
        held.append(world.risk(clf) <= bound(clf, X, y))
    return np.mean(held)


def compression(clf, X, y):
    return generalization_bound(clf, X, y, DELTA).value


CLASSIFIERS = {
    "constants": {"estimator": DummyClassifier()},
    "linear": {"estimator": LogisticRegression()},
    "trees": {"estimator": DecisionTreeClassifier(max_depth=2)},
    "kernels, by margin": {"estimator": SVC(C=0.1)},
    "fitted thresholds": {"estimator": DummyClassifier(), "thresholds": "tight"},
    "more memories than clusters": {"estimator": DummyClassifier(), "n_memories": 9},
    "learned similarity": {"similarity": TreeSimilarity(tree=DecisionTreeClassifier(max_depth=2)), "n_memories": None},
    "fallback": {"estimator": DummyClassifier(), "thresholds": 0.99, "fallback": "global"},
}


def builder(**settings):
    settings = {"similarity": RBFSimilarity(gamma=0.1), "threshold": 0.2, "n_memories": 3, **settings}
    return lambda seed: MemoryClassifier(
        random_state=seed, search=MemorySelector(max_swaps=10), **copy.deepcopy(settings)
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:n_memories=")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_compression__known_risk__holds_in_95_of_100_runs(name):
    world = World()
    assert share_that_holds(world, builder(**CLASSIFIERS[name]), compression, n=150) >= 1 - DELTA


@pytest.mark.slow
def test_compression__three_classes__holds_in_95_of_100_runs():
    world = World(n_classes=3)
    build = builder(estimator=DecisionTreeClassifier(max_depth=2))
    assert share_that_holds(world, build, compression, n=150) >= 1 - DELTA


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["direct", "cascade"])
def test_direct_and_cascade__memories_from_a_pool__hold(kind):
    """Memories are chosen in a pool; the classifiers of their clusters are then fitted on other cases."""
    world, held, small = World(), [], []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        clf = builder(estimator=DecisionTreeClassifier(max_depth=1))(seed).fit(*world.draw(100, rng))
        X, y = world.draw(4000, rng)
        memory = clf.route(X).memory
        locals_ = [clone(clf.estimator).fit(X[memory == k], y[memory == k]) for k in range(3)]
        clf.pool_ = replace(clf.pool_, estimators=locals_)
        bound = generalization_bound(clf, X, y, DELTA, kind, given=["memories"])
        held.append(world.risk(clf) <= bound.value)
        small.append(bound.value < 1)
    assert np.mean(held) >= 1 - DELTA
    assert np.mean(small) == (1 if kind == "direct" else 0)


@pytest.mark.slow
def test_promise__of_each_memory__holds_for_all_at_once():
    world, held = World(), []
    for seed in range(RUNS):
        X, y = world.draw(400, np.random.default_rng(seed))
        clf = builder(estimator=DecisionTreeClassifier(max_depth=1))(seed).fit(X, y)
        bound = generalization_bound(clf, X, y, DELTA)
        memory, answers = clf.route(world.places).memory, clf.predict(world.places)
        right = world.classes[np.arange(len(answers)), answers]
        risks = [np.average(1 - right[memory == k], weights=world.chance[memory == k]) for k in range(3)]
        held.append(all(risk <= bound.promise_for(k) for k, risk in enumerate(risks)))
    assert np.mean(held) >= 1 - DELTA


@pytest.mark.slow
def test_training_errors__alone__are_no_bound():
    world = World()
    build = builder(estimator=DecisionTreeClassifier(max_depth=2))

    def errors(clf, X, y):
        return generalization_bound(clf, X, y, DELTA)["errors on the training cases"]

    assert share_that_holds(world, build, errors, n=150) < 0.5


def noise(n, seed, width=8):
    """Labels that have nothing to do with the cases: the risk of whatever answers is 1/2."""
    rng = np.random.default_rng(seed)
    return rng.random((n, width)), rng.integers(2, size=n)


@pytest.mark.slow
def test_compression__without_the_local_term__would_be_wrong():
    for seed in range(5):
        X, y = noise(20_000, seed)
        clf = MemoryClassifier(
            RBFSimilarity(gamma=1e-9), DecisionTreeClassifier(max_depth=18, random_state=seed), random_state=seed
        ).fit(X, y)
        bound = generalization_bound(clf, X, y, DELTA)
        assert bound.value - bound["local classifiers"] < 0.5 <= bound.value


@pytest.mark.slow
def test_compression__without_the_similarity_term__would_be_wrong():
    for seed in range(5):
        X, y = noise(20_000, seed)
        tree = DecisionTreeClassifier(max_depth=18, random_state=seed)
        clf = MemoryClassifier(TreeSimilarity(tree=tree), DummyClassifier(), threshold=0.5, random_state=seed).fit(X, y)
        bound = generalization_bound(clf, X, y, DELTA)
        assert bound.value - bound["learned similarity"] < 0.5 <= bound.value


def test_binomial_upper__known_risk__holds_and_is_not_wasteful():
    n = 80
    for risk in (0.02, 0.1, 0.3, 0.5):
        errors = np.arange(n + 1)
        holds = np.array([formulas.binomial_upper(int(e), n, DELTA) >= risk for e in errors])
        share = binom.pmf(errors, n, risk)[holds].sum()
        assert share >= 1 - DELTA
        if risk >= 0.1:
            assert share < 1 - DELTA / 4
