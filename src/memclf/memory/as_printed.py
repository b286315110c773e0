"""The paper's Algorithms 1 and 2 as printed, quirks included (`mode="paper"`).

It is separate from the corrected search, and plain rather than fast, so that it can be compared with the paper.
The quirks: the search's result is thrown away and the first memories of the last round are returned; rounds
are compared by score only; coverage is not enforced; a case exactly at the threshold is not covered.
"""

from __future__ import annotations

import numpy as np

from memclf._numbers import Array, reaches
from memclf.exceptions import SimilarityError
from memclf.memory.columns import Columns
from memclf.memory.result import Round
from memclf.similarity.base import case_name


def generate_initial_memories(columns: Columns, threshold: float, rng: np.random.Generator) -> list[int]:
    """Algorithm 2. Draws ``rng.integers(len(rejected))`` for each memory."""
    memories: list[int] = []
    rejected = np.arange(columns.n)
    while len(rejected):
        chosen = int(rejected[rng.integers(len(rejected))])
        column = columns.block(np.array([chosen]), rejected)[0]
        left = rejected[~reaches(column, threshold, strict=True)]
        if len(left) == len(rejected):
            case = case_name(columns.rows[chosen])
            raise SimilarityError(
                f"the paper's Algorithm 2 does not end: {case} is not above the threshold {threshold:g} with any "
                "case, not even with itself. Lower the threshold, or use mode='corrected', which always ends."
            )
        rejected = left
        memories.append(chosen)
    return memories


def generate_memories(
    columns: Columns, threshold: float, n_restarts: int, max_swaps: int, rng: np.random.Generator
) -> tuple[Array, list[Round]]:
    """Algorithm 1. It draws a memory (``rng.integers(q)``), then one of the n - q other cases."""
    rounds = []
    memories: list[int] = []
    for _ in range(n_restarts):
        memories = generate_initial_memories(columns, threshold, rng)
        node = list(memories)
        block = columns.block(np.array(node))
        score = first_score = float(block.max(axis=0).sum())
        scores: list[float] = []
        for _ in range(max_swaps if len(node) < columns.n else 0):
            k = int(rng.integers(len(node)))
            outside = np.setdiff1d(np.arange(columns.n), node)
            candidate = int(outside[rng.integers(len(outside))])
            trial = block.copy()
            trial[k] = columns.block(np.array([candidate]))[0]
            new_score = float(trial.max(axis=0).sum())
            if new_score > score:
                node[k], block, score = candidate, trial, new_score
                scores.append(score)
        rounds.append(
            Round(
                n_memories=len(node),
                first_objective=first_score,
                objective=score,
                objectives=tuple(scores),
                n_candidates=max_swaps,
                n_uncovered=int((block.max(axis=0) < threshold).sum()),
            )
        )
    return np.array(memories), rounds
