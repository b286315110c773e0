"""The promise of conformal thresholds, kept in simulations."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from memclf import MemoryClassifier
from memclf.routing import conformal_thresholds, distance, widths
from memclf.similarity import RBFSimilarity


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2])
def test_new_cases_fall_below_at_most_as_often_as_promised(rate):
    """Held-out distances and new ones from the same memories, so that the promise is exact."""
    rng = np.random.default_rng(0)
    usual, sizes = np.array([0.05, 0.5, 0.1, 0.12]), np.array([100, 60, 8, 7])
    missed = []
    for _ in range(500):
        labels = np.repeat(np.arange(4), sizes)
        wide = widths(np.exp(-usual[labels] * rng.gamma(2, size=len(labels))), labels, 4)
        goes = rng.choice(4, 130, p=sizes / sizes.sum())
        near = np.exp(-usual[goes] * rng.gamma(2, size=130))
        b = conformal_thresholds(distance(near[:80]) / wide[goes[:80]], wide, rate)
        missed.append(np.mean(near[80:] < b[goes[80:]]))
    expected = np.floor(rate * 81) / 81
    assert expected <= rate
    assert np.mean(missed) == pytest.approx(expected, abs=4 * np.std(missed) / np.sqrt(500))


def test_small_clusters_are_drawn_to_the_width_of_all():
    similarity = np.exp(-np.concatenate([np.full(1001, 0.1), np.full(2, 5.0)]))
    wide = widths(similarity, np.repeat([0, 1], [1001, 2]), 3)
    everything = (1001 * 0.1 + 2 * 5.0) / 1001
    np.testing.assert_allclose(wide[0], (100.1 + 5 * everything) / 1005)
    np.testing.assert_allclose(wide[1], (10 + 5 * everything) / 6)
    np.testing.assert_allclose(wide[2], everything)


def test_cases_that_are_all_alike_are_never_unknown():
    wide = widths(np.ones(60), np.zeros(60, dtype=int), 1)
    assert conformal_thresholds(distance(np.ones(60)) / wide, wide, 0.05).tolist() == [1.0]


def test_too_few_cases_make_no_promise_and_nothing_unknown():
    assert (conformal_thresholds(np.array([0.2, 0.3]), np.ones(3), 0.05) == np.finfo(float).tiny).all()


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
    for seed in range(15):
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
    assert np.mean(found) <= rate + 3 * np.std(found) / np.sqrt(15)
    assert np.mean(found) > 0.02  # and it is not kept by never being unknown


@pytest.mark.parametrize("cv", [3, 10])
def test_many_small_clusters_keep_the_promise_too(cv):
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 5))
        y = (X[:, 0] > 0).astype(int)
        clf = MemoryClassifier(RBFSimilarity(0.1), threshold="conformal", unknown_rate=0.1, cv=cv, random_state=seed)
        found.append(np.mean(clf.fit(X, y).predict(rng.normal(size=(2000, 5))) == -1))
    assert 0.03 < np.mean(found) <= 0.1 + 3 * np.std(found) / np.sqrt(8)


def test_far_away_cases_are_unknown():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    clf = MemoryClassifier(RBFSimilarity(0.2), LogisticRegression(), thresholds="conformal", random_state=0).fit(X, y)
    assert (clf.predict(X + 20) == -1).all()
    assert len(np.unique(clf.thresholds_)) > 1
