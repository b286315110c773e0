"""Bounds for several numbers of memories and of cases, and the best of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from memclf._progress import track
from memclf.bounds.api import generalization_bound
from memclf.bounds.kinds import kind_named
from memclf.bounds.picture import draw_curve
from memclf.bounds.result import Bound
from memclf.cases import Cases
from memclf.similarity.base import choices_of

STEP = 1.3  # factor from one number of memories to the next
MOST = 64  # memories, where the user gives no numbers


@dataclass(frozen=True)
class Point:
    """The bound for one number of memories and of cases.

    Attributes
    ----------
    n_memories, n : int
    bound : Bound
    coverage : float
        Share of the training cases that a memory's threshold covers.
    value : float
    extrapolated : bool
        Whether n is larger than the number of cases. The value is then for the same share of errors, complexities
        that shrink with the root of n / log n, and the formula's own price for choosing memories.
    """

    n_memories: int
    n: int
    bound: Bound = field(repr=False)
    coverage: float
    value: float
    extrapolated: bool = False


@dataclass(frozen=True)
class BoundCurve:
    """Bounds for several numbers of memories and cases; see `bound_curve`."""

    points: tuple[Point, ...]

    @property
    def best(self) -> Point:
        """The smallest bound with all cases; of equal ones, that with the fewest memories."""
        real = [point for point in self.points if not point.extrapolated]
        most = max(point.n for point in real)
        return min((p for p in real if p.n == most), key=lambda point: (point.value, point.n_memories))

    def __str__(self) -> str:
        lines = [f"{'memories':>8} {'cases':>9} {'bound':>7}  {'errors':>6}  covered"]
        for point in self.points:
            marks = [
                *(["more cases than there are"] if point.extrapolated else []),
                *(["vacuous"] * (point.value >= 1)),
            ]
            best = "  <- best" if point is self.best else ""
            lines.append(
                f"{point.n_memories:8d} {point.n:9,d} {point.value:7.3f}  {point.bound.terms[0].value:6.3f}  "
                f"{math.floor(1000 * point.coverage) / 10:6.1f}%  {', '.join(marks)}{best}".rstrip()
            )
        return "\n".join(lines)

    def plot(self, axes: Any = None) -> Any:
        """The curve over the number of memories, one line per number of cases (needs matplotlib)."""
        return draw_curve(self, axes)


def bound_curve(
    clf: Any,
    X: Any,
    y: Any,
    *,
    n_memories: Iterable[int] | None = None,
    n_cases: Iterable[int] | None = None,
    delta: float = 0.05,
    kind: str = "compression",
    random_state: Any = 0,
    verbose: int | None = None,
    **options: Any,
) -> BoundCurve:
    """Bounds for several numbers of memories and of cases; fits the classifier for each.

    Parameters
    ----------
    clf : MemoryClassifier
        Fitted or not; it is not changed. Clones are fitted, with other values of `n_memories`.
    X, y : cases and labels
    n_memories : numbers or None
        None: 1, 2, 3, 4 and so on in growing steps, up to 64 or a tenth of the cases.
    n_cases : numbers or None
        Random parts of the cases of these sizes. Larger numbers than there are cases are extrapolated. None: all.
    delta, kind, options
        As in `generalization_bound`.
    random_state : int, RandomState or None
        Which cases make up the parts.
    verbose : int

    Returns
    -------
    BoundCurve
        `best` is the point with the smallest bound.
    """
    if not kind_named(kind).uses_training_cases:
        raise ValueError("a curve fits on the cases that it is given, so none is held out; choose another kind")
    cases, y = Cases.of(X), np.asarray(y)
    n = len(cases)
    sizes = _whole("n_cases", {n} if n_cases is None else n_cases, least=2)
    order = check_random_state(random_state).permutation(n)
    wanted = _whole("n_memories", _steps(1, min(MOST, n // 10)) if n_memories is None else n_memories, least=1)
    real = [size for size in sizes if size <= n] or [n]
    jobs = [(size, q) for size in real for q in wanted if q < size]
    if not kind_named(kind).extrapolates and sizes[-1] > n:
        raise ValueError(f"{kind} bounds are not extrapolated: n_cases must be at most {n}, got {sizes[-1]}")
    if not jobs:
        raise ValueError(f"n_memories must be smaller than the number of cases, {max(real)}; got {wanted}")
    points: list[Point] = []
    largest: list[tuple[Point, Any]] = []
    for size, q in track(jobs, total=len(jobs), what="fitting and bounding", verbose=verbose):
        rows = np.sort(order[:size])
        part = cases.data if size == n else cases.take(rows).data
        labels = y if size == n else y[rows]
        fitted = clone(clf).set_params(n_memories=q).fit(part, labels)
        found = len(fitted.memory_indices_)
        if any(point.n == size and point.n_memories == found for point in points):
            continue  # there are no more distinct descriptions
        bound = generalization_bound(fitted, part, labels, delta, kind, **options)
        points.append(Point(found, size, bound, fitted.search_result_.coverage, bound.value))
        if size == max(real):
            largest.append((points[-1], fitted.similarity_))
    given = set(options.get("given", ()))
    points += [_extrapolated(point, size, sim, given) for size in sizes if size > n for point, sim in largest]
    return BoundCurve(tuple(points))


def _extrapolated(point: Point, n: int, similarity: Any, given: set[str]) -> Point:
    """The point for n cases, more than there are."""
    more = 0.0
    if "similarity" not in given:
        more = choices_of(similarity, n).log_count - choices_of(similarity, point.n).log_count
    kind = kind_named(point.bound.kind)
    value = kind.extrapolate(point.bound, n, more, memories_given="memories" in given)
    return Point(point.n_memories, n, point.bound, point.coverage, value, extrapolated=True)


def _whole(name: str, wanted: Any, least: int) -> list[int]:
    """Distinct whole numbers, smallest first."""
    found = [wanted] if isinstance(wanted, Integral) else list(wanted)
    if not found or any(isinstance(each, bool) or not isinstance(each, Integral) or each < least for each in found):
        raise ValueError(f"{name} must be whole numbers of at least {least}; got {wanted!r}")
    return sorted({int(each) for each in found})


def _steps(first: int, last: int) -> list[int]:
    """Whole numbers from first to last in growing steps."""
    found, q = [], first
    while q <= max(first, last):
        found.append(q)
        q = max(q + 1, math.floor(q * STEP))
    return found
