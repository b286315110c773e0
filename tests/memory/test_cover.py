import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memclf.memory.columns import Columns
from memclf.memory.cover import greedy_cover, greedy_spread, random_cover, spread
from memclf.similarity import Precomputed
from oracles import least_cover, random_similarity


def columns_of(S):
    similarity = Precomputed()
    return Columns(similarity, similarity.fit_describe(S), np.arange(len(S)))


# Worked by hand: five cases on a line at 0, 1, 2, 5, 6 with similarity 1 - d / 10 and threshold 0.9 (d <= 1).
# 1 covers 0, 1, 2; then 5 and 6 cover each other. No single case covers all, so two memories are least.
LINE = 1 - np.abs(np.subtract.outer([0, 1, 2, 5, 6], [0, 1, 2, 5, 6])) / 10


def test_the_greedy_cover_of_the_hand_worked_example():
    found = greedy_cover(columns_of(LINE), 0.9, np.ones(5))
    assert found[0] == 1
    assert len(found) == 2
    assert found[1] in (3, 4)


class Scripted:
    """A random generator that draws what the test says."""

    def __init__(self, draws):
        self.draws = iter(draws)

    def integers(self, n):
        return next(self.draws) % n


def test_the_random_cover_of_the_hand_worked_example():
    # Draw case 0 (covers 0, 1), then the first left, 2 (covers 1, 2), then 5 (covers 5, 6).
    assert random_cover(columns_of(LINE), 0.9, Scripted([0, 0, 0])).tolist() == [0, 2, 3]


def test_a_memory_that_later_ones_make_superfluous_is_dropped():
    # Rows are cases: memory 0 does not cover case 1, but memory 1, drawn next, covers all, case 0 included.
    S = np.array([[1, 0.9, 0, 0], [0, 1, 0.9, 0.9], [0, 0.9, 1, 0], [0, 0.9, 0, 1.0]])
    assert random_cover(columns_of(S), 0.9, Scripted([0, 0])).tolist() == [1]


def test_the_cover_ends_for_a_threshold_of_one():
    S = random_similarity(np.random.default_rng(0), 7)
    assert sorted(random_cover(columns_of(S), 1.0, np.random.default_rng(0))) == list(range(7))


def test_a_case_exactly_at_the_threshold_is_covered():
    S = np.array([[1.0, 0.5], [0.5, 1.0]])
    assert len(greedy_cover(columns_of(S), 0.5, np.ones(2))) == 1
    assert len(random_cover(columns_of(S), 0.5, np.random.default_rng(0))) == 1


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 8), st.sampled_from([0.3, 0.6, 0.9]))
def test_both_covers_cover_everything_and_no_cover_is_smaller_than_the_least(seed, n, threshold):
    rng = np.random.default_rng(seed)
    S = random_similarity(rng, n)
    least = least_cover(S, threshold)
    for found in (random_cover(columns_of(S), threshold, rng), greedy_cover(columns_of(S), threshold, np.ones(n))):
        assert (S[found].max(axis=0) >= threshold).all()
        assert len(set(found.tolist())) == len(found) >= least


def test_the_greedy_cover_needs_fewer_memories_than_the_random_one():
    rng = np.random.default_rng(0)
    S = random_similarity(rng, 200)
    greedy = len(greedy_cover(columns_of(S), 0.8, np.ones(200)))
    random = [len(random_cover(columns_of(S), 0.8, np.random.default_rng(seed))) for seed in range(20)]
    assert greedy < min(random)


def test_the_greedy_cover_takes_the_most_covering_case_at_every_step():
    rng = np.random.default_rng(3)
    S = random_similarity(rng, 60)
    weights = rng.integers(1, 4, 60).astype(float)
    left = np.ones(60, dtype=bool)
    for position in greedy_cover(columns_of(S), 0.85, weights):
        covered = (S >= 0.85) @ (weights * left)
        assert covered[position] == pytest.approx(covered.max())
        left &= S[position] < 0.85


def test_the_greedy_spread_takes_the_largest_gain_at_every_step():
    rng = np.random.default_rng(3)
    S = random_similarity(rng, 60)
    best = np.zeros(60)
    for position in greedy_spread(columns_of(S), 6, np.ones(60)):
        gain = np.maximum(S - best, 0).sum(axis=1)
        assert gain[position] == pytest.approx(gain.max())
        best = np.maximum(best, S[position])


def test_spread_gives_distinct_memories_even_when_all_cases_are_alike():
    found = spread(columns_of(np.ones((6, 6))), 4, np.ones(6), np.random.default_rng(0))
    assert len(set(found.tolist())) == 4
