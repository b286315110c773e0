"""Fitted parts that a later fit takes over where the cases behind them have not changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.local.pool import GLOBAL, Pool, gather_rows


@dataclass(frozen=True)
class Former:
    """Parts of a fitted classifier, for a fit with other memories or more cases.

    Attributes
    ----------
    pool : Pool
    indices : ndarray
        Rows of its memories.
    members : list of ndarray
        Rows of its clusters.
    global_classifier, fallback_classifier : classifier or None
        None: fitted anew where they are needed.
    answer : answer rule or None
        One that keeps what it learned on folds. None: a new one.
    measurements : ndarray or None
        Of the memories of the new fit.
    seeds : ndarray or None
        Of the local classifiers of the new fit; None: drawn as always.
    """

    pool: Pool
    indices: Array
    members: list[Array]
    global_classifier: Any = None
    fallback_classifier: Any = None
    answer: Any = None
    measurements: Array | None = None
    seeds: Array | None = None

    @property
    def is_edit(self) -> bool:
        """Whether other memories get the same training cases, so that what all cases teach stays."""
        return self.answer is not None

    def find_unchanged(self, indices: Array, members: list[Array], home: Array, seeds: Array | None) -> dict[int, int]:
        """New numbers of memories whose classifiers learned from the same cases -> former numbers."""
        if (seeds is None) != (self.pool.seeds is None):
            return {}
        former = self._keys(self.indices, self.members, self.pool.trained_with, self.pool.seeds)
        return {k: former[key] for key, k in self._keys(indices, members, home, seeds).items() if key in former}

    @staticmethod
    def _keys(indices: Array, members: list[Array], home: Array, seeds: Array | None) -> dict[Any, int]:
        heads = [int(k) for k in np.unique(home) if k != GLOBAL]
        return {
            (int(indices[k]), None if seeds is None else int(seeds[k]), gather_rows(members, home, k).tobytes()): k
            for k in heads
        }
