import re
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from memclf import select_memories
from memclf.exceptions import CoverageError, SimilarityError, SimilarityWarning, SlowSimilarityWarning
from memclf.similarity import FunctionSimilarity, Precomputed, RBFSimilarity, TreeSimilarity
from oracles import best_subset, least_cover, objective, random_similarity, swap_gain

seeds = st.integers(0, 10_000)


# Many restarts: each may miss the best, and no seed is to fail by bad luck.
@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(3, 8), st.integers(1, 3))
def test_with_restarts_the_best_of_all_subsets_is_found(seed, n, q):
    S = random_similarity(np.random.default_rng(seed), n)
    found = select_memories(S, Precomputed(), 0.5, n_memories=q, n_restarts=100, random_state=seed)
    assert found.objective == pytest.approx(best_subset(S, q))
    assert found.objective == pytest.approx(objective(S, found.indices))


@pytest.mark.parametrize("threshold", [0.4, 0.7, 0.9])
def test_restarts__random_cover__nearly_always_find_the_least_number_of_memories(threshold):
    """Not always: a random cover never draws what is covered already, and the least may need two that are alike."""
    more = []
    for seed in range(40):
        S = random_similarity(np.random.default_rng(seed), 2 + seed % 7)
        found = select_memories(S, Precomputed(), threshold, cover="random", n_restarts=40, random_state=seed)
        assert found.coverage == 1.0
        more.append(found.n_memories - least_cover(S, threshold))
    assert 0 <= min(more) <= max(more) <= 1
    assert sum(more) <= 2


@pytest.mark.parametrize("cover", ["random", "greedy"])
@pytest.mark.parametrize("seed", range(5))
def test_the_result_is_a_local_optimum_when_every_case_could_be_judged(seed, cover):
    S = random_similarity(np.random.default_rng(seed), 60)
    found = select_memories(S, Precomputed(), 0.5, n_memories=5, cover=cover, max_swaps=5000, random_state=seed)
    outside = np.setdiff1d(np.arange(60), found.indices)
    assert max(swap_gain(S, found.indices, k, c) for k in range(5) for c in outside) <= 1e-9


@settings(max_examples=40, deadline=None)
@given(seeds, st.sampled_from(["random", "greedy"]), st.sampled_from([None, 4]))
def test_the_objective_never_falls_along_accepted_swaps(seed, cover, q):
    X = np.random.default_rng(seed).normal(size=(120, 2))
    found = select_memories(X, RBFSimilarity(1.0), 0.8, n_memories=q, cover=cover, n_restarts=3, random_state=seed)
    for round_ in found.history:
        steps = np.array([round_.first_objective, *round_.objectives])
        assert (np.diff(steps) > 0).all()
        assert round_.objective == pytest.approx(steps[-1])
    assert any(found.objective == pytest.approx(round_.objective) for round_ in found.history)


@settings(max_examples=40, deadline=None)
@given(seeds, st.sampled_from(["random", "greedy"]), st.floats(0.3, 0.95))
def test_enforced_coverage_holds(seed, cover, threshold):
    X = np.random.default_rng(seed).normal(size=(80, 2))
    similarity = RBFSimilarity(1.0)
    Z = similarity.fit_describe(X)
    found = select_memories(Z, similarity, threshold, cover=cover, coverage="enforce", random_state=seed)
    assert (similarity.compare(Z[found.indices], Z).max(axis=0) >= threshold - 1e-9).all()
    assert found.coverage == 1.0
    assert len(found.uncovered) == 0


def test_restarts__different_numbers_of_memories__the_fewest_win():
    X = np.random.default_rng(0).normal(size=(150, 2))
    found = select_memories(X, RBFSimilarity(1.0), 0.8, cover="random", n_restarts=15, random_state=0)
    fewest = min(round_.n_memories for round_ in found.history)
    assert found.n_memories == fewest < max(round_.n_memories for round_ in found.history)
    equal = [round_.objective for round_ in found.history if round_.n_memories == fewest]
    assert found.objective == pytest.approx(max(equal))


