"""Cases: one interface to arrays, tables, sparse matrices, lists and collections that read themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from memclf._numbers import Array
from memclf.cases import containers
from memclf.cases.memory import Memory


class Collection(ABC):
    """Cases that know how to read, remember and change themselves, such as images in files."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: Any) -> Any: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Any]: ...

    @abstractmethod
    def remembered(self) -> Self:
        """The same cases, each read once and measured once, however often they are looked at."""

    @abstractmethod
    def loaded(self) -> Self:
        """The same cases, held in memory: they outlive the files they come from."""

    @abstractmethod
    def key(self, position: int) -> str | None:
        """The name of a case, None if it has none."""

    @abstractmethod
    def info_of(self, position: int) -> Any:
        """What else is known about a case (a face, a box), None if nothing is."""

    @abstractmethod
    def corrupted(self, name: str, severity: int) -> Self:
        """The same cases under a corruption."""

    def corruption_labels(self) -> dict[str, dict[str, str]]:
        """The label and the family of each corruption, by name, for reports; {} where there are none."""
        return {}

    @abstractmethod
    def perturbed(self, *, seed: int) -> Self:
        """The same cases, each changed mildly; another seed gives other changes."""


class Cases:
    """Cases of any kind: they can be counted, picked, and described once.

    Parameters
    ----------
    X : array, table, sparse matrix, list or Collection

    Attributes
    ----------
    data : same kind as X
        The cases as estimators and features take them.
    """

    def __init__(self, X: Any):
        found = containers.as_container(X)
        self.data: Any = found.remembered() if isinstance(found, Collection) else found
        self._memory: Memory | None = None
        self._places: Array = np.empty(0, dtype=np.intp)

    @classmethod
    def of(cls, X: Any) -> Cases:
        """X as cases; what is `Cases` already stays as it is."""
        return X if isinstance(X, Cases) else cls(X)

    def __len__(self) -> int:
        return containers.count(self.data)

    def take(self, rows: Array) -> Cases:
        """The cases at these rows. They share what is remembered."""
        picked = object.__new__(Cases)
        picked.data = containers.take(self.data, rows)
        picked._memory = self._memory
        picked._places = self._places[rows] if self._memory is not None else self._places
        return picked

    def take_columns(self, columns: Array) -> Cases:
        """The same cases with some of the columns of their array or table."""
        return Cases(containers.take_columns(self.data, columns))

    def keep(self, rows: Array) -> Any:
        """The data at these rows, held in memory: they outlive the files they come from."""
        picked = containers.take(self.data, rows)
        return picked.loaded() if isinstance(picked, Collection) else picked

    def remembering(self) -> Cases:
        """The same cases, which remember what `remember` computes about them and about what is picked from them."""
        if self._memory is not None:
            return self
        new = self.take(np.arange(len(self)))
        new.data = self.data
        new._memory, new._places = Memory(len(self)), np.arange(len(self))
        return new

    def remember(self, name: Any, compute: Callable[[Any], Any]) -> Any:
        """``compute(data)``, one row per case; only for cases that were not computed under this name before."""
        if self._memory is None:
            return compute(self.data)
        return self._memory.rows(name, self._places, lambda missing: compute(containers.take(self.data, missing)))

    @property
    def can_change(self) -> bool:
        """Whether the cases can be changed mildly; see `perturbed`."""
        return isinstance(self.data, Collection)

    def perturbed(self, seed: int) -> Cases:
        """The same cases, each changed mildly; another seed gives other changes."""
        return Cases(self.data.perturbed(seed=seed))
