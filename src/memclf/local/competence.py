"""Competence: whether a local classifier may be trusted on a case.

A detector measures how strange a case is, compared with the cases that the classifier was trained on. What the number
means is learned from held-out training cases: competence is the share of them that are at least as strange.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, clone
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline

from memclf._numbers import Array, column_medians, shares
from memclf.cases import Cases
from memclf.cases.chunks import Chunks
from memclf.cases.steps import skip_known
from memclf.local.on_chunks import call_on_rows
from memclf.local.pool import GLOBAL, Pool
from memclf.protocols import Embeds, gives_scores

ENOUGH = 10  # cases that show what is usual; a smaller cluster takes all training cases
TINY = 1e-12


class Detector(BaseEstimator):
    """Base of detectors, which measure how strange cases are to a classifier.

    `fit` takes what the classifier was trained on; `strangeness` is higher for stranger cases.
    `looks_at` names what the rows are: "embedding" (the penultimate layer of a network, what a pipeline makes of the
    cases, or the cases themselves) or "scores" (one per class). Where a number is missing, it is the median of the
    training cases: a gap by itself is not strange.
    """

    looks_at = "embedding"
    scale_ = 1.0
    usual_: Any = np.nan  # detectors of before know no medians; a gap is infinitely strange to them

    def learn(self, R: Array, y: Array) -> Self:
        """Fit, and find the scale that makes detectors of different clusters comparable.

        Distances are in units of the detector's own median, that of cases which it was not fitted to: a cluster may
        be wide or narrow, and small ones fit their own cases too well.
        """
        self.usual_ = column_medians(R)
        R = self._fill(R)
        if self.looks_at == "embedding":
            held = np.arange(len(R)) % 3 == 0
            usual = clone(self).fit(R[~held], y[~held]).strangeness(R[held])
            self.scale_ = max(float(np.median(usual)), TINY)
        return self.fit(R, y)

    def judge(self, R: Array) -> Array:
        """Strangeness in units of what is usual; what is beyond all numbers is infinitely strange."""
        R, found = self._fill(R), np.full(len(R), np.inf)
        whole = ~np.isnan(R).any(axis=1)
        if whole.any():
            with np.errstate(over="ignore", invalid="ignore"):
                found[whole] = self.strangeness(R if whole.all() else R[whole]) / self.scale_
        return np.where(np.isnan(found), np.inf, found)

    def _fill(self, R: Array) -> Array:
        gaps = np.isnan(R)
        return np.where(gaps, self.usual_, R) if gaps.any() else R

    def fit(self, R: Array, y: Array) -> Self:
        """Learn what is usual from the rows of the training cases and their labels."""
        raise NotImplementedError(f"{type(self).__name__} must define fit(R, y)")

    def strangeness(self, R: Array) -> Array:
        """One number per row."""
        raise NotImplementedError(f"{type(self).__name__} must define strangeness(R)")


class Mahalanobis(Detector):
    """Distance to the nearest class mean, in units of the spread in classes (Lee et al. 2018).

    The covariance is shrunk (Ledoit and Wolf), so that it has an inverse however few cases there are. Directions in
    which training cases hardly vary weigh most: what leaves their subspace is strange.

    Parameters
    ----------
    scaled : bool
        Divide each column that varies by its spread first: for columns that are measured in units of their own.
    """

    def __init__(self, scaled: bool = False):
        self.scaled = scaled

    def fit(self, R: Array, y: Array) -> Self:
        if self.scaled:
            spread = R.std(axis=0)
            self.spread_ = np.where(spread > TINY, spread, 1.0)
            R = R / self.spread_
        classes, codes = np.unique(y, return_inverse=True)
        self.means_ = np.array([R[codes == c].mean(axis=0) for c in range(len(classes))])
        apart = R - self.means_[codes]
        (n, d), shrinkage = apart.shape, float(ledoit_wolf_shrinkage(apart, assume_centered=True))
        # The cases span few of many directions, and in all others the shrunk covariance is the same.
        small = n < d
        spread, vectors = np.linalg.eigh((apart @ apart.T if small else apart.T @ apart) / n)
        kept = spread > TINY * max(float(spread.max()), TINY) if small else np.ones(d, dtype=bool)
        spread = np.maximum(spread[kept], 0.0)
        self.directions_ = apart.T @ vectors[:, kept] / np.sqrt(n * spread) if small else vectors
        even = shrinkage * float((apart**2).sum()) / n / d
        values = (1 - shrinkage) * spread + even
        least = max(TINY, 1e-6 * max(float(values.max(initial=0.0)), even))
        self.values_, self.outside_ = np.maximum(values, least), max(even, least)
        return self

    def strangeness(self, R: Array) -> Array:
        R, found = R / self.spread_ if self.scaled else R, np.full(len(R), np.inf)
        for mean in self.means_:
            apart = R - mean
            inside = (apart @ self.directions_) ** 2
            outside = np.maximum((apart**2).sum(axis=1) - inside.sum(axis=1), 0.0)  # none if there are all directions
            found = np.minimum(found, (inside / self.values_).sum(axis=1) + outside / self.outside_)
        return np.sqrt(found / R.shape[1])


class Neighbours(Detector):
    """Distance to the k-th nearest training case (Sun et al., 2022).

    Parameters
    ----------
    k : int
        Fewer, where there are not as many cases.
    unit : bool
        Look at directions alone, all cases brought to length 1, as is usual for networks. What is merely larger or
        farther out is not strange then.
    """

    def __init__(self, k: int = 5, unit: bool = False):
        self.k = k
        self.unit = unit

    def fit(self, R: Array, y: Array) -> Self:
        self.centre_ = R.mean(axis=0)
        self.cases_ = self._placed(R)
        return self

    def strangeness(self, R: Array) -> Array:
        k = min(self.k, len(self.cases_))
        search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(self.cases_)
        return np.asarray(search.kneighbors(self._placed(R))[0][:, -1])

    def _placed(self, R: Array) -> Array:
        apart = R - self.centre_
        if not self.unit:
            return np.asarray(apart)
        return np.asarray(apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), TINY))


class Energy(Detector):
    """The classifier's own doubt: its scores are low for all classes (Liu et al., 2020)."""

    looks_at = "scores"

    def fit(self, R: Array, y: Array) -> Self:
        self.fitted_ = True
        return self

    def strangeness(self, R: Array) -> Array:
        return -np.asarray(logsumexp(R, axis=1))


