"""The cases that a bound is about: what a fitted classifier does with them, and whether they are the right ones."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from memclf import _cases
from memclf._numbers import Array

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier

MOVED = 0.01  # share of training cases that may be routed otherwise than in `fit`, where similarities are equal
EQUAL = 1e-12  # similarities that differ by less are equal, as in routing


@dataclass(frozen=True)
class Seen:
    """What a classifier does with the cases of a bound.

    `branch` is the memory whose classifier answers, q for the fallback's classifier, -1 for nobody. `ties`: whether it
    depends on the order of the memories, which the data have a part in, where a case goes or who answers there.
    """

    X: Any
    codes: Array
    branch: Array
    nearest: Array
    correct: Array
    memory: Array
    q: int
    ties: bool
    among: int  # memories that are found among cases which are said to be others

    @property
    def n(self) -> int:
        return len(self.codes)

    def told(self, wrong: Array, n: int) -> str:
        """Errors among n cases in words: how many, and what else than wrong answers counts as one."""
        unknown = int((wrong & (self.branch < 0)).sum())
        close = int((wrong & self.correct).sum())
        said = f"{wrong.sum()} of {n}{' that are no memories' if n < self.n else ''}"
        said += f", {unknown} of them unknown" if unknown else ""
        return said + (f", {close} of them right by less than a margin" if close else "")


def look(clf: MemoryClassifier, X: Any, y: Any, *, held_out: bool, given: Iterable[str]) -> Seen:
    training = not held_out and "memories" not in given
    X = _cases.remembering(_cases.read_once(_cases.as_cases(X)))
    y = np.asarray(y)
    n, q = _cases.count(X), len(clf.memory_indices_)
    if y.shape != (n,):
        raise ValueError(f"y must hold one label for each of the {n} cases, got shape {y.shape}")
    if training and n != len(clf.labels_):
        raise ValueError(
            f"a bound is about the cases that the classifier was fitted on: {len(clf.labels_)}, not {n}. For other "
            "cases there is the kind held-out."
        )
    if strange := sorted(map(str, set(np.unique(y).tolist()) - set(clf.classes_.tolist()))):
        raise ValueError(f"y holds classes that the classifier does not know: {', '.join(strange)}")
    routes = clf.route(X)
    codes, memory = np.searchsorted(clf.classes_, y), np.zeros(n, dtype=bool)
    if training:
        _check_same(clf, X, routes.nearest, codes)
        memory[clf.memory_indices_] = True
    elif held_out and n == len(clf.labels_) and _moved(clf, routes.nearest, codes) == 0:
        raise ValueError("these are the cases that the classifier was fitted on; 'held-out' is for others")
    branch = routes.nearest if clf.fallback == "nearest" else routes.memory
    if clf.fallback_ is not None:
        branch = np.where(routes.known, branch, q)
    correct = np.asarray(clf.predict_routed(X, routes) == y)
    by_number = isinstance(clf.estimator, (Mapping, Sequence)) or not isinstance(clf.thresholds, (str, Real, Mapping))
    ties = q > 1 and (by_number or bool((routes.margin <= EQUAL).any()))
    here = 0 if training else memories_among(clf, X)
    return Seen(X, codes, branch, routes.nearest, correct, memory, q, ties, here)


def _moved(clf: MemoryClassifier, nearest: Array, codes: Array) -> float:
    """Share of the cases that do not go where they went in `fit`; 1 if their classes are others."""
    counts = np.zeros(clf.cluster_counts_.shape, dtype=int)
    np.add.at(counts, (clf.labels_, codes), 1)
    if not np.array_equal(counts, clf.cluster_counts_):
        return 1.0
    return float((nearest != clf.search_result_.labels).mean()) if clf.rule == "argmax_then_check" else 0.0


def _check_same(clf: MemoryClassifier, X: Any, nearest: Array, codes: Array) -> None:
    if clf.cluster_counts_.sum() < len(codes):
        raise ValueError("the classifier was fitted with cases of weight 0; bounds are for cases that count alike")
    elsewhere = "they do not fall into its clusters" if _moved(clf, nearest, codes) > MOVED else ""
    if not elsewhere and not same_cases(_cases.take(X, clf.memory_indices_), clf.memories_).all():
        elsewhere = "its memories are not where they were"
    if elsewhere:
        raise ValueError(
            "these are not the cases that the classifier was fitted on, or not in the same order: "
            f"{elsewhere}. For other cases there is the kind held-out."
        )


def same_cases(A: Any, B: Any) -> Array:
    """Which cases of two collections of one length are the same, numbers up to rounding; all, if it cannot be seen."""
    if not _comparable(A, B):
        return np.ones(_cases.count(A), dtype=bool)
    if _cases.is_table(A):
        columns = [(A[name].to_numpy(), B[name].to_numpy()) for name in A.columns]
    elif _is_matrix(A):
        columns = [(A[:, j], B[:, j]) for j in range(A.shape[1])]
    else:
        return np.array([a == b for a, b in zip(_marks(A), _marks(B), strict=True)], dtype=bool)
    same = np.ones(_cases.count(A), dtype=bool)
    for here, there in columns:
        if here.dtype.kind == "f" or there.dtype.kind == "f":
            same &= np.isclose(here.astype(float), there.astype(float), rtol=1e-9, atol=0.0, equal_nan=True)
        else:
            same &= np.asarray(here == there, dtype=bool) | (here != here) & (there != there)
    return same


def memories_among(clf: MemoryClassifier, X: Any) -> int:
    """How many of the memories are found among the cases; none, if it cannot be seen."""
    if not _comparable(X, clf.memories_):
        return 0
    if _cases.is_table(X) or _is_matrix(X):
        copies = (_cases.take(clf.memories_, np.full(_cases.count(X), k)) for k in range(len(clf.memory_indices_)))
        return sum(bool(same_cases(X, each).any()) for each in copies)
    here = set(_marks(X))
    return sum(mark in here for mark in _marks(clf.memories_))


def _comparable(A: Any, B: Any) -> bool:
    if _cases.is_table(A) or _cases.is_table(B):
        return list(getattr(A, "columns", ())) == list(getattr(B, "columns", ()))
    return type(A) is type(B) and (not _is_matrix(A) or _is_matrix(B))


def _is_matrix(cases: Any) -> bool:
    return isinstance(cases, np.ndarray) and cases.ndim == 2 and cases.dtype.kind in "biuf"


def _marks(cases: Any) -> list[Any]:
    """One hashable value per case, the same for the same case: of an image its pixels, of a sparse row its entries."""
    if sp.issparse(cases):
        rows = cases.tocsr(copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return [(rows.indices[a:b].tobytes(), rows.data[a:b].astype(float).tobytes()) for a, b in ends]
    return [_mark(case) for case in _cases.as_sequence(cases)]


def _mark(case: Any) -> Any:
    if isinstance(case, np.ndarray):
        return case.shape, hashlib.blake2b(np.ascontiguousarray(case).tobytes()).digest()
    return case if isinstance(case, Hashable) else repr(case)
