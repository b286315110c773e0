"""The search on chunks in this process; on workers it is tested in `tests/cluster`."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from limits import lower_limits
from memclf import MemorySelector
from memclf.similarity import CosineSimilarity, FunctionSimilarity, RBFSimilarity

da = pytest.importorskip("dask.array")

X = make_blobs(900, 3, centers=8, random_state=0)[0]
CHUNKS = [(900,), (100, 1, 399, 400), (37,) * 24 + (12,)]


@pytest.fixture
def few_are_many(monkeypatch):
    lower_limits(monkeypatch)


def both(data, chunks, *, fit=None, **options):
    """What the search finds in an array, and in chunks of it."""
    fit = fit or {}
    options = {"similarity": RBFSimilarity(0.05), "threshold": 0.6, "random_state": 0} | options
    one = MemorySelector(**options).fit(data, **fit)
    return one, MemorySelector(**options).fit(da.from_array(data, chunks=(chunks, data.shape[1])), **fit)


def assert_same(one, chunked, way):
    assert (one.search_result_.way, chunked.search_result_.way) == (way, way)
    np.testing.assert_array_equal(chunked.memory_indices_, one.memory_indices_)
    np.testing.assert_array_equal(chunked.labels_, one.labels_)
    np.testing.assert_allclose(chunked.search_result_.similarity, one.search_result_.similarity, atol=1e-9)
    np.testing.assert_allclose(chunked.descriptions_, one.descriptions_)
    np.testing.assert_array_equal(chunked.memories_, one.memories_)
    assert chunked.search_result_.objective == pytest.approx(one.search_result_.objective)
    assert chunked.search_result_.n_evaluations == one.search_result_.n_evaluations


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("q", [5, None])
def test_chunks__very_many_cases__memories_are_those_of_the_array(chunks, q):
    assert_same(*both(X, chunks, n_memories=q), "batches")


@pytest.mark.parametrize("q", [5, None])
def test_chunks__few_cases__are_searched_exactly(q):
    assert_same(*both(X, CHUNKS[1], n_memories=q, similarity=RBFSimilarity()), "exact")


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("q", [5, None])
def test_chunks__weights_and_repeated_cases__count_as_in_the_array(q):
    data = np.concatenate([X[:500], X[:200]])
    weights = np.random.default_rng(0).integers(0, 3, len(data)).astype(float)
    assert_same(*both(data, (333, 367), n_memories=q, fit={"sample_weight": weights}), "batches")


@pytest.mark.usefixtures("few_are_many")
def test_chunks__pinned_and_forbidden_cases__are_those_of_the_array():
    free = MemorySelector(RBFSimilarity(0.05), 0.6, random_state=0).fit(X)
    wishes = {"pinned": [7, 600], "forbidden": free.memory_indices_[:2]}
    one, chunked = both(X, CHUNKS[1], fit=wishes)
    assert_same(one, chunked, "batches")
    assert chunked.memory_indices_[:2].tolist() == [7, 600]


@pytest.mark.usefixtures("few_are_many")
def test_chunks__cover_of_over_64_memories__is_that_of_the_array():
    one, chunked = both(np.random.default_rng(0).normal(size=(900, 2)), CHUNKS[1], threshold=0.99)
    assert one.search_result_.n_memories > 64
    assert_same(one, chunked, "batches")


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("similarity", [RBFSimilarity(), CosineSimilarity()])
def test_chunks__similarity_that_learns__learns_the_same(similarity):
    one, chunked = both(X, CHUNKS[2], n_memories=4, similarity=similarity)
    assert_same(one, chunked, "batches")


def test_chunks__features_that_learn__learn_from_all_chunks():
    similarity = RBFSimilarity(0.5, features=make_pipeline(StandardScaler()))
    assert_same(*both(X, CHUNKS[1], n_memories=4, similarity=similarity), "exact")


@pytest.mark.usefixtures("few_are_many")
def test_chunks__a_users_function__is_compared_on_the_chunks():
    data = np.random.default_rng(0).normal(size=(310, 2))
    similarity = FunctionSimilarity(lambda a, b: float(np.exp(-np.abs(a - b).sum())))
    one, chunked = both(data, (100, 210), n_memories=2, max_swaps=10, similarity=similarity)
    assert chunked.search_result_.objective == pytest.approx(one.search_result_.objective)
    np.testing.assert_array_equal(chunked.memory_indices_, one.memory_indices_)


@pytest.mark.usefixtures("few_are_many")
def test_chunks__modes_of_the_paper__take_few_cases_only():
    assert_same(*both(X[:150], (100, 50), mode="paper"), "exact")
    with pytest.raises(ValueError, match="mode='paper' compares all 900 cases in one process, .* up to 300"):
        both(X, CHUNKS[1], mode="paper")


@pytest.mark.usefixtures("few_are_many")
def test_chunks__budget_that_is_too_small__says_the_least_that_works():
    data = da.from_array(X, chunks=(300, 3))
    search = MemorySelector(RBFSimilarity(0.05), n_memories=4, random_state=0)
    with pytest.raises(ValueError, match="max_memory='1KB' is too small .* Give max_memory='(.*)' or more") as caught:
        search.set_params(max_memory="1KB").fit(data)
    least = str(caught.value).split("'")[-2]
    assert search.set_params(max_memory=least).fit(data).search_result_.way == "batches"


def test_chunks__predict_and_transform__are_dask_arrays_of_known_chunks():
    chunked = MemorySelector(RBFSimilarity(0.05), n_memories=4, random_state=0).fit(X)
    data = da.from_array(X, chunks=(350, 2))
    found, similarities = chunked.predict(data), chunked.transform(data)
    assert (found.chunks, similarities.chunks) == (((350, 350, 200),), ((350, 350, 200), (4,)))
    np.testing.assert_array_equal(found.compute(), chunked.predict(X))
    np.testing.assert_allclose(similarities.compute(), chunked.transform(X))
