"""``memclf bound``: bounds on the errors of a saved memory classifier."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from memclf.bounds import HELD_OUT, KINDS, TRAINING_KINDS, Bound, bounds_of
from memclf.cli.load_model import AsJson, Target, Trusted, load_classifier
from memclf.cli.output import as_line, check_folder_of, exit_on_error, make_console, make_printable, print_json

if TYPE_CHECKING:
    from rich.console import Console

DEFAULT = "compression"


def bound(
    model: Annotated[Path, typer.Argument(help="A folder written by memclf.save.")],
    data: Annotated[
        Path,
        typer.Argument(
            help="The cases that the model was fitted on, in their order (for held-out: others): a .csv table, a .npz "
            "file with X and y, a folder with one subfolder of images per class, or a .csv file that lists images."
        ),
    ],
    target: Target = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(KINDS)}, or all (but {HELD_OUT}); repeat it. Default: {DEFAULT}."),
    ] = None,
    delta: Annotated[float, typer.Option(help="A bound may fail with this probability.")] = 0.05,
    given: Annotated[
        list[str] | None,
        typer.Option(
            help="What was fixed before these cases were seen: similarity, thresholds, memories or inputs; repeat it. "
            "Default: nothing that the model does not show."
        ),
    ] = None,
    complexity: Annotated[
        str, typer.Option(help='Of the local classifiers: auto, "random labels" (a heuristic), or a number.')
    ] = "auto",
    plot: Annotated[Path | None, typer.Option(help="Draw the terms into this file, as bound.png.")] = None,
    as_json: AsJson = False,
    trusted: Trusted = None,
) -> None:
    """Show what theory promises for a saved classifier: how many new cases are wrong at most.

    Examples:
        memclf bound MODEL train.csv --target species
        memclf bound MODEL train.csv --kind all --plot bound.png
        memclf bound MODEL new.csv --kind held-out
    """
    from memclf.data import read_cases

    with exit_on_error(OSError, TypeError, ValueError):
        clf = load_classifier(model, trusted, "a bound is about")
        kinds = _read_kinds(kind or [DEFAULT])
        check_folder_of(plot)
        amount = _as_number(complexity)
        X, y = read_cases(clf, data, target)
        found = bounds_of(clf, X, y, kinds, delta, complexity=amount, given=given or ())
        bounds = [each for each in found if isinstance(each, Bound)]
        console = make_console(for_json=as_json)
        for number, each in enumerate(bounds):
            _print_bound(console, each, first=not number)
        if as_json:
            print_json({"model": str(model), "data": str(data), "bounds": [each.as_dict() for each in bounds]})
        if plot is not None and bounds:
            from memclf.bounds.picture import draw

            draw(bounds).savefig(plot, dpi=150)
    failed = [(name, each) for name, each in zip(kinds, found, strict=True) if not isinstance(each, Bound)]
    for name, reason in failed:
        typer.echo(f"error: there is no {name} bound: {as_line(reason)}", err=True)
    if failed:
        raise typer.Exit(1)


def _read_kinds(asked: list[str]) -> list[str]:
    """The kinds of bounds that the options name, each once; "all": those of training cases."""
    parts = [TRAINING_KINDS if each == "all" else (each,) for each in asked]
    kinds = list(dict.fromkeys(each for part in parts for each in part))
    if unknown := [each for each in kinds if each not in KINDS]:
        raise ValueError(f"--kind must be one of {', '.join(KINDS)} or all; got {unknown[0]}")
    if HELD_OUT in kinds and len(kinds) > 1:
        raise ValueError(f"{HELD_OUT} is about other cases than the other kinds; ask for it by itself")
    return kinds


def _as_number(text: str) -> str | float:
    """A number where the text is one, else the text."""
    try:
        return float(text)
    except ValueError:
        return text


def _print_bound(console: Console, bound: Bound, *, first: bool) -> None:
    """Print a bound; its text comes from a folder, so it is not read as markup."""
    sentence, *lines = str(bound).splitlines()
    style = "bold yellow" if bound.vacuous or not bound.valid else "bold green"
    text = Text("" if first else "\n").append(make_printable(sentence), style=style)
    for line in lines:
        text.append("\n").append(make_printable(line), style="yellow" if line.startswith("  not met:") else "")
    console.print(text, soft_wrap=True)
