"""The distinct ones among very many cases, and batches of witnesses drawn from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memclf._numbers import Array
from memclf.memory.blocks import Blocks


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
        keys = blocks.keys()
        if keys is None:
            counted = np.flatnonzero(weights)
            first, group = blocks.distinct(counted)
            return cls(
                counted[first], np.bincount(group, weights[counted]), np.random.default_rng(0).random(len(first))
            )
        return merge_keys(keys, weights)

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
    keys = keys[counted]
    ordered = np.sort(keys)
    if (ordered[1:] != ordered[:-1]).all():
        return Population(counted, weights[counted], _between_0_and_1(keys))
    unique, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return Population(counted[first], np.bincount(group, weights[counted]), _between_0_and_1(unique))


def _between_0_and_1(keys: Array) -> Array:
    return np.asarray(((keys >> np.uint64(11)) + 0.5) * 2.0**-53)
