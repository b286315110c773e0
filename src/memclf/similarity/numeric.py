"""Similarities of rows of numbers."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import safe_sparse_dot

from memclf._numbers import Array, TwoBest, two_best
from memclf.cases import distinct
from memclf.similarity.base import NumericSimilarity
from memclf.similarity.choices import Choices
from memclf.similarity.nearest import Finish, Order, nearest_two_in_blocks

FEW = 16
FAR = 20.0  # gamma times squared length, up to which a rounded product keeps similarities within 1e-13
MEDIAN_SAMPLE = 1000  # distinct cases from which the median distance is taken


class RBFSimilarity(NumericSimilarity):
    """``exp(-gamma * d**2)`` with the Euclidean distance d.

    Columns on different scales should be brought to one first, for instance with ``features=StandardScaler()``.

    Parameters
    ----------
    gamma : float or None
        Inverse squared scale. None: the median heuristic, ``1 / (2 * median(d**2))`` over pairs of distinct
        training cases (of at most 1,000 of them).
    features, n_jobs, verbose
        See `Similarity`.

    Attributes
    ----------
    gamma_ : float
        The scale in use.
    centre_ : ndarray
        Median of the distinct training cases, subtracted in descriptions so that distances keep their digits.

    Examples
    --------
    >>> similarity = RBFSimilarity(gamma=1.0).fit([[0.0], [1.0]])
    >>> Z = similarity.describe([[0.0], [1.0]])
    >>> similarity.compare(Z, Z).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    label = "they are near in Euclidean distance"
    default = True

    def __init__(
        self, gamma: float | None = None, *, features: Any = None, n_jobs: int | None = None, verbose: int | None = None
    ):
        self.gamma = gamma
        self.features = features
        self.n_jobs = n_jobs
        self.verbose = verbose

    accept_sparse: Any = "csr"

    def _fit(self, F: Any, y: Any, sample_weight: Any) -> None:
        gamma = self.gamma
        if gamma is not None and (not isinstance(gamma, Real) or not np.isfinite(gamma) or gamma <= 0):
            raise ValueError(f"gamma must be a positive number or None (median heuristic), got {gamma!r}")
        # Of distinct cases in their own order, so that neither repeating nor shuffling cases changes a digit.
        rows = F[distinct(F)[0]]
        self.gamma_ = float(gamma) if gamma is not None else _median_gamma(rows)
        # Centring a sparse matrix would fill it.
        self.centre_ = np.zeros(F.shape[1]) if sp.issparse(F) else np.median(rows, axis=0)

    def _choices(self, n: int) -> Choices:
        if self.gamma is not None:
            return Choices()
        learned = "its scale, gamma, was taken from the cases (not from their labels), and that is not counted"
        return Choices(0.0, False, (f"{learned}; give gamma",))

    def _describe(self, F: Any) -> Any:
        if sp.issparse(F):
            return F if not self.centre_.any() else F.toarray() - self.centre_
        return F - self.centre_

    def _scale(self) -> tuple[float, float]:
        """Gamma, and minus a slightly smaller one for the norms.

        It makes the distance of a case to itself exactly zero in spite of rounding.
        """
        gamma = getattr(self, "gamma_", self.gamma)  # with gamma given, compare works before fit
        if gamma is None:
            raise NotFittedError("RBFSimilarity has no scale yet: fit it first, or give gamma")
        return gamma, -gamma * (1 - 8 * np.finfo(np.float64).eps)

    def compare(self, A: Any, B: Any) -> Array:
        gamma, shrink = self._scale()
        a, b = shrink * _squares(A), shrink * _squares(B)
        if sp.issparse(A) or sp.issparse(B) or len(A) < FEW:
            exponent = safe_sparse_dot(A, B.T, dense_output=True)
            exponent *= 2 * gamma
            exponent += a
            exponent += b.T
        else:  # the whole exponent in one matrix product, which is faster when there are enough rows
            one = np.ones_like
            exponent = np.hstack([2 * gamma * A, a, one(a)]) @ np.hstack([B, one(b), b]).T
        far = np.flatnonzero(-a[:, 0] > FAR)
        if len(far) and not sp.issparse(A) and not sp.issparse(B):
            # Far from the centre a product loses digits. The test looks at A, the memories, so that the answer for a
            # case does not depend on the other cases of its batch.
            exponent[far] = -gamma * cdist(A[far], B, "sqeuclidean")
        np.minimum(exponent, 0.0, out=exponent)
        return np.asarray(np.exp(exponent, out=exponent))

    def nearest_two(self, A: Any, B: Any) -> TwoBest:
        """Distances are ordered; only the smallest are turned into similarities."""
        if sp.issparse(A) or sp.issparse(B):
            return two_best(self.compare(A, B))
        gamma, shrink = self._scale()
        a = (shrink * _squares(A))[:, 0]
        far = np.flatnonzero(-a > FAR)
        scaled = np.column_stack([2 * gamma * A, a])

        def compare_with(some: Array) -> tuple[Order, Finish]:
            # The squared length of a case is the same for all memories, so it is left out of their order. Beside far
            # ones it is not, since their digits would be lost in it.
            b = shrink * _squares(some)

            def order(some: Array, out: Array) -> Array:
                # A column of ones adds the squared lengths of the memories within the product.
                np.matmul(scaled, np.hstack([some, np.ones_like(b)]).T, out=out)
                if len(far):  # see `compare`
                    out += b.T
                    out[far] = -gamma * cdist(A[far], some, "sqeuclidean")
                return out

            def finish(numbers: Array, cases: Array) -> Array:
                exponent = np.minimum(numbers if len(far) else numbers + b[cases, 0], 0.0)
                return np.asarray(np.exp(exponent, out=exponent))

            return order, finish

        return nearest_two_in_blocks(compare_with, A, B)


