"""The contract of a similarity, and how features reach it.

`describe` looks at each case once; `compare` is cheap and works on descriptions only. Everything after
describing (search, thresholds, routing) needs nothing but descriptions.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, has_fit_parameter, validate_data

from memclf._numbers import Array, TwoBest, two_best
from memclf.cases import Cases, containers
from memclf.cases.chunks import is_chunked
from memclf.cases.lazy import first_case, map_lazily
from memclf.exceptions import SimilarityError
from memclf.protocols import Contributes, Draws, Inspects, Trusts, transforms
from memclf.similarity.choices import Choices
from memclf.similarity.columns import describe_other_cases, describe_other_values
from memclf.similarity.features import compute_features, fit_features, list_steps

SLACK = 1e-9  # rounding that is forgiven at the ends of [0, 1]
LOOSE = 1e-5  # the same for numbers of single precision
USE_GOWER = (
    "Use GowerSimilarity, which compares numbers, categories and dates, or turn the columns into numbers with features="
)
USE_GOWER_FOR_GAPS = (
    "Use GowerSimilarity, which takes gaps, or fill them first, as features=make_pipeline(SimpleImputer(), ...)."
)


class Similarity(BaseEstimator):
    """Base of all similarities: define `compare`, and `_fit` and `_describe` if needed.

    Parameters
    ----------
    features : transformer, function or None
        What is measured of a case. A transformer (``fit``, ``transform``) takes batches of cases; a plain
        function takes one case and returns its features. None: the cases are the features.
    n_jobs : int or None
        Workers for extracting features.
    verbose : int
        Show a progress bar while extracting features.
    """

    #: When two cases are alike, as the end of a sentence: "two cases are alike when ...". Pages show it.
    label: ClassVar[str] = ""

    # Built-in similarities are in [0, 1], symmetric and reflexive by construction and skip the checks.
    lawful = False

    features: Any = None
    n_jobs: int | None = None
    verbose: int | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn whatever the comparison needs (scales, ranges, a tree). Returns self."""
        self.fit_describe(X, y, sample_weight)
        return self

    def fit_describe(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """`fit` and `describe` in one go, looking at every case only once."""
        cases = Cases.of(X)
        if self.features is None:
            F = self._check(cases.data, fit=True)
        else:
            self.features_ = self.fit_features(cases, y, sample_weight)
            F = self.measure(self.features_, cases)
        self._fit_counted(F, y, sample_weight)
        return self._describe(F)

    def fit_features(self, cases: Cases, y: Any = None, sample_weight: Any = None) -> Any:
        """The features, fitted to the cases that count; a function is returned as it is."""
        if not transforms(self.features):
            if not callable(self.features):
                raise TypeError(f"features must be a transformer or a function of one case, got {self.features!r}")
            return self.features
        if sample_weight is not None:
            counted = np.flatnonzero(positive_weights(sample_weight, len(cases)))
            cases, y = cases.take(counted), _take(y, counted)
        return fit_features(self.features, cases, y, n_jobs=self.n_jobs, verbose=self.verbose)

    def measure(self, features: Any, cases: Cases) -> Any:
        """What fitted features give for the cases, checked."""
        return compute_features(features, cases, n_jobs=self.n_jobs, verbose=self.verbose)

    def fit_rows(self, features: Any, F: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """`fit` with features that are fitted already, and what they gave for the cases (`measure`)."""
        self.features_ = features
        self._fit_counted(F, y, sample_weight)
        return self

    def _fit_counted(self, F: Any, y: Any, sample_weight: Any) -> None:
        if sample_weight is None:
            self._fit(F, y, None)
            return
        # A case of weight zero is described, but nothing is learned from it.
        sample_weight = positive_weights(sample_weight, containers.count(F))
        counted = np.flatnonzero(sample_weight)
        self._fit(containers.take(F, counted), _take(y, counted), sample_weight[counted])

    def describe(self, X: Any) -> Any:
        """The descriptions of the cases: all that comparing them will ever need.

        Of a Dask array, data frame or bag a Dask array, which is computed later.
        """
        check_is_fitted(self)
        if is_chunked(X):
            return map_lazily(describe, self, X, describe(self, first_case(X)))
        return self._describe(self._rows(Cases.of(X)))

    def _rows(self, cases: Cases) -> Any:
        """What the features give for the cases; without features the cases, checked."""
        return self._check(cases.data, fit=False) if self.features is None else self.measure(self.features_, cases)

    def trust(self, X: Any) -> Any:
        """How far to trust each description, from 0 to 1; None if the features cannot tell."""
        feature = None if self.features is None else list_steps(self.features_)[0]
        return feature.trust(Cases.of(X).given_to(feature)) if isinstance(feature, Trusts) else None

    def list_first_steps(self) -> list[Any]:
        """The transformers that look at a case first; [] if there are none."""
        return [list_steps(self.features_)[0]] if self.features is not None and transforms(self.features_) else []

    def compare(self, A: Any, B: Any) -> Array:
        """Similarities of descriptions in [0, 1], an array of shape ``(len(A), len(B))``.

        When the similarity is not symmetric, `A` holds memories and `B` cases.
        """
        raise NotImplementedError(f"{type(self).__name__} must define compare(A, B)")

    def nearest_two(self, A: Any, B: Any) -> TwoBest:
        """For each description in `B`, the two most similar in `A`: the same as through `compare`.

        A similarity that can order descriptions faster than it can compare them defines it anew.
        """
        return two_best(self.compare(A, B))

    def choices(self, n: int) -> Choices:
        """How many similarities training on n cases could have produced; bounds count them."""
        if self.features is not None and transforms(self.features):
            return self._choices(n) + Choices.unknown(f"the features ({type(self.features).__name__})")
        return self._choices(n)

    def _choices(self, n: int) -> Choices:
        """`choices` without the features."""
        return Choices.unknown(type(self).__name__)

    def _fit(self, F: Any, y: Any, sample_weight: Any) -> None:
        self.fitted_ = True

    def _describe(self, F: Any) -> Any:
        return F

    def _check(self, X: Any, *, fit: bool) -> Any:
        """Cases that are themselves the features, checked."""
        return X


class NumericSimilarity(Similarity):
    """Base of similarities on rows of numbers."""

    lawful = True
    accept_sparse: Any = False
    allow_nan = False
    default = False  # whether it is what similarity=None stands for; messages say so

    def _check(self, X: Any, *, fit: bool) -> Any:
        if containers.is_table(X):  # first, so that an error about names comes before one about values
            validate_data(self, X, reset=fit, skip_check_array=True)
        try:
            finite = "allow-nan" if self.allow_nan else True
            return validate_data(
                self, X, reset=fit, dtype=np.float64, accept_sparse=self.accept_sparse, ensure_all_finite=finite
            )
        except (TypeError, ValueError) as error:
            if "NaN" in str(error):
                raise ValueError(f"{str(error).splitlines()[0]} {USE_GOWER_FOR_GAPS}") from error
            if others := describe_other_values(X):
                raise ValueError(
                    f"{type(self).__name__} needs numbers, but these columns hold other values: {others}. {USE_GOWER}"
                ) from error
            what, features = describe_other_cases(X)
            if what:
                default = ", the default similarity," if self.default else ""
                raise ValueError(
                    f"{type(self).__name__}{default} compares rows of numbers, but X is {what}. Give features that "
                    f"measure a case: {features}"
                ) from error
            raise

    def measure(self, features: Any, cases: Cases) -> Any:
        F = super().measure(features, cases)
        if not (sp.issparse(F) and self.accept_sparse):
            F = rows_of_numbers(F.toarray() if sp.issparse(F) else F)
        good = np.isfinite(F.data if sp.issparse(F) else F)
        if self.allow_nan:
            good = ~np.isinf(F)
        if not good.all():
            where = "" if sp.issparse(F) else f" (first: case {int(np.argmin(good.all(axis=1)))})"
            what = "infinity" if self.allow_nan else "NaN or infinity"
            raise ValueError(f"features returned {what}{where}; {type(self).__name__} needs finite numbers")
        return F

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self.accept_sparse)
        tags.input_tags.allow_nan = self.allow_nan
        return tags


def rows_of_numbers(F: Any) -> Array:
    """What features returned as an array of numbers, one row per case."""
    if isinstance(F, np.ndarray) and F.dtype == object and F.ndim == 1:  # from a function, case by case
        lengths = {np.size(row) for row in F}
        if len(lengths) > 1:
            raise ValueError(
                f"the feature function returned rows of different lengths: {sorted(lengths)}. A function given as "
                "features gets one case at a time. If it takes all cases at once, give "
                "features=sklearn.preprocessing.FunctionTransformer(function)"
            )
        F = np.array([np.ravel(row) for row in F])
    try:
        F = np.asarray(F, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if others := describe_other_values(F):
            raise ValueError(
                f"the features returned values that are not numbers, in these columns: {others}. {USE_GOWER}"
            ) from error
        raise
    return F if F.ndim > 1 else F[:, None]


def choices_of(similarity: Any, n: int) -> Choices:
    """`Similarity.choices` of any object that can fit, describe and compare."""
    return similarity.choices(n) if isinstance(similarity, Similarity) else Choices.unknown(type(similarity).__name__)


def _take(y: Any, rows: Array) -> Any:
    return None if y is None else containers.take(containers.as_container(y), rows)


def positive_weights(sample_weight: Any, n: int) -> Array:
    """Weights of n cases, checked: finite, not negative, not all zero."""
    weights = _check_sample_weight(sample_weight, np.empty(n), dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("sample_weight is zero for every case, so there is nothing to learn from")
    return np.asarray(weights)


def fit_describe(similarity: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Fit any similarity that keeps the contract, and describe the cases, each once if it can."""
    extra = {}
    if sample_weight is not None and has_fit_parameter(similarity, "sample_weight"):
        extra["sample_weight"] = sample_weight
    if isinstance(similarity, Similarity):
        return similarity.fit_describe(_argument(similarity, similarity.fit_describe, X), y, **extra)
    similarity.fit(Cases.of(X).data, y, **extra)
    return describe(similarity, X)


def learns_from_rows(similarity: Any) -> bool:
    """Whether a similarity has features and no `fit` of its own, so that `fit_rows` fits it."""
    return (
        isinstance(similarity, Similarity)
        and type(similarity).fit is Similarity.fit
        and type(similarity).fit_describe is Similarity.fit_describe
        and similarity.features is not None
    )


def describe(similarity: Any, X: Any) -> Any:
    """Descriptions of the cases by any fitted similarity that keeps the contract."""
    if isinstance(similarity, Similarity):
        return similarity.describe(_argument(similarity, similarity.describe, X))
    return Cases.of(X).remember((similarity,), lambda some: similarity.describe(some.data))


def fitted_features(similarity: Any) -> Any:
    """What a fitted similarity looks at in a case; None where it compares the cases themselves."""
    return getattr(similarity, "features_", None)  # a similarity of the user's own need not have features


def list_first_steps(similarity: Any) -> list[Any]:
    """The transformers by which a fitted similarity looks at a case first; [] if none."""
    return similarity.list_first_steps() if isinstance(similarity, Similarity) else []


def name_measurements(similarity: Any, m: int) -> list[str]:
    """The names of the m numbers that a fitted similarity compares."""
    if similarity.features is None:
        names = vars(similarity).get("feature_names_in_", ())
    else:
        try:
            names = similarity.features_.get_feature_names_out()
        except (AttributeError, ValueError, TypeError):
            names = ()
    return [str(name) for name in names] if len(names) == m else [f"measurement {j}" for j in range(m)]


def find_drawing(similarity: Any) -> Draws | None:
    """A fitted similarity's feature that can draw what it measures; None if there is none."""
    features = fitted_features(similarity)
    feature = None if features is None else list_steps(features)[0]  # in a pipeline, the first step sees the cases
    return feature if isinstance(feature, Draws) else None


def find_measurements(similarity: Any, X: Any) -> tuple[Any, Any]:
    """A similarity's feature that can draw, and the numbers it measures; None if there is none."""
    feature = find_drawing(similarity)
    if feature is None:
        return None, None
    return feature, np.asarray(feature.transform(Cases.of(X).given_to(feature)))


def explain_likeness(similarity: Any, A: Any, k: int, B: Any, i: int) -> tuple[tuple[str, float], ...]:
    """What each measurement adds to the similarity of two of some descriptions, largest first.

    Before them stands the similarity of two usual cases, from which they add up; () if the similarity cannot tell.
    """
    if not isinstance(similarity, Contributes):
        return ()
    added = np.asarray(similarity.contributions(A[k], B[i]))
    order = np.argsort(-np.abs(added), kind="stable")
    shown = ((similarity.measurements_[m], float(added[m])) for m in order)
    return (("two usual cases", float(similarity.usual_similarity)), *shown)


def inspect(similarity: Any, X: Any) -> Array | None:
    """All that the expert features of a similarity measure in each case; None if it has none."""
    inspecting = [step for step in list_first_steps(similarity) if isinstance(step, Inspects)]
    rows = [np.asarray(step.inspect(Cases.of(X).given_to(step))) for step in inspecting]
    return np.hstack(rows) if rows else None


def trust(similarity: Any, X: Any) -> Any:
    """How far to trust each description, from 0 to 1; None if the similarity cannot tell."""
    return similarity.trust(_argument(similarity, similarity.trust, X)) if isinstance(similarity, Trusts) else None


def _argument(similarity: Any, method: Any, X: Any) -> Any:
    """X as `Cases` for methods of memclf, as plain data for methods of a user's class."""
    own = isinstance(similarity, Similarity) and str(method.__module__).startswith("memclf.")
    return Cases.of(X) if own else Cases.of(X).data


def is_lawful(similarity: Any) -> bool:
    """Whether values are in [0, 1], symmetric and reflexive by construction: not checked."""
    return isinstance(similarity, Similarity) and bool(similarity.lawful)


class OutOfRange(SimilarityError):
    """A value outside [0, 1] at row i and column j of a block; `compared` names the cases."""

    def __init__(self, i: int, j: int, value: float):
        super().__init__(f"the similarity at row {i} and column {j} is {value}, not a number from 0 to 1")
        self.at, self.value = (i, j), value


def compared(similarity: Any, A: Any, B: Any, rows: Array, columns: Array) -> Array:
    """Similarities of `A` and `B`, checked; messages name cases by `rows` and `columns`."""
    try:
        return checked(similarity, similarity.compare(A, B), (len(rows), len(columns)))
    except OutOfRange as error:
        i, j = error.at
        raise SimilarityError(
            f"the similarity of {case_name(rows[i])} and {case_name(columns[j])} is {error.value}; "
            "a similarity is a number from 0 (nothing in common) to 1 (alike in all that matters). "
            "Turn a distance d into one with exp(-d) or 1 - d / largest_d."
        ) from error


def nearest_two(similarity: Any, A: Any, B: Any, rows: Array, columns: Array) -> TwoBest:
    """The two most similar in `A` to each in `B`, checked as `compared` does."""
    if not can_order(similarity):
        return two_best(compared(similarity, A, B, rows, columns))
    return similarity.nearest_two(A, B)


def can_order(similarity: Any) -> bool:
    """Whether `nearest_two` is faster than `compare`, and was written for this `compare`."""
    if not is_lawful(similarity):
        return False
    order, compare = (_owner(type(similarity), name) for name in ("nearest_two", "compare"))
    return order is not Similarity and issubclass(order, compare)


def _owner(kind: type, method: str) -> type:
    return next(each for each in kind.__mro__ if method in vars(each))


def compare_memories(similarity: Any, memories: Any, indices: Array, Z: Any, first: int = 0) -> Array:
    """Similarities of memories (rows) to cases (columns), checked; errors count from `first`."""
    return compared(similarity, memories, Z, indices, _new_cases(Z, first))


def nearest_memories(similarity: Any, memories: Any, indices: Array, Z: Any, first: int = 0) -> TwoBest:
    """The two most similar memories of each case, checked; errors count from `first`."""
    return nearest_two(similarity, memories, Z, indices, _new_cases(Z, first))


def _new_cases(Z: Any, first: int) -> Array:
    """How `case_name` is told of new cases."""
    return -1 - first - np.arange(containers.count(Z))


def checked(similarity: Any, block: Any, shape: tuple[int, int]) -> Array:
    """What `compare` returned, if it is a block of similarities."""
    name = type(similarity).__name__
    try:
        given = np.asarray(block)
        block = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SimilarityError(f"{name}.compare must return numbers, got {type(block).__name__}: {error}") from error
    if block.shape != shape:
        raise SimilarityError(
            f"{name}.compare must return one row per memory and one column per case, shape {shape}; "
            f"got shape {block.shape}"
        )
    if is_lawful(similarity) or not block.size:
        return block
    slack = LOOSE if given.dtype.kind == "f" and given.dtype.itemsize < 8 else SLACK
    low, high = block.min(), block.max()
    if low >= -slack and high <= 1 + slack:  # false for NaN
        return np.clip(block, 0.0, 1.0)
    i, j = np.argwhere(~((block >= -slack) & (block <= 1 + slack)))[0].tolist()
    raise OutOfRange(i, j, float(block[i, j]))


def case_name(position: int) -> str:
    """The name of a case in messages: its row in training, or its place in the batch."""
    return f"case {position}" if position >= 0 else f"new case {-position - 1}"
