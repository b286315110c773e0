"""Rows of numbers on disk, shared by processes: one SQLite file of limited size in a folder."""

from __future__ import annotations

import hashlib
import math
import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

MAX_BYTES = 2**30
FILE = "rows-1.sqlite"  # the number is that of the format
WAIT = 10.0  # seconds for other processes that write
FRESH = 60.0  # seconds in which reading an entry again is not noted
OVERHEAD = 120  # bytes that an entry takes besides its numbers, about
SPARE = 0.1  # share of the room that is freed when it is full, so that not every write has to free some

SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS entries (
    name BLOB PRIMARY KEY, kind TEXT, content BLOB, control BLOB, size INTEGER, used REAL
);
CREATE INDEX IF NOT EXISTS by_use ON entries (used, size);
CREATE TABLE IF NOT EXISTS total (size INTEGER);
INSERT INTO total SELECT 0 WHERE NOT EXISTS (SELECT * FROM total);
CREATE TRIGGER IF NOT EXISTS add_size AFTER INSERT ON entries BEGIN UPDATE total SET size = size + NEW.size; END;
CREATE TRIGGER IF NOT EXISTS subtract_size AFTER DELETE ON entries BEGIN UPDATE total SET size = size - OLD.size; END;
COMMIT;
"""


class Row(NamedTuple):
    """What was computed about one case: a row of numbers, or an item of any type."""

    value: Any
    is_item: bool


class Usage(NamedTuple):
    """Entries of a store, their bytes, and when one was last used (seconds since 1970)."""

    entries: int
    bytes: int
    last_used: float | None


class Store:
    """Rows of numbers in a folder, by name. Many processes may read and write at the same time.

    A write is one transaction: a process that is killed leaves nothing half written, and its lock ends with it. Every
    entry has a checksum; a damaged entry or a damaged file counts as absent. Where the folder cannot be used (a full
    disk, no permission), nothing is stored, with a warning.

    Parameters
    ----------
    folder : path
        Made if it does not exist.
    max_bytes : int
        Room for all entries. Those that were not used for the longest time are removed.
    """

    def __init__(self, folder: str | os.PathLike[str], max_bytes: int = MAX_BYTES):
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes <= 0:
            raise ValueError(f"max_bytes must be a positive whole number, got {max_bytes!r}")
        self.folder = Path(folder).expanduser().resolve()
        self.max_bytes = max_bytes

    @property
    def file(self) -> Path:
        """The file with all entries."""
        return self.folder / FILE

    def get(self, names: Sequence[bytes]) -> list[Row | None]:
        """The row of each name, None where there is none."""
        found: list[Row | None] = [None] * len(names)

        def read(connection: sqlite3.Connection) -> None:
            now, stale, damaged = time.time(), [], []
            connection.execute("BEGIN")
            for position, name in enumerate(names):
                entry = connection.execute("SELECT kind, content, control, used FROM entries WHERE name = ?", (name,))
                for kind, content, control, used in entry:
                    found[position] = _decode(kind, content, control)
                    if found[position] is None:
                        damaged.append((name,))
                    elif now - used > FRESH:
                        stale.append((now, name))
            connection.execute("COMMIT")
            if stale or damaged:
                with _writing(connection):
                    connection.executemany("DELETE FROM entries WHERE name = ?", damaged)
                    connection.executemany("UPDATE entries SET used = ? WHERE name = ?", stale)

        self._run(read)
        return found

    def put(self, rows: Iterable[tuple[bytes, Row]]) -> None:
        """Store rows under names. Rows that are no numbers are left out."""
        now = time.time()
        coded = [(name, _encode(row)) for name, row in rows]
        sized = [(name, *found, len(found[1]) + OVERHEAD, now) for name, found in coded if found is not None]

        def write(connection: sqlite3.Connection) -> None:
            with _writing(connection):
                connection.executemany("INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, ?, ?)", sized)
                self._make_room(connection)

        if sized:
            self._run(write)

    def usage(self) -> Usage:
        """How much is stored. A folder without a file holds nothing, and none is made."""
        found = [Usage(0, 0, None)]

        def read(connection: sqlite3.Connection) -> None:
            row = connection.execute("SELECT count(*), total(size), max(used) FROM entries").fetchone()
            found[0] = Usage(row[0], int(row[1]), row[2])

        if self.file.is_file():
            self._run(read)
        return found[0]

    def clear(self) -> Usage:
        """Remove all entries, and return how much they were. Other processes go on and store anew."""
        removed = self.usage()

        def remove(connection: sqlite3.Connection) -> None:
            with _writing(connection):
                connection.execute("DELETE FROM entries")
            connection.execute("VACUUM")

        if removed.entries:
            self._run(remove)
        return removed

    def _make_room(self, connection: sqlite3.Connection) -> None:
        (total,) = connection.execute("SELECT size FROM total").fetchone()
        if total <= self.max_bytes:
            return
        excess, oldest = total - (1 - SPARE) * self.max_bytes, []
        for name, size in connection.execute("SELECT name, size FROM entries ORDER BY used"):
            if excess <= 0:
                break
            oldest.append((name,))
            excess -= size
        connection.executemany("DELETE FROM entries WHERE name = ?", oldest)

    def _run(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Call `work` with a new connection, which no other thread or process uses."""
        try:
            try:
                self._connect(work)
            except sqlite3.OperationalError:  # the file is in order but cannot be used now
                raise
            except sqlite3.DatabaseError:
                self._discard()
                self._connect(work)
        except (sqlite3.Error, OSError) as error:
            warnings.warn(f"nothing is stored in {self.folder}: {error}", stacklevel=2)

    def _connect(self, work: Callable[[sqlite3.Connection], None]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.file, timeout=WAIT, isolation_level=None)) as connection:
            with suppress(sqlite3.OperationalError):  # another process is changing the mode, which stays with the file
                connection.execute("PRAGMA journal_mode = WAL")  # readers do not wait for a writer
            connection.execute("PRAGMA synchronous = OFF")  # after a power failure, checksums show what is damaged
            if not connection.execute("SELECT * FROM sqlite_master WHERE name = 'subtract_size'").fetchall():
                connection.executescript(SCHEMA)
            work(connection)

    def _discard(self) -> None:
        """Put a damaged file aside. Were two processes to do it at once, only entries would be lost."""
        os.replace(self.file, self.file.with_suffix(".damaged"))
        for suffix in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.remove(f"{self.file}{suffix}")


