"""What a classifier was fitted on, which an edit needs again, and what was edited by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import Cases, containers
from memclf.cases.join import join_cases

WEIGHT = "sample_weight"


@dataclass(frozen=True)
class Edits:
    """What was decided by hand about a fitted classifier, by rows of the training data.

    Attributes
    ----------
    pinned : tuple of int
        Memories that must stay.
    forbidden : tuple of int
        Cases that must not be memories: those that were dropped, and those with the same description.
    thresholds : dict
        Thresholds that were set by hand.
    """

    pinned: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()
    thresholds: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Training:
    """The training cases of a fitted classifier: references to what the user gave, no copies.

    Attributes
    ----------
    X : cases
    y : ndarray
    weight : ndarray or None
        Of each case. One of weight 0 is absent, but may be a memory.
    params : dict
        What went to the ``fit`` of the estimators.
    groups : array or None
    descriptions : descriptions or None
        Of all cases, once an edit has needed them.
    """

    X: Any
    y: Array
    weight: Array | None = None
    params: dict[str, Any] = field(default_factory=dict)
    groups: Any = None
    descriptions: Any = field(default=None, repr=False)

    @property
    def data(self) -> Any:
        """The cases as estimators take them."""
        return self.X.data if isinstance(self.X, Cases) else containers.as_container(self.X)

    def held(self) -> Training:
        """The same with all cases in memory, to be saved."""
        return replace(self, X=Cases.of(self.X).keep(np.arange(len(self.y))), descriptions=None)

    def join(self, other: Training) -> Training:
        """The cases of both, these first."""
        n, m = len(self.y), len(other.y)
        if (self.groups is None) != (other.groups is None):
            has, lacks = ("fit", "the new cases") if other.groups is None else ("the new cases", "fit")
            raise ValueError(f"{has} was given groups and {lacks} not; give groups for all cases or for none")
        weight = None
        if self.weight is not None or other.weight is not None:
            weight = np.concatenate([_weights(self.weight, n), _weights(other.weight, m)])
        return Training(
            join_cases(self.data, other.data),
            np.concatenate([self.y, other.y]),
            weight,
            _join_params(self.params, n, other.params, m),
            None if self.groups is None else np.concatenate([np.asarray(self.groups), np.asarray(other.groups)]),
        )


def _weights(weight: Array | None, n: int) -> Array:
    return np.ones(n) if weight is None else weight


def _join_params(first: dict[str, Any], n: int, second: dict[str, Any], m: int) -> dict[str, Any]:
    """Parameters of a fit, where what has one entry per case has one for all cases."""
    found = {}
    for name in {**first, **second}:
        ours, theirs = first.get(name), second.get(name)
        if name == WEIGHT:  # a case without a given weight counts as one
            ours, theirs = (np.ones(k) if each is None else each for each, k in ((ours, n), (theirs, m)))
        if not _is_per_case(ours, n) and not _is_per_case(theirs, m):
            found[name] = ours if theirs is None else theirs
        elif _is_per_case(ours, n) and _is_per_case(theirs, m):
            found[name] = join_cases(containers.as_container(ours), theirs)
        else:
            raise ValueError(f"{name} has one entry per case; give it for the old and for the new cases, or for none")
    return found


def _is_per_case(value: Any, n: int) -> bool:
    nobody = np.zeros(0, dtype=np.intp)
    return containers.take_if_per_case(value, nobody, n) is not value
