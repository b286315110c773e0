"""The distinct ones among very many cases, and batches of witnesses drawn from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memclf._numbers import Array
from memclf.memory.blocks import Blocks
from memclf.memory.wishes import Places, Wishes

HARDLY = 1e-12  # weight of a case without any that is pinned: it is drawn last


@dataclass(frozen=True)
class Batch:
    """Witnesses that stand for all cases: their rows, and for how many cases each stands."""

    rows: Array
    weights: Array

    def standard_error(self, values: Array) -> float:
        """Of the sum of a value over all cases, as it is estimated from these witnesses."""
        mean = values @ self.weights / self.weights.sum()
        return float(np.sqrt((values - mean) ** 2 @ self.weights**2))


@dataclass(frozen=True)
class Population:
    """The distinct cases: first rows, weights, and a number in (0, 1) for each to draw by.

    For numeric descriptions the numbers depend on the description alone, so that what is drawn does not depend on the
    order of the rows.
    """

    rows: Array
    weights: Array
    numbers: Array

    @classmethod
    def merged(cls, blocks: Blocks, weights: Array) -> Population:
        """All cases of `blocks` but those of weight 0; those with the same description are one."""
        return cls.wished(blocks, weights, Wishes())[0]

    @classmethod
    def wished(cls, blocks: Blocks, weights: Array, wishes: Wishes) -> tuple[Population, Places]:
        """The same where wishes say which of equal cases counts, and the wishes by rows."""
        count = weights > 0
        count[wishes.pinned] = True
        counted = np.flatnonzero(count)
        keys = blocks.keys()
        if keys is None:
            first, group = blocks.distinct(counted)
            numbers = np.random.default_rng(0).random(len(first))
        else:
            first, group, numbers = _merge(keys[counted])
        first, places = wishes.place(counted, first, group)
        merged = np.maximum(np.bincount(group, weights[counted], len(first)), HARDLY)
        return cls(counted[first], merged, numbers), places.move(counted[first], blocks.n)

    def __len__(self) -> int:
        return len(self.rows)

    def mask(self, n: int) -> Array | None:
        """Whether each of all n cases is one of these; None if all are."""
        if len(self) == n:
            return None
        mask = np.zeros(n, dtype=bool)
        mask[self.rows] = True
        return mask

    def restrict(self, keep: Array) -> Population:
        """Some of the cases."""
        return Population(self.rows[keep], self.weights[keep], self.numbers[keep])

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """A sample in proportion to weights without repetition (Efraimidis and Spirakis 2006)."""
        shift = rng.random()
        race = -np.log1p(-((self.numbers + shift) % 1.0)) / self.weights
        if size >= len(race):
            order = np.argsort(race, kind="stable")
            return Batch(self.rows[order], self.weights[order])
        chosen = np.argpartition(race, size)[: size + 1]
        chosen = chosen[np.argsort(race[chosen], kind="stable")]
        limit, chosen = race[chosen[-1]], chosen[:-1]
        weights = self.weights[chosen]
        return Batch(self.rows[chosen], weights / -np.expm1(-weights * limit))


def merge_keys(keys: Array, weights: Array) -> Population:
    """The cases of positive weight with keys of their content; those with the same key are one."""
    counted = np.flatnonzero(weights)
    first, group, numbers = _merge(keys[counted])
    return Population(counted[first], np.bincount(group, weights[counted], len(first)), numbers)


def _merge(keys: Array) -> tuple[Array, Array, Array]:
    """The first case of each key, for every case its group, and a number in (0, 1) per group."""
    ordered = np.sort(keys)
    if (ordered[1:] != ordered[:-1]).all():
        first = group = np.arange(len(keys))
    else:
        keys, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return first, group, _between_0_and_1(keys)


def _between_0_and_1(keys: Array) -> Array:
    return np.asarray(((keys >> np.uint64(11)) + 0.5) * 2.0**-53)
