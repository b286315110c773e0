"""The command line: parse, call, print."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import memclf
from memclf.exceptions import MemclfError

if TYPE_CHECKING:
    from memclf.persist import Inspection

app = typer.Typer(
    help="Memory classifiers: the remembered case behind every answer, and unknown when nothing is close.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def main() -> None:
    """Memory classifiers: the remembered case behind every answer, and unknown when nothing is close."""


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(memclf.__version__)


@app.command("inspect")
def inspect_command(
    folder: Annotated[Path, typer.Argument(help="A folder written by memclf.save.")],
) -> None:
    """Show what a model folder holds, without running any of it."""
    from memclf.persist import inspect_folder

    try:
        found = inspect_folder(folder)
        _show(Console(), found)
    except MemclfError as error:
        typer.echo(f"error: {_plain(error)}", err=True)
        raise typer.Exit(1) from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        typer.echo(f"error: {folder / 'manifest.json'} is no manifest of memclf: {_plain(repr(error))}", err=True)
        raise typer.Exit(1) from None
    if found.problems:
        raise typer.Exit(1)


def _show(console: Console, found: Inspection) -> None:
    manifest, training = found.manifest, found.manifest["training"]
    title = f"[bold]{_text(manifest['kind'])}[/bold] saved {_text(manifest['created'])}"
    console.print(f"{title}, format {manifest['format_version']}")
    console.print(_text("versions: " + ", ".join(f"{k} {v}" for k, v in manifest["versions"].items())))
    console.print(_text(f"input: {manifest['input']}"))
    if manifest["classes"]:
        console.print(_text("classes: " + ", ".join(f"{k} ({n})" for k, n in training["class_counts"].items())))
    console.print(
        f"{training['memories']:d} memories of {training['cases']:d} cases; threshold {training['threshold']:g}, "
        f"coverage {training['coverage']:.1%}, mean similarity {training['mean_similarity']:.3f}"
    )
    if training.get("by_memory"):
        table = Table(title="memories", title_justify="left")
        for name in ("memory", "training row", "cases", "classes", "threshold", "classifier"):
            table.add_column(name, overflow="fold")
        for number, each in enumerate(training["by_memory"]):
            classes = ", ".join(f"{label}: {n}" for label, n in each["classes"].items())
            cells = (number, each["row"], each["cases"], classes, f"{each['threshold']:.3f}")
            table.add_row(*map(_text, cells), _text(f"{each['classifier']} ({each['origin']})"))
        console.print(table)
    _two_columns(console, "parameters", manifest["parameters"])
    _two_columns(console, "types that loading constructs", found.types)
    _two_columns(console, "files", {k: f"{v['bytes']:,} bytes" for k, v in manifest["files"].items()})
    if found.strangers:
        console.print(f"[yellow]must be allowed with trusted=[...]:[/yellow] {_text(', '.join(found.strangers))}")
    for problem in found.problems:
        console.print(f"[red]problem:[/red] {_text(problem)}")
    if not found.problems:
        console.print("[green]all files are whole[/green]")


def _two_columns(console: Console, title: str, rows: Mapping[str, object]) -> None:
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in rows.items():
        table.add_row(_text(name), _text(value))
    console.print(table)


def _plain(value: object) -> str:
    """Text from a folder: on one line, without codes that a terminal would obey."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in " ".join(str(value).split()))


def _text(value: object) -> str:
    return escape(_plain(value))


if __name__ == "__main__":
    app()