def _squares(A: Any) -> Array:
    """Squared length of each row, as a column."""
    squares = A.multiply(A).sum(axis=1) if sp.issparse(A) else np.einsum("ij,ij->i", A, A)
    return np.asarray(squares).reshape(-1, 1)


def _halved(F: Any, times: Array) -> Any:
    """Each row, halved `times` times: exact, and squares stay within the range of floats."""
    if not sp.issparse(F):
        return np.ldexp(F, -times[:, None])
    halved = F.copy()
    halved.data = np.ldexp(F.data, -np.repeat(times, np.diff(F.indptr)))
    return halved


def _median_gamma(rows: Any) -> float:
    if rows.shape[0] > MEDIAN_SAMPLE:
        rows = rows[np.sort(np.random.default_rng(0).choice(rows.shape[0], MEDIAN_SAMPLE, replace=False))]
    rows = rows.toarray() if sp.issparse(rows) else rows
    if len(rows) < 2:
        return 1.0  # with one distinct case every scale gives the same similarities
    with np.errstate(divide="ignore", over="ignore"):
        gamma = float(1 / (2 * np.median(pdist(rows, "sqeuclidean"))))
    if not 0 < gamma < np.inf:
        raise ValueError(
            "the median distance between cases is too large or too small for a number; scale the columns, for "
            "instance with features=StandardScaler(), or give gamma"
        )
    return gamma


class CosineSimilarity(NumericSimilarity):
    """Cosine of the angle between two rows; negative values count as 0.

    Rows of zeros have no direction: they are alike among themselves (1) and unlike all others (0).
    Sparse rows (for instance of a ``TfidfVectorizer``) are kept sparse.

    Examples
    --------
    >>> similarity = CosineSimilarity().fit([[1.0, 0.0], [1.0, 1.0]])
    >>> Z = similarity.describe([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> similarity.compare(Z[:1], Z).round(3)
    array([[1.   , 0.707, 0.   ]])
    """

    label = "they point in the same direction"
    accept_sparse = "csr"

    def __init__(self, *, features: Any = None, n_jobs: int | None = None, verbose: int | None = None):
        self.features = features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _choices(self, n: int) -> Choices:
        return Choices()

    def _describe(self, F: Any) -> Any:
        largest = np.asarray(abs(F).max(axis=1).todense() if sp.issparse(F) else np.abs(F).max(axis=1)).reshape(-1)
        unit = normalize(_halved(F, np.frexp(largest)[1]))
        no_direction = (largest == 0).astype(np.float64)[:, None]
        if sp.issparse(unit):
            return sp.hstack([unit, sp.csr_matrix(no_direction)], format="csr")
        return np.hstack([unit, no_direction])

    def compare(self, A: Any, B: Any) -> Array:
        return np.clip(safe_sparse_dot(A, B.T, dense_output=True), 0.0, 1.0)

    def nearest_two(self, A: Any, B: Any) -> TwoBest:
        """A part of the cases at a time."""
        if sp.issparse(A) or sp.issparse(B):
            return two_best(self.compare(A, B))

        def order(some: Array, out: Array) -> Array:
            return np.matmul(A, some.T, out=out)

        def finish(numbers: Array, cases: Array) -> Array:
            return np.clip(numbers, 0.0, 1.0)

        return nearest_two_in_blocks(lambda some: (order, finish), A, B)
