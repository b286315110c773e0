"""Similarities of candidates to all cases, computed on demand, checked and counted."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from memclf import _cases
from memclf._numbers import Array, reaches
from memclf.exceptions import SimilarityError, SimilarityWarning, SlowSimilarityWarning
from memclf.similarity.base import case_name, checked

BLOCK = 2**19  # numbers in one block of columns: 4 MB, small enough for the caches
SLOW_RATE = 2e5  # comparisons per second below which a similarity is worth a word
SLOW_SECONDS = 10.0


class Columns:
    """All that the search knows of the data: a column of similarities for any candidate it asks about."""

    def __init__(self, similarity: Any, Z: Any, rows: Array):
        self.similarity = similarity
        self.Z = Z
        self.rows = rows  # row numbers in the user's data, for messages
        self.n = _cases.count(Z)
        self.n_evaluations = 0
        self.batch = int(np.clip(BLOCK // max(1, self.n), 1, 64))

    def block(self, memories: Array, cases: Array | None = None) -> Array:
        """Similarities of `memories` (rows) to `cases` (columns; None: all of them)."""
        B = self.Z if cases is None else _cases.take(self.Z, cases)
        rows = self.rows if cases is None else self.rows[cases]
        shape = (len(memories), len(rows))
        self.n_evaluations += shape[0] * shape[1]
        block = self.similarity.compare(_cases.take(self.Z, memories), B)
        return checked(self.similarity, block, shape, self.rows[memories], rows)

    def blocks(self, memories: Array) -> Iterator[tuple[Array, Array]]:
        """The columns of many candidates, a few at a time, so that memory stays small."""
        for part in _cases.chunks(len(memories), self.batch):
            yield memories[part], self.block(memories[part])

    def own(self, position: int, column: Array, threshold: float) -> None:
        """A memory must reach the threshold with itself, or nothing could ever be covered."""
        if not reaches(column[position], threshold):
            case = case_name(self.rows[position])
            raise SimilarityError(
                f"the similarity of {case} and {case} is {column[position]:.6g}, below the threshold {threshold:g}: "
                "a case that is not even alike to itself cannot be a memory. Make the similarity of a case with "
                "itself 1, or lower the threshold."
            )

    def check_lawful(self, threshold: float, sample: int = 12) -> None:
        """Look at a few pairs of an unproven similarity, and say what follows from what is unusual."""
        if getattr(self.similarity, "lawful", False):
            return
        some = np.unique(np.linspace(0, self.n - 1, min(sample, self.n)).astype(np.intp))
        block = self.block(some, some)
        for i, position in enumerate(some):
            self.own(position, _spread(block[i, i], position, self.n), threshold)
        loose = np.flatnonzero(np.diag(block) < 1 - 1e-9)
        if len(loose):
            case = case_name(self.rows[some[loose[0]]])
            warnings.warn(
                f"the similarity of {case} and {case} is {block[loose[0], loose[0]]:.6g}, not 1: a memory may find "
                "another memory more similar than itself, and then lies outside its own cluster.",
                SimilarityWarning,
                stacklevel=4,
            )
        crooked = np.argwhere(np.abs(block - block.T) > 1e-9)
        if len(crooked):
            i, j = crooked[0]
            a, b = case_name(self.rows[some[i]]), case_name(self.rows[some[j]])
            warnings.warn(
                f"the similarity is not symmetric: {a} to {b} is {block[i, j]:.6g}, {b} to {a} is {block[j, i]:.6g}. "
                "memclf always asks for similarity(memory, case), so which of two cases is remembered matters.",
                SimilarityWarning,
                stacklevel=4,
            )

    def announce(self, expected_columns: int) -> None:
        """Say beforehand how long a slow similarity will take."""
        if getattr(self.similarity, "lawful", False):
            return
        rate = self._rate(64)
        if rate < SLOW_RATE:
            rate = self._rate(int(np.clip(rate / 5, 64, self.n)))  # a larger probe: calls have a fixed cost
        pairs = expected_columns * self.n
        if rate < SLOW_RATE and pairs / rate > SLOW_SECONDS:
            name = getattr(getattr(self.similarity, "function", None), "__name__", type(self.similarity).__name__)
            warnings.warn(
                f"{name} compares {rate:,.0f} pairs per second. The search will need about {pairs:,.0f} comparisons, "
                f"{_duration(pairs / rate)}. Faster: FunctionSimilarity(..., batched=True) with a function of two "
                "batches, features= to look at each case only once, n_jobs, or smaller max_swaps and n_restarts.",
                SlowSimilarityWarning,
                stacklevel=4,
            )

    def _rate(self, pairs: int) -> float:
        cases = np.arange(min(pairs, self.n))
        start = time.perf_counter()
        self.block(cases[:1], cases)
        return len(cases) / max(time.perf_counter() - start, 1e-9)


def _spread(value: float, position: int, n: int) -> Array:
    column = np.zeros(n)
    column[position] = value
    return column


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"about {seconds:.0f} s"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"
