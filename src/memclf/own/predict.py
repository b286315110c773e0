"""Answers to all cases of a file, written block by block; an interrupted run goes on."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from memclf._progress import track
from memclf.cases.executors import Executor, Here, find_executor
from memclf.classifier import MemoryClassifier
from memclf.data import Block, CaseFile
from memclf.data.images import drop_broken, say_broken
from memclf.exceptions import DataError, ImageError, OptionError
from memclf.explain import answer_rows
from memclf.own.part import SUFFIXES, PartFile
from memclf.persist import load
from memclf.persist.manifest import MANIFEST

COLUMNS = ("answer", "probability", "memory", "similarity", "known", "reason")


@dataclass(frozen=True)
class Predicted:
    """What `predict_file` wrote.

    Attributes
    ----------
    out : Path
    answers, unknown : int
        How many rows there are, and how many of them are not known.
    before : int
        How many an earlier call, which was interrupted, had written.
    broken : tuple of str
        Images that were skipped, and why.
    new_columns : tuple of str
        Columns that the training data did not have, which were not looked at.
    """

    out: Path
    answers: int
    unknown: int
    before: int
    broken: tuple[str, ...]
    new_columns: tuple[str, ...]


def predict_file(
    model: str | os.PathLike[str],
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    skip_broken: bool = False,
    trusted: Iterable[Any] = (),
    verbose: int | None = None,
) -> Predicted:
    """Answer every case of a file or folder with a saved memory classifier.

    Until all is done the answers are in OUT.part, and the same call goes on from there. OUT appears when it is whole.
    With a client of a Dask cluster, its workers answer the blocks; the file is the same.

    Parameters
    ----------
    model : path of a model folder
    path : path
        A table, a folder of images or a CSV file that lists images, as the model takes it.
    out : path
        Ends in .csv, .jsonl or .parquet. An older file is replaced.
    id_column : str or None
        Of a table: the column that names the cases, written in place of their rows.
    skip_broken : bool
        Leave out images that cannot be read, instead of an error.
    trusted : names of types and functions that loading may use; see `memclf.load`
    verbose : int or None
    """
    model, path, target = Path(model), Path(path), Path(out)
    if target.suffix.lower() not in SUFFIXES:
        raise OptionError(f"--out must end in one of {', '.join(SUFFIXES)}; got {target.name}")
    if not target.absolute().parent.is_dir():
        raise OptionError(f"there is no folder {target.absolute().parent} to write {target.name} into")
    if target.resolve() == path.resolve():
        raise OptionError(f"--out {target} is the data itself, which would be lost; give another name")
    clf = load(model, trusted=trusted)
    if not isinstance(clf, MemoryClassifier):
        raise DataError(f"{model} holds a {type(clf).__name__}; memclf predict takes a memory classifier")
    cases = CaseFile(clf, path, id_column)
    what = sha256((model / MANIFEST).read_bytes() + f"{cases.identity}{cases.name}".encode()).hexdigest()
    part = PartFile(target, what, (cases.name, *COLUMNS))
    before = part.state.answers
    executor = find_executor()
    calls, total = _plan_calls(executor, cases, part.state.done, skip_broken)
    answered = _answer_in_order(executor, calls)
    for end, rows, broken in track(answered, total=total, what="blocks of cases", verbose=verbose):
        part.append(rows, done=end, broken=broken)
    state = part.state
    if not state.done:
        part.discard()
        raise DataError(f"{path} holds no cases")
    part.finish()
    new = () if cases.columns is None else tuple(name for name in cases.columns.new if name != id_column)
    return Predicted(target, state.answers, state.unknown, before, tuple(state.broken), new)


Call = tuple[int, Callable[..., Any], tuple[Any, ...]]  # where a part of the file ends, and what answers it


def _plan_calls(executor: Executor, cases: CaseFile, start: int, skip_broken: bool) -> tuple[Iterable[Call], int]:
    """Calls that answer the file from a position on, and about how many there are.

    On a cluster, workers read their parts of the file themselves if it has any; else they get blocks of it.
    """
    ranges = None if isinstance(executor, Here) else cases.ranges(start)
    if ranges is not None:
        file = executor.put(cases)
        return [(stop, _answer_range, (file, first, stop)) for first, stop in ranges], len(ranges)
    model = executor.put(cases.clf)
    blocks = cases.blocks(start)
    return ((block.end, _answer, (model, block, skip_broken)) for block in blocks), cases.count_blocks(start)


def _answer_in_order(
    executor: Executor, calls: Iterable[Call]
) -> Iterator[tuple[int, list[dict[str, Any]], list[str]]]:
    """Where each part of the file ends, its rows and what is broken, in the file's order."""
    started: deque[tuple[int, list[Any]]] = deque()
    for end, work, arguments in calls:
        started.append((end, executor.start(work, [arguments])))
        if len(started) >= executor.n_at_once:
            end, handles = started.popleft()
            yield end, *executor.get(handles)[0]
    for end, handles in started:
        yield end, *executor.get(handles)[0]


def _answer_range(cases: CaseFile, start: int, stop: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of a part of the file, which is read here."""
    return [row for block in cases.read_range(start, stop) for row in _answer(cases.clf, block, False)[0]], []


def _answer(clf: Any, block: Block, skip_broken: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of a block, without broken images, and what is broken."""
    names, cases, broken = block.names, block.cases, {}
    try:
        answers = answer_rows(clf, cases)
    except ImageError:
        broken = cases.broken()
        if not broken or not skip_broken:
            if broken:
                raise DataError(f"{say_broken(broken, len(cases))}. --skip-broken leaves them out") from None
            raise
        if len(broken) == len(cases):
            return [], list(broken.values())
        cases, kept = drop_broken(cases, broken)
        names, answers = [names[k] for k in kept], answer_rows(clf, cases)
    rows = [{"": name, **answer.as_dict()} for name, answer in zip(names, answers, strict=True)]
    return rows, list(broken.values())
