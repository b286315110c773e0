"""Combination: products by hand, temperatures that are found again, weights that know whom to believe."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from memclf.local.combine import FLOOR, Combination, Opinions, fit_combination

UNIFORM = np.full(3, 1 / 3)


def drawn(n, seed, sure=1.0):
    """Scores, and classes drawn from their softmax; `sure` makes the stated probabilities too sure of themselves."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 2, (n, 3))
    codes = np.array([rng.choice(3, p=row) for row in softmax(scores, axis=1)])
    return softmax(sure * scores, axis=1), codes


def fitted(combine, opinions, codes, weights=None):
    weights = np.ones(len(codes)) if weights is None else weights
    return fit_combination(combine, "soft", [opinions], [codes], [weights], [True])


def test_a_product_is_a_product():
    local, memory = np.array([[0.7, 0.2, 0.1]]), np.array([[0.1, 0.8, 0.1]])
    found = Combination("product", "soft", np.array([0.5, 0.0, 1.0, 0.0]))(Opinions(local, memory, UNIFORM), None)
    expected = local**0.5 * memory
    np.testing.assert_allclose(found, expected / expected.sum())


def test_no_opinion_is_a_veto():
    local, memory = np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]])
    found = Combination("product", "soft", np.array([1.0, 0.0, 1.0, 0.0]))(Opinions(local, memory, UNIFORM), None)
    np.testing.assert_allclose(found[0], np.array([FLOOR, FLOOR, FLOOR**2]) / (2 * FLOOR + FLOOR**2))


def test_the_temperature_of_a_classifier_that_is_too_sure_is_found():
    local, codes = drawn(4000, 0, sure=3.0)
    found = fitted("product", Opinions(local, np.tile(UNIFORM, (4000, 1)), UNIFORM), codes)
    assert found.weights[0] == pytest.approx(1 / 3, abs=0.05)
    assert found.weights[1] == 0
    assert found.weights[2:].sum() == pytest.approx(1)


def test_labels_of_memories_that_tell_nothing_are_hardly_believed():
    local, codes = drawn(3000, 0)
    noise = drawn(3000, 1)[0]
    weights = fitted("product", Opinions(local, noise, UNIFORM), codes).weights
    assert weights[2] < 0.1
    assert weights[0] == pytest.approx(1, abs=0.1)
    assert fitted("product", Opinions(noise, local, UNIFORM), codes).weights[2] > 0.9


def test_perturbed_versions_soften_the_classifier_but_leave_the_labels_alone():
    local, codes = drawn(2000, 0)
    memory = softmax(np.log(local) + np.random.default_rng(1).normal(0, 1, local.shape), axis=1)
    usual = Opinions(local, memory, UNIFORM)
    broken = Opinions(np.roll(local, 1, axis=1), np.roll(memory, 1, axis=0), UNIFORM)
    ones = np.ones(2000)
    plain = fit_combination("product", "soft", [usual], [codes], [ones], [True]).weights
    both = fit_combination("product", "soft", [usual, broken], [codes] * 2, [ones] * 2, [True, False]).weights
    assert both[2] == plain[2]
    assert both[0] < plain[0]


def test_learned_weights_believe_whoever_is_right():
    local, codes = drawn(3000, 0)
    noise = drawn(3000, 1)[0]
    trusting = fitted("stacked", Opinions(local, noise, UNIFORM), codes).weights
    doubting = fitted("stacked", Opinions(noise, local, UNIFORM), codes).weights
    assert trusting[0] == pytest.approx(1, abs=0.1)
    assert trusting[2] < 0.1
    assert doubting[2] == pytest.approx(1, abs=0.1)
    assert doubting[0] < 0.1


def test_learned_weights_fade_a_classifier_that_is_wrong_on_strange_cases():
    local, codes = drawn(3000, 0)
    strange = np.arange(3000) % 2 == 1
    local[strange] = drawn(1500, 2)[0]
    vague = np.log(drawn(3000, 0)[0]) + np.random.default_rng(3).normal(0, 2, (3000, 3))
    memory = softmax(vague / 2, axis=1)
    opinions = Opinions(local, memory, UNIFORM, np.where(strange, 4.0, 0.0))
    weights = fitted("stacked", opinions, codes).weights
    assert weights[1] > 0.4 > 4 * weights[0]
    blind = fitted("stacked", replace(opinions, excess=None), codes)
    aware = fitted("stacked", opinions, codes)
    right = [np.mean(each(opinions, None).argmax(axis=1) == codes) for each in (blind, aware)]
    assert right[1] > right[0] + 0.02


def test_a_word_that_never_fades_is_learned_only_where_changed_cases_show_that_it_may_be():
    local, codes = drawn(3000, 0)
    usual = Opinions(local, drawn(3000, 1)[0], UNIFORM, np.full(3000, 0.1))
    assert fitted("stacked", usual, codes).weights[0] == 0
    changed = replace(usual, excess=np.full(3000, 5.0))  # strange, and yet the classifier is right
    ones = np.ones(3000)
    both = fit_combination("stacked", "soft", [usual, changed], [codes] * 2, [ones] * 2, [True, False])
    assert both.weights[0] > 0.5


def test_weights_of_cases_count():
    local, codes = drawn(1000, 0)
    other = np.roll(local, 1, axis=1)
    both = Opinions(np.concatenate([local, other]), np.tile(UNIFORM, (2000, 1)), UNIFORM)
    truth = np.concatenate([codes, codes])
    first = fitted("product", both, truth, np.repeat([1.0, 1e-9], 1000)).weights[0]
    alone = fitted("product", Opinions(local, both.memory[:1000], UNIFORM), codes).weights[0]
    assert first == pytest.approx(alone, abs=0.01)
    assert fitted("product", both, truth, np.repeat([1e-9, 1.0], 1000)).weights[0] < 0.2


@pytest.mark.parametrize(("guard", "share"), [("soft", [1.0, np.exp(-2.0)]), ("hard", [1.0, 0.0])])
def test_a_guard_lets_the_memory_answer_for_strange_cases(guard, share):
    local, memory = np.array([[0.9, 0.1, 0.0]] * 2), np.array([[0.0, 0.2, 0.8]] * 2)
    combination = fit_combination("local", guard, [], [], [], [])
    found = combination(Opinions(local, memory, UNIFORM, np.array([0.0, 2.0])), np.array([0.6, 0.01]))
    share = np.array(share)[:, None]
    np.testing.assert_allclose(found, share * local + (1 - share) * memory)
    np.testing.assert_array_equal(combination(Opinions(local, memory, UNIFORM), None), local)