DETECTORS: dict[str, type[Detector]] = {each.__name__.lower(): each for each in (Mahalanobis, Neighbours, Energy)}


def detector_for(wanted: Any) -> Detector | None:
    """A detector by name, the given one, or None."""
    if wanted is None or isinstance(wanted, Detector):
        return wanted
    if not isinstance(wanted, str) or wanted not in DETECTORS:
        known = ", ".join(map(repr, DETECTORS))
        raise ValueError(f"competence must be None, one of {known}, or a Detector; got {wanted!r}")
    return DETECTORS[wanted]()


def rows_for(detector: Detector, estimator: Any, stand_in: Any, X: Any, said: Array | None = None) -> Array | None:
    """What the detector looks at; None where the classifier shows nothing of it.

    A cluster of one class has a constant for a classifier, which has no embedding. Embeddings then come from the global
    classifier (`stand_in`), and where there is none, the cases themselves are looked at. `said` are the classifier's
    probabilities of these cases, if they are known already.
    """
    if detector.looks_at == "embedding":
        return embed(*skip_known(stand_in if _is_constant(estimator) else estimator, Cases.of(X)))
    if _is_constant(estimator):
        return None
    estimator, X = skip_known(estimator, Cases.of(X))
    if gives_scores(estimator):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        return np.stack([-scores / 2, scores / 2], axis=1) if scores.ndim == 1 else scores
    said = estimator.predict_proba(X) if said is None else said
    return 2 * np.log(np.maximum(said, TINY))  # so that less sure means less of it


def embed(estimator: Any, X: Any) -> Array | None:
    """The input of an estimator's last step or layer: one row of numbers per case, or None."""
    if isinstance(estimator, Embeds):
        return np.asarray(estimator.embed(X), dtype=np.float64)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        X = estimator[:-1].transform(X)
        if isinstance(estimator[-1], Embeds):
            return embed(estimator[-1], X)
    X = X.toarray() if sp.issparse(X) else X
    try:
        R = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if R.ndim == 2 and np.isinf(R).any():
        if estimator is None:  # a constant, which takes any case
            return None
        raise ValueError(
            "competence looks at the numbers that the last step of the estimator gets, and some are infinite; replace "
            "them in a step before it, or give the answer rule competence=None"
        )
    return R if R.ndim == 2 else None


def _is_constant(estimator: Any) -> bool:
    return isinstance(estimator, DummyClassifier)


