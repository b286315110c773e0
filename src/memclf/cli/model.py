"""``memclf inspect``: what a model folder holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from memclf.cli.output import as_markup, exit_on_error, fail

if TYPE_CHECKING:
    from memclf.persist import Inspection


def inspect_model(
    folder: Annotated[Path, typer.Argument(help="A folder written by memclf.save.")],
) -> None:
    """Show what a model folder holds, without running any of it."""
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
            cells = (number, each["row"], each["cases"], classes, f"{each['threshold']:.3f}")
            table.add_row(*map(as_markup, cells), as_markup(f"{each['classifier']} ({each['origin']})"))
        console.print(table)
    _print_rows(console, "parameters", manifest["parameters"])
    _print_rows(console, "types that loading constructs", found.types)
    _print_rows(console, "files", {k: f"{v['bytes']:,} bytes" for k, v in manifest["files"].items()})
    if found.untrusted:
        console.print(f"[yellow]must be allowed with trusted=[...]:[/yellow] {as_markup(', '.join(found.untrusted))}")
    for problem in found.problems:
        console.print(f"[red]problem:[/red] {as_markup(problem)}")
    if not found.problems:
        console.print("[green]all files are whole[/green]")


def _print_rows(console: Console, title: str, rows: Mapping[str, object]) -> None:
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in rows.items():
        table.add_row(as_markup(name), as_markup(value))
    console.print(table)
