"""The search among very many cases, with limits lowered so that a few hundred are very many."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from limits import lower_limits
from memclf import MemorySelector, load, save, select_memories
from memclf.cases import sliced
from memclf.exceptions import CoverageError
from memclf.memory import blocks, passes, search
from memclf.similarity import CosineSimilarity, FunctionSimilarity, GowerSimilarity, RBFSimilarity
from oracles import objective


@pytest.fixture
def few_are_many(monkeypatch):
    lower_limits(monkeypatch)


def blobs(n=1500, centers=8, d=3, seed=0):
    return make_blobs(n, d, centers=centers, random_state=seed)[0]


def rbf(X, gamma=0.05):
    """A fitted similarity, descriptions, and the matrix of all similarities by their definition."""
    similarity = RBFSimilarity(gamma).fit(X)
    S = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    return similarity, similarity.describe(X), S


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("q", [1, 2, 8, None])
def test_batches__labels_coverage_and_objective__are_those_of_all_cases(q):
    X = blobs()
    similarity, Z, S = rbf(X)
    found = select_memories(Z, similarity, 0.6, n_memories=q, random_state=0)
    assert found.way == "batches"
    block = S[found.indices]
    np.testing.assert_allclose(found.similarity, block.max(axis=0), atol=1e-9)
    np.testing.assert_allclose(block[found.labels, np.arange(len(X))], block.max(axis=0), atol=1e-9)
    assert found.objective == pytest.approx(objective(S, found.indices))
    np.testing.assert_array_equal(found.uncovered, np.flatnonzero(block.max(axis=0) < 0.6))
    assert found.coverage == pytest.approx((block.max(axis=0) >= 0.6).mean())
    sizes = np.bincount(found.labels, minlength=found.n_memories)
    assert (np.diff(sizes) <= 0).all()
    assert found.n_evaluations > 0


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("seed", range(4))
def test_batches__clusters__objective_is_within_one_percent_of_exact_swaps(seed, monkeypatch):
    X = blobs(seed=seed)
    similarity, Z, _ = rbf(X)
    wide = select_memories(Z, similarity, 0.6, n_memories=8, random_state=seed)
    monkeypatch.setattr(search, "EXACT_CASES", len(X))
    exact = select_memories(Z, similarity, 0.6, n_memories=8, random_state=seed)
    assert (wide.way, exact.way) == ("batches", "exact")
    assert wide.objective > 0.99 * exact.objective
    assert (exact.standard_error, wide.standard_error > 0) == (0.0, True)
    assert wide.standard_error < 0.1 * wide.objective


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 1000), st.floats(0.4, 0.95))
def test_batches__cover__every_case_is_within_the_threshold(few_are_many, seed, threshold):
    """The first cover is of 60 of 400 cases; what it leaves is covered as well."""
    X = np.random.default_rng(seed).normal(size=(400, 2))
    similarity, Z, S = rbf(X, 1.0)
    found = select_memories(Z, similarity, threshold, random_state=seed)
    assert found.way == "batches"
    assert (S[found.indices].max(axis=0) >= threshold - 1e-9).all()
    assert (found.coverage, len(found.uncovered)) == (1.0, 0)


@pytest.mark.usefixtures("few_are_many")
def test_batches__cover__no_memory_is_superfluous_before_polishing():
    X = np.random.default_rng(0).normal(size=(600, 2))
    similarity, Z, S = rbf(X, 1.0)
    found = select_memories(Z, similarity, 0.7, random_state=0, max_swaps=0)
    covered = S[found.indices] >= 0.7 - 1e-9
    assert ((covered.sum(axis=0) == 1) & covered).any(axis=1).all()  # each covers a case that no other does


@pytest.mark.usefixtures("few_are_many")
def test_batches__cover__needs_no_more_memories_than_random_covers_of_all_cases(monkeypatch):
    X = np.random.default_rng(0).normal(size=(1200, 2))
    similarity, Z, _ = rbf(X, 1.0)
    wide = select_memories(Z, similarity, 0.7, random_state=0)
    monkeypatch.setattr(search, "EXACT_CASES", len(X))
    random = select_memories(Z, similarity, 0.7, cover="random", n_restarts=5, random_state=0)
    assert wide.n_memories <= 1.1 * random.n_memories


@pytest.mark.usefixtures("few_are_many")
def test_batches__enforced_number__covers_or_says_so():
    X = np.random.default_rng(0).normal(size=(600, 2))
    similarity, Z, _ = rbf(X, 1.0)
    free = select_memories(Z, similarity, 0.6, random_state=0)
    more = free.n_memories + 5
    fixed = select_memories(Z, similarity, 0.6, n_memories=more, coverage="enforce", random_state=0)
    assert (fixed.n_memories, fixed.coverage) == (more, 1.0)
    with pytest.raises(CoverageError, match="found no 2 memories that cover every case: .* of 600 stay below"):
        select_memories(Z, similarity, 0.6, n_memories=2, coverage="enforce", random_state=0)


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("q", [6, None])
def test_batches__workers_and_order_of_rows__change_nothing(q):
    X = blobs()
    similarity, Z, _ = rbf(X)
    order = np.random.default_rng(1).permutation(len(X))
    one, two = (
        MemorySelector(RBFSimilarity(0.05), 0.6, n_memories=q, n_jobs=n_jobs, random_state=0).fit(X)
        for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(one.memory_indices_, two.memory_indices_)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.search_result_.objective == two.search_result_.objective
    here = select_memories(Z, similarity, 0.6, n_memories=q, random_state=0)
    there = select_memories(Z[order], similarity, 0.6, n_memories=q, random_state=0)
    assert sorted(order[there.indices].tolist()) == sorted(here.indices.tolist())


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize(("q", "small"), [(6, "0.6MB"), (None, "1.6MB")])
def test_batches__smaller_budget__gives_the_same_memories(q, small):
    X = blobs(4000)
    rows = []
    read = blocks.Blocks.read

    def counting(self, part):
        rows.append(part.stop - part.start)
        return read(self, part)

    found = []
    for budget in ("1GB", small):
        rows.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks, "ROWS", 2048)
            patch.setattr(blocks.Blocks, "read", counting)
            found.append(
                (MemorySelector(RBFSimilarity(0.05), 0.6, q, max_memory=budget, random_state=0).fit(X), max(rows))
            )
    (wide, most), (narrow, fewer) = found
    assert fewer < most
    np.testing.assert_array_equal(wide.memory_indices_, narrow.memory_indices_)
    assert narrow.search_result_.objective == pytest.approx(wide.search_result_.objective)


@pytest.mark.usefixtures("few_are_many")
def test_batches__repeated_and_weighted_cases__count_as_often():
    X = blobs(400)
    similarity, Z, S = rbf(X)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = select_memories(Z, similarity, 0.6, n_memories=8, sample_weight=weights, random_state=0)
    repeated = select_memories(np.repeat(Z, weights, axis=0), similarity, 0.6, n_memories=8, random_state=0)
    assert weighted.way == repeated.way == "batches"
    assert weighted.n_distinct == repeated.n_distinct == np.count_nonzero(weights)
    assert (weights[weighted.indices] > 0).all()
    assert weighted.objective == pytest.approx(objective(S, weighted.indices, weights))
    assert weighted.objective == pytest.approx(repeated.objective)


@pytest.mark.usefixtures("few_are_many")
def test_batches__half_of_the_cases_are_equal__they_are_one_of_the_witnesses():
    """A sample of distinct cases would hardly ever hold the one that stands for half of all."""
    rng = np.random.default_rng(0)
    X = np.concatenate([np.zeros((2000, 2)), rng.normal(30, 3, size=(2000, 2))])
    found = select_memories(*_described(RBFSimilarity(1.0), X), 0.5, n_memories=5, random_state=0)
    assert found.n_distinct == 2001
    assert 0 in found.indices


def _described(similarity, X):
    return similarity.fit_describe(X), similarity


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize(
    "similarity", [CosineSimilarity(), FunctionSimilarity(lambda a, b: float(np.exp(-abs(a[0] - b[0]))))]
)
def test_batches__other_similarities__all_cases_are_judged_by_definition(similarity):
    X = np.abs(blobs(350, 4))
    Z, similarity = _described(similarity, X)
    found = select_memories(Z, similarity, 0.3, n_memories=4, random_state=0)
    assert found.way == "batches"
    S = similarity.compare(Z[found.indices], Z)
    assert found.objective == pytest.approx(S.max(axis=0).sum())


@pytest.mark.usefixtures("few_are_many")
def test_batches__lists_of_words__are_merged_and_judged():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcd"), 4)) for _ in range(500)]
    alike = FunctionSimilarity(lambda a, b: sum(x == y for x, y in zip(a, b, strict=True)) / 4)
    found = MemorySelector(alike, 0.5, n_memories=5, random_state=0).fit(words).search_result_
    assert (found.way, found.n_distinct) == ("batches", len(set(words)))
    best = [max(sum(x == y for x, y in zip(words[i], word, strict=True)) / 4 for i in found.indices) for word in words]
    assert found.objective == pytest.approx(sum(best))


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("q", [6, None])
def test_batches__memory_map_of_single_precision__gives_what_the_array_gives(q, tmp_path):
    X = blobs().astype(np.float32)
    np.save(tmp_path / "cases.npy", X)
    settings_ = {"threshold": 0.6, "n_memories": q, "random_state": 0}
    mapped = MemorySelector(RBFSimilarity(), **settings_).fit(np.load(tmp_path / "cases.npy", mmap_mode="r"))
    array = MemorySelector(RBFSimilarity(), **settings_).fit(X)
    double = MemorySelector(RBFSimilarity(), **settings_).fit(X.astype(np.float64))
    for other in (array, double):
        np.testing.assert_array_equal(mapped.memory_indices_, other.memory_indices_)
        np.testing.assert_array_equal(mapped.labels_, other.labels_)
        np.testing.assert_allclose(mapped.descriptions_, other.descriptions_)
    assert mapped.similarity_.gamma_ == array.similarity_.gamma_
    assert type(mapped.memories_) is np.ndarray
    np.testing.assert_array_equal(mapped.predict(X), mapped.labels_)
    save(mapped, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), mapped.labels_)


class Dataset:
    """As of h5py or zarr: it gives slices, and no array."""

    def __init__(self, rows):
        self.rows, self.shape, self.ndim, self.dtype = rows, rows.shape, rows.ndim, rows.dtype
        self.most = 0

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, part):
        assert isinstance(part, slice)
        self.most = max(self.most, part.stop - part.start)
        return self.rows[part].copy()


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("q", [6, None])
def test_batches__dataset_that_gives_slices__is_read_in_blocks_as_an_array(q, monkeypatch):
    monkeypatch.setattr(sliced, "SPAN", 100)
    X = blobs().astype(np.float32)
    data = Dataset(X)
    read = MemorySelector(RBFSimilarity(), 0.6, q, random_state=0, max_memory="100MB").fit(data)
    array = MemorySelector(RBFSimilarity(), 0.6, q, random_state=0, max_memory="100MB").fit(X)
    assert data.most == blocks.ROWS < len(X)
    assert read.search_result_.way == "batches"
    np.testing.assert_array_equal(read.memory_indices_, array.memory_indices_)
    np.testing.assert_array_equal(read.labels_, array.labels_)
    np.testing.assert_array_equal(read.memories_, array.memories_)
    assert type(read.memories_) is np.ndarray
    assert read.n_features_in_ == 3


@pytest.mark.parametrize(
    "similarity", [RBFSimilarity(), GowerSimilarity(), lambda a, b: float(np.allclose(a, b, 0, 9))]
)
def test_exact__dataset_that_gives_slices__is_read_at_once_as_an_array(similarity):
    X = blobs(60)
    data = Dataset(X)
    read = MemorySelector(similarity, 0.6, 3, random_state=0).fit(data)
    array = MemorySelector(similarity, 0.6, 3, random_state=0).fit(X)
    assert data.most == len(X)
    np.testing.assert_array_equal(read.memory_indices_, array.memory_indices_)
    np.testing.assert_array_equal(read.memories_, array.memories_)


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_batches__gap_in_a_late_block__the_row_is_named(bad):
    X = blobs(256 * 18)
    X[256 * 17 + 5, 2] = bad
    with pytest.raises(ValueError, match=f"X contains {bad} in row 4357, column 2, but all numbers must be finite"):
        MemorySelector(RBFSimilarity(), n_memories=3).fit(X)


@pytest.mark.usefixtures("few_are_many")
def test_batches__more_memories_than_distinct_cases__are_cut_with_a_warning():
    X = np.repeat(np.arange(5.0)[:, None], 100, axis=0)
    with pytest.warns(UserWarning, match="n_memories=9 but only 5 cases have different descriptions"):
        found = MemorySelector(RBFSimilarity(1.0), n_memories=9, random_state=0).fit(X).search_result_
    assert (found.n_memories, found.objective) == (5, 500)


def test_a_witness_never_speaks_for_itself():
    """All cases are equally unlike: the witnesses are no better memories than the others."""
    X = np.eye(40) * 10
    similarity = RBFSimilarity(1.0).fit(X)
    Z, rows = similarity.describe(X), np.arange(40)
    witnesses = passes.Witnesses(rows[:10], np.ones(10), np.zeros(10))
    worth = passes.measure_worth(similarity, Z, rows, Z[:10], witnesses)
    np.testing.assert_allclose(worth, worth[0], atol=1e-12)
