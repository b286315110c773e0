"""The promise of conformal thresholds, kept in simulations."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from memclf import MemoryClassifier
from memclf.routing import conformal_thresholds
from memclf.similarity import RBFSimilarity


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2])
def test_new_cases_fall_below_at_most_as_often_as_promised(rate):
    rng = np.random.default_rng(0)
    missed = []
    for _ in range(2000):
        b = conformal_thresholds(rng.beta(5, 2, 80), np.zeros(80, dtype=int), 1, rate)
        missed.append(np.mean(rng.beta(5, 2, 50) < b[0]))
    expected = np.floor(rate * 81) / 81
    assert np.mean(missed) == pytest.approx(expected, abs=4 * np.std(missed) / np.sqrt(2000))
    assert expected <= rate


def test_every_memory_keeps_the_promise_by_itself_and_small_ones_share():
    rng = np.random.default_rng(0)
    places, sizes = np.array([0.8, 0.4, 0.6, 0.65]), np.array([100, 60, 8, 7])
    missed = []
    for _ in range(1500):
        labels = np.repeat(np.arange(4), sizes)
        b = conformal_thresholds(places[labels] + 0.1 * rng.random(len(labels)), labels, 4, 0.1)
        assert b[2] == b[3]
        missed.append([np.mean(place + 0.1 * rng.random(40) < each) for place, each in zip(places, b, strict=True)])
    found = np.mean(missed, axis=0)
    assert (found[:2] <= 0.1 + 0.005).all()
    assert (found[:2] > 0.08).all()
    together = np.average(found[2:], weights=sizes[2:])  # those that share keep it together
    assert together <= 0.1 + 0.01


def test_too_few_cases_make_no_promise_and_nothing_unknown():
    b = conformal_thresholds(np.array([0.2, 0.3]), np.array([0, 1]), 3, 0.05)
    assert (b == np.finfo(float).tiny).all()


@pytest.mark.parametrize("competence", [None, "mahalanobis"])
def test_a_fitted_classifier_keeps_the_promise_on_new_cases(competence):
    rate, found = 0.1, []
    for seed in range(40):
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
    assert np.mean(found) <= rate + 3 * np.std(found) / np.sqrt(40)
    assert np.mean(found) > 0.02  # and it is not kept by never being unknown


def test_far_away_cases_are_unknown():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    clf = MemoryClassifier(RBFSimilarity(0.2), LogisticRegression(), thresholds="conformal", random_state=0).fit(X, y)
    assert (clf.predict(X + 20) == -1).all()
    assert len(np.unique(clf.thresholds_)) > 1
