"""Similarity of records with numbers, categories and gaps (Gower 1971)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from memclf import _cases
from memclf._numbers import Array
from memclf.similarity.base import Similarity


class GowerSimilarity(Similarity):
    """Weighted mean over the columns of how alike two records are, after Gower.

    Numbers: ``1 - |a - b| / range`` (the range seen in training, never below 0). Categories: 1 if equal, 0
    if not. A column that is missing in either record is left out of the mean; records with no column in
    common have similarity 0.

    Parameters
    ----------
    weights : mapping, sequence or None
        Weight per column, by name or by position; columns a mapping leaves out keep weight 1, weight 0
        ignores a column.
    categorical : "auto" or sequence
        Names or positions of the columns to treat as categories. "auto": all that are not numbers.
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
    array([[1.  , 0.25, 0.  ]])
    """

    lawful = True

    def __init__(
        self,
        weights: Any = None,
        *,
        categorical: Any = "auto",
        features: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.weights = weights
        self.categorical = categorical
        self.features = features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, X: Any, *, fit: bool) -> Any:
        if not _cases.is_table(X):
            X = check_array(X, dtype=None, ensure_all_finite="allow-nan", estimator=self, input_name="X")
            if X.dtype.kind == "c":
                raise ValueError("Complex data not supported")
        validate_data(self, X, reset=fit, skip_check_array=True)
        return X

    def _fit(self, F: Any, y: Any, sample_weight: Any) -> None:
        columns = _columns(F)
        self.columns_ = list(columns)
        chosen = None if isinstance(self.categorical, str) else set(self.categorical)
        self._no_strangers("categorical", chosen or ())
        self.categories_: list[Array | None] = []
        ranges = []
        for position, (name, values) in enumerate(columns.items()):
            as_category = not _numeric(values) if chosen is None else name in chosen or position in chosen
            if as_category:
                self.categories_.append(_known(values))
                ranges.append(1.0)
            else:
                self.categories_.append(None)
                numbers = _numbers(name, values)
                seen = numbers[np.isfinite(numbers)]
                ranges.append(float(np.ptp(seen)) if len(seen) else 0.0)
        self.ranges_ = np.array(ranges)
        self.weights_ = self._weights()

    def _no_strangers(self, what: str, names: Any) -> None:
        strange = [
            name
            for name in names
            if name not in self.columns_ and not (isinstance(name, int) and 0 <= name < len(self.columns_))
        ]
        if strange:
            raise ValueError(f"{what} names columns that X does not have: {strange}; X has {self.columns_}")

    def _weights(self) -> Array:
        weights = np.ones(len(self.columns_))
        if isinstance(self.weights, Mapping):
            self._no_strangers("weights", self.weights)
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
        columns = _columns(F)
        described = np.empty((_cases.count(F), len(columns)))
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
        for position, known in enumerate(self.categories_):
            a, b = A[:, position, None], B[None, :, position]
            if known is None and self.ranges_[position] > 0:
                alike = np.maximum(1 - np.abs(a - b) / self.ranges_[position], 0.0)
            else:
                alike = (a == b).astype(np.float64)
            both = ~(np.isnan(a) | np.isnan(b))
            total += self.weights_[position] * np.where(both, alike, 0.0)
            weight += self.weights_[position] * both
        return np.clip(np.divide(total, weight, out=np.zeros_like(total), where=weight > 0), 0.0, 1.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _columns(F: Any) -> dict[Any, Array]:
    if _cases.is_table(F):
        return {name: F[name].to_numpy() for name in F.columns}
    F = np.asarray(F)
    return {position: F[:, position] for position in range(F.shape[1])}


def _missing(value: Any) -> bool:
    return value is None or value != value or str(value) == "<NA>"


def _numeric(values: Array) -> bool:
    if values.dtype.kind in "fiu":
        return True
    return values.dtype == object and all(
        _missing(value) or (isinstance(value, (int, float, np.number)) and not isinstance(value, bool))
        for value in values
    )


def _numbers(name: Any, values: Array) -> Array:
    if values.dtype == object:
        values = np.array([np.nan if _missing(value) else value for value in values], dtype=object)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} held numbers in training and now holds something else: {error}") from error


def _known(values: Array) -> Array:
    return _cases.object_array(sorted({v for v in values.tolist() if not _missing(v)}, key=lambda v: (str(type(v)), v)))


def _codes(values: Array, known: Array) -> Array:
    """The number of each category; categories never seen in training get -1 and so equal none that were."""
    number = {value: float(code) for code, value in enumerate(known)}
    return np.array([np.nan if _missing(v) else number.get(v, -1.0) for v in values.tolist()])
