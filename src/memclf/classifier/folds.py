"""Folds of training cases: stratified, by groups, or given by the user."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, StratifiedGroupKFold, StratifiedKFold

from memclf._numbers import Array
from memclf.protocols import Splits

Pairs = list[tuple[Array, Array]]


@dataclass(frozen=True)
class FoldPlan:
    """How the cases of one fit are cut.

    Attributes
    ----------
    cv : int, splitter or list of (rows to fit on, rows held out)
    groups : ndarray or None
        Of every case what it belongs to: cases of one group are never on both sides of a fold.
    """

    cv: Any
    groups: Array | None = None

    @classmethod
    def create(cls, cv: Any, groups: Any, n: int) -> FoldPlan:
        """The plan for these parameters, checked against the number of cases."""
        if isinstance(cv, PredefinedSplit):  # it names rows, so it is a list: parts of the rows need translation
            cv = list(cv.split())
        if not isinstance(cv, (Integral, Splits)):
            cv = [_checked(pair, number, n) for number, pair in enumerate(cv)]
            if not cv:
                raise ValueError("cv is empty: it must hold at least one pair of rows to fit on and rows held out")
        return cls(cv, None if groups is None else _as_groups(groups, n))

    def at_least(self, number: int, counted: Array) -> FoldPlan:
        """The plan with at least this number of folds, if `cv` is a number and cases suffice."""
        if not isinstance(self.cv, Integral):
            return self
        most = len(counted) // 2 if self.groups is None else len(np.unique(self.groups[counted]))
        return replace(self, cv=max(int(self.cv), min(number, most)))

    def split(self, y: Array, counted: Array, seed: int | None, *, classes: bool = True) -> Pairs:
        """Pairs of rows to fit on and rows held out, of the counted rows, in ascending order.

        `classes`: there must be two or more to fit on.
        """
        if isinstance(self.cv, list):
            found = [(np.intersect1d(rest, counted), np.intersect1d(held, counted)) for rest, held in self.cv]
        elif isinstance(self.cv, Integral):
            found = self._evenly(y, counted, seed)
        else:
            found = self._by_splitter(y, counted)
        found = [(np.sort(rest), np.sort(held)) for rest, held in found if len(rest) and len(held)]
        if not found:
            raise ValueError(
                f"{self._name()} has no fold that holds some of these {len(counted)} cases out and leaves others to "
                "fit on"
            )
        for rest, held in found:
            self._check(rest, held, y if classes else None)
        return found

    def _evenly(self, y: Array, rows: Array, seed: int | None) -> Pairs:
        cv = int(self.cv)
        if len(rows) < 2 * cv:
            raise ValueError(
                f"{len(rows)} cases are too few for cv={cv} folds to learn from, which take at least {2 * cv}; give "
                "more cases or fewer folds"
            )
        groups = None if self.groups is None else self.groups[rows]
        many = cv if groups is None else len(np.unique(groups))
        if many < cv:
            raise ValueError(
                f"{many} group{'s' * (many != 1)} cannot be cut into cv={cv} folds, since a group stays together; "
                "fewer folds or more groups"
            )
        enough = np.unique(y[rows], return_counts=True)[1].max() >= cv
        if groups is None:
            kind = StratifiedKFold if enough else KFold
        else:
            kind = StratifiedGroupKFold if enough else GroupKFold
        with warnings.catch_warnings():  # a class may have fewer cases than there are folds
            warnings.filterwarnings("ignore", message="The least populated class")
            splitter = kind(cv, shuffle=True, random_state=seed)
            return [(rows[a], rows[b]) for a, b in splitter.split(np.zeros((len(rows), 1)), y[rows], groups)]

    def _by_splitter(self, y: Array, rows: Array) -> Pairs:
        extra = () if self.groups is None else (self.groups[rows],)
        try:
            with warnings.catch_warnings():  # `_check` finds groups that were ignored
                warnings.filterwarnings("ignore", message="The groups parameter is ignored")
                cut = list(self.cv.split(np.zeros((len(rows), 1)), y[rows], *extra))
        except ValueError as error:
            if self.groups is None and "groups" in str(error):
                raise ValueError(f"{self._name()} needs groups: fit(X, y, groups=...), one entry per case") from error
            raise
        return [(rows[a], rows[b]) for a, b in (_checked(pair, i, len(rows)) for i, pair in enumerate(cut))]

    def _check(self, rest: Array, held: Array, y: Array | None) -> None:
        if y is not None and len(np.unique(y[rest])) < 2:
            raise ValueError(
                f"a fold of {self._name()} would leave a single class to learn from; there are too few cases"
                + ("" if self.groups is None else " or, of some class, too few groups")
            )
        torn = [] if self.groups is None else np.intersect1d(self.groups[rest], self.groups[held]).tolist()
        if torn:
            raise ValueError(
                f"{self._name()} puts cases of group {torn[0]!r} on both sides of a fold; give a number of folds, or "
                "a splitter that keeps groups together, as GroupKFold"
            )

    def _name(self) -> str:
        return f"cv, a list of {len(self.cv)} folds," if isinstance(self.cv, list) else f"cv={self.cv!r}"


def _as_groups(groups: Any, n: int) -> Array:
    found = np.asarray(groups)
    if found.ndim != 1 and found.shape != (n, 1):
        raise ValueError(f"groups must be one name or number per case, {n}; got an array of shape {found.shape}")
    found = found.reshape(-1)
    if len(found) != n:
        raise ValueError(f"groups must have one entry per case, {n}; got {len(found)}")
    if any(each is None or each != each for each in found.tolist()):
        raise ValueError("groups has missing entries; give cases that belong to no group a group of their own")
    kinds = sorted({type(each).__name__ for each in found.tolist()})
    if found.dtype == object and len(kinds) > 1:
        raise ValueError(f"groups must be of one kind, got a mixture of {', '.join(kinds)}")
    return found


def _checked(pair: Any, number: int, n: int) -> tuple[Array, Array]:
    """Two sets of rows that exist and are apart."""
    try:
        rest, held = (_rows(part) for part in pair)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"cv must hold pairs of rows to fit on and rows held out; fold {number} is no such pair"
        ) from error
    for rows in (rest, held):
        if len(rows) and not 0 <= rows.min() <= rows.max() < n:
            raise ValueError(
                f"fold {number} of cv names rows {rows.min()} to {rows.max()}; the {n} cases have 0 to {n - 1}"
            )
    both = np.intersect1d(rest, held)
    if len(both):
        raise ValueError(f"fold {number} of cv holds row {both[0]} out and fits on it as well")
    return rest, held


def _rows(part: Any) -> Array:
    found = np.asarray(part)
    if found.dtype == bool:
        return np.flatnonzero(found)
    if found.ndim != 1 or (len(found) and found.dtype.kind not in "iu"):
        raise TypeError(f"rows are whole numbers, got {part!r}")
    return np.unique(found).astype(np.intp)