def test_a_binary_similarity_gives_one_memory_per_label_and_no_swap():
    label = np.repeat([0, 1, 2, 3], [40, 30, 20, 10])
    S = (label[:, None] == label[None]).astype(float)
    found = select_memories(S, Precomputed(), 0.5, n_restarts=3, cover="random", random_state=0)
    assert sorted(label[found.indices]) == [0, 1, 2, 3]
    assert found.objective == 100
    assert all(round_.n_accepted == 0 for round_ in found.history)


def test_identical_descriptions__are_merged__binary_similarities_cost_little():
    rng = np.random.default_rng(0)
    X = rng.random((5000, 2))
    y = (X[:, 0] > 0.5).astype(int) + (X[:, 1] > 0.5)
    found = select_memories(*_described(TreeSimilarity(), X, y), 0.5)
    assert found.n_distinct == found.n_memories == 3
    assert found.n_evaluations < 4 * 3 * 5000


def _described(similarity, X, y=None):
    Z = similarity.fit_describe(X, y)
    return Z, similarity


@pytest.mark.parametrize("q", [None, 10])
def test_merging_changes_nothing_but_the_cost(q):
    X = np.random.default_rng(0).normal(size=(60, 2))
    often = np.repeat(X, 4, axis=0)  # a power of two, so that no sum is rounded differently
    once = select_memories(X, RBFSimilarity(1.0), 0.7, n_memories=q, random_state=0)
    many = select_memories(often, RBFSimilarity(1.0), 0.7, n_memories=q, random_state=0)
    np.testing.assert_array_equal(np.unique(often[many.indices], axis=0), np.unique(X[once.indices], axis=0))
    assert many.objective == pytest.approx(4 * once.objective)


@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from([{"cover": "greedy"}, {"random_state": 0, "cover": "random"}]))
def test_permuting_the_rows_gives_the_same_memories(seed, settings_):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(70, 3))
    order = rng.permutation(70)
    for q in (None, 6):
        a = select_memories(X, RBFSimilarity(0.5), 0.6, n_memories=q, **settings_)
        b = select_memories(X[order], RBFSimilarity(0.5), 0.6, n_memories=q, **settings_)
        assert sorted(order[b.indices].tolist()) == sorted(a.indices.tolist())


def test_weights_are_counts_and_a_weight_of_zero_is_absence():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    weights = rng.integers(0, 4, 50)
    similarity = RBFSimilarity(1.0).fit(X)
    Z = similarity.describe(X)
    weighted = select_memories(Z, similarity, 0.7, n_memories=4, sample_weight=weights, random_state=0)
    repeated = select_memories(np.repeat(Z, weights, axis=0), similarity, 0.7, n_memories=4, random_state=0)
    assert weighted.objective == pytest.approx(repeated.objective)
    np.testing.assert_array_equal(Z[weighted.indices], np.repeat(Z, weights, axis=0)[repeated.indices])
    assert (weights[weighted.indices] > 0).all()
    assert len(weighted.labels) == 50


