"""Detectors: strange cases are strange, and what the numbers mean holds for cases like the training cases."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memclf.local.competence import DETECTORS, Calibration, Detector, Mahalanobis, detector_for, embed, rows_for
from memclf.local.one import constant

EMBEDDED = ("mahalanobis", "neighbours")


def on_a_plane(n, seed, strange=0.0):
    """Two classes near a plane in ten dimensions; `strange` moves them off it."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    R = np.zeros((n, 10))
    R[:, :2] = rng.normal(0, 1, (n, 2)) + 4 * y[:, None]
    R += rng.normal(0, 0.1, R.shape)
    R[:, 5] += strange
    return R, y


@pytest.mark.parametrize("name", EMBEDDED)
def test_what_leaves_the_training_data_is_stranger(name):
    R, y = on_a_plane(200, 0)
    detector = detector_for(name).fit(R, y)
    usual, moved = detector.strangeness(on_a_plane(200, 1)[0]), detector.strangeness(on_a_plane(200, 2, 4.0)[0])
    assert roc_auc_score(np.repeat([0, 1], 200), np.concatenate([usual, moved])) > 0.97


@pytest.mark.parametrize("name", EMBEDDED)
def test_few_cases_are_enough_for_a_detector(name):
    R = on_a_plane(4, 0)[0]
    strange = detector_for(name).fit(R, np.array([0, 0, 1, 1])).strangeness(on_a_plane(20, 1)[0])
    assert np.isfinite(strange).all()


def test_mahalanobis__is_the_distance_to_the_nearest_mean_in_units_of_spread():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 4000)
    R = rng.normal(0, [2.0, 0.5], (8000, 2)) + 10 * y[:, None]
    found = detector_for("mahalanobis").fit(R, y).strangeness(np.array([[2.0, 0.0], [10.0, 11.0], [0.0, 0.0]]))
    np.testing.assert_allclose(found, np.sqrt(np.array([1.0, 4.0, 0.0]) / 2), atol=0.05)


@pytest.mark.parametrize(("n", "d"), [(40, 5), (12, 30), (5, 200)])
def test_mahalanobis_is_the_same_with_fewer_cases_than_directions(n, d):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    R = rng.normal(size=(n, d)) * np.linspace(0.2, 3, d) + y[:, None]
    means = np.array([R[y == c].mean(axis=0) for c in (0, 1)])
    covariance, _ = ledoit_wolf(R - means[y], assume_centered=True)
    new = rng.normal(size=(20, d))
    expected = [
        min(np.sqrt((row - m) @ np.linalg.solve(covariance, row - m) / d) for m in means) for row in np.vstack([R, new])
    ]
    np.testing.assert_allclose(detector_for("mahalanobis").fit(R, y).strangeness(np.vstack([R, new])), expected)


def test_neighbours_is_the_distance_to_the_kth_training_case_of_length_one():
    R, y = on_a_plane(30, 0)
    new = on_a_plane(5, 1)[0]
    detector = detector_for("neighbours").set_params(k=3, unit=True).fit(R, y)
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (R - R.mean(axis=0), new - R.mean(axis=0))]
    apart = np.linalg.norm(unit[1][:, None] - unit[0][None], axis=2)
    np.testing.assert_allclose(detector.strangeness(new), np.sort(apart, axis=1)[:, 2])
    plain = detector_for("neighbours").set_params(k=3).fit(R, y)
    apart = np.linalg.norm(new[:, None] - R[None], axis=2)
    np.testing.assert_allclose(plain.strangeness(new), np.sort(apart, axis=1)[:, 2])


