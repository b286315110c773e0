"""A cache of what was computed about cases, so that no case is described twice."""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import scipy.sparse as sp

from memclf._numbers import Array
from memclf.cases.computation import Computation
from memclf.cases.containers import is_table, object_array, stack, take
from memclf.cases.store import Row, Store

Digests = Callable[[Array], list[str | None]]

ROOM = 2**30  # bytes of rows that a memory holds; the rows used last always stay


class Memory:
    """A cache of rows about n cases, by what computed them; with a store, also on disk.

    Rows of the computation that was not used for the longest time are removed when there is no room. So features
    that learn something else in every fold do not fill the memory.

    Parameters
    ----------
    n : int
        Number of cases. They are known by their places, 0 to n - 1.
    store : Store or None
        Where rows of numbers last.
    room : int or None
        Bytes of rows that it holds; None: `ROOM`.
    """

    def __init__(self, n: int, store: Store | None = None, room: int | None = None):
        self.n = n
        self.store = store
        self.room = room
        self.is_packed = False
        self._parts: dict[Hashable, Memory] = {}
        self._rows: dict[tuple[Hashable, Computation], _Rows] = {}  # those that were used last come last
        self._digests: dict[Any, dict[int, str | None]] = {}
        self._warned: set[str] = set()
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {"n": self.n, "store": self.store, "room": self.room}
        if self.is_packed:
            with self._lock:
                state["rows"] = [(name, own) for name, own in self._rows.items() if name[1].can_travel]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        rows = state.pop("rows", None)
        self.__init__(**state)  # type: ignore[misc]
        self.is_packed, self._rows = rows is not None, dict(rows or ())

    def packed(self) -> Memory:
        """A memory with the rows that are here now; it takes them along to other processes.

        Without the store, whose folder need not exist there.
        """
        new = Memory(self.n, None, self.room)
        new.is_packed = True
        with self._lock:
            new._rows = dict(self._rows)
        return new

    def part(self, name: Hashable) -> Memory:
        """A memory for the same cases in another form, such as images that paths stand for."""
        with self._lock:
            return self._parts.setdefault(name, Memory(self.n, self.store, self.room))

    @property
    def computations(self) -> list[Computation]:
        """What computed the rows that are here, about the cases as they are."""
        with self._lock:
            return [what for version, what in self._rows if version == ()]

    def rows(
        self,
        what: Computation,
        places: Array,
        compute: Callable[[Array], Any],
        digests: Digests | None = None,
        version: Hashable = (),
    ) -> Any:
        """One row per place. Only those that are missing are computed.

        Parameters
        ----------
        what : Computation
        places : ndarray
        compute : function
            ``compute(positions)`` gives the rows of some positions in `places`.
        digests : function or None
            ``digests(positions)`` gives digests of the content of these cases, for the store.
        version : hashable
            Which version of the cases this is about, where they exist in several, such as mildly changed ones.
        """
        name = (version, what)
        with self._lock:
            own = self._rows.setdefault(name, _Rows(self.n))
        with own.lock:
            found = own.get(places, lambda positions: self._load_or_compute(name, places, positions, compute, digests))
        with self._lock:
            self._rows[name] = self._rows.pop(name, own)
            size = sum(each.size for each in self._rows.values())
            for oldest in list(self._rows)[:-1]:
                if size <= (ROOM if self.room is None else self.room):
                    break
                size -= self._rows.pop(oldest).size
        return found

    def _load_or_compute(
        self, name: Any, places: Array, positions: Array, compute: Any, digests: Digests | None
    ) -> Any:
        version, what = name
        if self.store is None or digests is None or not len(positions):
            return compute(positions)
        key = what.lasting_key()
        if key is None:
            self._warn(f"{what} is not stored in {self.store.folder}: its code or state cannot be hashed by content")
            return compute(positions)
        names = self._names(key, version, places, positions, digests)
        rows: list[Any] = [None] * len(names)
        told = [(number, each) for number, each in enumerate(names) if each is not None]
        for (number, _), row in zip(told, self.store.get([each for _, each in told]), strict=True):
            rows[number] = row
        missing = [number for number, row in enumerate(rows) if row is None]
        if missing:
            computed = compute(positions[missing])
            if not isinstance(computed, np.ndarray):  # neither numbers nor items
                return computed if len(missing) == len(positions) else compute(positions)
            new = set(missing)
            for number, value in zip(missing, computed, strict=True):
                rows[number] = Row(value, computed.dtype == object)
            self.store.put([(each, rows[number]) for number, each in told if number in new])
            if len(missing) == len(positions):
                return computed
        values = [row.value for row in rows]
        return object_array(values) if any(row.is_item for row in rows) else np.array(values)

    def _names(
        self, key: str, version: Hashable, places: Array, positions: Array, digests: Digests
    ) -> list[bytes | None]:
        """The names of cases in the store, None for a case without a digest."""
        known = self._digests.setdefault(version, {})
        new = np.array([position for position in positions if int(places[position]) not in known], dtype=np.intp)
        if len(new):
            known.update(zip(places[new].tolist(), digests(new), strict=True))
        found = [known[place] for place in places[positions].tolist()]
        return [None if each is None else _short_digest(f"{key} {each}") for each in found]

    def _warn(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            warnings.warn(message, stacklevel=2)


def _short_digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


class _Rows:
    """The rows of one computation."""

    def __init__(self, n: int):
        self.parts: list[Any] = []  # rows in the order in which they were computed
        self.position = np.full(n, -1)  # of each case in these rows, -1 if it is not there
        self.count = 0
        self.size = 0
        self.lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.lock = threading.RLock()

    def get(self, places: Array, compute: Callable[[Array], Any]) -> Any:
        missing = np.flatnonzero(self.position[places] < 0)
        if len(missing) > 1 and not (np.diff(places[missing]) > 0).all():
            _, first = np.unique(places[missing], return_index=True)
            missing = missing[np.sort(first)]  # a case may be there several times
        if len(missing) or not self.parts:
            found = compute(missing)
            self.position[places[missing]] = self.count + np.arange(len(missing))
            self.count += len(missing)
            self.size += _bytes(found)
            self.parts += [found] if len(missing) else []
            if len(missing) == len(places):
                return take(found, np.arange(len(places)))  # a copy: the cache must not change
        if len(self.parts) > 1:
            self.parts = [stack(self.parts)]
        return take(self.parts[0], self.position[places])


def _bytes(rows: Any) -> int:
    """About how much memory rows take."""
    if sp.issparse(rows):
        return int(rows.data.nbytes + rows.indices.nbytes)
    if is_table(rows):
        return int(np.prod(rows.shape)) * 8
    return int(rows.nbytes) if isinstance(rows, np.ndarray) else 64 * len(rows)