@pytest.mark.parametrize("seed", range(20))
def test_select_memories__weight_zero__is_absence_for_an_unfitted_similarity_too(seed):
    """The scale of the similarity is learned from the cases that count."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(50, 20, size=(60, 2))])
    found = select_memories(X, RBFSimilarity(), 0.7, sample_weight=np.repeat([1.0, 0.0], [40, 60]), random_state=0)
    alone = select_memories(X[:40], RBFSimilarity(), 0.7, random_state=0)
    np.testing.assert_array_equal(found.indices, alone.indices)


def last_bits_moved(A, seed):
    """The same numbers, each moved to a neighbouring one or not at all."""
    return np.nextafter(A, A + np.random.default_rng(seed).integers(-1, 2, A.shape))


@pytest.mark.parametrize("q", [None, 12])
@pytest.mark.parametrize("cover", ["random", "greedy"])
def test_select_memories__last_bits_of_descriptions__change_no_memory(cover, q):
    X, _ = make_blobs(300, n_features=3, centers=6, random_state=0)
    similarity = RBFSimilarity(0.2).fit(X)
    found = [
        select_memories(Z, similarity, 0.6, n_memories=q, cover=cover, random_state=0).indices.tolist()
        for Z in (X, *(last_bits_moved(X, seed) for seed in range(5)))
    ]
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("q", [None, 7])
@pytest.mark.parametrize("cover", ["random", "greedy"])
def test_select_memories__equally_good_candidates__the_last_bit_does_not_choose(cover, q):
    """Evenly spaced cases: for every choice there is a mirror image that is exactly as good."""
    X = np.arange(60.0)[:, None]
    S = np.exp(-0.02 * (X - X.T) ** 2)
    found = []
    for seed in range(6):
        moved = last_bits_moved(S, seed) if seed else S
        similarity = FunctionSimilarity(
            lambda A, B, T=moved: T[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))], batched=True
        )
        search = select_memories(X, similarity.fit(X), 0.6, n_memories=q, cover=cover, random_state=0)
        found.append((search.indices.tolist(), search.labels.tolist()))
    assert all(each == found[0] for each in found)


def test_memories_are_numbered_by_how_many_cases_they_stand_for():
    X, _ = make_blobs([100, 30, 60], 2, cluster_std=0.2, random_state=0)
    found = select_memories(X, RBFSimilarity(0.05), 0.7, random_state=0)
    assert np.bincount(found.labels).tolist() == [100, 60, 30]


def test_no_n_by_n_array_is_ever_allocated():
    n = 6000
    X = np.random.default_rng(0).normal(size=(n, 4))
    similarity = RBFSimilarity(0.1)
    Z = similarity.fit_describe(X)
    for settings_ in ({"n_memories": 20}, {"cover": "greedy"}, {"cover": "random"}, {"mode": "paper"}):
        tracemalloc.start()
        select_memories(Z, similarity, 0.4, random_state=0, **settings_)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < n * n * 8 / 4, settings_


def test_more_memories_than_distinct_cases_are_cut_with_a_warning():
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    with pytest.warns(UserWarning, match="only 2 cases have different descriptions"):
        found = select_memories(X, RBFSimilarity(1.0), 0.7, n_memories=4, random_state=0)
    assert found.n_memories == 2


def test_too_few_memories_to_cover_are_an_error_when_coverage_is_enforced():
    X = np.arange(20.0)[:, None]
    with pytest.raises(CoverageError, match="found no 2 memories that cover every case: .* of 20 stay below"):
        select_memories(X, RBFSimilarity(1.0), 0.7, n_memories=2, coverage="enforce", random_state=0)
    reported = select_memories(X, RBFSimilarity(1.0), 0.7, n_memories=2, random_state=0)
    assert 0 < reported.coverage < 1
    assert len(reported.uncovered) == round(20 * (1 - reported.coverage))


@pytest.mark.parametrize("seed", range(10))
def test_as_many_memories_as_a_cover_takes_can_be_enforced(seed):
    X = np.random.default_rng(seed).normal(size=(80, 2))
    free = select_memories(X, RBFSimilarity(1.0), 0.6)
    fixed = select_memories(
        X, RBFSimilarity(1.0), 0.6, n_memories=free.n_memories, coverage="enforce", random_state=seed
    )
    assert fixed.n_memories == free.n_memories
    assert fixed.coverage == 1


@pytest.mark.parametrize("max_swaps", [1, 37, 400])
def test_the_budget_of_candidates_is_kept(max_swaps):
    X = np.random.default_rng(0).normal(size=(1500, 2))
    found = select_memories(X, RBFSimilarity(1.0), 0.5, n_memories=4, max_swaps=max_swaps, random_state=0, n_restarts=1)
    centres = 4 * (2 * (max_swaps + 1) + 5)  # at most two rounds of four centres before each share, five at the end
    assert found.history[0].n_candidates <= max_swaps + centres


def test_a_single_memory_is_the_best_single_memory():
    X = np.random.default_rng(0).normal(size=(700, 3))
    S = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    found = select_memories(X, RBFSimilarity(0.3), 0.5, n_memories=1, random_state=0)
    assert found.indices.tolist() == [S.sum(axis=1).argmax()]


def test_a_users_function_is_asked_about_each_pair_once_when_cases_are_few():
    calls = []

    def alike(a, b):
        calls.append((a, b))
        return 1 / (1 + abs(a - b))

    select_memories(list(range(100)), FunctionSimilarity(alike), 0.3, n_restarts=5, cover="random", random_state=0)
    assert len(calls) < 1.6 * 100 * 100  # every pair once, and again for the few that the checks and the result need


def test_a_users_function__many_cases__a_sample_rules_out_most_candidates(monkeypatch):
    X, _ = make_blobs(2400, 3, centers=8, center_box=(-8, 8), random_state=0)

    def search():
        similarity = FunctionSimilarity(lambda A, B: _batched(A / 4, B / 4), batched=True)
        return select_memories(X, similarity, 0.5, n_memories=8, random_state=0)

    found = search()
    monkeypatch.setattr("memclf.memory.exact.SCREEN_SHARE", 10**9)  # every candidate is judged by all cases
    without = search()
    assert found.n_evaluations < 0.9 * without.n_evaluations
    assert found.objective > 0.999 * without.objective


def test_whole_numbers_beyond_the_reach_of_floats_stay_apart():
    def same(a, b):
        return float(a[0] == b[0])

    codes = np.array([[2**60], [2**60 + 1], [2**60]])
    found = select_memories(codes, FunctionSimilarity(same), 0.5)
    assert found.n_memories == found.n_distinct == 2


def test_a_similarity_without_state_is_described_once():
    class Plain:
        def fit(self, X, y=None):
            return self

        def describe(self, X):
            return np.asarray(X) * 2.0

        def compare(self, A, B):
            return np.exp(-np.abs(A[:, 0][:, None] - B[:, 0][None]))

    from memclf import MemorySelector

    X = np.arange(12.0)[:, None] / 4
    selector = MemorySelector(Plain(), 0.5).fit(X)
    similarity = np.exp(-2 * np.abs(np.subtract.outer(X[selector.memory_indices_, 0], X[:, 0])))
    assert (similarity.max(axis=0) >= 0.5).all()


def test_searches_in_several_threads_leave_the_threads_of_blas_as_they_were():
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_info

    def threads():
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    def run(seed):
        X = np.random.default_rng(seed).normal(size=(800, 3))
        return select_memories(X, RBFSimilarity(1.0), 0.5, random_state=seed).n_memories

    run(0)  # load whatever is loaded lazily
    before = threads()
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(run, range(12))
        run(0)
        list(answers)
    assert threads() == before


def test_single_precision_is_no_reason_to_refuse():
    rows = np.random.default_rng(0).normal(size=(300, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosine = FunctionSimilarity(lambda A, B: np.maximum(A @ B.T, 0), batched=True)
    assert select_memories(rows, cosine, 0.6, random_state=0).coverage == 1


def test_enough_memories_cover_when_coverage_is_enforced():
    X = np.arange(20.0)[:, None]
    found = select_memories(X, RBFSimilarity(1.0), 0.3, n_memories=9, coverage="enforce", random_state=0)
    assert found.n_memories == 9
    assert found.coverage == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": 0}, "threshold must be a number in \\(0, 1\\]"),
        ({"threshold": 1.2}, "got 1.2"),
        ({"threshold": "high"}, "got 'high'"),
        ({"n_memories": 0}, "n_memories must be a whole number of at least 1"),
        ({"n_memories": 11}, "n_memories=11 is more than the number of cases"),
        ({"n_restarts": 0}, "n_restarts must be"),
        ({"max_swaps": -1}, "max_swaps must be"),
        ({"mode": "paper", "n_memories": 3}, "mode='paper' finds the number of memories itself"),
        ({"mode": "clarans", "n_memories": 3}, "mode='clarans' finds the number of memories itself"),
        ({"mode": "fast"}, "mode must be one of 'corrected', 'clarans', 'paper'; got 'fast'"),
        ({"cover": "lazy"}, "cover must be one of"),
        ({"coverage": "maybe"}, "coverage must be one of"),
        ({"sample_weight": np.zeros(10)}, "(?i)sample.weight.*zero"),
    ],
)
def test_wrong_settings_are_named(change, message):
    X = np.arange(10.0)[:, None]
    with pytest.raises(ValueError, match=message):
        select_memories(X, RBFSimilarity(1.0), **{"threshold": 0.5, **change})


def test_a_similarity_without_compare_is_refused_with_a_hint():
    with pytest.raises(TypeError, match="wrap a function of two cases in memclf.similarity.FunctionSimilarity"):
        select_memories([1, 2], lambda a, b: 1.0)


@pytest.mark.parametrize("value", [1.5, -0.25, float("nan")])
def test_a_value_that_is_no_similarity_is_named_with_its_pair(value):
    def alike(a, b):
        return value if {a, b} == {2, 7} else 1.0

    with pytest.raises(SimilarityError, match=f"the similarity of case [27] and case [27] is {value}"):
        select_memories(list(range(10)), FunctionSimilarity(alike), 0.5, random_state=0)


def test_a_wrong_shape_is_named():
    with pytest.raises(SimilarityError, match=r"one row per memory and one column per case, shape \(.*got shape"):
        select_memories([1, 2, 3], FunctionSimilarity(lambda A, B: np.ones(3), batched=True), 0.5)


@pytest.mark.parametrize("answer", ["very", None, [0.2, 0.3]])
def test_something_that_is_no_number_is_named(answer):
    def alike(a, b):
        return answer

    with pytest.raises(
        TypeError, match=f"alike must return one number for two cases, it returned {re.escape(repr(answer))}"
    ):
        select_memories([1, 2, 3], FunctionSimilarity(alike), 0.5)


def test_a_case_unlike_itself_is_an_error_that_names_it():
    with pytest.raises(SimilarityError, match="the similarity of case 0 and case 0 is 0.2, below the threshold 0.5"):
        select_memories([3, 4, 5], FunctionSimilarity(lambda a, b: 0.2), 0.5)


def test_what_follows_from_an_unusual_similarity_is_said():
    def lopsided(a, b):
        return 1.0 if a <= b else 0.6

    with pytest.warns(SimilarityWarning, match="not symmetric: case 0 to case 1 is 1, case 1 to case 0 is 0.6"):
        select_memories([3, 4, 5], FunctionSimilarity(lopsided), 0.5)
    with pytest.warns(SimilarityWarning, match="not 1: a memory may find another memory more similar"):
        select_memories([3, 4, 5], FunctionSimilarity(lambda a, b: 0.9), 0.5)


def test_an_asymmetric_similarity_is_always_asked_memory_first():
    S = np.array([[1.0, 0.9, 0.9], [0.1, 1.0, 0.1], [0.1, 0.1, 1.0]])  # only case 0 covers all

    def alike(a, b):
        return S[a, b]

    with pytest.warns(SimilarityWarning, match="always asks for similarity\\(memory, case\\)"):
        found = select_memories([0, 1, 2], FunctionSimilarity(alike), 0.8, cover="greedy")
    assert found.indices.tolist() == [0]


def test_a_slow_function_announces_its_speed_before_the_long_part():
    calls = []

    def slow(a, b):
        calls.append(1)
        total = 0
        for i in range(400):
            total += i
        return 1.0 if a // 20 == b // 20 else 0.0

    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowSimilarityWarning)
        with pytest.raises(
            SlowSimilarityWarning, match="slow compares [0-9,]+ pairs per second.* needs? about .* comp"
        ):
            select_memories(list(range(20_000)), FunctionSimilarity(slow), 0.5, n_memories=50)
    assert len(calls) < 100_000


def test_a_fast_similarity_announces_nothing():
    X = np.random.default_rng(0).normal(size=(300, 2))
    select_memories(X, FunctionSimilarity(_batched, batched=True), 0.5, random_state=0)


def _batched(A, B):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=-1))


def test_the_result_prints_what_matters():
    X = np.random.default_rng(0).normal(size=(50, 2))
    text = str(select_memories(X, RBFSimilarity(1.0), 0.7, random_state=0))
    assert "memories for 50 cases (50 distinct)" in text
    assert "100.0% of the cases within 0.7" in text
