"""Choosing the memories: cover, then swaps, with restarts (paper, Algorithm 1, corrected)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from threading import current_thread, main_thread
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from threadpoolctl import ThreadpoolController

from memclf._numbers import Array, first_best, first_largest, reaches, rounding
from memclf._progress import track
from memclf.cases import containers, distinct
from memclf.exceptions import CoverageError
from memclf.memory import cover as covers
from memclf.memory.as_printed import generate_memories
from memclf.memory.clarans import LEAST_NEIGHBOURS, PAIRS, search_neighbours
from memclf.memory.columns import BLOCK, Columns
from memclf.memory.result import MemorySearchResult, Round
from memclf.memory.swap import Exchange
from memclf.similarity.base import positive_weights

PAPER_SWAPS = 10  # Z_l in the authors' own code
CENTRE_COLUMNS = 64  # looking for the centres of all clusters costs about as much as this many columns
CENTRE_SAMPLE = 400  # members of a cluster among which its centre is looked for
CENTRE_ROUNDS = 5
GREEDY_CASES = 5000  # distinct cases up to which comparing all pairs takes about a second
FREE_PAIRS = 2_500_000  # comparisons of a built-in similarity that take no noticeable time
RESTARTS = 5  # Z_g in the authors' own code

CHOICES = {
    "mode": ("corrected", "clarans", "paper"),
    "cover": ("auto", "random", "greedy"),
    "coverage": ("auto", "report", "enforce"),
}


@dataclass(frozen=True)
class SearchOptions:
    """How memories are searched; see `MemorySelector`, whose parameters these are."""

    n_restarts: int | None = None
    max_swaps: int | None = None
    mode: str = "corrected"
    cover: str = "auto"
    coverage: str = "auto"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {getattr(self, name)!r}")
        for name, least in (("n_restarts", 1), ("max_swaps", 0)):
            if getattr(self, name) is not None:
                _check_count(name, getattr(self, name), least)


def search_memories(
    Z: Any,
    similarity: Any,
    threshold: float,
    n_memories: int | None = None,
    options: SearchOptions | None = None,
    *,
    sample_weight: Any = None,
    random_state: Any = None,
    verbose: int | None = None,
) -> MemorySearchResult:
    """Choose memories among described cases; see `MemorySelector` for the parameters."""
    options = SearchOptions() if options is None else options
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 < float(threshold) <= 1:
        raise ValueError(f"threshold must be a number in (0, 1], the least similarity that counts; got {threshold!r}")
    threshold = float(threshold)
    n = containers.count(Z)
    if n == 0:
        raise ValueError("there are no cases to choose memories from (n_samples=0)")
    if n_memories is not None:
        _check_count("n_memories", n_memories, 1)
        if n_memories > n:
            raise ValueError(f"n_memories={n_memories} is more than the number of cases, n_samples={n}")
    weights = np.ones(n) if sample_weight is None else positive_weights(sample_weight, n)
    counted = np.flatnonzero(weights)  # only cases that count are searched
    if options.mode != "corrected":
        if n_memories is not None:
            raise ValueError(f"mode={options.mode!r} finds the number of memories itself; n_memories must be None")
        return _search_as_in_paper(Z, similarity, threshold, options, weights, counted, random_state, verbose)
    # Cases with the same description are one case of more weight.
    first, group = distinct(containers.take(Z, counted))
    columns = Columns(similarity, containers.take(Z, counted[first]), counted[first])
    columns.check_lawful(threshold)
    merged = np.bincount(group, weights[counted], len(first))
    q = n_memories
    if q is not None and q > columns.n:
        warnings.warn(
            f"n_memories={q} but only {columns.n} cases have different descriptions; using {columns.n} memories",
            stacklevel=3,
        )
        q = columns.n
    enforce = options.coverage == "enforce" or (options.coverage == "auto" and q is None)
    cover = options.cover
    if cover == "auto":
        cheap = columns.cached or (columns.lawful and columns.n <= GREEDY_CASES)
        cover = "greedy" if cheap and enforce else "random"
    rng = _generator(0 if cover == "greedy" and random_state is None else random_state)
    n_restarts = options.n_restarts
    if n_restarts is None:
        n_restarts = RESTARTS if cover == "random" and enforce else 1
    budget = _default_swaps(columns, q) if options.max_swaps is None else options.max_swaps
    first_columns = 2 * columns.n if cover == "greedy" else covers.TRIES * (q or 5) * n_restarts
    columns.announce(first_columns + n_restarts * (min(budget, columns.n) + 3 * CENTRE_COLUMNS))
    search = _Search(columns, merged, threshold, q, cover, enforce, budget)
    with _threads_for(columns):
        found, history = search.run(n_restarts, rng, verbose)
    result = _result(columns, found, history, Z, weights, threshold)
    if enforce and len(result.uncovered):
        raise CoverageError(
            f"found no {'' if q is None else f'{q} '}memories that cover every case: {len(result.uncovered)} "
            f"of {len(counted)} stay below the threshold {threshold:g}, and coverage='enforce' forbids that. Allow "
            "more memories, lower the threshold, or use coverage='report'."
        )
    return result


def _search_as_in_paper(
    Z: Any,
    similarity: Any,
    threshold: float,
    options: SearchOptions,
    weights: Array,
    counted: Array,
    random_state: Any,
    verbose: int | None,
) -> MemorySearchResult:
    """The paper's Algorithm 1: as printed, quirks included, or as it was meant."""
    columns = Columns(similarity, containers.take(Z, counted), counted)
    columns.check_lawful(threshold)
    n_restarts, swaps, rng = options.n_restarts or RESTARTS, options.max_swaps, _generator(random_state)
    if options.mode == "paper":
        swaps = PAPER_SWAPS if swaps is None else swaps
        columns.announce(n_restarts * swaps)
        found, history = generate_memories(columns, threshold, n_restarts, swaps, rng)
    else:
        columns.announce(n_restarts * (LEAST_NEIGHBOURS if swaps is None else swaps))
        enforce = options.coverage != "report"
        with _threads_for(columns):
            found, history = search_neighbours(
                columns, weights[counted], threshold, n_restarts, swaps, rng, enforce=enforce, verbose=verbose
            )
    return _result(columns, found, history, Z, weights, threshold)


