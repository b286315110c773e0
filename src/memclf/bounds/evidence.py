"""What a fitted classifier does with the cases of a bound, and checks of these cases.

The only module of `bounds` that reads a memory classifier's settings; the others read them through the functions here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from memclf._numbers import Array
from memclf.cases import Cases, containers

MOVED = 0.01  # share of training cases that may be routed otherwise than in `fit`, where similarities are equal
EQUAL = 1e-12  # similarities that differ by less are equal, as in routing


# ------------------------------------------------------------------------------- what is read of a memory classifier


@runtime_checkable
class RoutesCases(Protocol):
    """A memory classifier, fitted or not."""

    def fit(self, X: Any, y: Any) -> Any: ...
    def route(self, X: Any) -> Any: ...
    def answers(self, X: Any, routes: Any = None) -> Any: ...


class FittedMemoryClassifier(RoutesCases, Protocol):
    """What bounds read of a fitted memory classifier: its fitted parts and some of its settings."""

    classes_: Any
    memory_indices_: Any
    memories_: Any
    estimators_: list[Any]
    labels_: Any
    cluster_counts_: Any
    pool_: Any
    answer_: Any
    fallback_: Any
    similarity_: Any
    search_result_: Any
    estimator: Any
    rule: str
    thresholds: Any
    unknown_rate: float | None
    fallback: Any


def answers_alone(clf: FittedMemoryClassifier) -> bool:
    """Whether the local classifiers alone answer, as in the paper."""
    return bool(clf.answer_.alone)


def fits_thresholds(clf: FittedMemoryClassifier) -> bool:
    """Whether thresholds are fitted to the training cases, and decide anything."""
    if clf.fallback == "nearest" and clf.rule == "argmax_then_check":
        return False
    return clf.unknown_rate is not None or (isinstance(clf.thresholds, str) and clf.thresholds == "tight")


def has_common_threshold(clf: FittedMemoryClassifier) -> bool:
    """Whether one threshold was set for all memories, rather than one for each."""
    return isinstance(clf.thresholds, (str, Real))


def depends_on_numbering(clf: FittedMemoryClassifier) -> bool:
    """Whether settings are given by the memories' numbers, so that their order matters."""
    by_memory = not isinstance(clf.thresholds, (str, Real, Mapping))
    return by_memory or isinstance(clf.estimator, Mapping)


# ---------------------------------------------------------------------------------------------- what is done with cases


@dataclass(frozen=True)
class Evidence:
    """What a classifier does with the cases of a bound.

    Attributes
    ----------
    X : cases
    codes : ndarray of int
        Their classes, as positions in `classes_`.
    branch : ndarray of int
        The memory whose classifier answers; q for the fallback's classifier, -1 for unknown.
    nearest : ndarray of int
        The memory that was considered.
    correct : ndarray of bool
        Whether the answer is right.
    memory : ndarray of bool
        Whether the case is a memory.
    q : int
        The number of memories.
    ties : bool
        Whether the order of the memories, which depends on the data, has an effect on routes or answers.
    among : int
        How many memories occur among cases that are said to be independent of them.
    """

    X: Any
    codes: Array
    branch: Array
    nearest: Array
    correct: Array
    memory: Array
    q: int
    ties: bool
    among: int

    @property
    def n(self) -> int:
        return len(self.codes)

    def describe_errors(self, wrong: Array, n: int) -> str:
        """Errors among n cases in words: how many, and what else than wrong answers counts as one."""
        unknown = int((wrong & (self.branch < 0)).sum())
        close = int((wrong & self.correct).sum())
        text = f"{wrong.sum()} of {n}{' that are no memories' if n < self.n else ''}"
        text += f", {unknown} of them unknown" if unknown else ""
        return text + (f", {close} of them right by less than a margin" if close else "")


def collect(clf: FittedMemoryClassifier, X: Any, y: Any, *, held_out: bool, given: Iterable[str]) -> Evidence:
    """Route and answer the cases once; raise if they are not the cases that the bound needs."""
    training = not held_out and "memories" not in given
    cases, y = Cases.of(X).remembering(), np.asarray(y)
    n, q, X = len(cases), len(clf.memory_indices_), cases.data
    if y.shape != (n,):
        raise ValueError(f"y must hold one label for each of the {n} cases, got shape {y.shape}")
    if training and n != len(clf.labels_):
        raise ValueError(
            f"a bound is about the cases that the classifier was fitted on: {len(clf.labels_)}, not {n}. For other "
            "cases there is the kind held-out."
        )
    if other := sorted(map(str, set(np.unique(y).tolist()) - set(clf.classes_.tolist()))):
        raise ValueError(f"y holds classes that the classifier does not know: {', '.join(other)}")
    routes = clf.route(cases)
    codes, memory = np.searchsorted(clf.classes_, y), np.zeros(n, dtype=bool)
    if training:
        _check_same(clf, X, routes.nearest, codes)
        memory[clf.memory_indices_] = True
    elif held_out and n == len(clf.labels_) and _share_moved(clf, routes.nearest, codes) == 0:
        raise ValueError("these are the cases that the classifier was fitted on; 'held-out' is for others")
    branch = routes.nearest if clf.fallback == "nearest" else routes.memory
    if clf.fallback_ is not None:
        branch = np.where(routes.known, branch, q)
    correct = np.asarray(clf.answers(cases, routes).labels == y)
    ties = q > 1 and (depends_on_numbering(clf) or bool((routes.margin <= EQUAL).any()))
    among = 0 if training else count_memories_among(clf, X)
    return Evidence(X, codes, branch, routes.nearest, correct, memory, q, ties, among)


