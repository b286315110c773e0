"""What a user wants of single cases: memories that must be, must not be, or come first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.exceptions import CoverageError

NONE = np.zeros(0, dtype=np.intp)
SHOWN = 10  # rows in a message


@dataclass(frozen=True)
class Wishes:
    """Rows that must be memories, rows that must not, and rows to start from.

    Attributes
    ----------
    pinned, forbidden : ndarray of int
    start : ndarray of int or None
        A hint: rows in it that are forbidden or have no weight are left out.
    lenient : bool
        Whether a search leaves what cannot be had (cases that no allowed case covers stay uncovered, of pinned cases
        with one description the first is taken) or raises an error. A fit without a fold is lenient.
    """

    pinned: Array = field(default_factory=lambda: NONE)
    forbidden: Array = field(default_factory=lambda: NONE)
    start: Array | None = None
    lenient: bool = False

    @classmethod
    def of(cls, pinned: Any = None, forbidden: Any = None, start: Any = None, n: int = 0) -> Wishes:
        """The wishes about n cases, checked."""
        found = cls(
            _rows("pinned", pinned, n),
            _rows("forbidden", forbidden, n),
            None if start is None else _rows("start", start, n),
        )
        if len(both := np.intersect1d(found.pinned, found.forbidden)):
            raise ValueError(f"{name_rows(both)} must be a memory and must not: pinned and forbidden both name it")
        if len(found.forbidden) == n and n:
            raise ValueError(f"forbidden names all {n} cases, so none is left to be a memory")
        return found

    def __bool__(self) -> bool:
        return bool(len(self.pinned) or len(self.forbidden) or self.start is not None)

    def take(self, rows: Array) -> Wishes:
        """The wishes about some of the cases, by their places in `rows`."""
        place = {row: number for number, row in enumerate(rows.tolist())}

        def find(wanted: Array) -> Array:
            return np.array([place[row] for row in wanted.tolist() if row in place], dtype=np.intp)

        start = None if self.start is None else find(self.start)
        return Wishes(find(self.pinned), find(self.forbidden), start, lenient=True) if self else self

    def check(self, n_memories: int | None, mode: str) -> None:
        """Refuse what this search cannot give."""
        if self and mode != "corrected":
            raise ValueError(
                f"mode={mode!r} is the paper's algorithm, which takes no pinned, forbidden or start; use "
                "mode='corrected'"
            )
        for name, rows in (("pinned", self.pinned), ("start", NONE if self.start is None else self.start)):
            if n_memories is not None and len(rows) > n_memories:
                raise ValueError(
                    f"{name} names {len(rows)} cases, but there are to be n_memories={n_memories}; name fewer, or "
                    "allow more memories"
                )

    def place(self, rows: Array, first: Array, group: Array) -> tuple[Array, Places]:
        """The wishes about distinct cases, and which case stands for each group of equal ones.

        Parameters
        ----------
        rows : ndarray
            Rows of the cases, ascending.
        first, group : ndarray
            As `memclf.cases.distinct` gives them for these cases.
        """
        if not self:
            return first, Places.none(len(first))
        free = np.flatnonzero(~np.isin(rows, self.forbidden))
        chosen, allowed = first.copy(), np.zeros(len(first), dtype=bool)
        chosen[group[free[::-1]]] = free[::-1]
        allowed[group[free]] = True
        start = None
        if self.start is not None:
            hints = np.flatnonzero(np.isin(rows, np.setdiff1d(self.start, self.forbidden)))
            chosen[group[hints[::-1]]] = hints[::-1]
            start = np.unique(group[hints])
        at = np.searchsorted(rows, self.pinned)
        groups, once = np.unique(group[at], return_index=True)
        if len(groups) < len(at) and not self.lenient:
            twins = self.pinned[group[at] == np.argmax(np.bincount(group[at]))]
            raise ValueError(
                f"{name_rows(twins)} have the same description and are all pinned, but only one of them can stand for "
                "it; pin one"
            )
        at = at[np.sort(once)]
        chosen[group[at]] = at
        return chosen, Places(group[at], allowed, start)


@dataclass(frozen=True)
class Places:
    """Wishes as positions among the cases that a search looks at.

    Attributes
    ----------
    pinned : ndarray of int
    allowed : ndarray of bool
        Of every case whether it may be a memory.
    start : ndarray of int or None
    """

    pinned: Array
    allowed: Array
    start: Array | None = None

    @classmethod
    def none(cls, n: int) -> Places:
        """No wishes about n cases."""
        return cls(NONE, np.ones(n, dtype=bool))

    @property
    def given(self) -> Array:
        """The memories to begin with, the pinned ones first."""
        rest = NONE if self.start is None else np.setdiff1d(self.start, self.pinned)
        return np.concatenate([self.pinned, rest])

    @property
    def without_start(self) -> Places:
        """The same for a restart that begins elsewhere."""
        return replace(self, start=None)

    def at_most(self, n_memories: int | None) -> Places:
        """The same with as many cases to begin with as there are to be memories."""
        return self if n_memories is None else replace(self, start=self.given[len(self.pinned) : n_memories])

    def move(self, rows: Array, n: int) -> Places:
        """The same by the rows of the cases among n, where `rows` are those of these cases."""
        allowed = np.zeros(n, dtype=bool)
        allowed[rows[self.allowed]] = True
        return Places(rows[self.pinned], allowed, None if self.start is None else rows[self.start])

    def restrict(self, rows: Array) -> Places:
        """The same by positions in `rows`; what is pinned or comes first must be among them."""
        start = None if self.start is None else find_places(rows, self.start)
        return Places(find_places(rows, self.pinned), self.allowed[rows], start)


def find_places(rows: Array, wanted: Array) -> Array:
    """Where in `rows` those that are wanted are."""
    order = np.argsort(rows, kind="stable")
    return np.asarray(order[np.searchsorted(rows, wanted, sorter=order)])


def check_cover(uncoverable: Array, threshold: float) -> None:
    """Raise an error that names the cases that no case covers that may be a memory."""
    if len(uncoverable):
        raise CoverageError(
            f"{name_rows(uncoverable)} cannot be covered: no case that may be a memory reaches the threshold "
            f"{threshold:g} with {'them' if len(uncoverable) > 1 else 'it'}. Forbid fewer cases, lower the threshold, "
            "or use coverage='report'."
        )


def name_rows(rows: Array) -> str:
    """Rows in a message: those that fit, and how many more there are."""
    shown = ", ".join(map(str, np.sort(rows)[:SHOWN].tolist()))
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return f"case{'s' * (len(rows) > 1)} {shown}{more}"


def _rows(name: str, given: Any, n: int) -> Array:
    """Row numbers, each once, in the order in which they are given."""
    found = np.atleast_1d(np.asarray([] if given is None else given))
    if found.ndim > 1 or (len(found) and found.dtype.kind not in "iu"):
        raise ValueError(f"{name} must be rows of X, whole numbers from 0 to {n - 1}; got {given!r}")
    if len(strange := found[(found < 0) | (found >= n)]):
        raise ValueError(f"{name} names row {strange[0]}, but the {n} cases have the rows 0 to {n - 1}")
    return np.array(list(dict.fromkeys(found.tolist())), dtype=np.intp)
