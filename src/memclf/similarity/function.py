"""A function or a matrix of the user as a similarity."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils.validation import validate_data

from memclf._numbers import Array
from memclf.cases import Cases, containers
from memclf.similarity.base import Similarity, positive_weights, rows_of_numbers
from memclf.similarity.choices import Choices

WORTH_SHARING = 0.05  # seconds of work that are worth starting workers for


class FunctionSimilarity(Similarity):
    """A similarity that is computed by a function of two cases.

    Parameters
    ----------
    function : callable
        ``f(x1, x2) -> number`` on two cases, or with `batched` ``f(A, B) -> array of shape (len(A), len(B))``.
        Cases reach it as they are: rows of an array, items of a list, rows of a table as dictionaries.
    batched : bool
        Whether the function compares many cases at once. Much faster where numpy can do it.
    features, n_jobs, verbose
        See `Similarity`. `n_jobs` also spreads the calls of a function that is not batched.
    **parameters
        Keyword arguments of the function. They are parameters of the similarity, with the function's own
        defaults, and can be tuned: ``GridSearchCV(clf, {"similarity__scale": [1, 2, 4]})``.

    Examples
    --------
    >>> def near(a, b, scale=1.0):
    ...     return max(0.0, 1 - abs(a - b) / scale)
    >>> similarity = FunctionSimilarity(near, scale=10.0).fit([1, 2, 7])
    >>> similarity.compare([1], [2, 7])
    array([[0.9, 0.4]])
    >>> similarity.get_params()["scale"]
    10.0
    """

    label = "a function of the user says so"
    _pace = 0.0  # seconds that the function took for a pair, last time

    def __init__(
        self,
        function: Callable[..., Any],
        batched: bool = False,
        *,
        features: Any = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        **parameters: Any,
    ):
        self.function = function
        self.batched = batched
        self.features = features
        self.n_jobs = n_jobs
        self.verbose = verbose
        self._parameters = parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        own = super().get_params(deep=deep)
        return {**_keywords(self.function, own), **self._parameters, **own}

    def set_params(self, **params: Any) -> FunctionSimilarity:
        own = set(super()._get_param_names())
        theirs = _keywords(self.function, own)
        for name in list(params):
            if name in theirs or name in self._parameters:
                self._parameters = {**self._parameters, name: params.pop(name)}
        super().set_params(**params)
        return self

    def _fit(self, F: Any, y: Any, sample_weight: Any) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be a function of two cases, got {self.function!r}")
        reserved = set(super()._get_param_names()) & set(_keywords(self.function, ()))
        if reserved:
            raise ValueError(
                f"the function's keyword arguments {sorted(reserved)} have names that FunctionSimilarity uses "
                "itself; rename them in the function"
            )
        extra = set(self._parameters) - set(_keywords(self.function, ()))
        if extra and not _takes_any_keyword(self.function):
            raise TypeError(
                f"{self.name} has no keyword arguments {sorted(extra)}; it has {sorted(_keywords(self.function, ()))}"
            )
        super()._fit(F, y, sample_weight)

    def _choices(self, n: int) -> Choices:
        return Choices()

    def _check(self, X: Any, *, fit: bool) -> Any:
        if containers.count(X) == 0:
            raise ValueError("there are no cases: Found array with 0 sample(s)")
        containers.check_columns(self, X, reset=fit)
        return X

    def _describe(self, F: Any) -> Any:
        Z = containers.as_sequence(F)
        if self.batched and isinstance(Z, np.ndarray) and Z.dtype == object and self.features is not None:
            kinds = {(np.shape(row), np.asarray(row).dtype.kind) for row in Z}
            if len(kinds) == 1 and kinds.pop()[1] in "fiub":  # a function of batches gets a matrix where it can
                return rows_of_numbers(Z)
        return Z

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True  # a case may be whatever the function takes
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @property
    def name(self) -> str:
        """The name of the function."""
        return name_of(self.function)

    def compare(self, A: Any, B: Any) -> Array:
        if self.batched:
            return self.function(A, B, **self._parameters)
        workers = effective_n_jobs(self.n_jobs)
        n = containers.count(B)
        pairs = containers.count(A) * n
        if workers == 1 or pairs * self._pace < WORTH_SHARING:
            start = time.perf_counter()
            block = _pairs(self.function, A, B, self._parameters)
            self._pace = (time.perf_counter() - start) / max(1, pairs)
            return block
        parts = containers.chunks(n, -(-n // (4 * workers)))
        run = Parallel(n_jobs=self.n_jobs)
        return np.hstack(run(delayed(_pairs)(self.function, A, B[part], self._parameters) for part in parts))


def name_of(function: Any) -> str:
    """The name of a function, or its `repr` if it has none, as partial functions."""
    # Callable objects need not have a name.
    return str(getattr(function, "__name__", repr(function)))


def _pairs(function: Callable[..., Any], A: Any, B: Any, parameters: dict[str, Any]) -> Array:
    out = np.empty((containers.count(A), containers.count(B)))
    for i, a in enumerate(A):
        for j, b in enumerate(B):
            value = function(a, b, **parameters)
            try:
                out[i, j] = float(value)  # float, because numpy would take None for NaN
            except (TypeError, ValueError) as error:
                raise TypeError(
                    f"{name_of(function)} must return one number for two cases, it returned {value!r}"
                ) from error
    return out


def _keywords(function: Any, besides: Any) -> dict[str, Any]:
    """Keyword arguments of the function with their defaults."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # not a function, or one written in C
        return {}
    return {
        name: parameter.default
        for name, parameter in list(signature.parameters.items())[2:]  # the first two are the cases
        if parameter.default is not parameter.empty and name not in besides
    }


def _takes_any_keyword(function: Any) -> bool:
    try:
        kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return True
    return inspect.Parameter.VAR_KEYWORD in kinds


class Precomputed(Similarity):
    """Similarities that the user has computed; X is their matrix.

    ``fit`` takes the square matrix of the training cases. Later, ``X[i, j]`` is the similarity of training case
    j (as a memory) to new case i, one column per training case, as for scikit-learn's precomputed kernels.

    Examples
    --------
    >>> similarity = Precomputed()
    >>> Z = similarity.fit_describe([[1.0, 0.2], [0.2, 1.0]])
    >>> similarity.compare(Z[:1], similarity.describe([[0.7, 0.1]]))
    array([[0.7]])
    """

    label = "a matrix of the user says so"

    def __init__(self) -> None:
        pass

    def fit_describe(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        X = validate_data(self, Cases.of(X).data, dtype=np.float64)
        if sample_weight is not None:
            positive_weights(sample_weight, len(X))
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed needs the square matrix of all training cases, got {X.shape[0]} rows and "
                f"{X.shape[1]} columns"
            )
        self.fitted_ = True
        return np.hstack([np.arange(len(X), dtype=np.float64)[:, None], X])

    def _choices(self, n: int) -> Choices:
        return Choices()

    def _check(self, X: Any, *, fit: bool) -> Any:
        return validate_data(self, X, reset=fit, dtype=np.float64)

    def _describe(self, F: Any) -> Array:
        # The first column is the row of the training case; -1: none.
        return np.hstack([np.full((len(F), 1), -1.0), F])

    def compare(self, A: Any, B: Any) -> Array:
        number = A[:, 0].astype(np.intp)
        if (number < 0).any():
            raise ValueError("Precomputed compares memories, which are training cases, with cases; A holds new cases")
        return np.asarray(B[:, 1 + number].T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags
