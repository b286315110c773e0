"""``memclf inspect``: what a model folder holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from memclf.cli.output import as_markup, exit_on_error, fail

if TYPE_CHECKING:
    from memclf.persist import Inspection

SHOWN = ("memories", "coverage")  # numbers of an edit


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
    console.print(as_markup(f"input: {manifest['input']}"))
    if manifest["classes"]:
        counts = training.get("class_counts")
        shown = manifest["classes"] if counts is None else [f"{label} ({n})" for label, n in counts.items()]
        console.print(as_markup("classes: " + ", ".join(map(str, shown))))
    if "memories" in training:
        console.print(
            f"{training['memories']:d} memories of {training['cases']:d} cases; threshold {training['threshold']:g}, "
            f"coverage {training['coverage']:.1%}, mean similarity {training['mean_similarity']:.3f}"
        )
    elif "numbers" in training:
        console.print(as_markup("numbers: " + ", ".join(training["numbers"])))
    elif "alike" in training:
        console.print(as_markup(f"alike: {training['alike']}. {training['learned']}".rstrip()))
    else:
        console.print(f"trained for {training['epochs']:d} epochs, last loss {training['last_loss']:.3f}")
    if training.get("by_memory"):
        table = Table(title="memories", title_justify="left")
        for name in ("memory", "training row", "cases", "classes", "threshold", "classifier"):
            table.add_column(name, overflow="fold")
        for number, each in enumerate(training["by_memory"]):
            classes = ", ".join(f"{label}: {n}" for label, n in each["classes"].items())
            number_shown = f"{number} (pinned)" if each.get("pinned") else number
            threshold = f"{each['threshold']:.3f}{' (by hand)' if each.get('threshold_by_hand') else ''}"
            cells = (number_shown, each["row"], each["cases"], classes, threshold)
            table.add_row(*map(as_markup, cells), as_markup(f"{each['classifier']} ({each['origin']})"))
        console.print(table)
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


def print_log(console: Console, entries: list[dict[str, Any]]) -> None:
    """Print the log of edits, oldest first."""
    if not entries:
        return
    table = Table(title="edits", title_justify="left")
    for name in ("time (UTC)", "what", "memories", "coverage", "note"):
        table.add_column(name, overflow="fold")
    for entry in entries:
        before, after = ({**dict.fromkeys(SHOWN, "?"), **(entry.get(side) or {})} for side in ("before", "after"))
        changes = [f"{_short(before[name])} to {_short(after[name])}" if entry.get("after") else "" for name in SHOWN]
        done = entry.get("what")
        cells = (
            str(entry.get("time"))[:19],
            "; ".join(map(str, done)) if isinstance(done, list) else done,
            *changes,
            entry.get("note") or "",
        )
        table.add_row(*map(as_markup, cells))
    console.print(table)


def _short(value: object) -> str:
    return f"{value:.1%}" if isinstance(value, float) else str(value)


def _print_rows(console: Console, title: str, rows: Mapping[str, object]) -> None:
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in rows.items():
        table.add_row(as_markup(name), as_markup(value))
    console.print(table)
