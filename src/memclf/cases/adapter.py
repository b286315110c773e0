"""Cases: one interface to arrays, tables, sparse matrices, lists and collections."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import containers
from memclf.cases.collection import Collection
from memclf.cases.computation import Computation
from memclf.cases.digest import digest_cases
from memclf.cases.memory import Memory
from memclf.cases.shifts import can_shift_rows, shift_rows
from memclf.cases.store import MAX_BYTES, Store
from memclf.protocols import Collects


class Cases:
    """Cases of any kind: they can be counted, picked, and described once.

    Every estimator of memclf takes them in place of X. What features compute about these cases, and about those picked
    from them, is then cached from one call to the next: folds of a cross-validation and settings of a search share it.
    With a folder, it lasts: a later run on the same cases with the same features computes nothing.

    Parameters
    ----------
    X : array, table, sparse matrix, list or Collection
    cache : path or None
        A folder that stores descriptions (rows of numbers) and embeddings, by the content of the case and by the
        code, parameters and learned state of what computed them. Several processes may use it at the same time.
    max_bytes : int
        Room in the folder. What was not used for the longest time is removed first.

    Attributes
    ----------
    data : same kind as X
        The cases as estimators and features take them.

    Examples
    --------
    >>> cases = Cases(["a short text", "another one"])
    >>> len(cases), cases[[1]].data
    (2, ['another one'])
    """

    def __init__(self, X: Any, cache: str | os.PathLike[str] | None = None, *, max_bytes: int = MAX_BYTES):
        found = containers.as_container(X.data if isinstance(X, Cases) else X)
        self._whole = _Whole(found, Memory(containers.count(found), None if cache is None else Store(cache, max_bytes)))
        self.data: Any = self._whole.data
        self._places: Array = np.arange(len(self))

    @classmethod
    def of(cls, X: Any) -> Cases:
        """X as cases without a cache; `Cases` are returned as they are."""
        if isinstance(X, Cases):
            return X
        whole = _Whole(containers.as_container(X), None)
        return cls._picked(whole, whole.data, np.arange(containers.count(whole.data)))

    @classmethod
    def _picked(cls, whole: _Whole, data: Any, places: Array) -> Cases:
        cases = object.__new__(cls)
        cases._whole, cases.data, cases._places = whole, data, places
        return cases

    def __getstate__(self) -> dict[str, Any]:
        memory = self._whole.memory
        return {"data": self.data, "memory": None if memory is None else Memory(len(self), memory.store)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._whole = _Whole(state["data"], state["memory"])
        self.data, self._places = self._whole.data, np.arange(containers.count(state["data"]))

    def __repr__(self) -> str:
        return f"Cases({len(self)} of {type(self.data).__name__})"

    def __len__(self) -> int:
        return containers.count(self.data)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array, table or matrix; of other cases their number."""
        shape: Any = getattr(self.data, "shape", None)  # lists have none
        return (len(self),) if shape is None else tuple(shape)

    def __getitem__(self, index: Any) -> Any:
        """One case for a number; for positions, a slice or a mask, cases with the same cache."""
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:  # as scikit-learn picks rows
            index = index[0]
        rows = np.arange(len(self))[index]
        if rows.ndim == 0:
            return containers.as_sequence(containers.take(self.data, rows[None]))[0]
        return self.take(rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(containers.as_sequence(self.data))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.data, dtype=dtype)

    def take(self, rows: Array) -> Cases:
        """The cases at these rows, with the same cache."""
        return self._picked(self._whole, containers.take(self.data, rows), self._places[rows])

    def take_columns(self, columns: Array) -> Cases:
        """The cases with some columns of their array or table, without a cache."""
        return Cases.of(containers.take_columns(self.data, columns))

    def keep(self, rows: Array) -> Any:
        """The data at these rows, held in memory: they outlive the files they come from."""
        picked = containers.take(self.data, rows)
        return picked.loaded() if isinstance(picked, Collection) else picked

    @property
    def remembers(self) -> bool:
        """Whether `remember` caches what it computes."""
        return self._whole.memory is not None or isinstance(self.data, Collection)

    def remembering(self, memory: Memory | None = None) -> Cases:
        """The same cases with a cache for `remember`, which cases picked from them share.

        A memory that is given is one of an earlier call on the same cases.
        """
        if self.remembers:
            return self
        n = len(self)
        return self._picked(_Whole(self.data, Memory(n) if memory is None else memory), self.data, np.arange(n))

    @property
    def computations(self) -> list[Computation]:
        """What computed rows that are in the cache of `remember`; [] for collections."""
        memory = None if isinstance(self.data, Collection) else self._whole.memory
        return [] if memory is None else memory.computations

    def remember(self, things: tuple[Any, ...], compute: Callable[[Cases], Any]) -> Any:
        """``compute(cases)``, one row per case; rows in the cache are not computed again.

        `things` are what computes the rows, and its parameters; see `Computation`.
        """
        if isinstance(self.data, Collection):
            return self.data.compute_once(Computation(*things), lambda some: compute(Cases.of(some)))
        memory = self._whole.memory
        if memory is None:
            return compute(self)
        return memory.rows(
            Computation(*things),
            self._places,
            lambda positions: compute(self.take(positions)),
            lambda positions: digest_cases(self.data, positions),
        )

    def given_to(self, part: Any) -> Any:
        """The cases as a feature or a classifier takes them: the data, or a collection of it.

        The collection is the one that the part makes. All parts get the same collection, so that images in an array are
        read, measured and embedded once.
        """
        if isinstance(self.data, Collection) or not issubclass(type(part), Collects):  # faster than `isinstance`
            return self.data
        return self._whole.collection(part.collect)[self._places]

    @property
    def can_change(self) -> bool:
        """Whether the cases can be changed mildly; see `perturbed`."""
        return isinstance(self.data, Collection)

    def perturbed(self, seed: int) -> Cases:
        """The same cases, each changed mildly; another seed gives other changes."""
        return Cases.of(self.data.perturbed(seed=seed))

    @property
    def can_shift(self) -> bool:
        """Whether the cases can be changed strongly; see `shifted`.

        Images, tables and arrays can. Lists, objects and square matrices, which may hold similarities, cannot.
        """
        return isinstance(self.data, Collection) or can_shift_rows(self._whole.data)

    def shifted(self, seed: int) -> Cases:
        """The same cases, each changed strongly; another seed gives other changes.

        The spread of a column and the values that a case gets from other cases are those of these cases, so shift
        all cases first and pick some afterwards. Descriptions are remembered apart from those of the cases as they are.
        """
        if isinstance(self.data, Collection):
            return Cases.of(self.data.shifted(seed=seed))
        if not self.can_shift:
            raise TypeError(
                f"cases in a {type(self.data).__name__} of shape {self.shape} cannot be shifted; images, tables and "
                "arrays of rows and columns that are not square can. Ask `can_shift` first"
            )
        data, memory = shift_rows(self.data, seed), self._whole.memory
        whole = _Whole(data, None if memory is None else Memory(len(self), memory.store))
        return self._picked(whole, data, np.arange(len(self)))


class _Whole:
    """All cases of a call: what is picked from them shares their memory."""

    def __init__(self, data: Any, memory: Memory | None):
        lasts = memory is not None and memory.store is not None
        self.data = data.remembered(memory if lasts else None) if isinstance(data, Collection) else data
        self.memory = memory
        self._collections: dict[Any, Collection] = {}

    def collection(self, collect: Callable[[Any], Collection]) -> Collection:
        """The collection that `collect` makes of all cases, made once."""
        if collect not in self._collections:
            found = collect(self.data)
            own = Memory(len(found)) if self.memory is None else self.memory.part(collect)
            self._collections[collect] = found.remembered(own)
        return self._collections[collect]
