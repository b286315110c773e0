"""What was computed about cases is remembered, so that no case is described twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np

from memclf._numbers import Array
from memclf.cases.containers import stack, take


class Memory:
    """Rows that were computed about n cases, by the name of what computed them.

    Parameters
    ----------
    n : int
        Number of cases. They are known by their places, 0 to n - 1.
    """

    def __init__(self, n: int):
        self.n = n
        self._found: dict[Any, Any] = {}  # rows in the order in which they were computed
        self._position: dict[Any, Array] = {}  # of each case in these rows, -1 if it is not there
        self._versions: dict[str, Memory] = {}
        self._lock = threading.RLock()

    def version(self, name: str) -> Memory:
        """The memory of another version of the same cases, as mildly changed ones."""
        with self._lock:
            return self._versions.setdefault(name, Memory(self.n))

    def rows(self, name: Any, places: Array, compute: Callable[[Array], Any]) -> Any:
        """One row per place; ``compute(positions)`` is called for those positions in `places` that are missing."""
        with self._lock:
            position = self._position.setdefault(name, np.full(self.n, -1))
            missing = np.flatnonzero(position[places] < 0)
            if len(missing):
                _, first = np.unique(places[missing], return_index=True)
                missing = missing[np.sort(first)]
                found = compute(missing)
                before = int((position >= 0).sum())
                self._found[name] = stack([self._found[name], found]) if before else found
                position[places[missing]] = before + np.arange(len(missing))
            elif name not in self._found:  # no case was asked for
                return compute(missing)
            return take(self._found[name], position[places])


def state_key(thing: Any) -> Any:
    """A key that is equal for things that compute the same: the class, its parameters, and all it has learned.

    Things that cannot be hashed by content (a function that is defined inside another one) are their own key.
    """
    if not isinstance(thing, type) and hasattr(thing, "get_params"):  # an estimator; functions have no parameters
        state = {name: value for name, value in vars(thing).items() if name not in ("n_jobs", "verbose")}
        try:
            return type(thing), joblib.hash(state)
        except Exception:  # pickle raises whatever the state's own methods raise
            return (type(thing), *((name, _key_of_value(value)) for name, value in sorted(state.items())))
    return thing


def _key_of_value(value: Any) -> Any:
    try:
        return joblib.hash(value)
    except Exception:  # as above
        return Identity(value)


class Identity:
    """The key of an object that is equal to itself alone. It keeps the object alive, so no other takes its place."""

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