def _share_moved(clf: FittedMemoryClassifier, nearest: Array, codes: Array) -> float:
    """Share of the cases that are routed otherwise than in `fit`; 1 if their classes are others."""
    counts = np.zeros(clf.cluster_counts_.shape, dtype=int)
    np.add.at(counts, (clf.labels_, codes), 1)
    if not np.array_equal(counts, clf.cluster_counts_):
        return 1.0
    return float((nearest != clf.search_result_.labels).mean()) if clf.rule == "argmax_then_check" else 0.0


def _check_same(clf: FittedMemoryClassifier, X: Any, nearest: Array, codes: Array) -> None:
    if clf.cluster_counts_.sum() < len(codes):
        raise ValueError("the classifier was fitted with cases of weight 0; bounds need cases of equal weight")
    elsewhere = "they do not fall into its clusters" if _share_moved(clf, nearest, codes) > MOVED else ""
    if not elsewhere and not same_cases(containers.take(X, clf.memory_indices_), clf.memories_).all():
        elsewhere = "its memories are not where they were"
    if elsewhere:
        raise ValueError(
            "these are not the cases that the classifier was fitted on, or not in the same order: "
            f"{elsewhere}. For other cases there is the kind held-out."
        )


# ------------------------------------------------------------------------------------------------- comparing cases


def same_cases(A: Any, B: Any) -> Array:
    """Which cases of two collections are equal, up to rounding; all, if it cannot be known."""
    if not _comparable(A, B):
        return np.ones(containers.count(A), dtype=bool)
    if containers.is_table(A):
        columns = [(A[name].to_numpy(), B[name].to_numpy()) for name in A.columns]
    elif _is_matrix(A):
        columns = [(A[:, j], B[:, j]) for j in range(A.shape[1])]
    else:
        return np.array([a == b for a, b in zip(_keys(A), _keys(B), strict=True)], dtype=bool)
    same = np.ones(containers.count(A), dtype=bool)
    for here, there in columns:
        if here.dtype.kind == "f" or there.dtype.kind == "f":
            same &= np.isclose(here.astype(float), there.astype(float), rtol=1e-9, atol=0.0, equal_nan=True)
        else:
            same &= np.asarray(here == there, dtype=bool) | (here != here) & (there != there)
    return same


def count_memories_among(clf: FittedMemoryClassifier, X: Any) -> int:
    """How many of the memories occur among the cases; 0, if that cannot be known."""
    if not _comparable(X, clf.memories_):
        return 0
    if containers.is_table(X) or _is_matrix(X):
        n, q = containers.count(X), len(clf.memory_indices_)
        copies = (containers.take(clf.memories_, np.full(n, k)) for k in range(q))
        return sum(bool(same_cases(X, each).any()) for each in copies)
    here = set(_keys(X))
    return sum(key in here for key in _keys(clf.memories_))


def _comparable(A: Any, B: Any) -> bool:
    if containers.is_table(A) or containers.is_table(B):
        return containers.is_table(A) and containers.is_table(B) and list(A.columns) == list(B.columns)
    return type(A) is type(B) and (not _is_matrix(A) or _is_matrix(B))


def _is_matrix(cases: Any) -> bool:
    return isinstance(cases, np.ndarray) and cases.ndim == 2 and cases.dtype.kind in "biuf"


def _keys(cases: Any) -> list[Any]:
    """One hashable value for each case, equal for equal cases."""
    if sp.issparse(cases):
        rows = cases.tocsr(copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return [(rows.indices[a:b].tobytes(), rows.data[a:b].astype(float).tobytes()) for a, b in ends]
    return [_key(case) for case in containers.as_sequence(cases)]


def _key(case: Any) -> Any:
    if isinstance(case, np.ndarray):
        return case.shape, hashlib.blake2b(np.ascontiguousarray(case).tobytes()).digest()
    return case if isinstance(case, Hashable) else repr(case)