@pytest.mark.parametrize("name", EMBEDDED)
def test_detectors_of_wide_and_narrow_clusters_speak_in_one_unit(name):
    R, y = on_a_plane(300, 0)
    new = on_a_plane(300, 1)[0]
    for wide in (1.0, 10.0, 1e6):
        found = detector_for(name).learn(wide * R, y).judge(wide * new)
        assert np.median(found) == pytest.approx(1.0, abs=0.2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", EMBEDDED)
def test_what_is_beyond_all_numbers_is_as_strange_as_can_be(name):
    R, y = on_a_plane(60, 0)
    detector = detector_for(name).learn(R, y)
    calibration = Calibration.of(detector.judge(on_a_plane(60, 1)[0]))
    found = detector.judge(np.array([[1e160, -1e160] * 5]))
    assert calibration.competence(found)[0] == 1 / 61
    assert calibration.excess(found)[0] > 1e9


def test_energy_is_minus_the_log_sum_of_the_exponentials_of_scores():
    scores = np.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 0.0]])
    found = detector_for("energy").learn(scores, np.array([0, 1])).judge(scores)
    np.testing.assert_allclose(found, -logsumexp(scores, axis=1))


def test_competence_is_a_share_that_new_cases_like_the_held_out_ones_keep_to():
    rng = np.random.default_rng(0)
    low = []
    for _ in range(400):
        calibration = Calibration.of(rng.gamma(2.0, size=60))
        low.append(np.mean(calibration.competence(rng.gamma(2.0, size=20)) <= 0.1))
    assert 0.06 < np.mean(low) <= 0.105  # 0.0984 is expected: 6 of 61


def test_competence__groups__counts_groups():
    held, of = np.array([1.0, 5.0, 1.0, 2.0, 3.0, np.nan]), np.array(list("aabbbc"))
    calibration = Calibration.of(held, of)
    np.testing.assert_allclose(calibration.competence(np.array([6.0, 4.0, 2.5, 0.0])), [1 / 3, 0.5, 11 / 18, 1.0])
    assert calibration.as_strange(np.array([2.5])).tolist() == [2]


def test_competence__infinitely_strange_held_out_cases__count():
    calibration = Calibration.of(np.array([1.0, 2.0, np.inf]))
    np.testing.assert_allclose(calibration.competence(np.array([1.5, np.inf])), [0.75, 0.5])
    assert calibration.excess(np.array([1.9]))[0] == pytest.approx(1.0)


def test_calibration__strangeness_not_measured__full_competence_and_no_excess():
    calibration = Calibration.of(np.array([1.0, 2.0, 3.0, np.nan]))
    assert len(calibration.held) == 3
    np.testing.assert_array_equal(calibration.competence(np.array([np.nan, 0.0, 9.0])), [1.0, 1.0, 0.25])
    assert calibration.excess(np.array([np.nan, 1.0, 2.0])).tolist() == [0.0, 0.0, 0.0]
    assert calibration.excess(np.array([2.8]))[0] == pytest.approx(1.0)
    assert Calibration.of(np.array([np.nan])).excess(np.array([3.0])).tolist() == [0.0]


def test_what_a_detector_looks_at():
    X, y = load_wine(return_X_y=True)
    plain = LogisticRegression(max_iter=5000).fit(X, y)
    piped = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    np.testing.assert_array_equal(embed(plain, X), X)
    np.testing.assert_allclose(embed(piped, X), piped[0].transform(X))
    np.testing.assert_array_equal(rows_for(DETECTORS["energy"](), plain, None, X), plain.decision_function(X))
    always = constant(1)
    np.testing.assert_allclose(rows_for(DETECTORS["mahalanobis"](), always, piped, X), piped[0].transform(X))
    np.testing.assert_array_equal(rows_for(DETECTORS["mahalanobis"](), always, None, X), X)
    assert rows_for(DETECTORS["energy"](), always, piped, X) is None
    assert embed(None, np.array(["a", "b"], dtype=object)) is None


class Embedding(LogisticRegression):
    """A classifier that shows what it makes of a case, as networks do."""

    def embed(self, X):
        return np.asarray(X)[:, :2] * 10


