import numpy as np
import pytest

from memclf.evaluate.intervals import mean_interval, paired_interval


def test_the_interval_is_about_that_of_the_binomial():
    right = np.repeat([1.0, 0.0], [140, 60])
    found = mean_interval(right)
    spread = 1.96 * np.sqrt(0.7 * 0.3 / 200)
    assert found.value == pytest.approx(0.7)
    assert found.low == pytest.approx(0.7 - spread, abs=0.01)
    assert found.high == pytest.approx(0.7 + spread, abs=0.01)


def test_it_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    held = 0
    for trial in range(200):
        found = mean_interval(rng.random(100) < 0.6, draws=300, seed=trial)
        held += found.low <= 0.6 <= found.high
    assert 0.88 <= held / 200 <= 0.99


def test_conditions_of_the_same_case_are_not_independent_trials():
    rng = np.random.default_rng(0)
    per_case = (rng.random(100) < 0.5).astype(float)
    once, often = mean_interval(per_case), mean_interval(np.tile(per_case, (50, 1)))
    assert often.high - often.low == pytest.approx(once.high - once.low)


def test_balanced_means_count_every_class_alike():
    labels = np.repeat([0, 1], [90, 10])
    right = np.repeat([1.0, 0.0], [90, 10])
    assert mean_interval(right).value == pytest.approx(0.9)
    assert mean_interval(right, labels).value == pytest.approx(0.5)


def test_pairing_sees_a_small_gain_that_unpaired_intervals_do_not():
    rng = np.random.default_rng(1)
    other = (rng.random(300) < 0.6).astype(float)
    right = other.copy()
    right[np.flatnonzero(other == 0)[:12]] = 1.0
    paired = paired_interval(right, other)
    assert paired.value == pytest.approx(12 / 300)
    assert paired.low > 0
    assert mean_interval(right).low < mean_interval(other).high


def test_scores_of_different_cases_cannot_be_paired():
    with pytest.raises(ValueError, match="same cases"):
        paired_interval(np.ones(3), np.ones(4))
    with pytest.raises(ValueError, match="no cases"):
        mean_interval(np.ones((2, 0)))


def test_many_cases_are_resampled_without_keeping_the_resamples(monkeypatch):
    right = (np.random.default_rng(0).random(300) < 0.7).astype(float)
    labels = np.arange(300) % 3
    kept = [mean_interval(right), mean_interval(right, labels)]
    monkeypatch.setattr("memclf.evaluate.intervals.CACHED", 0)
    for first, second in zip(kept, [mean_interval(right), mean_interval(right, labels)], strict=True):
        assert second.value == first.value
        assert second.low == pytest.approx(first.low, abs=0.01)


def test_groups_that_stand_or_fall_together_make_intervals_as_wide_as_their_number_says():
    rng = np.random.default_rng(0)
    faces = np.repeat(np.arange(50), 8)
    right = np.repeat(rng.random(50) < 0.7, 8).astype(float)
    alone, together = mean_interval(right), mean_interval(right, groups=faces)
    few = mean_interval(right[::8])
    assert together.value == alone.value
    assert together.high - together.low == pytest.approx(few.high - few.low, rel=0.15)
    assert together.high - together.low > 2 * (alone.high - alone.low)


@pytest.mark.parametrize("draws", [2000, 20_000])  # kept, and one resample at a time
def test_groups_of_one_are_cases_and_classes_may_be_missing_in_a_draw(draws):
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], [297, 3])
    right = (rng.random(300) < 0.6).astype(float)
    plain, single = mean_interval(right, draws=draws), mean_interval(right, groups=np.arange(300), draws=draws)
    np.testing.assert_allclose(plain, single, atol=0.01)
    balanced = mean_interval(right, labels, groups=np.arange(300), draws=draws)
    assert balanced.value == pytest.approx((right[:297].mean() + right[297:].mean()) / 2)
    assert np.isfinite(balanced).all()


def test_a_class_that_is_not_drawn_shifts_nothing():
    labels = np.repeat([0, 1, 2], [40, 40, 4])
    always = (labels == 0).astype(float)  # whoever always answers class 0 has a third, whatever is drawn
    np.testing.assert_allclose(mean_interval(always, labels, groups=np.arange(84) // 4), 1 / 3)


def test_a_gain_in_few_faces_is_not_sure():
    better = np.repeat([1.0, 0.0], [20, 180])
    faces = np.concatenate([np.zeros(20), np.arange(180) // 4 + 1])  # the whole gain is one face's
    assert paired_interval(better, np.zeros(200)).low > 0
    assert paired_interval(better, np.zeros(200), groups=faces).low == 0