@contextmanager
def _writing(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _encode(row: Row) -> tuple[str, bytes, bytes] | None:
    """The kind of a row, its numbers and a checksum; None if it is no row of numbers."""
    holder = type(row.value).__name__ if type(row.value) in (list, tuple) else "one"
    parts = [_encode_numbers(each) for each in ([row.value] if holder == "one" else row.value)]
    if any(part is None for part in parts):
        return None
    kind = " ".join(["item" if row.is_item else "row", holder, *[part[0] for part in parts if part is not None]])
    content = b"".join([part[1] for part in parts if part is not None])
    return kind, content, _control(kind, content)


def _encode_numbers(value: Any) -> tuple[str, bytes] | None:
    """The type of a number or an array of numbers, and its bytes; None if it is something else."""
    kinds = {np.ndarray: "array", np.generic: "scalar", bool: "number", int: "number", float: "number"}
    kind = next((name for each, name in kinds.items() if isinstance(value, each)), None)
    numbers = np.asarray(value) if kind is not None else np.empty(0, dtype=object)
    if numbers.dtype.kind not in "fiub":
        return None
    return ",".join([str(kind), numbers.dtype.str, *map(str, numbers.shape)]), numbers.tobytes()


def _decode(kind: Any, content: Any, control: Any) -> Row | None:
    if not (isinstance(kind, str) and isinstance(content, bytes)) or _control(kind, content) != control:
        return None
    place, holder, *parts = kind.split()
    values: list[Any] = []
    for part in parts:
        name, dtype, *shape = part.split(",")
        sides = [int(side) for side in shape]
        numbers = np.frombuffer(content, np.dtype(dtype), math.prod(sides)).reshape(sides)
        content = content[numbers.nbytes :]
        values.append(numbers.copy() if name == "array" else numbers[()] if name == "scalar" else numbers.item())
    value = values[0] if holder == "one" else tuple(values) if holder == "tuple" else values
    return Row(value, place == "item")


def _control(kind: str, content: bytes) -> bytes:
    return hashlib.blake2b(kind.encode() + b"\0" + content, digest_size=8).digest()
