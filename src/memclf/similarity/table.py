"""Similarity of records with numbers, categories and gaps (Gower 1971)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from memclf._numbers import Array
from memclf.cases import containers
from memclf.similarity.base import Similarity
from memclf.similarity.columns import columns_of, holds_numbers, is_missing

MISSING = {"half": 0.5, "ignore": 0.0, "unlike": 0.0}


class GowerSimilarity(Similarity):
    """Weighted mean over the columns of how similar two records are (Gower 1971).

    Numbers and dates: ``1 - |a - b| / range``, with the range of the training cases, and at least 0. Categories: 1 if
    equal, 0 if not.

    Parameters
    ----------
    weights : mapping, sequence or None
        Weight per column, by name or by position; columns a mapping leaves out keep weight 1, weight 0
        ignores a column.
    categorical : "auto" or sequence
        Names or positions of the columns to treat as categories. "auto": all that are not numbers.
    missing : {"half", "ignore", "unlike"}
        How a column counts that one of two records lacks: as 0.5; not at all (as in Gower's paper; records with
        gaps are then similar to many others, and become memories); as 0. A column that both lack counts as 1, or
        with "ignore" not at all.
    features, n_jobs, verbose
        See `Similarity`.

    Attributes
    ----------
    columns_ : list
        Names (or positions) of the columns.
    categories_ : list
        Per column the known categories, or None for a number.
    ranges_, weights_ : ndarray
        Range and weight per column.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [20, 40, 60], "sex": ["f", "m", None]})
    >>> similarity = GowerSimilarity().fit(table)
    >>> Z = similarity.describe(table)
    >>> similarity.compare(Z[:1], Z)
    array([[1.  , 0.25, 0.25]])
    """

    label = "their columns agree on average: numbers, categories and gaps"
    lawful = True

    def __init__(
        self,
        weights: Any = None,
        *,
        categorical: Any = "auto",
        missing: str = "half",
        features: Any = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ):
        self.weights = weights
        self.categorical = categorical
        self.missing = missing
        self.features = features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, X: Any, *, fit: bool) -> Any:
        if not containers.is_table(X):
            X = check_array(X, dtype=None, ensure_all_finite="allow-nan", estimator=self, input_name="X")
            if X.dtype.kind == "c":
                raise ValueError("Complex data not supported")
        validate_data(self, X, reset=fit, skip_check_array=True)
        return X

    def _fit(self, F: Any, y: Any, sample_weight: Any) -> None:
        if self.missing not in MISSING:
            raise ValueError(f"missing must be one of {', '.join(map(repr, MISSING))}; got {self.missing!r}")
        columns = columns_of(F)
        self.columns_ = list(columns)
        if isinstance(self.categorical, str) and self.categorical != "auto":
            raise ValueError(f"categorical must be 'auto' or a list of columns, got {self.categorical!r}")
        chosen = None if isinstance(self.categorical, str) else set(self.categorical)
        dtypes = F.dtypes if containers.is_table(F) else [values.dtype for values in columns.values()]
        declared = [str(dtype) == "category" for dtype in dtypes]
        self._check_names("categorical", chosen or ())
        self.categories_: list[Array | None] = []
        ranges = []
        for position, (name, values) in enumerate(columns.items()):
            as_category = name in chosen or position in chosen if chosen is not None else not holds_numbers(values)
            if as_category or (chosen is None and declared[position]):
                self.categories_.append(_known(values))
                ranges.append(1.0)
            else:
                self.categories_.append(None)
                numbers = _numbers(name, values)
                finite = numbers[np.isfinite(numbers)]
                ranges.append(float(np.ptp(finite)) if len(finite) else 0.0)
        self.ranges_ = np.array(ranges)
        self.weights_ = self._weights()

    def _check_names(self, what: str, names: Any) -> None:
        unknown = [
            name
            for name in names
            if name not in self.columns_ and not (isinstance(name, int) and 0 <= name < len(self.columns_))
        ]
        if unknown:
            raise ValueError(f"{what} names columns that X does not have: {unknown}; X has {self.columns_}")

    def _weights(self) -> Array:
        weights = np.ones(len(self.columns_))
        if isinstance(self.weights, Mapping):
            self._check_names("weights", self.weights)
            for name, value in self.weights.items():
                weights[self.columns_.index(name) if name in self.columns_ else name] = value
        elif self.weights is not None:
            given = np.asarray(self.weights, dtype=np.float64)
            if given.shape != weights.shape:
                raise ValueError(f"weights must have one number per column ({len(weights)}), got shape {given.shape}")
            weights = given
        if not np.isfinite(weights).all() or (weights < 0).any() or not weights.sum() > 0:
            raise ValueError(f"weights must be finite, not negative, and not all zero; got {weights.tolist()}")
        return weights

    def _describe(self, F: Any) -> Array:
        columns = columns_of(F)
        described = np.empty((containers.count(F), len(columns)))
        for position, (name, values) in enumerate(columns.items()):
            known = self.categories_[position]
            if known is None:
                numbers = _numbers(name, values)
                described[:, position] = np.where(np.isfinite(numbers), numbers, np.nan)
            else:
                described[:, position] = _codes(values, known)
        return described

    def compare(self, A: Any, B: Any) -> Array:
        total = np.zeros((len(A), len(B)))
        weight = np.zeros_like(total)
        for position, categories in enumerate(self.categories_):
            a, b = A[:, position, None], B[None, :, position]
            if categories is None and self.ranges_[position] > 0:
                alike = np.maximum(1 - np.abs(a - b) / self.ranges_[position], 0.0)
            else:
                alike = (a == b).astype(np.float64)
            gap_a, gap_b = np.isnan(a), np.isnan(b)
            known = ~(gap_a | gap_b)
            if self.missing == "ignore":
                alike, known = np.where(known, alike, 0.0), known.astype(np.float64)
            else:
                alike, known = np.where(known, alike, np.where(gap_a & gap_b, 1.0, MISSING[self.missing])), 1.0
            total += self.weights_[position] * alike
            weight += self.weights_[position] * known
        return np.clip(np.divide(total, weight, out=np.zeros_like(total), where=weight > 0), 0.0, 1.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _numbers(name: Any, values: Array) -> Array:
    if values.dtype.kind in "mM":  # dates and durations
        return np.where(np.isnat(values), np.nan, values.astype("int64").astype(np.float64))
    if values.dtype == object:
        values = np.array([np.nan if is_missing(value) else value for value in values], dtype=object)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} held numbers in training and now holds something else: {error}") from error


def _known(values: Array) -> Array:
    return containers.object_array(
        sorted({v for v in values.tolist() if not is_missing(v)}, key=lambda v: (str(type(v)), v))
    )


def _codes(values: Array, known: Array) -> Array:
    """The number of each category; -1 for categories that training did not have."""
    number = {value: float(code) for code, value in enumerate(known)}
    return np.array([np.nan if is_missing(v) else number.get(v, -1.0) for v in values.tolist()])
