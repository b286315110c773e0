"""The promise of conformal thresholds, kept in simulations."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from memclf import MemoryClassifier
from memclf.routing import Usual, conformal_thresholds
from memclf.similarity import RBFSimilarity


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2])
def test_new_cases_fall_below_at_most_as_often_as_promised(rate):
    """Held-out levels and new ones from the same memories, so that the promise is exact."""
    rng = np.random.default_rng(0)
    places, sizes = np.array([0.8, 0.4, 0.6, 0.65]), np.array([100, 60, 8, 7])
    missed = []
    for _ in range(1000):
        labels = np.repeat(np.arange(4), sizes)
        usual = Usual.of(places[labels] + 0.1 * rng.random(len(labels)), labels, 4)
        goes = rng.choice(4, 130, p=sizes / sizes.sum())
        near = places[goes] + 0.1 * rng.random(130)
        b = conformal_thresholds(usual.level(near[:80], goes[:80]), usual, rate)
        missed.append(np.mean(near[80:] < b[goes[80:]]))
    expected = np.floor(rate * 81) / 81
    assert expected <= rate
    assert np.mean(missed) == pytest.approx(expected, abs=4 * np.std(missed) / np.sqrt(1000))


def test_the_level_is_the_share_of_the_cluster_that_is_less_similar():
    similarity = np.linspace(0.5, 0.9, 39)
    usual = Usual.of(similarity, np.zeros(39, dtype=int), 1)
    zeros = np.zeros(4, dtype=int)
    np.testing.assert_allclose(usual.level(np.array([0.0, 0.5, 0.7, 1.0]), zeros), [0, 1 / 40, 20 / 40, 1])
    np.testing.assert_allclose(usual.at(20 / 40), [0.7])


def test_memories_of_small_clusters_share_what_is_usual():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [50, 12, 13])
    usual = Usual.of(rng.random(75), labels, 3)
    assert usual.values[1] is not usual.values[0]
    np.testing.assert_array_equal(usual.values[1], usual.values[2])
    assert len(usual.values[1]) == 12 + 13 + 2  # and the two ends


def test_cases_that_are_all_alike_are_never_unknown():
    usual = Usual.of(np.ones(60), np.zeros(60, dtype=int), 1)
    b = conformal_thresholds(usual.level(np.ones(60), np.zeros(60, dtype=int)), usual, 0.05)
    assert b.tolist() == [1.0]
    assert usual.level(np.array([1.0]), np.zeros(1, dtype=int)).tolist() == [1.0]


def test_too_few_cases_make_no_promise_and_nothing_unknown():
    usual = Usual.of(np.array([0.2, 0.3]), np.array([0, 1]), 3)
    assert (conformal_thresholds(np.array([0.2, 0.3]), usual, 0.05) == np.finfo(float).tiny).all()


def test_single_memories_keep_the_promise_nearly_too():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(3 * k, 0.2 + 0.2 * k, (150, 1)) for k in range(5)])
    y = (np.arange(750) % 2).astype(int)
    clf = MemoryClassifier(RBFSimilarity(0.5), n_memories=5, thresholds="conformal", unknown_rate=0.1, random_state=0)
    clf.fit(X, y)
    new = np.concatenate([rng.normal(3 * k, 0.2 + 0.2 * k, (4000, 1)) for k in range(5)])
    nearest, unknown = clf.route(new).nearest, clf.predict(new) == -1
    realised = [unknown[nearest == k].mean() for k in range(5)]
    assert max(realised) < 0.17
    assert min(realised) > 0.04


@pytest.mark.parametrize("competence", [None, "mahalanobis"])
def test_a_fitted_classifier_keeps_the_promise_on_new_cases(competence):
    rate, found = 0.1, []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = rng.normal(0, 1, (400, 2)) + np.repeat([[0, 0], [6, 0], [0, 6], [6, 6]], 100, axis=0)
        y = (X[:, 0] + X[:, 1] > 6).astype(int)
        train = rng.permutation(400)[:200]
        test = np.setdiff1d(np.arange(400), train)
        clf = MemoryClassifier(
            RBFSimilarity(0.2),
            LogisticRegression(),
            "conformal",
            unknown_rate=rate,
            competence=competence,
            random_state=seed,
        ).fit(X[train], y[train])
        found.append(np.mean(clf.predict(X[test]) == -1))
    assert np.mean(found) <= rate + 3 * np.std(found) / np.sqrt(25)
    assert np.mean(found) > 0.02  # and it is not kept by never being unknown


def test_far_away_cases_are_unknown():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    clf = MemoryClassifier(RBFSimilarity(0.2), LogisticRegression(), thresholds="conformal", random_state=0).fit(X, y)
    assert (clf.predict(X + 20) == -1).all()
    assert len(np.unique(clf.thresholds_)) > 1
