"""``memclf drift``: whether new cases are still like those of the training."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from memclf.cli.load_model import AsJson, Model, Trusted, load_classifier
from memclf.cli.output import as_cell, as_line, exit_on_error, make_console, make_table, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from memclf.evaluate.drift import Drift

MEMORIES = 8  # that are shown


def drift(
    model: Model,
    data: Annotated[Path, typer.Argument(help="New cases; labels are not looked at.")],
    reference: Annotated[
        Path | None,
        typer.Option(help="Cases like those of the training that the model was not fitted on, to compare with."),
    ] = None,
    level: Annotated[
        float, typer.Option(min=0.0001, max=0.5, help="How often drift may be found though there is none.")
    ] = 0.05,
    as_json: AsJson = False,
    trusted: Trusted = None,
) -> None:
    """Show whether new cases are still like the training cases, and which are not.

    Compared are the mix of memories that the cases go to, how far they lie from them, how many are unknown, and their
    competence. Without --reference the model itself says what it was at training. A drift in labels alone cannot be
    seen: measure that with memclf evaluate. The exit code is 0 whether there is drift or not; --json says "moved".

    Examples:
        memclf drift MODEL new.csv
        memclf drift MODEL october/ --reference september/
        memclf drift MODEL new.csv --json
    """
    with exit_on_error(OSError, TypeError, ValueError):
        from memclf.cases import containers
        from memclf.data import read_unlabelled
        from memclf.evaluate.drift import measure_drift

        clf = load_classifier(model, trusted)
        sets = [None if each is None else read_unlabelled(clf, each) for each in (data, reference)]
        for path, cases in zip((data, reference), sets, strict=True):
            if cases is not None and not containers.count(cases):
                raise ValueError(f"{path} holds no cases")
        found = measure_drift(clf, *sets, level=level)
        _print_drift(make_console(for_json=as_json), found)
        if as_json:
            content = {"moved": found.moved, "sentence": found.sentence, **asdict(found)}
            print_json({"model": str(model), "data": str(data), **content})


def _print_drift(console: Console, found: Drift) -> None:
    console.print(Text(as_line(found.sentence), style="bold yellow" if found.moved else "bold green"))
    whose = "training cases, as the model knows them" if found.reference == "training" else "cases of the reference"
    console.print(f"Compared with {found.n_reference:,} {whose}.\n")
    numbers = ("before", "now", "p-value", "adjusted")
    table = make_table("", *numbers, right=numbers)
    for part in found.parts:
        shown = ["" if value is None else f"{value:.3f}" for value in (part.before, part.now)]
        p = ["not tested" if part.p_value is None else "", ""]
        if part.p_value is not None and part.adjusted is not None:
            p = ["<0.001" if value < 0.001 else f"{value:.3f}" for value in (part.p_value, part.adjusted)]
        table.add_row(f"{part.name}: {part.measure}", *shown, *p, style="yellow" if part.moved else "")
    console.print(table)
    for note in found.notes:
        console.print(Text(as_line(note)))
    console.print()
    _print_memories(console, found)
    if found.cases:
        console.print(Text("cases that moved it", style="bold"))
        columns = ("memory", "similarity", "threshold")
        table = make_table("case", *columns, "why", right=columns)
        for case in found.cases:
            cells = (case.memory, f"{case.similarity:.3f}", f"{case.threshold:.3f}")
            table.add_row(as_cell(case.name), *map(str, cells), as_cell(case.why))
        console.print(table)


def _print_memories(console: Console, found: Drift) -> None:
    shown = [each for each in found.memories if each.before or each.now][:MEMORIES]
    numbers = ("memory", "row", "before, in %", "now, in %", "surprise")
    table = make_table(*numbers, right=numbers)
    for each in shown:
        shares = (f"{100 * each.before:.1f}", f"{100 * each.now:.1f}", f"{each.surprise:+.1f}")
        table.add_row(str(each.memory), str(each.row), *shares)
    rest = len(found.memories) - len(shown)
    title = f"where cases go{f', the {len(shown)} most surprising memories' if rest else ''} (surprise: in deviations)"
    console.print(Text(title, style="bold"))
    console.print(table)
    console.print()
