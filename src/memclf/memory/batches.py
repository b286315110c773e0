"""The search among very many cases: swaps are judged by batches of witnesses.

1. Cases with the same description are merged. Samples are drawn by content, in proportion to weights.
2. The first memories come from the exact search among a sample of the cases, or from a cover (`wide_cover`).
3. Swaps. Every case is compared with a few witnesses of its cluster. The best cases of each cluster are candidates in
   an exact search on a new batch of witnesses, which starts from the memories so far.
4. Polishing. The best cases of each cluster are compared with many witnesses of the cluster, and the best of them
   takes the place of the memory.
5. Each new set of memories is judged by one exact pass over all cases, which gives memories, coverage and objective.

A candidate is never its own witness (section 3.3 of the method's specification: debiased), or cases that happen to be
witnesses would look too good.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from memclf._numbers import Array, first_largest, reaches, rounding
from memclf._progress import track
from memclf.cases import containers, distinct
from memclf.memory import cover as covers
from memclf.memory import passes
from memclf.memory.blocks import Assigned, Blocks, sample_size
from memclf.memory.exact import ExactSearch, default_swaps
from memclf.memory.passes import Witnesses, by_cluster, largest
from memclf.memory.result import MemorySearchResult, Round
from memclf.memory.sampling import Batch, Population
from memclf.memory.wide_cover import find_stand_ins, wide_cover
from memclf.memory.wishes import NONE, Places, find_places

GREEDY_SAMPLE = 4_000  # cases of the first cover
FEW_WITNESSES, MANY_WITNESSES = 48, 1024  # of a cluster, for all its cases and for the best of them
MOST_WITNESSES = 2**18  # of all clusters together
CANDIDATES = 64  # of a cluster: the best of its cases
SWAP_ROUNDS, POLISH_ROUNDS = 4, 4
SMALL_GAIN = 2e-3  # of the cost (1 - similarity) that is left; rounds end when one brings less


class BatchSearch:
    """A search among very many cases: its settings, the memories so far, one method per step."""

    def __init__(
        self,
        blocks: Blocks,
        population: Population,
        weights: Array,
        threshold: float,
        n_memories: int | None,
        enforce: bool,
        max_swaps: int | None,
        rng: np.random.Generator,
        places: Places | None = None,
    ):
        self.blocks = blocks
        self.weights = weights
        self.threshold = threshold
        self.n_memories = n_memories
        self.enforce = enforce
        self.max_swaps = max_swaps
        self.rng = rng
        self.population = population
        self.places = Places.none(blocks.n) if places is None else places  # by rows
        self.excused = NONE  # rows of cases that no allowed case covers
        self.memories = NONE  # the pinned ones first
        self.found: Any = None
        self.objectives: list[float] = []
        self.n_candidates = 0
        self._may: Any = None  # of every case whether it may be a memory
        self._weights: Any = None

    def run(self, verbose: int | None = None) -> MemorySearchResult:
        """Choose the memories, and judge them by all cases."""
        steps = [*[self._swap] * SWAP_ROUNDS, *[self._polish] * POLISH_ROUNDS]
        small: dict[Callable[[], Array], bool] = {}
        self._start()
        for step in track(steps, total=len(steps), what="searching memories", verbose=verbose):
            if not small.get(step) and self.max_swaps != 0 and len(self.memories) < len(self.population):
                small[step] = not self._accept(step())
        return self._result()

    # ------------------------------------------------------------------------------------------------------- steps

    def _start(self) -> None:
        if self.n_memories is None or self.enforce:
            q = self.n_memories
            memories, self.excused = wide_cover(
                self.blocks, self.population, self.threshold, GREEDY_SAMPLE, self.rng, self.places
            )
            if q is None:
                self.blocks.keep_found_within(len(memories), judged=not self.enforce)
            self.memories = memories if q is None else self._fill(memories[:q], q)
        else:
            batch = self.population.draw(self._size(self.n_memories), self.rng)
            search, rows = self._on(batch, self.places.given, self.n_memories)
            search.places = self.places.restrict(rows)
            found, history = search.run(1, self.rng, 0)
            self._count(search, history[0])
            self.memories = rows[found]
        self._split()
        self.found = self._assign(self.memories)
        self.objectives = [self.found.objective]

    def _swap(self) -> Array:
        """Candidates of every cluster, and others, in place of every memory, judged by a new batch."""
        if self.enforce:
            return self.memories  # a batch cannot tell whether every case stays covered
        q = len(self.memories)
        batch = self.population.draw(self._size(q), self.rng)
        candidates = np.concatenate([rows for rows, _ in self._candidates(self._by_cluster(batch))])
        search, rows = self._on(batch, np.union1d(candidates, self.memories), q)
        found, record = search.improve(find_places(rows, self.memories), self.rng, swaps=True)
        self._count(search, record)
        return rows[found]

    def _polish(self) -> Array:
        """For each cluster the case that is the best memory for its witnesses."""
        size = min(MANY_WITNESSES * len(self.memories), MOST_WITNESSES)
        witnesses = self._by_cluster(self.population.draw(size, self.rng))
        candidates = [
            np.append(self.memories[k], np.setdiff1d(rows, self.memories[k])) if len(rows) else rows
            for k, (rows, _) in enumerate(self._candidates(witnesses))
        ]
        cases, seen = self._described(candidates), self._described([each.rows for each in witnesses])
        moved = self.memories.copy()
        for k, rows in enumerate(candidates):
            if len(rows) and k >= len(self.places.pinned):
                worth = passes.measure_worth(self.blocks.similarity, cases[k], rows, seen[k], witnesses[k])
                self.blocks.n_evaluations += len(rows) * len(witnesses[k].rows)
                self.n_candidates += len(rows)
                moved[k] = rows[first_largest(worth)]
        return moved

    def _accept(self, memories: Array) -> bool:
        """Take these memories if they are better for all cases; returns whether by much."""
        if np.array_equal(memories, self.memories):
            return False
        found = self._assign(memories)
        if self.enforce:
            memories, found = self._keep_covered(memories, found)
        gain = found.objective - self.objectives[-1]
        if gain <= rounding(self.weights):
            return False
        self.memories, self.found = memories, found
        self.objectives.append(found.objective)
        return bool(gain > SMALL_GAIN * (self.weights.sum() - found.objective))

    def _keep_covered(self, memories: Array, found: Assigned) -> tuple[Array, Assigned]:
        """Take back the moves that leave cases uncovered, until as many are covered as before."""
        memories = memories.copy()
        while len(bare := np.setdiff1d(found.uncovered, self.found.uncovered)):
            back = np.unique(self.blocks.look_up(self.found.kept, bare).near)
            memories[back] = self.memories[back]
            found = self._assign(memories)
        return memories, found

    # ------------------------------------------------------------------------------------------------------- parts

    def _split(self) -> None:
        """Cut what is known of every case into the blocks, whose size a cover may change."""
        may = self.population.mask(self.blocks.n)
        if not self.places.allowed.all():
            may = self.places.allowed if may is None else may & self.places.allowed
        self._may = self.blocks.split(may)
        self._weights = self.blocks.split(None if (self.weights == 1).all() else self.weights)

    def _size(self, q: int) -> int:
        return sample_size(q, self.blocks.lawful)

    def _on(self, batch: Batch, others: Array, q: int) -> tuple[ExactSearch, Array]:
        """The exact search on a batch of witnesses and other candidates, which are no witnesses."""
        apart = ~np.isin(batch.rows, others)
        rows = np.concatenate([batch.rows[apart], others])
        weights = np.concatenate([batch.weights[apart], np.zeros(len(others))])
        if weights.sum() < batch.weights.sum() / 2:  # so few cases that most are candidates: let all be witnesses
            rows, weights = np.concatenate([batch.rows, np.setdiff1d(others, batch.rows)]), batch.weights
            weights = np.concatenate([weights, np.zeros(len(rows) - len(weights))])
        order = distinct(self.blocks.take(rows))[0]  # depends on the descriptions alone
        columns = self.blocks.columns(rows[order])
        swaps = default_swaps(columns, q) if self.max_swaps is None else self.max_swaps
        places = self.places.without_start.restrict(rows[order])
        return ExactSearch(columns, weights[order], self.threshold, q, "random", False, swaps, places), rows[order]

    def _fill(self, memories: Array, q: int) -> Array:
        """As many memories more as are missing."""
        batch = self.population.draw(self._size(q), self.rng)
        search, rows = self._on(batch, memories, q)
        given = np.flatnonzero(np.isin(rows, memories))
        pinned = search.places.pinned
        given = np.concatenate([pinned, given[~np.isin(given, pinned)]])
        found = covers.spread(search.columns, q, search.weights, self.rng, given, search.places.allowed)
        self.blocks.n_evaluations += search.columns.n_evaluations
        return rows[found]

    def _by_cluster(self, batch: Batch) -> list[Witnesses]:
        found = self.blocks.look_up(self.found.kept, batch.rows)
        places = by_cluster(found.near, len(self.memories))
        return [Witnesses(batch.rows[some], batch.weights[some], found.next[some]) for some in places]

    def _candidates(self, witnesses: list[Witnesses]) -> list[tuple[Array, Array]]:
        """Of each cluster the cases that are best for a few of its witnesses, and how good they are.

        All cases are looked at in one pass over the blocks.
        """
        q = len(self.memories)
        few = [each.first(FEW_WITNESSES) for each in witnesses]
        described = self._described([each.rows for each in few])
        work = partial(passes.judge_members, self.blocks.similarity, few, described, CANDIDATES)
        told = self.blocks.map(work, self.found.kept, self._may)
        rows: list[list[Array]] = [[np.zeros(0, dtype=np.intp)] for _ in range(q)]
        worth: list[list[Array]] = [[np.zeros(0)] for _ in range(q)]
        for k, some, values in (each for block in told for each in block):
            rows[k].append(some)
            worth[k].append(values)
        self.blocks.n_evaluations += int(self.found.sizes @ [len(each.rows) for each in few])
        best = []
        for some, values in zip(map(np.concatenate, rows), map(np.concatenate, worth), strict=True):
            chosen = largest(values, CANDIDATES)
            best.append((some[chosen], values[chosen]))
        return best

    def _described(self, groups: list[Array]) -> list[Any]:
        """The descriptions of several groups of cases, None where there are none; read in one go."""
        Z = self.blocks.take(np.concatenate(groups))
        ends = np.cumsum([len(rows) for rows in groups])
        parts = [np.arange(end - len(rows), end) for rows, end in zip(groups, ends, strict=True)]
        return [containers.take(Z, part) if len(part) else None for part in parts]

    def _assign(self, memories: Array) -> Assigned:
        return self.blocks.assign(memories, self._weights, self.threshold if self.enforce else None)

    def _count(self, search: ExactSearch, record: Round) -> None:
        self.blocks.n_evaluations += search.columns.n_evaluations
        self.n_candidates += record.n_candidates

    def list_excused(self, uncovered: Array) -> Array:
        """Which of the uncovered cases, twins included, no allowed case covers."""
        if not len(self.excused):
            return NONE
        others = uncovered[~self.places.allowed[uncovered]]
        return find_stand_ins(self.blocks, others, self.places.allowed, self.threshold)[1]

    def _result(self) -> MemorySearchResult:
        """The pinned memories, then the others, those that stand for most cases first."""
        q, found = len(self.memories), self.found
        order = np.lexsort((self.memories, -np.round(found.stands_for / rounding(self.weights))))
        pinned = np.arange(len(self.places.pinned))
        order = np.concatenate([pinned, order[~np.isin(order, pinned)]])
        memories = self.memories[order]
        number = np.empty(q, dtype=np.intp)
        number[order] = np.arange(q)
        if found.tied:  # among equals the memory with the smallest number wins
            found, number = self._assign(memories), np.arange(q)
        every = self.blocks.collect(found.kept)
        labels = number[every.near]
        uncovered = np.flatnonzero(~reaches(every.best, self.threshold) & (self.weights > 0))
        batch = self.population.draw(self._size(q), self.rng)
        return MemorySearchResult(
            indices=memories,
            labels=labels,
            similarity=every.best,
            objective=found.objective,
            coverage=1 - len(uncovered) / np.count_nonzero(self.weights),
            uncovered=uncovered,
            history=(
                Round(
                    n_memories=q,
                    first_objective=self.objectives[0],
                    objective=self.objectives[-1],
                    objectives=tuple(self.objectives[1:]),
                    n_candidates=self.n_candidates,
                    n_uncovered=len(uncovered),
                ),
            ),
            n_evaluations=self.blocks.n_evaluations,
            n_distinct=len(self.population),
            threshold=self.threshold,
            way="batches",
            standard_error=batch.standard_error(every.best[batch.rows]),
        )
