"""``memclf inspect``: what a model folder holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from memclf.cli.output import as_line, as_markup, exit_on_error, fail, make_table

if TYPE_CHECKING:
    from memclf.persist import Inspection

SHOWN = ("memories", "coverage")  # numbers of an edit
BY_HAND = {"pinned": "pinned", "threshold": "threshold_by_hand"}


def inspect_model(
    folder: Annotated[Path, typer.Argument(help="A folder written by memclf.save.")],
) -> None:
    """Show what a model folder holds, without running any of it.

    Examples:
        memclf inspect MODEL
    """
    from memclf.persist import inspect_folder

    try:
        with exit_on_error():
            found = inspect_folder(folder)
            _print_inspection(Console(), found)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        fail(f"{folder / 'manifest.json'} is no manifest of memclf: {error!r}")
    if found.problems:
        raise typer.Exit(1)


def _print_inspection(console: Console, found: Inspection) -> None:
    manifest, training = found.manifest, found.manifest["training"]
    title = f"[bold]{as_markup(manifest['kind'])}[/bold] saved {as_markup(manifest['created'])}"
    console.print(f"{title}, format {manifest['format_version']}")
    console.print(as_markup("versions: " + ", ".join(f"{k} {v}" for k, v in manifest["versions"].items())))
    console.print(as_markup(f"input: {_say_input(manifest['input'])}"))
    if manifest["classes"]:
        counts = training.get("class_counts")
        shown = manifest["classes"] if counts is None else [f"{label} ({n})" for label, n in counts.items()]
        console.print(as_markup("classes: " + ", ".join(map(str, shown))))
    if "memories" in training:
        console.print(
            f"{training['memories']:d} memories of {training['cases']:d} cases; threshold {training['threshold']:g}, "
            f"coverage {training['coverage']:.1%}, mean similarity {training['mean_similarity']:.3f}"
        )
        if "who" in training:  # models of before do not say it
            console.print(as_markup(f"who answers: {training['who']}"), soft_wrap=True)
    elif "numbers" in training:
        console.print(as_markup("numbers: " + ", ".join(training["numbers"])))
    elif "alike" in training:
        console.print(as_markup(f"alike: {training['alike']}. {training['learned']}".rstrip()))
    else:
        console.print(f"trained for {training['epochs']:d} epochs, last loss {training['last_loss']:.3f}")
    if training.get("by_memory"):
        numbers = ("memory", "row", "cases", "threshold")
        table = make_table(*numbers, "classes", "classifier", "by hand", right=numbers)
        for number, each in enumerate(training["by_memory"]):
            classes = ", ".join(f"{n} of {label}" for label, n in each["classes"].items() if n)
            by_hand = [word for word in ("pinned", "threshold") if each.get(BY_HAND[word])]
            cells = (number, each["row"], each["cases"], f"{each['threshold']:.3f}", classes)
            table.add_row(*map(as_markup, (*cells, f"{each['classifier']} ({each['origin']})", ", ".join(by_hand))))
        _print_titled(console, "memories", table)
    print_log(console, found.edits)
    _print_rows(console, "parameters", manifest["parameters"])
    _print_rows(console, "types that loading constructs", found.types)
    _print_rows(console, "files", {k: f"{v['bytes']:,} bytes" for k, v in manifest["files"].items()})
    if found.untrusted:
        console.print(f"[yellow]must be allowed with trusted=[...]:[/yellow] {as_markup(', '.join(found.untrusted))}")
    for problem in found.problems:
        console.print(f"[red]problem:[/red] {as_markup(problem)}")
    if not found.problems:
        console.print("[green]all files are whole[/green]")


def _say_input(schema: Mapping[str, Any]) -> str:
    """What the model takes, in words.

    >>> _say_input({"kind": "DataFrame", "n_features": 2, "columns": ["age", "ward"], "types": ["float64", "object"]})
    'DataFrame; age (float64), ward (object)'
    >>> _say_input({"kind": "ndarray", "n_features": 2, "types": "float64", "shape_of_a_case": [2]})
    'ndarray; n_features 2, types float64, shape_of_a_case [2]'
    """
    columns, types = schema.get("columns"), schema.get("types")
    if isinstance(columns, list) and isinstance(types, list) and len(columns) == len(types):
        said = [f"{name} ({kind})" for name, kind in zip(columns, types, strict=True)]
    else:
        said = [f"{name} {value}" for name, value in schema.items() if name != "kind"]
    return "; ".join([str(schema["kind"]), *([", ".join(said)] if said else [])])


def print_log(console: Console, entries: list[dict[str, Any]]) -> None:
    """Print the log of edits, oldest first."""
    if not entries:
        return
    table = make_table("time (UTC)", "what", "memories", "coverage", "note")
    for entry in entries:
        before, after = ({**dict.fromkeys(SHOWN, "?"), **(entry.get(side) or {})} for side in ("before", "after"))
        changes = [f"{_short(before[name])} to {_short(after[name])}" if entry.get("after") else "" for name in SHOWN]
        done = entry.get("what")
        cells = (
            str(entry.get("time"))[:16].replace("T", " "),
            "; ".join(map(str, done)) if isinstance(done, list) else done,
            *changes,
            entry.get("note") or "",
        )
        table.add_row(*map(as_markup, cells))
    _print_titled(console, "edits", table)


def _short(value: object) -> str:
    return f"{value:.1%}" if isinstance(value, float) else str(value)


def _print_rows(console: Console, title: str, rows: Mapping[str, object]) -> None:
    table = make_table("name", "value")
    table.show_header, table.box = False, None
    for name, value in rows.items():
        table.add_row(f"  {as_markup(name)}", as_markup(value))
    _print_titled(console, title, table)


def _print_titled(console: Console, title: str, table: Any) -> None:
    console.print()
    console.print(as_line(title), style="bold")
    console.print(table)
