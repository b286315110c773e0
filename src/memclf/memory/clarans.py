"""The paper's Algorithm 1 as it was meant: CLARANS from a random cover (`mode="clarans"`).

A round draws a cover (Algorithm 2), then `max_swaps` random neighbours one after the other: a random memory is
exchanged for a random other case. A neighbour with a larger objective is accepted, unless it uncovers a case. The
memories of the round with the largest objective are returned. The same seed draws the same covers and the same
neighbours as `mode="paper"`, which returns the last cover instead.
"""

from __future__ import annotations

import numpy as np

from memclf._numbers import Array
from memclf._progress import track
from memclf.memory.columns import Columns
from memclf.memory.cover import draw_cover
from memclf.memory.result import Round
from memclf.memory.swap import Exchange

LEAST_NEIGHBOURS, SHARE_OF_NEIGHBOURS = 250, 0.0125  # of Ng and Han, for the q (n - q) neighbours of a set
PAIRS = 250_000_000  # comparisons with candidates in each round, where the user sets no number


def search_neighbours(
    columns: Columns,
    weights: Array,
    threshold: float,
    n_restarts: int,
    max_swaps: int | None,
    rng: np.random.Generator,
    *,
    enforce: bool = True,
    verbose: int | None = None,
) -> tuple[Array, list[Round]]:
    """The memories of the round with the largest objective, and all rounds."""
    history: list[Round] = []
    best: Exchange | None = None
    for _ in track(range(n_restarts), total=n_restarts, what="searching memories", verbose=verbose):
        start, _ = draw_cover(columns, threshold, rng)
        exchange = Exchange(start, columns.block(start), weights, threshold, enforce=enforce)
        first = exchange.objective
        steps = _default_steps(columns.n, exchange.q) if max_swaps is None else max_swaps
        objectives = _walk(columns, exchange, steps if exchange.q < columns.n else 0, rng)
        history.append(
            Round(
                n_memories=exchange.q,
                first_objective=first,
                objective=exchange.objective,
                objectives=tuple(objectives),
                n_candidates=steps,
                n_uncovered=len(exchange.uncovered()),
            )
        )
        if best is None or exchange.objective > best.objective + exchange.smallest_gain:
            best = exchange
    assert best is not None  # there is at least one round
    return best.in_order(), history


def _walk(columns: Columns, exchange: Exchange, steps: int, rng: np.random.Generator) -> list[float]:
    """Judge random neighbours in turn; returns the objective after each that is accepted.

    Neighbours are judged in batches up to the first that is accepted, which gives the same as one by one: the draws do
    not depend on the memories, only on their number. Batches grow while nothing is accepted.
    """
    others = columns.n - exchange.q
    draws = np.array([(rng.integers(exchange.q), rng.integers(others)) for _ in range(steps)]).reshape(-1, 2)
    objectives = []
    done, size = 0, 1
    while done < steps:
        places, positions = draws[done : done + size].T
        candidates = np.delete(np.arange(columns.n), exchange.memories)[positions]
        block = columns.block(candidates)
        gains = exchange.gains(block)[np.arange(len(places)), places]
        accepted = np.flatnonzero(gains > exchange.smallest_gain)
        if len(accepted):
            first = accepted[0]
            exchange.swap(int(places[first]), int(candidates[first]), block[first])
            objectives.append(exchange.objective)
            done, size = done + int(first) + 1, max(1, size // 2)
        else:
            done, size = done + len(places), min(2 * size, columns.batch)
    return objectives


def _default_steps(n: int, q: int) -> int:
    """1.25 % of the neighbours and at least 250, as in CLARANS; fewer for very many cases."""
    return max(LEAST_NEIGHBOURS, min(int(SHARE_OF_NEIGHBOURS * q * (n - q)), PAIRS // n))
