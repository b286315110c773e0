import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from memclf.evaluate import accuracy, balanced_accuracy, coverage, risk_coverage, selective_accuracy

answers = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(["a", "b", "unknown"]), st.sampled_from([0.1, 0.4, 0.8])),
    min_size=1,
    max_size=30,
)


@settings(max_examples=150, deadline=None)
@given(answers)
def test_unknown_is_an_error_in_accuracy_and_absence_in_coverage(cases):
    truth, answer, _ = map(list, zip(*cases, strict=True))
    right = sum(t == a for t, a in zip(truth, answer, strict=True))
    known = sum(a != "unknown" for a in answer)
    assert accuracy(truth, answer) == pytest.approx(right / len(cases))
    assert coverage(truth, answer) == pytest.approx(known / len(cases))
    if known:
        assert selective_accuracy(truth, answer) == pytest.approx(right / known)
    else:
        assert np.isnan(selective_accuracy(truth, answer))


@settings(max_examples=150, deadline=None)
@given(answers)
def test_the_curve_is_the_error_among_the_more_confident(cases):
    truth, answer, confidence = map(list, zip(*cases, strict=True))
    curve = risk_coverage(truth, answer, confidence)
    known = [(c, t != a) for t, a, c in zip(truth, answer, confidence, strict=True) if a != "unknown"]
    for level, share, risk in zip(curve.threshold, curve.coverage, curve.risk, strict=True):
        chosen = [wrong for c, wrong in known if c >= level]
        assert share == pytest.approx(len(chosen) / len(cases))
        assert risk == pytest.approx(np.mean(chosen))
    if known:
        assert curve.coverage[-1] == pytest.approx(coverage(truth, answer))
        assert curve.risk[-1] == pytest.approx(1 - selective_accuracy(truth, answer))
        assert 0 <= curve.area <= 1
    else:
        assert np.isnan(curve.area)


def test_without_unknown_they_are_scikit_learns():
    rng = np.random.default_rng(0)
    truth, answer = rng.integers(0, 3, 50), rng.integers(0, 3, 50)
    assert accuracy(truth, answer) == pytest.approx(accuracy_score(truth, answer))
    assert balanced_accuracy(truth, answer) == pytest.approx(balanced_accuracy_score(truth, answer))


def test_a_classifier_that_knows_when_it_is_right_has_the_smaller_area():
    truth, answer = [0, 0, 0, 0], [0, 0, 1, 1]
    assert risk_coverage(truth, answer, [4, 3, 2, 1]).area < risk_coverage(truth, answer, [1, 2, 3, 4]).area


def test_equal_confidence_makes_the_order_of_cases_irrelevant():
    one = risk_coverage([0, 0], [0, 1], [0.5, 0.5])
    other = risk_coverage([0, 0], [1, 0], [0.5, 0.5])
    assert one.area == other.area == 0.5


def test_the_unknown_label_may_be_another():
    assert coverage([-1, 1], [-1, 9], unknown_label=9) == 0.5


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        accuracy([1, 2], [1])
    with pytest.raises(ValueError, match="no cases to measure"):
        coverage([], [])
    with pytest.raises(ValueError, match="confidence is NaN for answered cases"):
        risk_coverage([0, 1], [0, 1], [0.5, np.nan])
