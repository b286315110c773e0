import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memclf.memory.swap import Exchange
from oracles import objective, random_similarity, swap_gain


def _problem(seed, n, q, kind, weighted):
    rng = np.random.default_rng(seed)
    S = random_similarity(rng, n, kind)
    memories = rng.choice(n, q, replace=False)
    weights = rng.integers(1, 5, n).astype(float) if weighted else np.ones(n)
    return rng, S, memories, weights


problems = {
    "seed": st.integers(0, 10_000),
    "n": st.integers(6, 14),
    "q": st.integers(1, 5),
    "kind": st.sampled_from(["graded", "binary"]),
    "weighted": st.booleans(),
}


@settings(max_examples=150, deadline=None)
@given(**problems)
def test_one_pass_gives_the_brute_force_gain_against_every_memory(seed, n, q, kind, weighted):
    _, S, memories, weights = _problem(seed, n, q, kind, weighted)
    exchange = Exchange(memories, S[memories], weights, 0.5)
    outside = np.setdiff1d(np.arange(n), memories)
    expected = [[swap_gain(S, memories, k, c, weights) for k in range(q)] for c in outside]
    np.testing.assert_allclose(exchange.gains(S[outside]), expected, atol=1e-10)


@settings(max_examples=100, deadline=None)
@given(**problems)
def test_caches_after_many_swaps_are_those_of_a_fresh_start(seed, n, q, kind, weighted):
    rng, S, memories, weights = _problem(seed, n, q, kind, weighted)
    exchange = Exchange(memories, S[memories].copy(), weights, 0.5, enforce=True)
    for _ in range(6):
        candidate = int(rng.choice(np.setdiff1d(np.arange(n), exchange.memories)))
        exchange.swap(int(rng.integers(q)), candidate, S[candidate])
    fresh = Exchange(exchange.memories, S[exchange.memories], weights, 0.5, enforce=True)
    assert exchange.objective == pytest.approx(objective(S, exchange.memories, weights))
    np.testing.assert_allclose(exchange.best, fresh.best)
    np.testing.assert_allclose(exchange.next, fresh.next)
    np.testing.assert_allclose(exchange.gains(S), fresh.gains(S), atol=1e-10)


@settings(max_examples=100, deadline=None)
@given(threshold=st.sampled_from([0.3, 0.6, 0.9]), **problems)
def test_enforced_coverage_forbids_exactly_the_swaps_that_uncover_more_cases(seed, n, q, kind, weighted, threshold):
    _, S, memories, weights = _problem(seed, n, q, kind, weighted)
    free = Exchange(memories, S[memories], weights, threshold)
    strict = Exchange(memories, S[memories], weights, threshold, enforce=True)
    before = (S[memories].max(axis=0) < threshold).sum()
    for c in np.setdiff1d(np.arange(n), memories):
        for k in range(q):
            changed = memories.copy()
            changed[k] = c
            forbidden = (S[changed].max(axis=0) < threshold).sum() > before
            fewer = before - (S[changed].max(axis=0) < threshold).sum()
            gain = strict.gains(S[[c]])[0, k]
            # Covering one more case is worth more than all similarities together.
            expected = free.gains(S[[c]])[0, k] + fewer * (weights.sum() + 1)
            assert gain == (-np.inf if forbidden else pytest.approx(expected))


@settings(max_examples=100, deadline=None)
@given(**problems)
def test_estimate__from_a_sample__is_the_gain_where_only_the_sample_counts(seed, n, q, kind, weighted):
    rng, S, memories, weights = _problem(seed, n, q, kind, weighted)
    sample = rng.choice(n, n // 2, replace=False)
    only = np.zeros(n)
    only[sample] = weights[sample] * (weights.sum() / weights[sample].sum())
    expected = Exchange(memories, S[memories], only, 0.5, n_pinned=1).gains(S)
    estimated = Exchange(memories, S[memories], weights, 0.5, n_pinned=1).estimate(S[:, sample], sample)
    np.testing.assert_allclose(estimated, expected, atol=1e-10)
