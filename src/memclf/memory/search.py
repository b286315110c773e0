"""Choosing the memories: cover, then swaps, with restarts (paper, Algorithm 1, corrected)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from memclf._numbers import Array, first_best, reaches
from memclf._threads import one_blas_thread
from memclf.cases import containers, distinct
from memclf.exceptions import CoverageError
from memclf.memory import cover as covers
from memclf.memory.as_printed import generate_memories
from memclf.memory.batches import BatchSearch
from memclf.memory.blocks import Blocks
from memclf.memory.budget import exact_need, most_memories, parse_bytes
from memclf.memory.clarans import LEAST_NEIGHBOURS, search_neighbours
from memclf.memory.columns import BLOCK, Columns
from memclf.memory.exact import CENTRE_COLUMNS, GREEDY_CASES, ExactSearch, TooManyMemories, default_swaps
from memclf.memory.result import MemorySearchResult, Round
from memclf.memory.sampling import Population
from memclf.memory.wishes import Wishes, check_cover
from memclf.similarity.base import positive_weights

PAPER_SWAPS = 10  # Z_l in the authors' own code
EXACT_CASES = 50_000  # cases up to which swaps are judged by all of them
PROBES = 1000  # cases among which those are that a similarity is checked on
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
    max_memory: str | float | None = None

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {getattr(self, name)!r}")
        for name, least in (("n_restarts", 1), ("max_swaps", 0)):
            if getattr(self, name) is not None:
                _check_count(name, getattr(self, name), least)
        parse_bytes(self.max_memory)

    def enforces(self, n_memories: int | None) -> bool:
        """Whether every case must be covered."""
        return self.coverage == "enforce" or (self.coverage == "auto" and n_memories is None)

    def judges_by_all(self, n: int, row: int, n_memories: int | None) -> bool:
        """Whether swaps are judged by all n cases, given the bytes of a description."""
        # What happens to be free on a machine may change the size of blocks, but not which memories are found.
        limit = np.inf if self.max_memory is None else parse_bytes(self.max_memory)
        return self.mode != "corrected" or (n <= EXACT_CASES and exact_need(n, row, n_memories).total <= limit)


def search_memories(
    Z: Any,
    similarity: Any,
    threshold: float,
    n_memories: int | None = None,
    options: SearchOptions | None = None,
    *,
    wishes: Wishes | None = None,
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int | None = None,
) -> MemorySearchResult:
    """Choose memories among described cases; see `MemorySelector` for the parameters.

    Z may be `Blocks` of cases, which are described when they are needed.
    """
    options, wishes = options or SearchOptions(), wishes or Wishes()
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 < float(threshold) <= 1:
        raise ValueError(f"threshold must be a number in (0, 1], the least similarity that counts; got {threshold!r}")
    threshold = float(threshold)
    n = Z.n if isinstance(Z, Blocks) else containers.count(Z)
    if n == 0:
        raise ValueError("there are no cases to choose memories from (n_samples=0)")
    if n_memories is not None:
        _check_count("n_memories", n_memories, 1)
        if n_memories > n:
            raise ValueError(f"n_memories={n_memories} is more than the number of cases, n_samples={n}")
    weights = np.ones(n) if sample_weight is None else positive_weights(sample_weight, n)
    wishes.check(n_memories, options.mode)
    is_pinned = np.isin(np.arange(n), wishes.pinned)
    counted = np.flatnonzero((weights > 0) | is_pinned)  # only cases that count are searched
    if options.mode != "corrected":
        if n_memories is not None:
            raise ValueError(f"mode={options.mode!r} finds the number of memories itself; n_memories must be None")
        return _search_as_in_paper(Z, similarity, threshold, options, weights, counted, random_state, verbose)
    if isinstance(Z, Blocks) or not options.judges_by_all(n, containers.row_bytes(Z), n_memories):
        blocks = Z if isinstance(Z, Blocks) else Blocks(Z, similarity, n_jobs=n_jobs)
        blocks.keep_within(options.max_memory, n_memories, exact=n <= EXACT_CASES)
        return _search_in_batches(blocks, threshold, n_memories, options, wishes, weights, random_state, verbose)
    # Cases with the same description are one case of more weight.
    first, group = distinct(containers.take(Z, counted))
    first, places = wishes.place(counted, first, group)
    columns = Columns(similarity, containers.take(Z, counted[first]), counted[first])
    columns.check_lawful(threshold)
    merged = np.bincount(group, weights[counted], len(first))
    q = _at_most(n_memories, int(places.allowed.sum()))
    enforce = options.enforces(n_memories)
    excused = covers.find_uncoverable(columns, threshold, places.allowed)
    excused_rows = counted[np.isin(group, excused)]
    if enforce and not wishes.lenient:
        check_cover(excused_rows, threshold)
    cover = options.cover
    if cover == "auto":
        cheap = columns.cached or (columns.lawful and columns.n <= GREEDY_CASES)
        cover = "greedy" if cheap and enforce else "random"
    rng = _generator(0 if cover == "greedy" and random_state is None else random_state)
    n_restarts = options.n_restarts
    if n_restarts is None:
        n_restarts = RESTARTS if cover == "random" and enforce and wishes.start is None else 1
    budget = default_swaps(columns, q) if options.max_swaps is None else options.max_swaps
    first_columns = 2 * columns.n if cover == "greedy" else covers.TRIES * (q or 5) * n_restarts
    columns.announce(first_columns + n_restarts * (min(budget, columns.n) + 3 * CENTRE_COLUMNS))
    most = most_memories(options.max_memory, n, containers.row_bytes(Z)) if q is None else None
    search = ExactSearch(columns, merged, threshold, q, cover, enforce, budget, places.at_most(q), excused, most)
    n_found = 0
    try:
        with one_blas_thread(columns.short):
            found, history = search.run(n_restarts, rng, verbose)
    except TooManyMemories as many:
        n_found = many.n_memories
    if n_found:  # the number of memories was open, and exact swaps of so many do not fit
        del columns, search, first, group, merged
        blocks = Blocks(Z, similarity, n_jobs=n_jobs)
        blocks.keep_within(options.max_memory, n_found, exact=True, found=True, judged=not enforce)
        return _search_in_batches(blocks, threshold, n_memories, options, wishes, weights, random_state, verbose)
    return _covering(_result(columns, found, history, Z, weights, threshold), enforce, q, excused_rows, weights)


def _search_in_batches(
    blocks: Blocks,
    threshold: float,
    n_memories: int | None,
    options: SearchOptions,
    wishes: Wishes,
    weights: Array,
    random_state: Any,
    verbose: int | None,
) -> MemorySearchResult:
    """The way for very many cases."""
    with one_blas_thread(blocks.lawful):
        population, places = Population.wished(blocks, weights, wishes)
        some = np.linspace(0, len(population) - 1, min(len(population), PROBES)).astype(np.intp)
        blocks.columns(population.rows[some]).check_lawful(threshold)
        q = _at_most(n_memories, int(places.allowed[population.rows].sum()))
        enforce = options.enforces(n_memories)
        rng, places = _generator(random_state), places.at_most(q)
        search = BatchSearch(blocks, population, weights, threshold, q, enforce, options.max_swaps, rng, places)
        found = search.run(verbose)
        excused = search.list_excused(found.uncovered)
        if enforce and not wishes.lenient:
            check_cover(excused, threshold)
        return _covering(found, enforce, q, excused, weights)


def _at_most(n_memories: int | None, n_distinct: int) -> int | None:
    if n_memories is None or n_memories <= n_distinct:
        return n_memories
    warnings.warn(
        f"n_memories={n_memories} but only {n_distinct} cases have different descriptions (and are not forbidden); "
        f"using {n_distinct} memories",
        stacklevel=4,
    )
    return n_distinct


def _covering(
    result: MemorySearchResult, enforce: bool, q: int | None, excused: Array, weights: Array
) -> MemorySearchResult:
    """The result, unless it leaves cases uncovered that it must not."""
    bare = np.setdiff1d(result.uncovered, excused)
    if enforce and len(bare):
        raise CoverageError(
            f"found no {'' if q is None else f'{q} '}memories that cover every case: {len(bare)} of "
            f"{np.count_nonzero(weights)} stay below the threshold {result.threshold:g}, and coverage='enforce' "
            "forbids that. Allow more memories, lower the threshold, or use coverage='report'."
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
        with one_blas_thread(columns.short):
            found, history = search_neighbours(
                columns, weights[counted], threshold, n_restarts, swaps, rng, enforce=enforce, verbose=verbose
            )
    return _result(columns, found, history, Z, weights, threshold)


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


def _generator(random_state: Any) -> np.random.Generator:
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
