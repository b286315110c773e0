"""Similarities of candidates to all cases, computed on demand, checked and counted."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from memclf._numbers import Array, reaches
from memclf._progress import in_words
from memclf.cases import containers
from memclf.exceptions import SimilarityError, SimilarityWarning, SlowSimilarityWarning
from memclf.similarity.base import LOOSE, case_name, compared, is_lawful
from memclf.similarity.function import FunctionSimilarity

BLOCK = 2**19  # numbers in one block of columns: 4 MB, small enough for the caches
SHORT = 128  # columns of a description up to which comparing is bound by memory and exp, not by multiplication
CACHED = 1000  # cases up to which the columns of a user's function are cached
SLOW_RATE = 2e5  # comparisons per second below which the user is warned
SLOW_SECONDS = 10.0
SAMPLE = 12  # cases whose pairs are looked at to check a similarity


class Columns:
    """The data as the search takes it: a column of similarities for any candidate."""

    def __init__(self, similarity: Any, Z: Any, rows: Array):
        self.similarity = similarity
        self.Z = Z
        self.rows = rows  # row numbers in the user's data, for messages
        self.n = containers.count(Z)
        self.n_evaluations = 0
        self.lawful = is_lawful(similarity)
        self.short = isinstance(Z, np.ndarray) and Z.ndim == 2 and Z.shape[1] <= SHORT
        # A user's function may be slow: with few cases each pair is compared once and cached.
        self.cached = not self.lawful and self.n <= CACHED
        self.slow = not self.lawful and not self.cached  # every comparison calls a user's function
        self._kept: dict[int, Array] = {}
        self.batch = int(np.clip(BLOCK // max(1, self.n), 1, 64))

    def block(self, memories: Array, cases: Array | None = None) -> Array:
        """Similarities of `memories` (rows) to `cases` (columns; None: all of them)."""
        if not self.cached:
            return self.compare(memories, cases)
        missing = np.array([m for m in np.unique(memories) if m not in self._kept], dtype=np.intp)
        if len(missing):
            self._kept.update(zip(missing.tolist(), self.compare(missing), strict=True))
        block = np.array([self._kept[m] for m in memories.tolist()]).reshape(len(memories), self.n)
        return block if cases is None else block[:, cases]

    def compare(self, memories: Array, cases: Array | None = None) -> Array:
        """The same, computed anew."""
        B = self.Z if cases is None else containers.take(self.Z, cases)
        rows = self.rows if cases is None else self.rows[cases]
        self.n_evaluations += len(memories) * len(rows)
        return compared(self.similarity, containers.take(self.Z, memories), B, self.rows[memories], rows)

    def blocks(self, memories: Array) -> Iterator[tuple[Array, Array]]:
        """The columns of many candidates, a few at a time, so that memory stays small."""
        for part in containers.chunks(len(memories), self.batch):
            yield memories[part], self.block(memories[part])

    def own(self, position: int, value: float, threshold: float) -> None:
        """A memory must reach the threshold with itself, or nothing could ever be covered."""
        if not reaches(np.asarray(value), threshold):
            case = case_name(self.rows[position])
            raise SimilarityError(
                f"the similarity of {case} and {case} is {value:.6g}, below the threshold {threshold:g}: "
                "a case that is not even alike to itself cannot be a memory. Make the similarity of a case with "
                "itself 1, or lower the threshold."
            )

    def check_lawful(self, threshold: float) -> None:
        """Check a few pairs of a similarity that is not lawful, and warn of what is unusual."""
        if self.lawful:
            return
        some = np.unique(np.linspace(0, self.n - 1, min(SAMPLE, self.n)).astype(np.intp))
        block = self.compare(some, some)
        for i, position in enumerate(some):
            self.own(position, float(block[i, i]), threshold)
        loose = np.flatnonzero(np.diag(block) < 1 - LOOSE)
        if len(loose):
            case = case_name(self.rows[some[loose[0]]])
            warnings.warn(
                f"the similarity of {case} and {case} is {block[loose[0], loose[0]]:.6g}, not 1: a memory may find "
                "another memory more similar than itself, and then lies outside its own cluster.",
                SimilarityWarning,
                stacklevel=4,
            )
        crooked = np.argwhere(np.abs(block - block.T) > LOOSE)
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
        """Warn before the search how long a slow similarity will take."""
        if self.lawful:
            return
        rate = self._rate(64)
        if rate < SLOW_RATE:
            rate = self._rate(int(np.clip(rate / 5, 64, self.n)))  # a larger probe: calls have a fixed cost
        pairs = (min(expected_columns, self.n) if self.cached else expected_columns) * self.n
        if rate < SLOW_RATE and pairs / rate > SLOW_SECONDS:
            name = (
                self.similarity.name
                if isinstance(self.similarity, FunctionSimilarity)
                else type(self.similarity).__name__
            )
            warnings.warn(
                f"{name} compares {rate:,.0f} pairs per second. The search will need about {pairs:,.0f} comparisons, "
                f"about {in_words(pairs / rate)}. Faster: FunctionSimilarity(..., batched=True) with a function of two "
                "batches, features= to look at each case only once, n_jobs, or smaller max_swaps and n_restarts.",
                SlowSimilarityWarning,
                stacklevel=4,
            )

    def _rate(self, pairs: int) -> float:
        cases = np.arange(min(pairs, self.n))
        start = time.perf_counter()
        self.compare(cases[:1], cases)
        return len(cases) / max(time.perf_counter() - start, 1e-9)
