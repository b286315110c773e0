"""The search with swaps that are judged by all cases: cover, then swaps, with restarts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memclf._numbers import Array, first_largest, rounding
from memclf._progress import track
from memclf.memory import cover as covers
from memclf.memory.clarans import PAIRS
from memclf.memory.columns import Columns
from memclf.memory.result import Round
from memclf.memory.swap import Exchange
from memclf.memory.wishes import Places

CENTRE_COLUMNS = 64  # looking for the centres of all clusters costs about as much as this many columns
CENTRE_SAMPLE = 400  # members of a cluster among which its centre is looked for
CENTRE_ROUNDS = 5
GREEDY_CASES = 5000  # distinct cases up to which comparing all pairs takes about a second
SCREEN_SHARE = 8  # of the cases, one in so many says whether a candidate of a slow similarity is worth judging by all
SCREEN_CASES = 8  # of them for each memory: with fewer, candidates are judged by all cases at once
FREE_PAIRS = 2_500_000  # comparisons of a built-in similarity that take no noticeable time


class TooManyMemories(Exception):
    """A cover has found more memories than exact swaps may hold; nobody outside sees it."""

    def __init__(self, n_memories: int):
        super().__init__(f"exact swaps of {n_memories:,} memories do not fit into max_memory")
        self.n_memories = n_memories


class ExactSearch:
    """The corrected search: its settings, and one method per step."""

    def __init__(
        self,
        columns: Columns,
        weights: Array,
        threshold: float,
        n_memories: int | None,
        cover: str,
        enforce: bool,
        budget: int,
        places: Places | None = None,
        excused: Array | None = None,
        most: int | None = None,
    ):
        self.columns = columns
        self.weights = weights
        self.threshold = threshold
        self.n_memories = n_memories
        self.cover = cover
        self.enforce = enforce
        self.budget = budget
        self.places = Places.none(columns.n) if places is None else places
        self.excused = excused  # cases that need not be covered
        self.most = most  # memories that fit into the memory that the search may take

    def run(self, n_restarts: int, rng: np.random.Generator, verbose: int | None) -> tuple[Array, list[Round]]:
        """The memories of the best restart, and all restarts.

        The best one has fewest memories, then the largest objective.
        """
        history: list[Round] = []
        best_key: tuple[float, ...] | None = None
        best = np.array([], dtype=np.intp)
        smallest_gain = rounding(self.weights)
        places = self.places
        if self.cover == "greedy":
            start = self._first_memories(rng, places)
        for _ in track(range(n_restarts), total=n_restarts, what="searching memories", verbose=verbose):
            if self.cover == "random":
                start = self._first_memories(rng, places)
                places = places.without_start  # for the next restart
            if self.most is not None and len(start) > self.most:
                if len(best):  # it could not win
                    continue
                raise TooManyMemories(len(start))
            # Swaps keep the number of memories: a start with more of them than the best so far cannot win.
            hopeless = bool(len(best)) and len(start) > len(best)
            memories, record = self.improve(start, rng, swaps=not (hopeless and self.n_memories is None))
            history.append(record)
            key: tuple[float, ...] = (record.n_memories, -round(record.objective / smallest_gain))
            if self.enforce:  # a restart that leaves cases uncovered never wins
                key = (record.n_uncovered, *key)
            if best_key is None or key < best_key:
                best_key, best = key, memories
        return best, history

    def _first_memories(self, rng: np.random.Generator, places: Places) -> Array:
        columns, q = self.columns, self.n_memories
        if q is not None and not self.enforce:
            if self.cover == "greedy":
                return covers.greedy_spread(columns, q, self.weights, places)
            return covers.spread(columns, q, self.weights, rng, places.given, places.allowed)
        if self.cover == "greedy":
            memories = covers.greedy_cover(columns, self.threshold, self.weights, places, self.excused)
        else:
            memories = covers.random_cover(columns, self.threshold, rng, places, self.excused)
        if q is None:
            return memories
        return covers.spread(columns, q, self.weights, rng, memories[:q], places.allowed)

    def improve(self, start: Array, rng: np.random.Generator, *, swaps: bool) -> tuple[Array, Round]:
        """Try candidates one after the other in place of all memories, and take every gain.

        The first of `start` are the pinned memories, which stay.
        """
        columns, pinned = self.columns, len(self.places.pinned)
        block = columns.block(start)
        exchange = Exchange(start, block, self.weights, self.threshold, enforce=self.enforce, n_pinned=pinned)
        first = exchange.objective
        objectives: list[float] = []
        judged = 0
        if swaps and self.budget and pinned < exchange.q < columns.n:
            others = _shuffled_forever(columns.n, rng)
            share = min(columns.n, max(columns.batch, self.budget // 4))
            spent = failed = 0
            # Once every case has failed since the last success this is a local optimum.
            while spent < self.budget and failed < columns.n:
                before = len(objectives)
                judged += self._settle(exchange, rng, objectives, rounds=2)
                size = min(share, self.budget - spent)
                drawn = np.array([next(others) for _ in range(size)])
                if self.enforce:  # cases that are uncovered are good candidates for covering themselves
                    drawn = np.concatenate([exchange.uncovered()[:size], drawn])
                judged += self._judge(exchange, self._promising(exchange, drawn, rng), objectives)
                spent += len(drawn)
                failed = failed + len(drawn) if len(objectives) == before else 0
            judged += self._settle(exchange, rng, objectives, rounds=CENTRE_ROUNDS)
        record = Round(
            n_memories=exchange.q,
            first_objective=first,
            objective=exchange.objective,
            objectives=tuple(objectives),
            n_candidates=judged,
            n_uncovered=len(exchange.uncovered()),
        )
        return exchange.in_order(), record

    def _settle(self, exchange: Exchange, rng: np.random.Generator, objectives: list[float], rounds: int) -> int:
        """Propose the centre of each cluster until none is an improvement."""
        judged = 0
        for _ in range(rounds):
            before = len(objectives)
            judged += self._judge(exchange, self._centres(exchange, rng), objectives)
            if len(objectives) == before:
                break
        return judged

    def _centres(self, exchange: Exchange, rng: np.random.Generator) -> Array:
        """For each changed cluster its best member as a memory, found on a sample of members."""
        size = min(int(np.sqrt(CENTRE_COLUMNS * self.columns.n / exchange.q)) + 1, CENTRE_SAMPLE)
        order = np.argsort(exchange.near, kind="stable")
        ends = np.cumsum(np.bincount(exchange.near, minlength=exchange.q))
        centres = []
        for k in np.flatnonzero(exchange.touched):
            members = order[ends[k - 1] if k else 0 : ends[k]]
            if len(members) < 2:
                continue
            candidates = members if len(members) <= size else rng.choice(members, size, replace=False)
            witnesses = members if len(members) <= size else rng.choice(members, size, replace=False)
            served = np.maximum(self.columns.block(candidates, witnesses), exchange.next[witnesses])
            centres.append(candidates[first_largest(served @ self.weights[witnesses], exchange.smallest_gain)])
        exchange.touched[:] = False
        return np.array(centres, dtype=np.intp)

    def _promising(self, exchange: Exchange, candidates: Array, rng: np.random.Generator) -> Array:
        """The candidates that gain on a sample of the cases; all of them where comparing is cheap."""
        if not _screens(self.columns, exchange.q) or (self.enforce and len(exchange.uncovered())):
            return candidates
        counted = np.flatnonzero(self.weights)
        sample = rng.choice(counted, min(self.columns.n // SCREEN_SHARE, len(counted)), replace=False)
        gains = exchange.estimate(self.columns.block(candidates, sample), sample)
        return candidates[gains.max(axis=1) > exchange.smallest_gain]

    def _judge(self, exchange: Exchange, candidates: Array, objectives: list[float]) -> int:
        """Swap in each candidate that raises the objective, in the place where it raises it most."""
        candidates = candidates[self.places.allowed[candidates] & ~np.isin(candidates, exchange.memories)]
        for batch, block in self.columns.blocks(candidates):
            gains = exchange.gains(block)
            promise = gains.max(axis=1)
            fresh = True
            for row in np.argsort(-np.round(promise / exchange.smallest_gain), kind="stable"):
                if promise[row] <= exchange.smallest_gain:
                    break
                gain = gains[row] if fresh else exchange.gains(block[row : row + 1])[0]
                k = first_largest(gain, exchange.smallest_gain)
                if gain[k] > exchange.smallest_gain and batch[row] not in exchange.memories:
                    exchange.swap(k, int(batch[row]), block[row])
                    objectives.append(exchange.objective)
                    fresh = False
        return len(candidates)


def _shuffled_forever(n: int, rng: np.random.Generator) -> Iterator[int]:
    while True:
        yield from rng.permutation(n)


def _screens(columns: Columns, q: int) -> bool:
    """Whether candidates are judged by a sample of the cases first."""
    return columns.slow and columns.n // SCREEN_SHARE >= SCREEN_CASES * q


def default_swaps(columns: Columns, q: int | None) -> int:
    """2.5 % of the cases as in FasterCLARANS, within limits; from 250,000 cases on, fewer.

    Half as many again where a sample of the cases rules most of them out.
    """
    n = columns.n
    if q == 1 and n <= GREEDY_CASES:
        return n  # a single memory is found by looking at every case
    cheap = FREE_PAIRS // n if columns.lawful or columns.cached else 0
    swaps = int(max(100, min(np.clip(max(n // 40, cheap), 250, 1000), PAIRS // n)))
    return swaps + swaps // 2 if q is not None and _screens(columns, q) else swaps
