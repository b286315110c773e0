"""Slow and plain versions of what the library computes fast; written from the definitions, not from the code."""

from itertools import combinations

import numpy as np
from sklearn.utils import check_random_state


def objective(S, memories, weights=None):
    """Sum over the cases of the similarity to the best memory; S[i, j] = similarity(memory i, case j)."""
    best = S[list(memories)].max(axis=0)
    return float(best.sum() if weights is None else best @ weights)


def swap_gain(S, memories, k, candidate, weights=None):
    changed = list(memories)
    changed[k] = candidate
    return objective(S, changed, weights) - objective(S, memories, weights)


def best_subset(S, q, weights=None):
    """The largest objective over all sets of q memories."""
    return max(objective(S, subset, weights) for subset in combinations(range(len(S)), q))


def least_cover(S, threshold):
    """The least number of memories that cover every case."""
    n = len(S)
    for q in range(1, n + 1):
        if any((S[list(subset)].max(axis=0) >= threshold).all() for subset in combinations(range(n), q)):
            return q
    raise AssertionError("not even all cases together cover everything")


def random_similarity(rng, n, kind="graded"):
    """A symmetric matrix in [0, 1] with ones on the diagonal; binary ones are an equivalence."""
    if kind == "binary":
        label = rng.integers(0, max(2, n // 3), n)
        return (label[:, None] == label[None]).astype(float)
    points = rng.random((n, 2))
    return np.exp(-3 * ((points[:, None] - points[None]) ** 2).sum(axis=-1))


def search_generator(seed):
    """The random numbers that a search with this seed draws."""
    return np.random.default_rng(check_random_state(seed).randint(2**31 - 1))
