import re
import tracemalloc

import numpy as np
import pytest

from memclf import MemorySelector, select_memories
from memclf.memory import blocks, budget, search
from memclf.similarity import RBFSimilarity
from memclf.similarity.base import NumericSimilarity


class LinearSimilarity(NumericSimilarity):
    """One that cannot order descriptions faster than it compares them."""

    def compare(self, A, B):
        return np.maximum(0, 1 - np.sqrt(np.maximum(0, ((A[:, None] - B[None]) ** 2).sum(axis=-1))))


@pytest.mark.parametrize(
    ("given", "expected"),
    [("2GB", 2 * 10**9), ("1.5 gb", 15 * 10**8), ("512MiB", 2**29), ("100", 100), (3e6, 3_000_000), ("7 B", 7)],
)
def test_budget__texts_and_numbers__are_bytes(given, expected):
    assert budget.parse_bytes(given) == expected


@pytest.mark.parametrize("given", ["much", "-1GB", "1..2GB", 0, -5, True, float("nan"), float("inf"), [1], "2XB", ""])
def test_budget__anything_else__is_named(given):
    with pytest.raises(ValueError, match=re.escape(f"got {given!r}")):
        select_memories(np.zeros((3, 1)), RBFSimilarity(1.0), max_memory=given)


def test_budget__none__is_a_share_of_what_is_free():
    assert 0 < budget.parse_bytes(None) < budget.free_memory()


def test_budget__the_system_does_not_tell__something_is_assumed(monkeypatch):
    monkeypatch.setattr(budget.Path, "read_text", lambda self: (_ for _ in ()).throw(OSError))
    monkeypatch.delattr(budget.os, "sysconf", raising=False)
    assert budget.free_memory() == budget.ASSUMED


def test_budget__shown__is_read_again():
    for value in (1, 999, 1001, 123_456_789, 2**40):
        assert value <= budget.parse_bytes(budget.in_bytes(value)) <= 1.01 * value + 1


def least_that_works(told):
    """Of a message: the least, in bytes, and the sum of the parts that it names."""
    pattern = r"at least [0-9.]+[KMG]B, which is (.*)\. Give max_memory='(.*)' or more"
    parts, least = re.search(pattern, str(told)).groups()
    return budget.parse_bytes(least), sum(map(budget.parse_bytes, re.findall("([0-9.]+[KMG]?B) for", parts)))


@pytest.mark.parametrize(
    ("n", "d", "q", "way"), [(200, 500, 5, "exact"), (2000, 2, 3, "exact"), (3000, 2, 60, "batches")]
)
@pytest.mark.parametrize("exact_cases", [50_000, 100])
def test_budget__too_small__the_least_that_works_is_named(n, d, q, way, exact_cases, monkeypatch):
    monkeypatch.setattr(blocks, "SAMPLE", 600)
    monkeypatch.setattr(blocks, "PER_MEMORY", 10)
    monkeypatch.setattr(search, "EXACT_CASES", exact_cases)
    X = np.random.default_rng(0).normal(size=(n, d))
    selector = MemorySelector(RBFSimilarity(1 / d), n_memories=q, n_jobs=8, random_state=0, max_memory="5KB")
    with pytest.raises(ValueError, match="max_memory='5KB' is too small .* it needs at least") as error:
        selector.fit(X)
    least, parts = least_that_works(error.value)
    assert parts == pytest.approx(least, rel=0.02)
    found = selector.set_params(max_memory=least).fit(X).search_result_
    assert (found.n_memories, found.way) == (q, way if n < exact_cases else "batches")
    with pytest.raises(ValueError, match="too small"):
        selector.set_params(max_memory=0.97 * least).fit(X)


def test_budget__cover_finds_more_memories_than_fit__batches_keep_it():
    X = np.random.default_rng(0).normal(size=(2000, 4))
    most, selector = 7_000_000, MemorySelector(RBFSimilarity(0.3), 0.95, n_jobs=2, random_state=0)
    tracemalloc.start()
    found = selector.set_params(max_memory=most).fit(X).search_result_
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.way, found.coverage) == ("batches", 1.0)
    assert 8 * found.n_memories * len(X) > 2 * most
    assert peak < most


