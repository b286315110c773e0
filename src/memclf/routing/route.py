"""From a case to its memory, or to unknown: equation (1) of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from memclf._numbers import Array, TwoBest, first_best, reaches, two_best
from memclf._threads import count_threads, map_in_threads, one_blas_thread
from memclf.cases import containers
from memclf.similarity.base import can_order, compare_memories, nearest_memories

RULES = ("argmax_then_check", "check_then_argmax")
BLOCK = 2**21  # similarities held at once
NONE = -1  # in place of a memory's number: there is none


@dataclass(frozen=True)
class Route:
    """The route of one case. `memory` is -1 when no memory answers."""

    memory: int
    nearest: int
    similarity: float
    threshold: float
    runner_up: int
    runner_up_similarity: float
    margin: float
    known: bool
    trusted: bool = True
    familiar: bool = True


@dataclass(frozen=True)
class Routes:
    """The routes of many cases, one entry per case in every array; an item is a `Route`.

    Attributes
    ----------
    memory : ndarray of int
        Number (0..q-1) of the memory that answers, -1 for unknown.
    nearest : ndarray of int
        Number of the memory that was considered: the same as `memory`, but given for unknown cases too.
    similarity, threshold : ndarray
        Similarity to the considered memory and that memory's threshold.
    runner_up : ndarray of int
        The next most similar memory, -1 if there is only one.
    runner_up_similarity, margin : ndarray
        Its similarity, and by how much the considered memory is more similar. The margin can be negative
        under "check_then_argmax", when a more similar memory's threshold was not met.
    known : ndarray of bool
        Whether the memory answers: its threshold is met, the description is trusted, and the case is familiar.
    n_memories : int
    trusted : ndarray of bool
        Whether the features trust their description of the case. A case that is not trusted goes to no memory.
    familiar : ndarray of bool
        False where the case is too strange to the memory's classifier, and so goes to no memory. True where strangeness
        is not measured.
    strangeness : ndarray or None
        How strange the cases are to the classifiers of the considered memories, where it was measured.
    """

    memory: Array
    nearest: Array
    similarity: Array
    threshold: Array
    runner_up: Array
    runner_up_similarity: Array
    margin: Array
    known: Array
    n_memories: int
    trusted: Array
    familiar: Array
    strangeness: Array | None = None

    def drop_untrusted(self, trusted: Array) -> Routes:
        """The same, but cases whose descriptions are not trusted go to no memory."""
        known = self.known & trusted
        return replace(self, memory=np.where(known, self.memory, NONE), known=known, trusted=trusted)

    def drop_strange(self, familiar: Array, strangeness: Array) -> Routes:
        """The same, but cases that are too strange to their classifiers go to no memory."""
        known = self.known & familiar
        memory = np.where(known, self.memory, NONE)
        return replace(self, memory=memory, known=known, familiar=familiar, strangeness=strangeness)

    @property
    def stage_one(self) -> Routes:
        """The same routes by similarity and trust alone, without the strangeness of cases."""
        known = self.trusted & reaches(self.similarity, self.threshold)
        memory = np.where(known, self.nearest, NONE)
        return replace(self, memory=memory, known=known, familiar=np.ones_like(known), strangeness=None)

    @property
    def branch(self) -> Array:
        """Which of the q + 1 branches fires: the memory's number, or q for unknown."""
        return np.where(self.known, self.memory, self.n_memories)

    def __len__(self) -> int:
        return len(self.memory)

    def __getitem__(self, position: int) -> Route:
        return Route(**{name: getattr(self, name)[position].item() for name in _COLUMNS})

    def __iter__(self) -> Iterator[Route]:
        return (self[position] for position in range(len(self)))

    def to_dict(self) -> dict[str, Array]:
        """Column name -> values: what ``pandas.DataFrame`` takes."""
        return {name: getattr(self, name) for name in _COLUMNS}

    def to_frame(self) -> Any:
        """A data frame with one row per case (needs pandas)."""
        import pandas as pd

        return pd.DataFrame(self.to_dict())


_TYPES: dict[str, type] = {"int": np.intp, "float": np.float64, "bool": np.bool_}
_COLUMNS = {field.name: _TYPES[str(field.type)] for field in fields(Route)}  # annotations are texts


def route_all(similarity: Any, memories: Any, indices: Array, thresholds: Array, rule: str, Z: Any) -> Routes:
    """`route` for described cases, a part of them at a time, so that memory stays small."""
    _check_rule(rule)
    # With equal thresholds the rules agree, and all that counts is which memories are the two most similar.
    plain = rule == RULES[0] or bool((thresholds == thresholds[0]).all())

    def routed(part: slice) -> Routes:
        case = (similarity, memories, indices, containers.take_slice(Z, part), part.start)
        if plain:
            return _routes(nearest_memories(*case), thresholds, len(indices))
        return route(compare_memories(*case), thresholds, rule)

    n, ordered = containers.count(Z), plain and can_order(similarity)
    slices = list(containers.chunks(n, BLOCK // len(indices)))
    if len(slices) <= 1:
        return routed(slice(0, n))
    whole = Routes(**{name: np.empty(n, dtype) for name, dtype in _COLUMNS.items()}, n_memories=len(indices))

    def fill(part: slice) -> None:
        found = routed(part)
        for name in _COLUMNS:
            getattr(whole, name)[part] = getattr(found, name)

    threads = count_threads() if ordered else 1
    with one_blas_thread(threads > 1):
        map_in_threads(fill, slices, threads)
    return whole


def route(block: Array, thresholds: Array, rule: str = "argmax_then_check") -> Routes:
    """Send each case (column of `block`) to a memory (row) or to unknown.

    Parameters
    ----------
    block : ndarray of shape (q, n)
        Similarities of the memories to the cases.
    thresholds : ndarray of shape (q,)
        b_k of each memory.
    rule : {"argmax_then_check", "check_then_argmax"}
        The paper's equation: the most similar memory, if its threshold is met. The paper's prose: the most
        similar among the memories whose thresholds are met. They differ only where thresholds differ. Among
        equally similar memories the smallest number wins.

    Examples
    --------
    >>> routes = route(np.array([[0.9, 0.2], [0.3, 0.4]]), np.array([0.5, 0.5]))
    >>> routes.memory, routes.branch
    (array([ 0, -1]), array([0, 2]))
    """
    _check_rule(rule)
    if rule == "argmax_then_check":
        return _routes(two_best(block), thresholds, len(block))
    met = reaches(block, thresholds[:, None])
    nearest = np.where(met.any(axis=0), first_best(np.where(met, block, -1.0)), first_best(block))
    cases = np.arange(block.shape[1])
    rest = block.copy()
    rest[nearest, cases] = -1.0
    single = len(block) == 1
    runner_up = np.full(len(cases), NONE) if single else first_best(rest)
    following = np.zeros(len(cases)) if single else rest[runner_up, cases]
    return _routes(TwoBest(nearest, block[nearest, cases], runner_up, following), thresholds, len(block))


def _check_rule(rule: str) -> None:
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}; got {rule!r}")


def _routes(found: TwoBest, thresholds: Array, q: int) -> Routes:
    known = reaches(found.best, thresholds[found.near])
    return Routes(
        memory=np.where(known, found.near, NONE),
        nearest=found.near,
        similarity=found.best,
        threshold=thresholds[found.near],
        runner_up=found.second,
        runner_up_similarity=found.next,
        margin=found.best - found.next,
        known=known,
        n_memories=q,
        trusted=np.ones_like(known),
        familiar=np.ones_like(known),
    )
