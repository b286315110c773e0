"""Choosing the memories: cover, then swaps, with restarts (paper, Algorithm 1, corrected)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from memclf import _cases
from memclf._numbers import Array, first_best, reaches
from memclf._progress import track
from memclf.exceptions import CoverageError
from memclf.memory import cover as covers
from memclf.memory.columns import Columns
from memclf.memory.paper import generate_memories
from memclf.memory.result import MemorySearchResult, Round
from memclf.memory.swap import Exchange
from memclf.similarity.base import fit_describe, positive_weights

PAPER_SWAPS = 10  # Z_l in the authors' own code
CENTRE_COLUMNS = 64  # looking for the centres of all clusters costs about as much as this many columns
CENTRE_ROUNDS = 5
GREEDY_CASES = 5000  # distinct cases up to which comparing all pairs takes about a second
SHORT = 128  # columns of a description up to which comparing is bound by memory and exp, not by multiplication
PAIRS = 250_000_000  # comparisons that judging candidates may take in each restart
RESTARTS = 5  # Z_g in the authors' own code

CHOICES = {
    "mode": ("corrected", "paper"),
    "cover": ("auto", "random", "greedy"),
    "coverage": ("auto", "report", "enforce"),
    "stop": ("fixed", "clarans"),
    "prefer": ("fewest", "objective"),
}


def select_memories(
    Z: Any,
    similarity: Any,
    threshold: float = 0.7,
    *,
    n_memories: int | None = None,
    n_restarts: int | None = None,
    max_swaps: int | None = None,
    mode: str = "corrected",
    cover: str = "auto",
    coverage: str = "auto",
    stop: str = "fixed",
    prefer: str = "fewest",
    strict: bool = False,
    sample_weight: Any = None,
    random_state: Any = None,
    verbose: int = 0,
) -> MemorySearchResult:
    """Choose prototypical cases, the memories, so that every case is within `threshold` of one.

    Maximises the sum over the cases of the similarity to the most similar memory, with as few memories as
    the cover finds. Never holds more than O(n q) numbers.

    Parameters
    ----------
    Z : descriptions
        What ``similarity.describe`` returned; or the cases themselves when the similarity is not fitted yet.
    similarity : Similarity
        Compares descriptions.
    threshold : float in (0, 1]
        b_t: the similarity from which on a case counts as covered by a memory.
    n_memories : int or None
        Fix the number of memories. None: as many as covering all cases takes.
    n_restarts : int or None
        Z_g: how often to start anew. None: 5 when each start may find another number of memories, that is
        with a random cover, and 1 when the number is fixed or the cover is greedy.
    max_swaps : int or None
        Z_l: candidates to judge in each restart, each against all memories at once. None: 2.5 % of the cases,
        at least 250 and at most 1000, fewer beyond 250,000 cases (10 in ``mode="paper"``, where a candidate is
        one random pair).
    mode : {"corrected", "paper"}
        "paper" follows the printed pseudo-code, quirks included; `n_memories`, `cover`, `coverage`, `stop`,
        `prefer` and `strict` have no place in it.
    cover : {"auto", "random", "greedy"}
        How the first memories are found. "random" is the paper's way. "greedy" compares all pairs and needs
        fewer memories; with ``random_state=None`` it leaves nothing to chance. "auto": greedy for up to 5,000
        distinct cases and a built-in similarity when covering, else random.
    coverage : {"auto", "report", "enforce"}
        "enforce": no swap may uncover a case, and a result that leaves cases uncovered is an error.
        "report": only say how many are covered. "auto": enforce unless `n_memories` is fixed.
    stop : {"fixed", "clarans"}
        "clarans": `max_swaps` counts candidates in a row without success, as in the original CLARANS.
    prefer : {"fewest", "objective"}
        Which restart is best: the one with fewest memories, then the larger objective; or the larger
        objective alone, which favours many memories.
    strict : bool
        Whether a case exactly at the threshold is left uncovered by the cover.
    sample_weight : array or None
        Weight of each case in the objective; cases of weight 0 are left out of the search.
    random_state : int, RandomState or None
        The same seed gives the same memories, whatever the order of the rows (for numeric descriptions).
    verbose : int
        Show progress.

    Returns
    -------
    MemorySearchResult

    Examples
    --------
    >>> from memclf.similarity import RBFSimilarity
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.3]])
    >>> result = select_memories(X, RBFSimilarity(gamma=1.0), threshold=0.9, random_state=0)
    >>> result.indices, result.labels, result.coverage
    (array([1, 4]), array([0, 0, 0, 1, 1, 1]), 1.0)
    """
    _check_choices(mode=mode, cover=cover, coverage=coverage, stop=stop, prefer=prefer)
    threshold = check_threshold(threshold)
    if n_restarts is not None:
        _check_count("n_restarts", n_restarts, 1)
    if max_swaps is not None:
        _check_count("max_swaps", max_swaps, 0)
    similarity, Z = _fitted(similarity, Z)
    n = _cases.count(Z)
    if n == 0:
        raise ValueError("there are no cases to choose memories from (n_samples=0)")
    weights = np.ones(n)
    if sample_weight is not None:
        weights = positive_weights(sample_weight, n)
    if n_memories is not None:
        _check_count("n_memories", n_memories, 1)
        if n_memories > n:
            raise ValueError(f"n_memories={n_memories} is more than the number of cases, n_samples={n}")
    if mode == "paper":
        if n_memories is not None:
            raise ValueError("mode='paper' finds the number of memories itself; n_memories must be None")
        columns = Columns(similarity, Z, np.arange(n))
        columns.check_lawful(threshold)
        swaps = PAPER_SWAPS if max_swaps is None else max_swaps
        n_restarts = n_restarts or RESTARTS
        columns.announce(n_restarts * swaps)
        rng = _generator(random_state)
        found, history = generate_memories(columns, threshold, n_restarts, swaps, rng)
        return _result(columns, found, np.arange(n), history, n_restarts - 1, weights, n, threshold, mode)

    # Only cases that count are searched; cases with the same description are one case of more weight.
    counted = np.flatnonzero(weights > 0)
    first, group = _cases.distinct(_cases.take(Z, counted))
    columns = Columns(similarity, _cases.take(Z, counted[first]), counted[first])
    columns.check_lawful(threshold)
    merged = np.bincount(group, weights[counted], len(first))
    q = n_memories
    if q is not None and q > columns.n:
        warnings.warn(
            f"n_memories={q} but only {columns.n} cases have different descriptions; using {columns.n} memories",
            stacklevel=2,
        )
        q = columns.n
    if cover == "auto":
        cheap = getattr(similarity, "lawful", False) and columns.n <= GREEDY_CASES and q is None
        cover = "greedy" if cheap else "random"
    rng = _generator(0 if cover == "greedy" and random_state is None else random_state)
    if n_restarts is None:
        n_restarts = RESTARTS if cover == "random" and q is None else 1
    budget = _default_swaps(columns.n) if max_swaps is None else max_swaps
    columns.announce((1 if q is None else covers.TRIES * q) + n_restarts * min(budget, columns.n))
    search = _Search(columns, merged, threshold, q, cover, coverage, stop, strict, budget)
    with _threads_for(Z):
        found, history, best = search.run(n_restarts, prefer, rng, verbose)
    return _result(columns, found, counted[first], history, best, weights, columns.n, threshold, mode, Z, similarity)


class _Search:
    """The corrected search: its settings, and one method per step."""

    def __init__(
        self,
        columns: Columns,
        weights: Array,
        threshold: float,
        n_memories: int | None,
        cover: str,
        coverage: str,
        stop: str,
        strict: bool,
        budget: int,
    ):
        self.columns = columns
        self.weights = weights
        self.threshold = threshold
        self.n_memories = n_memories
        self.cover = cover
        self.enforce = coverage == "enforce" or (coverage == "auto" and n_memories is None)
        self.clarans = stop == "clarans"
        self.strict = strict
        self.budget = budget

    def run(
        self, n_restarts: int, prefer: str, rng: np.random.Generator, verbose: int
    ) -> tuple[Array, list[Round], int]:
        history: list[Round] = []
        best_key: tuple[float, ...] | None = None
        best, best_memories = 0, np.array([], dtype=np.intp)
        if self.cover == "greedy":
            start = self._first_memories(rng)
        for number in track(range(n_restarts), total=n_restarts, what="searching memories", verbose=verbose):
            if self.cover == "random":
                start = self._first_memories(rng)
            # Swaps keep the number of memories: a start with more of them than the best so far cannot win.
            hopeless = prefer == "fewest" and best_key is not None and len(start) > history[best].n_memories
            memories, record = self._improve(start, rng, swaps=not (hopeless and self.n_memories is None))
            history.append(record)
            key: tuple[float, ...] = (-record.objective,)
            if prefer == "fewest":
                key = (record.n_memories, *key)
            if self.enforce:  # a restart that leaves cases uncovered never wins
                key = (record.n_uncovered, *key)
            if best_key is None or key < best_key:
                best_key, best, best_memories = key, number, memories
        if self.enforce and history[best].n_uncovered:
            raise CoverageError(
                f"n_memories={self.n_memories} memories leave {history[best].n_uncovered} of {self.columns.n} distinct "
                f"cases below the threshold {self.threshold:g}, and coverage='enforce' forbids that. Allow more "
                "memories, lower the threshold, or use coverage='report'."
            )
        return best_memories, history, best

    def _first_memories(self, rng: np.random.Generator) -> Array:
        columns, q = self.columns, self.n_memories
        if q is not None and not self.enforce:
            if self.cover == "greedy":
                return covers.greedy_spread(columns, q, self.weights)
            return covers.spread(columns, q, self.weights, rng)
        if self.cover == "greedy":
            memories = covers.greedy_cover(columns, self.threshold, self.weights, strict=self.strict)
        else:
            memories = covers.random_cover(columns, self.threshold, rng, strict=self.strict)
        if q is None:
            return memories
        return covers.spread(columns, q, self.weights, rng, given=memories[:q])

    def _improve(self, start: Array, rng: np.random.Generator, *, swaps: bool) -> tuple[Array, Round]:
        """Judge candidates one after the other against all memories, and take every swap that helps."""
        columns = self.columns
        exchange = Exchange(start, columns.block(start), self.weights, self.threshold, enforce=self.enforce)
        first = exchange.objective
        objectives: list[float] = []
        judged = 0
        if swaps and self.budget and exchange.q < columns.n:
            others = _shuffled_forever(columns.n, rng)
            share = max(columns.batch, self.budget // 4)
            spent = 0
            while spent < self.budget:
                judged += self._settle(exchange, rng, objectives, rounds=2)
                size = min(share, self.budget - spent)
                drawn = np.array([next(others) for _ in range(min(size, columns.n))])
                before = len(objectives)
                judged += self._judge(exchange, drawn, objectives)
                spent += size
                if self.clarans and len(objectives) > before:
                    spent = 0
                if spent >= columns.n and len(objectives) == before:
                    break  # every case has been judged since the last success: a local optimum
            judged += self._settle(exchange, rng, objectives, rounds=CENTRE_ROUNDS)
        record = Round(
            n_memories=exchange.q,
            first_objective=first,
            objective=exchange.objective,
            objectives=tuple(objectives),
            n_candidates=judged,
            n_uncovered=len(exchange.uncovered()),
        )
        stands_for = np.bincount(exchange.near, self.weights, exchange.q)
        return exchange.memories[np.lexsort((exchange.memories, -stands_for))], record

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
        """For each changed cluster the member that would serve it best, judged on a sample of its members."""
        size = int(np.sqrt(CENTRE_COLUMNS * self.columns.n / exchange.q)) + 1
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
            centres.append(candidates[(served @ self.weights[witnesses]).argmax()])
        exchange.touched[:] = False
        return np.array(centres, dtype=np.intp)

    def _judge(self, exchange: Exchange, candidates: Array, objectives: list[float]) -> int:
        """Swap in each candidate that raises the objective, in the place where it raises it most."""
        candidates = candidates[~np.isin(candidates, exchange.memories)]
        for batch, block in self.columns.blocks(candidates):
            gains = exchange.gains(block)
            promise = gains.max(axis=1)
            fresh = True
            for row in np.argsort(-promise, kind="stable"):
                if promise[row] <= exchange.smallest_gain:
                    break
                gain = gains[row] if fresh else exchange.gains(block[row : row + 1])[0]
                k = int(gain.argmax())
                if gain[k] > exchange.smallest_gain and batch[row] not in exchange.memories:
                    exchange.swap(k, int(batch[row]), block[row])
                    objectives.append(exchange.objective)
                    fresh = False
        return len(candidates)


def _shuffled_forever(n: int, rng: np.random.Generator) -> Iterator[int]:
    while True:
        yield from rng.permutation(n)


def _result(
    columns: Columns,
    found: Array,
    rows: Array,
    history: list[Round],
    best: int,
    weights: Array,
    n_distinct: int,
    threshold: float,
    mode: str,
    Z: Any = None,
    similarity: Any = None,
) -> MemorySearchResult:
    """Labels and coverage of all cases, those merged or left out of the search included."""
    indices = rows[found]
    everyone = columns if Z is None else Columns(similarity, Z, np.arange(_cases.count(Z)))
    labels = np.empty(everyone.n, dtype=np.intp)
    near = np.empty(everyone.n)
    size = max(1, everyone.batch * everyone.n // max(1, len(indices)))
    for part in _cases.chunks(everyone.n, size):
        cases = np.arange(everyone.n)[part]
        block = everyone.block(indices, cases)
        labels[part] = first_best(block)
        near[part] = block[labels[part], np.arange(len(cases))]
    uncovered = np.flatnonzero(~reaches(near, threshold) & (weights > 0))
    objective = float(near @ weights)
    return MemorySearchResult(
        indices=indices,
        labels=labels,
        similarity=near,
        objective=objective,
        cost=float(weights.sum()) - objective,
        coverage=1 - len(uncovered) / int((weights > 0).sum()),
        uncovered=uncovered,
        history=tuple(history),
        best_round=best,
        n_evaluations=columns.n_evaluations + (0 if everyone is columns else everyone.n_evaluations),
        n_distinct=n_distinct,
        threshold=threshold,
        mode=mode,
    )


def _default_swaps(n: int) -> int:
    """2.5 % of the cases as in FasterCLARANS, within limits; beyond 250,000 cases, what a minute allows."""
    return int(max(100, min(np.clip(n // 40, 250, 1000), PAIRS // n)))


@cache
def _controller() -> Any:
    return ThreadpoolController()


def _threads_for(Z: Any) -> AbstractContextManager[Any]:
    """One BLAS thread for short descriptions: waking others for each small block costs more than it brings."""
    if isinstance(Z, np.ndarray) and Z.ndim == 2 and Z.shape[1] <= SHORT:
        return _controller().limit(limits=1, user_api="blas")
    return nullcontext()


def _generator(random_state: Any) -> np.random.Generator:
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


def check_threshold(value: Any, name: str = "threshold") -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise ValueError(f"{name} must be a number in (0, 1], the least similarity that counts; got {value!r}")
    return float(value)


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


def _check_choices(**given: str) -> None:
    for name, value in given.items():
        if value not in CHOICES[name]:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, CHOICES[name]))}; got {value!r}")


def _fitted(similarity: Any, Z: Any) -> tuple[Any, Any]:
    """The similarity ready to compare, and descriptions; unfitted similarities are welcome."""
    if not hasattr(similarity, "compare"):
        raise TypeError(
            f"similarity must have compare(A, B), got {similarity!r}; wrap a function of two cases in "
            "memclf.similarity.FunctionSimilarity"
        )
    if hasattr(similarity, "fit"):
        try:
            check_is_fitted(similarity)
        except NotFittedError:
            similarity = clone(similarity)
            return similarity, fit_describe(similarity, Z)
    return similarity, Z