def fit_detectors(
    wanted: Detector | None,
    pool: Pool,
    stand_in: Any,
    cases: Cases | Chunks,
    y: Array,
    labels: Array,
    counted: Array,
    known: Mapping[int, Any] | None = None,
) -> list[Any]:
    """For each memory a detector fitted to the training cases of its classifier, or None.

    Parameters
    ----------
    wanted : Detector or None
        Unfitted; cloned for each classifier.
    pool : Pool
    stand_in : classifier or None
        The global classifier.
    cases, y : the training cases
    labels : ndarray
        The memory that each training case belongs to.
    counted : ndarray
        Rows of the training cases that count.
    known : mapping or None
        Detectors that there are already, by the numbers of the memories whose classifiers they belong to.
    """
    if wanted is None:
        return [None] * len(pool.estimators)
    home, found = pool.trained_with, dict(known or {})
    new = [int(each) for each in np.unique(home) if each not in found]
    calls = []
    for k in new:
        rows = counted if k == GLOBAL else counted[home[labels[counted]] == k]
        rows = rows if len(rows) >= ENOUGH else counted
        estimator = pool.estimators[int(np.flatnonzero(home == k)[0])]
        calls.append((rows, wanted, estimator, stand_in, y[rows]))
    if isinstance(cases, Chunks):
        learned = call_on_rows(cases, _learn, calls)
    else:
        learned = [_learn(cases.take(rows), *others) for rows, *others in calls]
    found.update(zip(new, learned, strict=True))
    if all(detector is None for detector in found.values()):
        warnings.warn(
            f"competence={type(wanted).__name__.lower()!r} finds nothing to look at: neither embeddings nor rows of "
            "numbers. With mixed columns, make the estimator a pipeline whose first steps turn them into numbers",
            stacklevel=4,
        )
    return [found[k] for k in home]


def _learn(cases: Cases, wanted: Detector, estimator: Any, stand_in: Any, y: Array) -> Any:
    """A detector fitted to these training cases of a classifier, or None."""
    R = rows_for(wanted, estimator, stand_in, cases)
    return None if R is None else clone(wanted).learn(R, y)


def measure_strangeness(
    detectors: list[Any],
    estimators: list[Any],
    stand_in: Any,
    cases: Cases,
    memory: Array,
    said: Array | None = None,
    classes: Array | None = None,
) -> Array:
    """How strange each case is to the classifier of its memory; NaN where there is no detector.

    `said` are the probabilities that the classifiers gave already, one column for each of `classes`.
    """
    out = np.full(len(memory), np.nan)
    groups: dict[int, list[int]] = {}
    for k, detector in enumerate(detectors):
        if detector is not None:
            groups.setdefault(id(detector), []).append(k)
    for members in groups.values():
        rows = np.flatnonzero(np.isin(memory, members))
        if len(rows):
            k = members[0]
            own = None
            if said is not None and classes is not None:
                own = said[np.ix_(rows, np.searchsorted(classes, estimators[k].classes_))]
            R = rows_for(detectors[k], estimators[k], stand_in, cases.take(rows), own)
            out[rows] = np.nan if R is None else detectors[k].judge(R)
    return out


@dataclass(frozen=True)
class Calibration:
    """What strangeness means, from held-out training cases.

    Attributes
    ----------
    held : ndarray
        Strangeness of held-out training cases, in ascending order; infinite ones last.
    share : ndarray or None
        How much of its group each of them is, where cases come in groups: only groups are independent of each other.
    """

    held: Array
    share: Array | None = None

    @classmethod
    def of(cls, strangeness: Array, groups: Array | None = None) -> Calibration:
        """From the strangeness of held-out cases; NaN, where none was measured, is left out."""
        measured = np.flatnonzero(~np.isnan(strangeness))
        order = measured[np.argsort(strangeness[measured], kind="stable")]
        return cls(strangeness[order], None if groups is None else shares(groups[order]))

    def competence(self, strangeness: Array) -> Array:
        """Share of held-out training cases, and the case itself, that are at least as strange.

        Of groups, where cases come in groups, and the case is a group of its own.
        """
        above = np.arange(len(self.held), -1, -1.0) if self.share is None else _sums_to_the_end(self.share)
        share = (above[np.searchsorted(self.held, strangeness, side="left")] + 1) / (above[0] + 1)
        return np.where(np.isnan(strangeness), 1.0, share)

    def as_strange(self, strangeness: Array) -> Array:
        """How many held-out training cases are at least as strange."""
        return np.asarray(len(self.held) - np.searchsorted(self.held, strangeness, side="left"))

    def excess(self, strangeness: Array) -> Array:
        """Strangeness beyond the usual: 0 to the median of held-out cases, 1 at the 90th percentile."""
        held = self.held[np.isfinite(self.held)]
        if not len(held):
            return np.zeros(len(strangeness))
        middle, high = np.quantile(held, [0.5, 0.9])
        beyond = (strangeness - middle) / max(high - middle, 1e-3 * abs(middle), TINY)
        return np.where(np.isnan(strangeness), 0.0, np.maximum(beyond, 0.0))


def _sums_to_the_end(share: Array) -> Array:
    return np.append(np.cumsum(share[::-1])[::-1], 0.0)
