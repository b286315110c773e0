"""Judgements of an expert: checking them, repeats among them, and files of them."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memclf._numbers import Array

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ENCODING = "utf-8-sig"  # spreadsheets begin a file with a mark of the encoding
COLUMNS = ("i", "j", "k", "alike")
ANY = 2**53  # cases: a file does not know how many there are
SURE = 1.96  # standard errors to each side of a 95 % interval


def check_pairs(pairs: Any, n: int) -> Array:
    """Rows (i, j, alike) of n cases as numbers; errors name the first wrong one."""
    rows = _check_rows("pairs", pairs, "(i, j, alike), where alike is True, False or a number from 0 to 1", n)
    for number, (i, j, alike) in enumerate(rows.tolist()):
        if i == j:
            raise ValueError(f"pairs[{number}] compares case {int(i)} with itself; give two different cases")
        if not 0 <= alike <= 1:
            raise ValueError(
                f"pairs[{number}] says alike = {alike:g}; give True, False or a number from 0 (not at all) to 1 (fully)"
            )
    return rows


def check_triplets(triplets: Any, n: int) -> Array:
    """Rows (i, j, k) of n cases as numbers; errors name the first wrong one."""
    rows = _check_rows("triplets", triplets, "(i, j, k): case i is more like j than like k", n)
    for number, row in enumerate(rows.astype(int).tolist()):
        if len(set(row)) < 3:
            twice = next(case for case in row if row.count(case) > 1)
            raise ValueError(f"triplets[{number}] names case {twice} twice: {tuple(row)}; give three different cases")
    return rows


def _check_rows(name: str, given: Any, form: str, n: int) -> Array:
    entries = [] if given is None else list(given)
    try:
        rows = np.array([[float(value) for value in entry] for entry in entries], dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.empty(0)
    if not entries:
        return np.empty((0, 3))
    if rows.ndim != 2 or rows.shape[1] != 3:
        bad = next((entry for entry in entries if not _are_three_numbers(entry)), entries[0])
        raise ValueError(f"{name} must be a list of {form}; got {bad!r}")
    cases = rows[:, :2] if name == "pairs" else rows
    for number, row in enumerate(cases):
        for case in row.tolist():
            if case != int(case if np.isfinite(case) else -1) or not 0 <= case < n:
                raise ValueError(
                    f"{name}[{number}] names case {case:g}, which does not exist: X has {n} cases, numbered from 0 to "
                    f"{n - 1}"
                )
    return rows


def _are_three_numbers(entry: Any) -> bool:
    try:
        return len([float(value) for value in entry]) == 3
    except (TypeError, ValueError):
        return False


def read_judgements(path: str | os.PathLike[str]) -> tuple[list[tuple[int, int, float]], list[tuple[int, int, int]]]:
    """Pairs and triplets from a CSV file, ready for ``judge(X, *read_judgements(path))``.

    The columns are i, j, k and alike. A pair has no k, a triplet no alike.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file of judgements {path}; append_judgements makes one")
    pairs: list[tuple[int, int, float]] = []
    triplets: list[tuple[int, int, int]] = []
    with Path(path).open(newline="", encoding=ENCODING) as stream:
        reader = csv.DictReader(stream)
        _check_columns(path, reader.fieldnames or ())
        for row in reader:
            try:
                if row["k"] and row["alike"]:
                    raise ValueError("both a triplet and a pair")
                if row["k"]:
                    triplets.append((int(row["i"]), int(row["j"]), int(row["k"])))
                else:
                    pairs.append((int(row["i"]), int(row["j"]), float(row["alike"])))
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"line {reader.line_num} of {path} is no judgement: give i, j and alike (0 to 1), or i, j and k"
                ) from error
    return pairs, triplets


def append_judgements(path: str | os.PathLike[str], pairs: Iterable[Any] = (), triplets: Iterable[Any] = ()) -> None:
    """Add judgements to a CSV file, which is made if there is none. No earlier line is changed.

    The file is replaced as a whole by one with the new lines, so that a process that is killed leaves the old file or
    the new one, never half a line. Several processes may append at the same time, except on Windows.
    """
    file = Path(path)
    lines = [
        f"{int(i)},{int(j)},,{repr(alike).removesuffix('.0')}\n" for i, j, alike in check_pairs(pairs, ANY).tolist()
    ]
    lines += [f"{int(i)},{int(j)},{int(k)},\n" for i, j, k in check_triplets(triplets, ANY).tolist()]
    if not file.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {file.parent} for the judgements; make it first")
    with _only_one(file.parent):
        before = (file.read_text(encoding=ENCODING) if file.exists() else "") or ",".join(COLUMNS) + "\n"
        _check_columns(path, next(csv.reader([before.splitlines()[0]]), []))
        if not before.endswith("\n"):
            before += "\n"
        handle, part = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                stream.write(before + "".join(lines))
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(part, file)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise


