"""Several similarities as one."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from memclf._numbers import Array
from memclf.cases import Cases, containers
from memclf.protocols import Compares
from memclf.similarity.base import (
    Similarity,
    checked,
    choices_of,
    describe,
    fit_describe,
    is_lawful,
    list_first_steps,
    trust,
)
from memclf.similarity.choices import Choices


class CombinedSimilarity(Similarity, _BaseComposition):
    """Several similarities, joined into one by product, mean, minimum or maximum.

    Parameters
    ----------
    similarities : list of (name, similarity)
        The parts. Their parameters can be set and tuned as ``name__parameter``.
    how : {"product", "mean", "min", "max"}
        With "product" and "min" two cases must be alike for all parts, with "max" for one of them; with "mean" one
        part can make up for another.
    weights : sequence or None
        For "mean" the weight of each part, for "product" its exponent. None: equal.

    Attributes
    ----------
    similarities_ : list
        The fitted parts.
    widths_, sparse_ : list
        Columns that each part takes in a description (0: an object), and whether they are sparse.

    Examples
    --------
    >>> from memclf.similarity import RBFSimilarity, CosineSimilarity
    >>> both = CombinedSimilarity([("near", RBFSimilarity(1.0)), ("angle", CosineSimilarity())], how="min")
    >>> Z = both.fit_describe([[1.0, 0.0], [0.0, 1.0]])
    >>> both.compare(Z, Z)
    array([[1., 0.],
           [0., 1.]])
    """

    label = "several other similarities agree"

    def __init__(self, similarities: Any, how: str = "product", *, weights: Any = None):
        self.similarities = similarities
        self.how = how
        self.weights = weights

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return dict(self._get_params("similarities", deep=deep))

    def set_params(self, **params: Any) -> CombinedSimilarity:
        self._set_params("similarities", **params)
        return self

    @property
    def lawful(self) -> bool:  # type: ignore[override]
        return all(is_lawful(part) for _, part in self.similarities)

    def choices(self, n: int) -> Choices:
        return sum((choices_of(part, n) for part in self.similarities_), Choices())

    def fit_describe(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        self._validate()
        cases = Cases.of(X).remembering()  # parts may look at the same features
        containers.check_columns(self, cases.data, reset=True)
        self.similarities_ = [clone(part) for _, part in self.similarities]
        parts = [fit_describe(part, cases, y, sample_weight) for part in self.similarities_]
        self.widths_ = [part.shape[1] if _is_matrix(part) else 0 for part in parts]
        self.sparse_ = [sp.issparse(part) for part in parts]
        return self._join(parts)

    def describe(self, X: Any) -> Any:
        check_is_fitted(self)
        cases = Cases.of(X).remembering()
        containers.check_columns(self, cases.data)
        return self._join([describe(part, cases) for part in self.similarities_])

    def trust(self, X: Any) -> Any:
        found = [each for part in self.similarities_ if (each := trust(part, X)) is not None]
        return np.minimum.reduce(found) if found else None

    def list_first_steps(self) -> list[Any]:
        return [step for part in self.similarities_ for step in list_first_steps(part)]

    def compare(self, A: Any, B: Any) -> Array:
        blocks = [
            checked(part, part.compare(a, b), (containers.count(a), containers.count(b)))
            for part, a, b in zip(self.similarities_, self._split(A), self._split(B), strict=True)
        ]
        if self.how == "min":
            return np.asarray(np.minimum.reduce(blocks))
        if self.how == "max":
            return np.asarray(np.maximum.reduce(blocks))
        weights = np.ones(len(blocks)) if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        if self.how == "mean":
            return np.asarray(sum(w * block for w, block in zip(weights / weights.sum(), blocks, strict=True)))
        return np.asarray(np.prod([block**w for w, block in zip(weights, blocks, strict=True)], axis=0))

    def _validate(self) -> None:
        if not self.similarities:
            raise ValueError("similarities must hold at least one (name, similarity) pair")
        for entry in self.similarities:
            if not (isinstance(entry, (tuple, list)) and len(entry) == 2 and isinstance(entry[1], Compares)):
                raise TypeError(f"similarities must be (name, similarity) pairs, got {entry!r}")
        names = [name for name, _ in self.similarities]
        self._validate_names(names)
        if self.how not in ("product", "mean", "min", "max"):
            raise ValueError(f"how must be 'product', 'mean', 'min' or 'max', got {self.how!r}")
        if self.weights is not None and self.how in ("min", "max"):
            raise ValueError(f"weights have no meaning for how={self.how!r}")
        if self.weights is not None:
            weights = np.asarray(self.weights, dtype=np.float64)
            if weights.shape != (len(names),) or (weights < 0).any() or not 0 < weights.sum() < np.inf:
                raise ValueError(
                    f"weights must be {len(names)} numbers, not negative and not all zero; got {self.weights!r}"
                )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        theirs = [get_tags(part) for _, part in self.similarities]
        for name in ("sparse", "allow_nan", "categorical", "string", "pairwise"):
            setattr(tags.input_tags, name, all(getattr(each.input_tags, name) for each in theirs))
        tags.target_tags.required = any(each.target_tags.required for each in theirs)
        tags.no_validation = all(each.no_validation for each in theirs)
        return tags

    def _join(self, parts: list[Any]) -> Any:
        if all(_is_matrix(part) for part in parts):
            return sp.hstack(parts, format="csr") if any(self.sparse_) else np.hstack(parts)
        rows = [[part[[i]] if sp.issparse(part) else part[i] for i in range(containers.count(part))] for part in parts]
        return containers.object_array(list(zip(*rows, strict=True)))

    def _split(self, Z: Any) -> list[Any]:
        if isinstance(Z, np.ndarray) and Z.ndim == 2:
            return np.split(Z, np.cumsum(self.widths_)[:-1], axis=1)
        if sp.issparse(Z):
            ends = np.cumsum(self.widths_)
            parts = [Z[:, end - width : end] for end, width in zip(ends, self.widths_, strict=True)]
            return [part if kept else part.toarray() for part, kept in zip(parts, self.sparse_, strict=True)]
        columns = []
        for column, width, kept in zip(zip(*Z, strict=True), self.widths_, self.sparse_, strict=True):
            if kept:
                columns.append(sp.vstack(column, format="csr"))
            else:
                columns.append(np.array(column) if width else containers.object_array(list(column)))
        return columns


def _is_matrix(part: Any) -> bool:
    return sp.issparse(part) or (isinstance(part, np.ndarray) and part.ndim == 2 and part.dtype.kind in "fiub")
