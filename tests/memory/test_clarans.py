"""`mode="clarans"`: against a plain transcription of Algorithm 1 as it was meant, and beside `mode="paper"`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from memclf import MemoryClassifier, MemorySelector, select_memories
from memclf.similarity import Precomputed, RBFSimilarity
from oracles import objective, random_similarity, search_generator

seeds = st.integers(0, 10_000)


def meant_memories(S, b_t, z_g, z_l, rng, weights, enforce):
    """One neighbour after the other, each round from the first draw to the last; the best round is kept."""
    n, best, finals = len(S), None, []
    for _ in range(z_g):
        v, rejected = [], list(range(n))
        while rejected:
            v.append(rejected[rng.integers(len(rejected))])
            rejected = [x for x in rejected if S[v[-1], x] < b_t and x != v[-1]]
        for _ in range(z_l if len(v) < n else 0):
            k = rng.integers(len(v))
            outside = [x for x in range(n) if x not in v]
            neighbour = list(v)
            neighbour[k] = outside[rng.integers(len(outside))]
            covers = (S[neighbour].max(axis=0) >= b_t).all()
            if objective(S, neighbour, weights) > objective(S, v, weights) and (covers or not enforce):
                v = neighbour
        finals.append(objective(S, v, weights))
        if best is None or finals[-1] > objective(S, best, weights):
            best = v
    return best, finals


@pytest.mark.parametrize("coverage", ["auto", "report"])
@pytest.mark.parametrize("kind", ["graded", "binary"])
@pytest.mark.parametrize("seed", range(8))
def test_clarans_mode__any_similarity__finds_what_the_plain_algorithm_finds(seed, kind, coverage):
    rng = np.random.default_rng(seed)
    # Similarities in steps of 2**-20 and whole weights add up without rounding, so equal scores are equal in both.
    S = np.round(random_similarity(rng, 20, kind) * 2**20) / 2**20
    weights = rng.integers(1, 4, 20).astype(float)
    expected, finals = meant_memories(S, 0.7, 3, 60, search_generator(seed), weights, coverage == "auto")
    how = {"mode": "clarans", "coverage": coverage, "n_restarts": 3, "max_swaps": 60, "random_state": seed}
    found = select_memories(S, Precomputed(), 0.7, sample_weight=weights, **how)
    assert set(found.indices.tolist()) == set(expected)
    assert [round_.objective for round_ in found.history] == pytest.approx(finals)


@settings(max_examples=40, deadline=None)
@given(seeds, st.floats(0.3, 0.95))
def test_clarans_mode__random_cases__covers_all_and_keeps_the_best_round(seed, threshold):
    S = random_similarity(np.random.default_rng(seed), 60)
    found = select_memories(S, Precomputed(), threshold, mode="clarans", random_state=seed)
    assert found.coverage == 1.0
    assert found.objective == pytest.approx(max(round_.objective for round_ in found.history))


@settings(max_examples=40, deadline=None)
@given(seeds, st.floats(0.3, 0.95))
def test_clarans_mode__draws_of_the_paper_mode__is_never_worse(seed, threshold):
    S = random_similarity(np.random.default_rng(seed), 60)
    how = {"n_restarts": 3, "max_swaps": 50, "random_state": seed}
    meant = select_memories(S, Precomputed(), threshold, mode="clarans", **how)
    printed = select_memories(S, Precomputed(), threshold, mode="paper", **how)
    for ours, theirs in zip(meant.history, printed.history, strict=True):
        assert ours.first_objective == pytest.approx(theirs.first_objective)
    assert meant.objective >= printed.objective - 1e-9


def test_clarans_mode__without_a_number_of_swaps__tries_as_many_as_clarans():
    X = np.random.default_rng(0).random((300, 2))
    found = select_memories(X, RBFSimilarity(20.0), 0.97, mode="clarans", random_state=0)
    for round_ in found.history:
        share = int(0.0125 * round_.n_memories * (300 - round_.n_memories))
        assert round_.n_candidates == max(250, share) > 250
    assert sum(round_.n_accepted for round_ in found.history) > 0


def test_clarans_mode__threshold_of_one__ends_where_the_printed_cover_does_not():
    found = select_memories(np.eye(4), Precomputed(), 1.0, mode="clarans", random_state=0)
    assert sorted(found.indices) == [0, 1, 2, 3]


def test_clarans_mode__in_a_memory_classifier__answers_every_training_case():
    X, y = make_blobs(150, 2, centers=4, random_state=0)
    search = MemorySelector(mode="clarans")
    clf = MemoryClassifier(RBFSimilarity(0.1), threshold=0.6, search=search, random_state=0).fit(X, y)
    assert clf.search_result_.coverage == 1.0
    assert clf.search_result_.history[0].n_candidates >= 250
    assert (clf.predict(X) != clf.unknown_label_).all()