def _check_columns(path: str | os.PathLike[str], found: Iterable[str]) -> None:
    if tuple(found) != COLUMNS:
        raise ValueError(f"{path} begins with the columns {list(found)}; a file of judgements has {', '.join(COLUMNS)}")


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Let one process at a time change the files of a folder; others wait.

    The system ends the lock of a process that is killed. Windows has none on folders, nor have some network drives.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@dataclass(frozen=True)
class Share:
    """A share of `total`, with Wilson's 95 % interval; NaN of nothing."""

    count: float
    total: int

    @property
    def value(self) -> float:
        return self.count / self.total if self.total else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        if not self.total:
            return (0.0, 1.0)
        n, p = self.total, self.value
        middle = (p + SURE**2 / (2 * n)) / (1 + SURE**2 / n)
        half = SURE / (1 + SURE**2 / n) * float(np.sqrt(p * (1 - p) / n + SURE**2 / (4 * n * n)))
        return (max(0.0, middle - half), min(1.0, middle + half))

    def __str__(self) -> str:
        low, high = self.interval
        return f"{100 * self.value:.0f} % ({100 * low:.0f} to {100 * high:.0f} %)"


@dataclass(frozen=True)
class Consistency:
    """How far judgements can be relied on.

    Attributes
    ----------
    repeats : Share
        How often the expert gave the same answer to a question that came again.
    held_out : Share
        How often an answer was predicted by weights learned from the other questions.
    """

    repeats: Share
    held_out: Share

    def __str__(self) -> str:
        if not self.held_out.total:
            return "There are too few judgements to say how consistent they are."
        first = "No question was asked twice"
        if self.repeats.total:
            first = f"The expert gave the same answer to {self.repeats} of {self.repeats.total} repeated questions"
        return f"{first}; of {self.held_out.total} judgements, {self.held_out} are predicted by the others."


def group_questions(rows: Array) -> tuple[Array, Array]:
    """The number of the question that each triplet answers, and whether j stands before k.

    (i, j, k) and (i, k, j) answer one question in two ways.
    """
    first = rows[:, 1] <= rows[:, 2]
    asked = np.column_stack([rows[:, 0], rows[:, 1:].min(axis=1), rows[:, 1:].max(axis=1)])
    return _number(asked), first


def group_pairs(rows: Array) -> Array:
    """The number of the question that each pair (i, j, alike) answers."""
    return _number(np.sort(rows[:, :2], axis=1))


def _number(rows: Array) -> Array:
    if not len(rows):
        return np.empty(0, dtype=np.intp)
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1]).reshape(-1)


def count_repeats(group: Array, answers: Array) -> Share:
    """How many later answers to the same question agree with the first one, of all later ones."""
    agreed, total = 0, 0
    first: dict[int, float] = {}
    for question, answer in zip(group.tolist(), answers.tolist(), strict=True):
        if question in first:
            total += 1
            agreed += abs(first[question] - answer) < 0.5
        first.setdefault(question, answer)
    return Share(agreed, total)


def find_contradictions(pairs: Array, triplets: Array) -> str:
    """Why nothing can be learned from these judgements, as a sentence; "" if something can."""
    if len(pairs) > 1 and not len(triplets) and np.ptp(pairs[:, 2]) == 0:
        return (
            f"all {len(pairs)} judged pairs have the same answer (alike = {pairs[0, 2]:g}), so they do not tell which "
            "measurements count; judge pairs of both kinds, or triplets."
        )
    question, first = group_questions(triplets)
    pair = group_pairs(pairs)
    lean = np.bincount(question, weights=np.where(first, 1.0, -1.0))
    lean_of_pairs = np.bincount(pair, weights=2 * pairs[:, 2] - 1)
    if not lean.any() and not lean_of_pairs.any():
        return (
            f"the {len(pairs) + len(triplets)} judgements contradict each other throughout: every question has as many "
            "answers one way as the other."
        )
    return ""
