"""Similarity by rank: two cases are alike when few training cases lie between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.similarity.base import name_measurements
from memclf.similarity.choices import Choices
from memclf.similarity.numeric import RBFSimilarity


class RankSimilarity(RBFSimilarity):
    """`RBFSimilarity` of ranks: two cases are alike when few training cases lie between.

    Every number is replaced by its rank, the share of training cases with a smaller one.
    Ranks need no scale, and skewed columns do no harm: between 1 % and 2 % of a leaf affected there may lie as many
    cases as between 10 % and 40 %. Outside the range of the training numbers the rank continues, by 1 for every width
    of the range, so a number far outside is similar to none. Within a gap between training numbers the rank is
    interpolated, however wide the gap.

    Parameters
    ----------
    gamma : float or None
        Inverse squared scale of ranks, which run from 0 to 1. None: the median heuristic.
    features, n_jobs, verbose
        See `Similarity`.

    Attributes
    ----------
    values_, ranks_ : lists of ndarray
        For each column the distinct numbers of the training cases in order, and their ranks.
    usual_ : ndarray
        For each column the mean squared difference of the ranks of two training cases.
    gamma_, centre_
        Of the ranks, as in `RBFSimilarity`.

    Examples
    --------
    >>> similarity = RankSimilarity(gamma=1.0).fit([[0.0], [1.0], [10.0], [1000.0]])
    >>> Z = similarity.describe([[0.0], [1.0], [10.0], [1000.0]])
    >>> similarity.compare(Z, Z)[1].round(3)
    array([0.939, 1.   , 0.939, 0.779])
    """

    label = "few training cases lie between them"
    accept_sparse: Any = False

    def _fit(self, F: Any, y: Any, sample_weight: Any) -> None:
        weight = np.ones(len(F)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.values_: list[Array] = []
        self.ranks_: list[Array] = []
        usual = []
        for column in F.T:
            values, group = np.unique(column, return_inverse=True)
            share = np.bincount(group, weights=weight) / weight.sum()
            self.values_.append(values)
            ranks = np.cumsum(share) - share / 2  # equal numbers share the middle of their ranks
            self.ranks_.append(ranks)
            usual.append(2 * share @ (ranks - share @ ranks) ** 2)
        self.usual_ = np.array(usual)
        super()._fit(self._ranked(F), y, sample_weight)

    @property
    def measurements_(self) -> list[str]:
        """The names of the columns."""
        return name_measurements(self, len(self.values_))

    @property
    def usual_similarity(self) -> float:
        """The similarity of two cases at the mean distance of training cases."""
        return float(np.exp(-self.gamma_ * self.usual_.sum()))

    def contributions(self, a: Array, b: Array) -> Array:
        """What each column adds to the similarity of two descriptions, against usual cases.

        Positive where the two differ less than two training cases do on the mean. The sum is their similarity less
        `usual_similarity`; the shares are those of Aumann and Shapley, as in `JudgedSimilarity`.
        """
        less = self.gamma_ * (self.usual_ - (np.asarray(a) - np.asarray(b)) ** 2)
        total = less.sum()
        slope = np.expm1(total) / total if abs(total) > 1e-12 else 1.0
        return np.asarray(self.usual_similarity * slope * less)

    def _choices(self, n: int) -> Choices:
        return Choices.unknown(type(self).__name__)

    def _describe(self, F: Any) -> Any:
        return super()._describe(self._ranked(F))

    def _ranked(self, F: Any) -> Array:
        columns = zip(F.T, self.values_, self.ranks_, strict=True)
        return np.stack([_rank(column, values, ranks) for column, values, ranks in columns], axis=1)


def _rank(column: Array, values: Array, ranks: Array) -> Array:
    """Interpolate ranks between training numbers; outside, add 1 for every width of the range."""
    width = values[-1] - values[0]
    outside = column - np.clip(column, values[0], values[-1])
    return np.interp(column, values, ranks) + outside / (width if width > 0 else 1.0)