def test_budget__cover_finds_as_many_as_fit__swaps_are_exact():
    X = np.random.default_rng(0).normal(size=(1000, 2))
    free = select_memories(X, RBFSimilarity(1.0), 0.95, random_state=0)
    assert (free.way, free.n_memories > budget.ASSUMED_MEMORIES) == ("exact", True)
    enough = budget.exact_need(1000, 16, free.n_memories).total
    for most, way in ((enough, "exact"), (enough - 1, "batches")):
        found = select_memories(X, RBFSimilarity(1.0), 0.95, max_memory=most, random_state=0)
        assert found.way == way
        assert (found.indices.tolist() == free.indices.tolist()) == (way == "exact")


@pytest.mark.parametrize("similarity", [RBFSimilarity(1.0), LinearSimilarity()])
def test_budget__nothing_fits_what_the_cover_finds__number_and_least_are_named(similarity):
    X = np.random.default_rng(0).normal(size=(600, 2))
    options = {"coverage": "report", "random_state": 0}
    with pytest.raises(ValueError, match="600 cases, whose cover has found [0-9]+ memories: it needs") as error:
        select_memories(X, similarity, 0.97, max_memory="1.4MB", **options)
    least, parts = least_that_works(error.value)
    assert parts == pytest.approx(least, rel=0.02)
    assert f"all cases to {re.search('found ([0-9]+)', str(error.value)).group(1)} memories" in str(error.value)
    assert select_memories(X, similarity, 0.97, max_memory=least, **options).way == "exact"
    with pytest.raises(ValueError, match="too small"):
        select_memories(X, similarity, 0.97, max_memory=0.97 * least, **options)


def test_budget__batches_find_many_memories__blocks_become_smaller(monkeypatch):
    """The similarities of a block to all memories are held at once, unless a similarity can order them."""
    monkeypatch.setattr(search, "EXACT_CASES", 100)
    X = np.random.default_rng(0).normal(size=(2000, 2))
    seen = []
    assign = blocks.Blocks.assign

    def looking(self, *args):
        seen.append(self.rows)
        return assign(self, *args)

    monkeypatch.setattr(blocks.Blocks, "assign", looking)
    found = []
    selector = MemorySelector(LinearSimilarity(), 0.9, n_jobs=1, random_state=0)
    for most in ("1GB", "10MB"):
        seen.clear()
        found.append((selector.set_params(max_memory=most).fit(X).search_result_, max(seen)))
    (wide, many), (narrow, fewer) = found
    assert fewer < min(many, len(X))
    assert narrow.indices.tolist() == wide.indices.tolist()


def test_budget__exact_swaps_do_not_fit__batches_are_used(monkeypatch):
    monkeypatch.setattr(blocks, "SAMPLE", 600)
    monkeypatch.setattr(blocks, "PER_MEMORY", 10)
    X = np.random.default_rng(0).normal(size=(3000, 2))
    wide, narrow = (
        select_memories(X, RBFSimilarity(1.0), n_memories=60, max_memory=most, random_state=0)
        for most in ("1GB", "3MB")
    )
    assert (wide.way, narrow.way) == ("exact", "batches")
    assert narrow.objective > 0.98 * wide.objective


def test_budget__many_cases__is_kept():
    """What is allocated, the cases themselves apart; without blocks it would be far more."""
    n, q = 60_000, 10
    X = np.random.default_rng(0).normal(size=(n, 4)).astype(np.float32)
    for most in (25_000_000, 18_000_000):
        tracemalloc.start()
        found = MemorySelector(RBFSimilarity(0.1), 0.4, q, max_memory=most, n_jobs=2, random_state=0).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.search_result_.way == "batches"
        assert peak < most


def test_search__little_memory_is_free__finds_the_same_memories(monkeypatch):
    X = np.random.default_rng(0).normal(size=(3000, 4))
    usual = select_memories(X, RBFSimilarity(0.3), n_memories=20, random_state=0)
    monkeypatch.setattr(budget, "free_memory", lambda: 500_000)
    scarce = select_memories(X, RBFSimilarity(0.3), n_memories=20, random_state=0)
    assert scarce.way == usual.way
    assert scarce.indices.tolist() == usual.indices.tolist()
