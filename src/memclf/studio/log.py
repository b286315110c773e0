"""What the expert did, in the order of time: a SQLite file that only ever grows."""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

UNDO = "undo"
TABLE = """
create table if not exists events (
    number integer primary key autoincrement,
    time text not null,
    kind text not null,
    about text not null,
    note text not null
);
create trigger if not exists no_change before update on events
    begin select raise(abort, 'events are never changed'); end;
create trigger if not exists no_loss before delete on events
    begin select raise(abort, 'events are never deleted'); end;
"""


@dataclass(frozen=True)
class Event:
    """Something that the expert did; `about` is what JSON can hold."""

    number: int
    time: str
    kind: str
    about: dict[str, Any]
    note: str = ""


class Log:
    """The events of a project. An event is on the disk when `append` returns.

    Nothing is changed or deleted: `undo` adds an event, and undoing that one brings the first back.
    """

    def __init__(self, path: Path):
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=30)
        self._lock = threading.Lock()
        self._known: list[Event] = []
        self._connection.execute("pragma journal_mode=wal")  # a killed process loses nothing that was committed
        self._connection.executescript(TABLE)

    def append(self, kind: str, about: dict[str, Any], note: str = "") -> Event:
        """Add an event."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self._lock:
            row = self._connection.execute(
                "insert into events (time, kind, about, note) values (?, ?, ?, ?)",
                (time, kind, json.dumps(about, allow_nan=False), note),
            )
            return Event(int(row.lastrowid or 0), time, kind, about, note)

    def undo(self, number: int, note: str = "") -> Event:
        """Take an event back that stands."""
        if number not in {each.number for each in self._standing()}:
            raise ValueError(f"there is no event {number} that could be undone")
        return self.append(UNDO, {"event": number}, note)

    def events(self, *kinds: str) -> list[Event]:
        """The events of these kinds that stand, in the order of time."""
        return [each for each in self._standing() if each.kind in kinds]

    def last(self, kind: str) -> Event | None:
        """The last event of a kind that stands."""
        found = self.events(kind)
        return found[-1] if found else None

    def all(self) -> list[Event]:
        """Every event, also those that were undone."""
        with self._lock:
            last = self._known[-1].number if self._known else 0
            rows = self._connection.execute(
                "select number, time, kind, about, note from events where number > ? order by number", (last,)
            )
            self._known += [Event(n, time, kind, json.loads(about), note) for n, time, kind, about, note in rows]
            return list(self._known)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _standing(self) -> list[Event]:
        found, undone = self.all(), set()
        for each in reversed(found):
            if each.kind == UNDO and each.number not in undone:
                undone.add(int(each.about["event"]))
        return [each for each in found if each.number not in undone]