def test_embed__classifier_that_embeds__is_asked_also_at_the_end_of_a_pipeline():
    X, y = load_wine(return_X_y=True)
    clf = Embedding(max_iter=1000)
    np.testing.assert_array_equal(embed(clf, X), X[:, :2] * 10)
    pipe = make_pipeline(StandardScaler(), clf).fit(X, y)
    np.testing.assert_allclose(embed(pipe, X), pipe[0].transform(X)[:, :2] * 10)


def test_embed__sparse_rows__are_looked_at_as_they_are():
    X = load_wine(return_X_y=True)[0]
    np.testing.assert_array_equal(embed(LogisticRegression(), sp.csr_array(X)), X)
    assert embed(LogisticRegression(), X[:, :, None]) is None


def test_rows_for__no_scores__probabilities_take_their_place():
    X, y = load_wine(return_X_y=True)
    clf = GaussianNB().fit(X, y)
    found = rows_for(DETECTORS["energy"](), clf, None, X)
    np.testing.assert_allclose(found, 2 * np.log(np.maximum(clf.predict_proba(X), 1e-12)))


@pytest.mark.parametrize("method", ["fit", "strangeness"])
def test_detector__without_its_methods__says_what_is_missing(method):
    class Mine(Detector):
        pass

    with pytest.raises(NotImplementedError, match=rf"Mine must define {method}\("):
        getattr(Mine(), method)(*([np.zeros((2, 2)), np.zeros(2)] if method == "fit" else [np.zeros((2, 2))]))


def test_detector_for__a_detector__is_taken_as_it_is():
    mine = DETECTORS["neighbours"](k=2)
    assert detector_for(mine) is mine


def test_two_classes_have_two_scores_and_none_is_the_strange_one():
    X, y = load_wine(return_X_y=True)
    clf = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[y < 2], y[y < 2])
    rows = rows_for(DETECTORS["energy"](), clf, None, X)
    np.testing.assert_array_equal(rows[:, 1] - rows[:, 0], clf.decision_function(X))
    np.testing.assert_array_equal(rows.sum(axis=1), 0)


def test_wrong_detectors_are_named():
    assert detector_for(None) is None
    with pytest.raises(ValueError, match="competence must be None, one of 'mahalanobis'.*got 'magic'"):
        detector_for("magic")
    with pytest.raises(ValueError, match="some are infinite; replace them in a step before it"):
        embed(LogisticRegression(), np.array([[1.0, np.inf]]))


@pytest.mark.parametrize("name", ["mahalanobis", "neighbours"])
def test_detector__gaps__count_as_the_median_of_the_training_cases(name):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    X[::7, 0] = np.nan
    median = np.nanmedian(X[::2, 0])
    detector = DETECTORS[name]().learn(X[::2], y[::2])
    filled = np.where(np.isnan(X), median, X)
    np.testing.assert_allclose(detector.judge(X[1::2]), detector.judge(filled[1::2]))
    np.testing.assert_allclose(detector.judge(filled), DETECTORS[name]().learn(filled[::2], y[::2]).judge(filled))
    del detector.usual_  # as in models of before
    strange = detector.judge(X)
    assert np.isinf(strange[::7]).all()
    np.testing.assert_allclose(np.delete(strange, np.s_[::7]), np.delete(detector.judge(filled), np.s_[::7]))


def test_mahalanobis__scaled__units_of_the_columns_do_not_matter():
    X, y = load_wine(return_X_y=True)
    units = np.geomspace(1e-3, 1e3, X.shape[1])
    scaled, plain = (
        [Mahalanobis(scaled=wanted).learn(R[::2], y[::2]).judge(R[1::2]) for R in (X, X * units)]
        for wanted in (True, False)
    )
    np.testing.assert_allclose(*scaled, rtol=1e-6)
    assert np.abs(plain[0] - plain[1]).max() > 0.1


def test_mahalanobis__scaled_column_that_never_varies__is_no_division_by_zero():
    R = np.column_stack([np.arange(30.0), np.full(30, 7.0)])
    found = Mahalanobis(scaled=True).fit(R, np.zeros(30)).strangeness(R + np.array([0.0, 1e-9]))
    assert found.max() < 3
