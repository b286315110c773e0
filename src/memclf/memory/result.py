"""What a search returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from memclf._numbers import Array


@dataclass(frozen=True)
class Round:
    """One restart of the search."""

    n_memories: int
    first_objective: float  # of the cover, before any swap
    objective: float
    objectives: tuple[float, ...]  # after each accepted swap
    n_candidates: int
    n_uncovered: int

    @property
    def n_accepted(self) -> int:
        return len(self.objectives)


@dataclass(frozen=True)
class MemorySearchResult:
    """The memories that a search found, and how good they are.

    Attributes
    ----------
    indices : ndarray
        Rows of the memories in the data; memory 0 stands for most cases, the last for fewest. Pinned ones come before
        all others, in their order (in ``mode="paper"`` all in the order in which they were found).
    labels : ndarray
        For every case the number (0..q-1) of its most similar memory.
    similarity : ndarray
        For every case its similarity to that memory.
    objective : float
        Sum over the cases (times their weights) of their similarity to their memory: the paper's score.
    coverage : float
        Share of the cases whose similarity reaches the threshold.
    uncovered : ndarray
        Rows of the cases that do not reach it.
    history : tuple of Round
        One entry per restart.
    n_evaluations : int
        Comparisons of two descriptions that were made.
    n_distinct : int
        Cases that were left after merging those with identical descriptions.
    threshold : float
        The threshold of the search.
    way : {"exact", "batches"}
        Whether swaps were judged by all cases, or by batches of witnesses as among very many cases. Labels, coverage
        and objective are those of all cases in either way.
    standard_error : float
        Of the objective as a batch of witnesses estimates it: swaps that raise it by less may have been missed. 0 where
        swaps were judged by all cases.
    """

    indices: Array = field(repr=False)
    labels: Array = field(repr=False)
    similarity: Array = field(repr=False)
    objective: float
    coverage: float
    uncovered: Array = field(repr=False)
    history: tuple[Round, ...] = field(repr=False)
    n_evaluations: int
    n_distinct: int
    threshold: float
    way: str = "exact"
    standard_error: float = 0.0

    @property
    def n_memories(self) -> int:
        return len(self.indices)

    def __str__(self) -> str:
        n = len(self.labels)
        sizes = np.bincount(self.labels, minlength=self.n_memories)
        return (
            f"{self.n_memories} {'memory' if self.n_memories == 1 else 'memories'} for {n} cases "
            f"({self.n_distinct} distinct): mean similarity "
            f"{self.similarity.mean():.3f}, {self.coverage:.1%} of the cases within {self.threshold:g}; "
            f"clusters of {min(sizes)} to {max(sizes)} cases; {self.n_evaluations:,} comparisons"
            f"{', swaps judged by batches' if self.way == 'batches' else ''}"
        )
