"""A random similarity: the control that an expert's similarity must beat."""

from __future__ import annotations

import hashlib
from typing import Any

import joblib
import numpy as np

from memclf._numbers import Array
from memclf.cases import Cases, Collection, containers
from memclf.similarity.base import Similarity


class RandomSimilarity(Similarity):
    """Two cases are alike when they were drawn into the same random group.

    It is a control: a memory classifier with random groups of the sizes of another one's clusters has as many local
    classifiers, trained on as many cases each. The group of an image depends on its key alone, so that it stays the
    same under corruption.

    Parameters
    ----------
    sizes : sequence of int
        Sizes of the clusters to imitate; a case is drawn into each group with a probability in proportion.
    random_state : int
    """

    label = "they were drawn into the same random group"
    lawful = True

    def __init__(self, sizes: Any = (1, 1), *, random_state: int = 0):
        self.sizes = sizes
        self.random_state = random_state

    def fit_describe(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        self.fitted_ = True  # there is nothing to learn
        return self.describe(X)

    def describe(self, X: Any) -> Array:
        """The group of each case."""
        edges = np.cumsum(self.sizes) / np.sum(self.sizes)
        data = Cases.of(X).data
        draws = [self._draw(data, position) for position in range(containers.count(data))]
        return np.searchsorted(edges[:-1], draws, side="right").astype(np.float64)[:, None]

    def _draw(self, X: Any, position: int) -> float:
        key = X.key(position) if isinstance(X, Collection) else None
        name = joblib.hash(containers.take(X, np.array([position]))) if key is None else key
        digest = hashlib.blake2b(f"{self.random_state} {name}".encode(errors="backslashreplace"), digest_size=8)
        return int.from_bytes(digest.digest(), "little") / 2**64

    def compare(self, A: Any, B: Any) -> Array:
        return np.equal.outer(np.asarray(A)[:, 0], np.asarray(B)[:, 0]).astype(np.float64)
