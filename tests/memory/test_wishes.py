"""Pinned and forbidden cases, and cases to start from, in every way of searching."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memclf import MemorySelector, select_memories
from memclf.exceptions import CoverageError
from memclf.memory import search as searching
from memclf.memory.wishes import Wishes
from memclf.similarity import FunctionSimilarity, Precomputed, RBFSimilarity
from oracles import best_subset, objective, random_similarity

RBF = RBFSimilarity(gamma=1.0)
seeds = st.integers(0, 10_000)
ways = st.sampled_from(["random", "greedy", "batches"])
LINE = np.array([[0.0], [0.1], [0.2], [3.0], [3.1], [9.0]])


def cases(seed, n=60):
    """Points in the plane, some of them twice."""
    points = np.random.default_rng(seed).normal(size=(n - 10, 2))
    return np.concatenate([points, points[:10]])


def search(X, way, threshold=0.7, **settings_):
    """The search that `way` names, exact or in batches."""
    if way != "batches":
        return select_memories(X, RBF, threshold, cover=way, random_state=0, **settings_)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "EXACT_CASES", 10)
        found = select_memories(X, RBF, threshold, random_state=0, **settings_)
    assert found.way == "batches"
    return found


def check_result(X, found, threshold):
    """Labels, objective and coverage are those of the memories, and no memory stands for nothing."""
    S = np.exp(-((X[:, None] - X) ** 2).sum(axis=-1))
    assert found.objective == pytest.approx(objective(S, found.indices))
    assert (S[found.indices].max(axis=0) >= threshold - 1e-9).all() == (found.coverage == 1.0)
    assert set(found.labels.tolist()) == set(range(found.n_memories))
    assert len(set(found.indices.tolist())) == found.n_memories


@settings(max_examples=12, deadline=None)
@given(seeds, ways, st.sampled_from([None, 12]))
def test_search__pinned_and_forbidden__first_in_never_in_and_covered(seed, way, q):
    X = cases(seed)
    drawn = np.random.default_rng(seed).permutation(50)
    pinned, forbidden = drawn[:4], np.concatenate([drawn[4:20], drawn[4:20][drawn[4:20] < 10] + 50])
    wishes = Wishes(pinned, forbidden, lenient=True)
    options = searching.SearchOptions(cover="auto" if way == "batches" else way)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "EXACT_CASES", 10 if way == "batches" else 1000)
        found = searching.search_memories(X, RBF.fit(X), 0.3, q, options, wishes=wishes, random_state=seed)
    np.testing.assert_array_equal(found.indices[:4], pinned)
    assert not np.isin(found.indices, forbidden).any()
    check_result(X, found, 0.3)
    S = np.exp(-((X[:, None] - X) ** 2).sum(axis=-1))
    able = np.delete(S, forbidden, axis=0).max(axis=0) >= 0.3
    if q is None:
        assert np.isin(found.uncovered, np.flatnonzero(~able)).all()
    else:
        assert found.n_memories == q


@settings(max_examples=10, deadline=None)
@given(seeds, st.integers(4, 8), st.integers(2, 3))
def test_search__pinned__the_best_of_the_subsets_with_it_is_found(seed, n, q):
    S = random_similarity(np.random.default_rng(seed), n)
    row, banned = np.random.default_rng(seed).permutation(n)[:2]
    how = {"n_memories": q, "n_restarts": 60, "random_state": seed}
    found = select_memories(S, Precomputed(), 0.5, pinned=[row], forbidden=[banned], **how)
    others = [each for each in range(n) if each not in (row, banned)]
    best = max(objective(S, (row, *rest)) for rest in combinations(others, q - 1))
    assert found.objective == pytest.approx(best)
    assert found.objective <= best_subset(S, q) + 1e-9


@settings(max_examples=10, deadline=None)
@given(seeds, ways, st.sampled_from([None, 8]))
def test_search__start_from_a_former_result__is_never_worse(seed, way, q):
    X = cases(seed)
    former = search(X, way, n_memories=q, max_swaps=0)
    found = search(X, way, n_memories=q, start=former.indices)
    assert found.n_memories == former.n_memories
    assert found.objective >= former.objective - 1e-9
    check_result(X, found, 0.7)


@pytest.mark.parametrize("way", ["random", "greedy", "batches"])
def test_search__start_leaves_cases_uncovered__a_cover_adds_to_it(way):
    X = np.repeat(LINE, 3, axis=0) + np.arange(18)[:, None] * 1e-3
    found = search(X, way, start=[0], pinned=[17])
    assert found.indices[0] == 17
    assert found.coverage == 1.0
    assert found.n_memories == 3


@pytest.mark.parametrize("way", ["random", "greedy", "batches"])
def test_search__pinned_twin_of_another_case__stands_for_both(way):
    X = cases(0)
    found = search(X, way, pinned=[53], start=[52])  # the twins of 3 and 2
    assert found.indices[0] == 53
    assert 3 not in found.indices
    assert found.labels[3] == found.labels[53] == 0
    check_result(X, found, 0.7)


def test_search__forbidden_case_has_a_twin__the_twin_may_be_a_memory():
    found = select_memories(np.array([[0.0], [5.0], [5.0]]), RBF, 0.7, forbidden=[1])
    assert sorted(found.indices.tolist()) == [0, 2]


@pytest.mark.parametrize("way", ["random", "greedy", "batches"])
def test_search__forbidden_case_only_covers_itself__error_names_it(way):
    X = np.concatenate([LINE, LINE[:5] + 0.01])
    with pytest.raises(CoverageError, match=r"case 5 cannot be covered: no case that may be a memory reaches .* 0\.7"):
        search(X, way, forbidden=[5])
    found = search(X, way, forbidden=[5], coverage="report")
    assert found.uncovered.tolist() == [5]
    twins = np.concatenate([X, LINE[5:]])
    with pytest.raises(CoverageError, match="cases 5, 11 cannot be covered"):
        search(twins, way, forbidden=[5, 11])


def test_search__lenient__covers_the_others_and_takes_the_first_twin():
    X = np.concatenate([LINE, LINE[:1]])
    wishes = Wishes(pinned=np.array([6, 0]), forbidden=np.array([5]), lenient=True)
    found = searching.search_memories(X, RBF.fit(X), 0.7, wishes=wishes)
    assert found.indices[0] == 6
    assert found.uncovered.tolist() == [5]


@pytest.mark.parametrize("way", ["greedy", "batches"])
def test_search__pinned_case_without_weight__is_a_memory_all_the_same(way):
    X = cases(1)
    weight = np.r_[0.0, np.ones(59)]
    found = search(X, way, pinned=[0], sample_weight=weight)
    assert found.indices[0] == 0
    assert found.coverage == 1.0


def test_search__all_memories_pinned__nothing_is_swapped():
    X = cases(2)
    found = select_memories(X, RBF, 0.7, n_memories=3, pinned=[7, 3, 11])
    assert found.indices.tolist() == [7, 3, 11]
    assert found.history[0].n_accepted == 0


def test_search__a_function_that_is_not_symmetric__respects_wishes():
    def alike(memory, case):
        return float(np.exp(-abs(memory[0] - case[0]) * (2.0 if memory[0] > case[0] else 1.0)))

    X = np.linspace(0, 3, 30)[:, None]
    with pytest.warns(UserWarning, match="not symmetric"):
        found = select_memories(X, FunctionSimilarity(alike), 0.6, pinned=[4], forbidden=range(10, 14), random_state=0)
    assert found.indices[0] == 4
    assert not np.isin(found.indices, range(10, 14)).any()
    assert found.coverage == 1.0


def test_selector__pinned_and_forbidden__as_the_function():
    X = cases(3)
    selector = MemorySelector(RBF, 0.7, random_state=0).fit(X, pinned=[5], forbidden=[8])
    assert selector.memory_indices_[0] == 5
    assert 8 not in selector.memory_indices_
    again = MemorySelector(RBF, 0.7, random_state=0).fit(X, start=selector.memory_indices_)
    assert again.search_result_.objective >= selector.search_result_.objective - 1e-9


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"pinned": [6]}, "pinned names row 6, but the 6 cases have the rows 0 to 5"),
        ({"forbidden": [-1]}, "forbidden names row -1"),
        ({"start": [0.5]}, "start must be rows of X, whole numbers from 0 to 5; got"),
        ({"pinned": ["a"]}, "pinned must be rows of X"),
        ({"pinned": [1, 2], "forbidden": [2]}, "case 2 must be a memory and must not"),
        ({"pinned": [0, 3], "n_memories": 1}, "pinned names 2 cases, but there are to be n_memories=1"),
        ({"start": [0, 3], "n_memories": 1}, "start names 2 cases"),
        ({"forbidden": range(6)}, "forbidden names all 6 cases"),
        ({"pinned": [0], "mode": "paper"}, "mode='paper' is the paper's algorithm, which takes no pinned"),
        ({"start": [0], "mode": "clarans"}, "mode='clarans' is the paper's algorithm"),
    ],
)
def test_wishes__that_cannot_be__are_refused(wishes, message):
    with pytest.raises(ValueError, match=message):
        select_memories(LINE, RBF, 0.7, **wishes)


def test_wishes__two_pinned_twins__are_refused_by_name():
    with pytest.raises(ValueError, match="cases 0, 2 have the same description and are all pinned"):
        select_memories(np.array([[0.0], [1.0], [0.0]]), RBF, 0.7, pinned=[0, 2])
