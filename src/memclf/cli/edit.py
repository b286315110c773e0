"""``memclf edit``: changing the memories of a saved classifier by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from memclf._numbers import reaches
from memclf.cli.load_model import Target, load_classifier
from memclf.cli.model import print_log
from memclf.cli.output import as_line, exit_on_error, fail
from memclf.exceptions import TrainingCasesError


def edit(
    model: Annotated[Path, typer.Argument(help="A folder written by memclf.save, with a memory classifier.")],
    drop: Annotated[list[int] | None, typer.Option(help="Remove this memory; repeat it.")] = None,
    add: Annotated[
        list[int] | None, typer.Option(help="Make the training case of this row a memory; repeat it.")
    ] = None,
    threshold: Annotated[
        list[str] | None, typer.Option(help="Set the threshold of a memory, as 2=0.8; repeat it.")
    ] = None,
    pin: Annotated[list[int] | None, typer.Option(help="Mark this memory as one that must stay; repeat it.")] = None,
    unpin: Annotated[list[int] | None, typer.Option(help="Take the mark away; repeat it.")] = None,
    note: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    data: Annotated[
        Path | None,
        typer.Option(
            help="The cases that the model was fitted on, in their order. --drop and --add need them, unless the model "
            "was saved with its training cases (memclf fit --keep-training)."
        ),
    ] = None,
    target: Target = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last edit back; again for the one before it.")] = False,
    log: Annotated[bool, typer.Option("--log", help="Show all edits.")] = False,
    trusted: Annotated[
        list[str] | None, typer.Option(help="A type or function that loading may use, as mylab.alike; repeat it.")
    ] = None,
) -> None:
    """Change the memories of a saved classifier by hand, with a log and an undo.

    Numbers of memories are those that memclf inspect shows. Only clusters whose cases change are fitted again. All
    options of one command are one edit, in which dropping comes last.

    Examples:

    memclf edit MODEL --drop 3 --data train.csv --note "a blurred picture"

    memclf edit MODEL --threshold 2=0.8 --pin 0

    memclf edit MODEL --undo
    """
    wanted = bool(drop or add or threshold or pin or unpin)
    if not (wanted or undo or log):
        fail("nothing to do; give --drop, --add, --threshold, --pin, --unpin, --undo or --log", 2)
    if wanted and undo:
        fail("--undo takes the last edit back and does nothing else; leave the other options out", 2)
    thresholds = [_read_threshold(each) for each in threshold or ()]
    from memclf.persist import save_edit, undo_edit
    from memclf.persist.log import read_log

    with exit_on_error(OSError, TypeError, ValueError), _ask_for_data():
        if undo:
            undone = undo_edit(model, note)
            typer.echo(f"undone: {as_line('; '.join(map(str, undone.get('what') or ())))}")
        elif wanted:
            before = _load(model, trusted, data, target)
            after, what = before, []
            if pin:
                after, what = after.pin(*pin), [f"pin {_list(pin)}"]
            if unpin:
                after, what = after.pin(*unpin, pinned=False), [*what, f"unpin {_list(unpin)}"]
            for memory, value in thresholds:
                after, what = after.set_threshold(memory, value), [*what, f"threshold of memory {memory}: {value:g}"]
            for row in add or ():
                after, what = after.add(row), [*what, f"add row {row}"]
            if drop:
                after, what = after.drop(*drop), [*what, f"drop {_list(drop)}"]
            numbers = _measure(before, after)
            save_edit(before, after, model, what, note, numbers)
            _report(before, after, what, numbers)
        if log:
            print_log(Console(), read_log(model))


def _load(folder: Path, trusted: list[str] | None, data: Path | None, target: str | None) -> Any:
    from memclf.data import read_cases

    clf = load_classifier(folder, trusted, "an edit is about")
    return clf if data is None else clf.with_training(*read_cases(clf, data, target))


@contextmanager
def _ask_for_data() -> Iterator[None]:
    """Say which option gives the training cases, where they are missing or others."""
    try:
        yield
    except TrainingCasesError as error:
        fail(f"{str(error).split(';')[0]}; give them with --data")


def _read_threshold(text: str) -> tuple[int, float]:
    memory, sign, value = text.partition("=")
    try:
        return int(memory), float(value if sign else "")
    except ValueError:
        fail(f"--threshold takes the number of a memory and a threshold, as 2=0.8; got {text!r}", 2)


def _list(memories: list[int]) -> str:
    return f"memor{'ies' if len(memories) > 1 else 'y'} {', '.join(map(str, memories))}"


def _measure(before: Any, after: Any) -> dict[str, int]:
    """Numbers for the log: classifiers that are new, and training cases that are answered otherwise."""
    from memclf.evaluate import count_fitted, find_changes

    if before.training_ is None:
        return {"fitted": count_fitted(before, after)}
    return find_changes(before, after, before.training_.X).counts


def _share_known(clf: Any) -> float:
    """The share of training cases that are as similar to their memory as it wants."""
    return float(np.mean(reaches(clf.search_result_.similarity, clf.thresholds_[clf.labels_])))


def _report(before: Any, after: Any, what: list[str], numbers: dict[str, int]) -> None:
    old, new = before.search_result_, after.search_result_
    typer.echo(f"done: {'; '.join(what)}")
    typer.echo(
        f"memories {old.n_memories} to {new.n_memories}, training cases that reach their memory's threshold "
        f"{_share_known(before):.1%} to {_share_known(after):.1%}, local classifiers fitted again: {numbers['fitted']}"
    )
    if "answered_otherwise" in numbers:
        typer.echo(
            f"of {len(before.labels_)} training cases {numbers['answered_otherwise']} are answered otherwise; unknown "
            f"{numbers['unknown_before']} to {numbers['unknown_after']}"
        )
    typer.echo("undo it with --undo")
