"""`mode="paper"` against a transcription of the printed pseudo-code that shares no code with the library."""

import numpy as np
import pytest

from memclf import select_memories
from memclf.exceptions import SimilarityError
from memclf.similarity import Precomputed
from oracles import random_similarity, search_generator


def printed_initial_memories(sim, n, b_t, rng):
    M = []
    rejected_set = list(range(n))
    while rejected_set:
        m_star = rejected_set[rng.integers(len(rejected_set))]
        for x_i in list(rejected_set):
            if sim(m_star, x_i) > b_t:
                rejected_set.remove(x_i)
        M.append(m_star)
    return M


def printed_memories(sim, n, z_g, z_l, b_t, rng):
    def compute_score(v):
        return sum(max(sim(m, x) for m in v) for x in range(n))

    best_score, finals = 0.0, []
    for _ in range(z_g):
        M = printed_initial_memories(sim, n, b_t, rng)
        v = list(M)
        current_score = compute_score(v)
        for _ in range(z_l):
            if len(v) == n:
                break
            k = rng.integers(len(v))
            outside = [x for x in range(n) if x not in v]
            neighbour = list(v)
            neighbour[k] = outside[rng.integers(len(outside))]
            new_score = compute_score(neighbour)
            if new_score > current_score:
                v, current_score = neighbour, new_score
        best_score = max(best_score, current_score)
        finals.append(current_score)
    return M, finals, best_score


@pytest.mark.parametrize("kind", ["graded", "binary"])
@pytest.mark.parametrize("seed", range(12))
def test_the_paper_mode_returns_what_the_printed_code_returns(seed, kind):
    # Similarities in steps of 2**-20 add up without rounding, so equal scores are equal in both.
    S = np.round(random_similarity(np.random.default_rng(seed), 14, kind) * 2**20) / 2**20
    expected, finals, best = printed_memories(lambda a, b: S[a, b], 14, 3, 25, 0.7, search_generator(seed))
    found = select_memories(S, Precomputed(), 0.7, mode="paper", n_restarts=3, max_swaps=25, random_state=seed)
    assert found.indices.tolist() == expected
    assert [round_.objective for round_ in found.history] == pytest.approx(finals)
    assert max(round_.objective for round_ in found.history) == pytest.approx(best)


def test_the_paper_mode_throws_the_search_away():
    S = random_similarity(np.random.default_rng(1), 40)
    found = select_memories(S, Precomputed(), 0.9, mode="paper", n_restarts=4, max_swaps=200, random_state=5)
    assert found.history[-1].n_accepted > 0
    assert found.objective == pytest.approx(found.history[-1].first_objective)
    assert found.objective < found.history[-1].objective


def test_the_paper_mode_says_when_its_cover_would_not_end():
    with pytest.raises(SimilarityError, match="does not end: case .* not even with itself"):
        select_memories(np.eye(4), Precomputed(), 1.0, mode="paper", random_state=0)
