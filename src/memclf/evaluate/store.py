"""Results of an evaluation in one SQLite file; each row is written when it is finished."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memclf._numbers import Array
from memclf.exceptions import StoreError

FORMAT = 1
BASELINE = "baseline"  # the model that gains are measured against


class Condition(NamedTuple):
    """A corruption and its severity; the unchanged test set is "clean" with severity 0."""

    corruption: str = "clean"
    severity: int = 0

    def __str__(self) -> str:
        return self.corruption if self == CLEAN else f"{self.corruption} {self.severity}"


CLEAN = Condition()


class ModelId(NamedTuple):
    """Who was measured: a model, its training, and the seed (None: all its seeds together)."""

    model: str
    recipe: str = ""
    backbone: str = ""
    seed: int | None = None

    @property
    def training(self) -> tuple[str, str]:
        """Recipe and backbone; ("", "") for a model that has neither."""
        return (self.recipe, self.backbone)


@dataclass(frozen=True)
class Row:
    """One contender under one condition; measures are fractions, None without a meaning."""

    study: str
    model: str
    recipe: str
    backbone: str
    seed: int
    corruption: str
    severity: int
    n: int
    accuracy: float
    balanced_accuracy: float
    coverage: float
    selective_accuracy: float | None
    routing_stability: float | None = None
    stage1_accuracy: float | None = None
    oracle_accuracy: float | None = None

    @property
    def name(self) -> ModelId:
        return ModelId(self.model, self.recipe, self.backbone, self.seed)

    @property
    def condition(self) -> Condition:
        return Condition(self.corruption, self.severity)


class Cases(NamedTuple):
    """The test cases: their names, their labels as positions in `classes`, and the classes.

    `groups` has one number per case, the same for cases that belong together, or is None.
    """

    keys: list[str]
    labels: Array
    classes: list[Any]
    groups: Array | None = None


_KEY = ("model", "recipe", "backbone", "seed", "corruption", "severity")
_COLUMNS = tuple(each.name for each in fields(Row))
MEASURES = _COLUMNS[_COLUMNS.index("accuracy") :]
_TABLES = f"""
CREATE TABLE IF NOT EXISTS run (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS cases (position INTEGER PRIMARY KEY, key TEXT NOT NULL, label INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS results (
  study TEXT NOT NULL, model TEXT NOT NULL, recipe TEXT NOT NULL, backbone TEXT NOT NULL, seed INTEGER NOT NULL,
  corruption TEXT NOT NULL, severity INTEGER NOT NULL, n INTEGER NOT NULL,
  {", ".join(f"{name} REAL" for name in MEASURES)},
  PRIMARY KEY ({", ".join(_KEY)})
);
CREATE TABLE IF NOT EXISTS answers (
  model TEXT NOT NULL, recipe TEXT NOT NULL, backbone TEXT NOT NULL, seed INTEGER NOT NULL,
  corruption TEXT NOT NULL, severity INTEGER NOT NULL, answers BLOB NOT NULL, routes BLOB,
  PRIMARY KEY ({", ".join(_KEY)})
);
"""


class Store:
    """Results of an evaluation in a SQLite file, or in memory.

    Rows are written together with the answers behind them, in one transaction per contender and condition.

    Parameters
    ----------
    path : path or None
        The file, which is made if it is not there; None: in memory.

    Examples
    --------
    >>> store = Store()
    >>> store.put("study", "leaf")
    >>> store.get("study"), store.get("nothing"), store.rows()
    ('leaf', None, [])
    """

    def __init__(self, path: str | os.PathLike[str] | None = None):
        self.path = None if path is None else Path(path)
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(":memory:" if self.path is None else self.path, timeout=30)
            with self._db:
                self._db.executescript(_TABLES)
            found = self.get("format")
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path} is no file of results: {error}") from error
        if found is None:
            self.put("format", FORMAT)
        elif found != FORMAT:
            raise StoreError(f"{self.path} has format {found!r}; this version of memclf reads format {FORMAT}")

    # ----------------------------------------------------------------------------------------- about the run

    def put(self, key: str, value: Any) -> None:
        """Note something about the run; anything that JSON can hold."""
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO run VALUES (?, ?)", (key, json.dumps(value)))

    def get(self, key: str) -> Any:
        """What `put` noted, or None."""
        found = self._db.execute("SELECT value FROM run WHERE key = ?", (key,)).fetchone()
        return None if found is None else json.loads(found[0])

    def put_cases(self, keys: Iterable[str], labels: Array, classes: Iterable[Any], groups: Any = None) -> None:
        """Note the test cases; a file that holds results on other cases refuses them."""
        keys = [str(key).encode(errors="backslashreplace").decode() for key in keys]  # file names need not be UTF-8
        new = Cases(keys, np.asarray(labels, dtype=np.int64), [_plain(c) for c in classes])
        old = self.cases()
        if old is None:
            with self._db:
                rows = zip(range(len(new.keys)), new.keys, new.labels.tolist(), strict=True)
                self._db.executemany("INSERT INTO cases VALUES (?, ?, ?)", rows)
                self._db.execute("INSERT OR REPLACE INTO run VALUES ('classes', ?)", (json.dumps(new.classes),))
            self._put_groups(groups, None)
        elif old.classes != new.classes:
            raise StoreError(
                f"{self.path or 'this store'} holds results on the classes {old.classes}, these are {new.classes}; "
                "use a new file"
            )
        elif old.keys == new.keys and np.array_equal(old.labels, new.labels):
            self._put_groups(groups, old.groups)
        else:
            raise StoreError(
                f"{self.path or 'this store'} holds results on {len(old.keys)} other test cases; use a new file"
            )

    def _put_groups(self, groups: Any, old: Array | None) -> None:
        """Groups may be added later, but not changed."""
        if groups is None:
            return
        codes = np.unique(np.asarray(groups), return_inverse=True)[1]
        if old is None:
            self.put("groups", codes.tolist())
        elif not np.array_equal(codes, old):
            raise StoreError(f"{self.path or 'this store'} holds other groups of these cases; use a new file")

    def cases(self) -> Cases | None:
        """The test cases, None before any evaluation."""
        classes = self.get("classes")
        if classes is None:
            return None
        rows = self._db.execute("SELECT key, label FROM cases ORDER BY position").fetchall()
        labels, groups = np.array([label for _, label in rows], dtype=np.int64), self.get("groups")
        return Cases([key for key, _ in rows], labels, classes, None if groups is None else np.array(groups))

    # --------------------------------------------------------------------------------------------- the results

    def add(self, row: Row, answers: Array, routes: Array | None = None) -> None:
        """Write one finished row with its answers (positions in the classes, -1 for unknown)."""
        row = replace(
            row, seed=int(row.seed), severity=int(row.severity), n=int(row.n)
        )  # SQLite does not take numpy numbers
        key = (*row.name, *row.condition)
        packed = None if routes is None else np.asarray(routes, dtype="<i4").tobytes()
        with self._db:
            marks = ", ".join("?" * len(_COLUMNS))
            self._db.execute(f"INSERT OR REPLACE INTO results VALUES ({marks})", astuple(row))
            self._db.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*key, np.asarray(answers, dtype="<i4").tobytes(), packed),
            )

    def rows(self) -> list[dict[str, Any]]:
        """All finished rows, in the order in which they were finished."""
        found = self._db.execute(f"SELECT {', '.join(_COLUMNS)} FROM results ORDER BY rowid").fetchall()
        return [dict(zip(_COLUMNS, row, strict=True)) for row in found]

    def finished(self) -> set[tuple[ModelId, Condition]]:
        """Contenders and conditions that are done."""
        found = self._db.execute(f"SELECT {', '.join(_KEY)} FROM results").fetchall()
        return {(ModelId(*row[:4]), Condition(*row[4:])) for row in found}

    def answers(self) -> dict[tuple[Any, ...], Array]:
        """The answers of all contenders under all conditions: positions in the classes.

        -1 stands for unknown. Keys are (model, recipe, backbone, seed, corruption, severity).
        """
        found = self._db.execute(f"SELECT {', '.join(_KEY)}, answers FROM answers ORDER BY rowid")
        return {tuple(row[:6]): np.frombuffer(row[6], dtype="<i4").astype(np.int64) for row in found}

    def routes(self, name: ModelId, condition: Condition = CLEAN) -> Array | None:
        """The memory that each case went to, -1 for unknown.

        None is returned if there are no memories or the condition is not done.
        """
        where = " AND ".join(f"{column} = ?" for column in _KEY)
        found = self._db.execute(f"SELECT routes FROM answers WHERE {where}", (*name, *condition)).fetchone()
        return None if found is None or found[0] is None else np.frombuffer(found[0], dtype="<i4").astype(np.int64)

    def close(self) -> None:
        self._db.close()


@contextmanager
def open_store(path: str | os.PathLike[str]) -> Iterator[Store]:
    """Open a store that exists already, and close it at the end."""
    if not Path(path).is_file():
        raise StoreError(
            f"there is no {path}; has the study been started? Give the folder that memclf study or evaluate wrote"
        )
    store = Store(path)
    try:
        yield store
    finally:
        store.close()


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
