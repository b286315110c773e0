"""`nearest_two` against the definition, on rows with ties, far rows and sparse rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from memclf.similarity import CosineSimilarity, RBFSimilarity
from memclf.similarity import nearest as module


def two_best_one_by_one(block):
    """Per column the first row whose value is the largest but for rounding, then the same without it."""
    found = []
    for column in block.T.tolist():
        near = next(i for i, value in enumerate(column) if value >= max(column) - 1e-12)
        rest = [-1.0 if i == near else value for i, value in enumerate(column)]
        second = next(i for i, value in enumerate(rest) if value >= max(rest) - 1e-12)
        found.append((near, column[near], second, rest[second]) if len(column) > 1 else (near, column[near], -1, 0.0))
    return [np.array(each) for each in zip(*found, strict=True)]


def check(similarity, A, B):
    found = similarity.nearest_two(A, B)
    near, best, second, following = two_best_one_by_one(similarity.compare(A, B))
    np.testing.assert_array_equal(found.near, near)
    np.testing.assert_array_equal(found.second, second)
    np.testing.assert_allclose(found.best, best, atol=1e-12)
    np.testing.assert_allclose(found.next, following, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 7), st.sampled_from([0.1, 3.0, 500.0]), st.booleans())
def test_nearest_two__equals_compare__with_ties_and_far_rows(seed, q, gamma, sparse):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(30, 2)).astype(float)
    X[::7] *= 50  # so far from the centre that a product loses digits
    cases = sp.csr_matrix(X) if sparse else X
    for similarity in (RBFSimilarity(gamma), CosineSimilarity()):
        Z = similarity.fit_describe(cases)
        check(similarity, Z[:q], Z)


@pytest.mark.parametrize("q", [1, 2, 3, 40])
def test_nearest_two__more_cases_than_the_cache_holds__changes_nothing(q, monkeypatch):
    monkeypatch.setattr(module, "IN_CACHE", 64)
    X = np.random.default_rng(0).normal(size=(301, 4))
    for similarity in (RBFSimilarity(0.3), CosineSimilarity()):
        Z = similarity.fit_describe(X)
        check(similarity, Z[:q], Z)


def test_nearest_two__single_precision_rows__are_compared_in_double():
    X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    similarity = RBFSimilarity(0.3)
    Z = similarity.fit_describe(X)
    assert similarity.nearest_two(Z[:5], Z).best.dtype == np.float64
    check(similarity, Z[:5], Z)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([3, 4, 40, 129, 256, 257]),
    st.sampled_from([1e-44, 1e-9, 1.0, 1e6, 1e30, 1e200]),
    st.sampled_from([0.0, 1.0, -1.0, -300.0]),
)
def test_two_best_in_order__numbers_of_any_size__are_as_in_double_precision(seed, q, scale, offset):
    """Many of these differ in double precision alone; some are too large for single precision, or too small."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-3, 4, (q, 50)) * rng.choice([1e-7, 1e-3, 1.0], (1, 50)) + offset
    order = numbers * scale

    def finish(order, cases):
        return 0.5 + (order / scale - offset) / 10 * weight[cases]

    weight = rng.uniform(0.5, 1, 50)
    found = module.two_best_in_order(order.copy(), finish)
    expected = two_best_one_by_one(finish(order, np.arange(50)))
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_two_best_in_order__clear_cases__are_answered_in_single_precision(monkeypatch):
    """What double precision is asked for are the few cases whose memories nearly tie."""
    seen = []
    exact = module._three_best
    monkeypatch.setattr(module, "_three_best", lambda order, spare: seen.append(order.shape[1]) or exact(order, spare))
    order = -np.random.default_rng(0).uniform(0, 4, (100, 5000))
    module.two_best_in_order(order, lambda numbers, cases: np.exp(numbers))
    assert sum(seen) < 250


@pytest.mark.parametrize("q", [3, 256, 257, 512])
def test_two_best_in_order__numbers__are_as_they_were(q):
    order = np.asfortranarray(np.random.default_rng(0).normal(size=(q, 20)))
    before = order.copy()
    module.two_best_in_order(order, lambda numbers, cases: np.exp(np.minimum(numbers, 5) - 5))
    np.testing.assert_array_equal(order, before)


def test_two_best_in_order__larger_number_that_rounding_hides__is_found():
    unit = 2.0**-23
    order = np.full((256, 1), -1.0)
    order[[3, 200, 0, 250], 0] = 2, 1, 1 + 199 * unit, 1 + 150 * unit
    assert module.two_best_in_order(order, lambda numbers, cases: np.clip(numbers / 2, 0, 1)).second == 0


def test_two_best_in_order__steps__hide_no_larger_number():
    """Not all that is larger is more similar; and numbers too large for single precision say nothing there."""
    order = np.array([[5e-169], [4e66], [2e-110]])
    found = module.two_best_in_order(order, lambda numbers, cases: (numbers > 0) * 0.5 + (numbers > 1) * 0.25)
    assert (found.near, found.second) == (1, 0)


def test_nearest_two__memory_whose_distance_is_no_number__warns_of_nothing():
    A, B = np.array([[1e160], [0.0], [1.0]]), np.array([[0.1], [0.7]])
    with np.errstate(under="raise"):
        found = RBFSimilarity(1.0).nearest_two(A, B)
    assert found.near.tolist() == [1, 2]
    assert found.second.tolist() == [2, 1]


def test_nearest_two__some_cases_far_from_the_others__keep_their_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 1))
    X[::3] += 1e5
    similarity = RBFSimilarity(1.0)
    Z = similarity.fit_describe(X)
    check(similarity, Z[:9], Z)