class _Search:
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
    ):
        self.columns = columns
        self.weights = weights
        self.threshold = threshold
        self.n_memories = n_memories
        self.cover = cover
        self.enforce = enforce
        self.budget = budget

    def run(self, n_restarts: int, rng: np.random.Generator, verbose: int | None) -> tuple[Array, list[Round]]:
        """The memories of the best restart, and all restarts.

        The best one has fewest memories, then the largest objective.
        """
        history: list[Round] = []
        best_key: tuple[float, ...] | None = None
        best = np.array([], dtype=np.intp)
        smallest_gain = rounding(self.weights)
        if self.cover == "greedy":
            start = self._first_memories(rng)
        for _ in track(range(n_restarts), total=n_restarts, what="searching memories", verbose=verbose):
            if self.cover == "random":
                start = self._first_memories(rng)
            # Swaps keep the number of memories: a start with more of them than the best so far cannot win.
            hopeless = bool(len(best)) and len(start) > len(best)
            memories, record = self._improve(start, rng, swaps=not (hopeless and self.n_memories is None))
            history.append(record)
            key: tuple[float, ...] = (record.n_memories, -round(record.objective / smallest_gain))
            if self.enforce:  # a restart that leaves cases uncovered never wins
                key = (record.n_uncovered, *key)
            if best_key is None or key < best_key:
                best_key, best = key, memories
        return best, history

    def _first_memories(self, rng: np.random.Generator) -> Array:
        columns, q = self.columns, self.n_memories
        if q is not None and not self.enforce:
            if self.cover == "greedy":
                return covers.greedy_spread(columns, q, self.weights)
            return covers.spread(columns, q, self.weights, rng)
        if self.cover == "greedy":
            memories = covers.greedy_cover(columns, self.threshold, self.weights)
        else:
            memories = covers.random_cover(columns, self.threshold, rng)
        if q is None:
            return memories
        return covers.spread(columns, q, self.weights, rng, given=memories[:q])

    def _improve(self, start: Array, rng: np.random.Generator, *, swaps: bool) -> tuple[Array, Round]:
        """Try candidates one after the other in place of all memories, and take every gain."""
        columns = self.columns
        exchange = Exchange(start, columns.block(start), self.weights, self.threshold, enforce=self.enforce)
        first = exchange.objective
        objectives: list[float] = []
        judged = 0
        if swaps and self.budget and exchange.q < columns.n:
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
                judged += self._judge(exchange, drawn, objectives)
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

    def _judge(self, exchange: Exchange, candidates: Array, objectives: list[float]) -> int:
        """Swap in each candidate that raises the objective, in the place where it raises it most."""
        candidates = candidates[~np.isin(candidates, exchange.memories)]
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


def _result(
    columns: Columns, found: Array, history: list[Round], Z: Any, weights: Array, threshold: float
) -> MemorySearchResult:
    """Labels and coverage of all cases, those merged or left out of the search included."""
    indices = columns.rows[found]
    everyone = Columns(columns.similarity, Z, np.arange(containers.count(Z)))
    labels = np.empty(everyone.n, dtype=np.intp)
    near = np.empty(everyone.n)
    for part in containers.chunks(everyone.n, BLOCK // len(indices)):
        cases = np.arange(part.start, part.stop)
        block = everyone.compare(indices, cases)
        labels[part] = first_best(block)
        near[part] = block[labels[part], np.arange(len(cases))]
    uncovered = np.flatnonzero(~reaches(near, threshold) & (weights > 0))
    return MemorySearchResult(
        indices=indices,
        labels=labels,
        similarity=near,
        objective=float(near @ weights),
        coverage=1 - len(uncovered) / int((weights > 0).sum()),
        uncovered=uncovered,
        history=tuple(history),
        n_evaluations=columns.n_evaluations + everyone.n_evaluations,
        n_distinct=columns.n,
        threshold=threshold,
    )


def _default_swaps(columns: Columns, q: int | None) -> int:
    """2.5 % of the cases as in FasterCLARANS, within limits; from 250,000 cases on, fewer."""
    n = columns.n
    if q == 1 and n <= GREEDY_CASES:
        return n  # a single memory is found by looking at every case
    cheap = FREE_PAIRS // n if columns.lawful or columns.cached else 0
    return int(max(100, min(np.clip(max(n // 40, cheap), 250, 1000), PAIRS // n)))


@cache
def _controller() -> Any:
    return ThreadpoolController()


def _threads_for(columns: Columns) -> AbstractContextManager[Any]:
    """One BLAS thread for short descriptions, since more are slower for small blocks.

    Only in the main thread: OpenBLAS does not let another thread undo it.
    """
    if columns.short and current_thread() is main_thread():
        return _controller().limit(limits=1, user_api="blas")
    return nullcontext()


def _generator(random_state: Any) -> np.random.Generator:
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
