"""A file of answers that grows beside its final name and appears when it is whole."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from memclf.exceptions import DataError, MissingExtraError

PARQUET = ".parquet"
LINES = (".jsonl", ".ndjson")
SUFFIXES = (".csv", *LINES, PARQUET)
GROUP = 65536  # rows of a row group


@dataclass(frozen=True)
class State:
    """How far the answers are: cases done, bytes that count, rows, and what was skipped."""

    what: str
    done: int = 0
    size: int = 0
    answers: int = 0
    unknown: int = 0
    broken: list[str] = field(default_factory=list)


class PartFile:
    """Rows in OUT.part, with its state in OUT.part.json, until `finish` gives them the name OUT.

    Bytes that the state does not count, of a write that was interrupted, are cut off. A Parquet file cannot be
    continued: until the end its rows are lines of JSON.

    Parameters
    ----------
    target : Path
    what : str
        Tells this work from others: the state of other work is not continued.
    columns : names of the columns; the first is what cases are called by
    """

    def __init__(self, target: Path, what: str, columns: Sequence[str]):
        self.target, self.columns = target, tuple(columns)
        self.path = target.with_name(f"{target.name}.part")
        self._note = target.with_name(f"{target.name}.part.json")
        if self._kind == PARQUET:
            _require_pyarrow()  # before all is answered
        self.state = self._find(what)
        with self._explained(), open(self.path, "ab") as file:
            file.truncate(self.state.size)
        if not self.state.size and self._kind == ".csv":
            self._write(_as_csv([dict(zip(self.columns, self.columns, strict=True))], self.columns), {})

    @property
    def _kind(self) -> str:
        return self.target.suffix.lower()

    def _find(self, what: str) -> State:
        """The state of an earlier call about the same, or that of the beginning."""
        try:
            found = State(**json.loads(self._note.read_text(encoding="utf-8")))
            if found.what == what and self.path.stat().st_size >= found.size:
                return found
        except (OSError, TypeError, ValueError):
            pass
        return State(what)

    def append(self, rows: list[dict[str, Any]], *, done: int, broken: Sequence[str] = ()) -> None:
        """Write rows and note that so many cases are done."""
        rows = [dict(zip(self.columns, row.values(), strict=True)) for row in rows]
        text = _as_csv(rows, self.columns) if self._kind == ".csv" else _as_lines(rows)
        old = self.state
        self._write(
            text,
            {
                "done": done,
                "answers": old.answers + len(rows),
                "unknown": old.unknown + sum(not row["known"] for row in rows),
                "broken": [*old.broken, *broken],
            },
        )

    def _write(self, text: str, more: dict[str, Any]) -> None:
        content = text.encode("utf-8", errors="backslashreplace")  # file names need not be UTF-8
        with self._explained():
            with open(self.path, "ab") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            self.state = replace(self.state, size=self.state.size + len(content), **more)
            note = self._note.with_name(f"{self._note.name}.new")
            note.write_text(json.dumps(asdict(self.state)), encoding="utf-8")
            note.replace(self._note)

    def finish(self) -> None:
        """Give the file its name."""
        with self._explained():
            if self._kind == PARQUET:
                made = self.path.with_name(f"{self.path.name}.parquet")
                try:
                    self._convert(made)
                    made.replace(self.target)
                finally:
                    made.unlink(missing_ok=True)
                self.path.unlink()
            else:
                self.path.replace(self.target)
            self._note.unlink()

    def discard(self) -> None:
        """Leave nothing behind."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def _convert(self, made: Path) -> None:
        """Lines of JSON as Parquet, a row group at a time."""
        import pyarrow as pa
        from pyarrow import parquet

        fields = {"probability": pa.float64(), "memory": pa.int64(), "similarity": pa.float64(), "known": pa.bool_()}
        with open(self.path, encoding="utf-8") as file:
            first = json.loads(file.readline() or "{}")
        for name in (self.columns[0], "answer"):
            value = first.get(name)
            fields[name] = (
                pa.int64() if isinstance(value, int) else pa.float64() if isinstance(value, float) else pa.string()
            )
        schema = pa.schema([(name, fields.get(name, pa.string())) for name in self.columns])
        with open(self.path, encoding="utf-8") as file, parquet.ParquetWriter(made, schema) as writer:
            while lines := list(islice(file, GROUP)):
                writer.write_table(pa.Table.from_pylist([json.loads(line) for line in lines], schema))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what is kept where writing fails: the disk may be full."""
        try:
            yield
        except OSError as error:
            raise DataError(
                f"{self.target} cannot be written: {error.strerror or error}. {self.state.answers:,} answers are kept "
                f"in {self.path.name}; when there is room, the same command goes on from there"
            ) from error


def _as_csv(rows: list[dict[str, Any]], columns: Sequence[str]) -> str:
    text = io.StringIO()
    short = (
        {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()} for row in rows
    )
    csv.DictWriter(text, columns, lineterminator="\n").writerows(short)
    return text.getvalue()


def _as_lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _require_pyarrow() -> None:
    try:
        import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtraError('a .parquet file needs pyarrow: pip install "memclf[scale]"') from error
