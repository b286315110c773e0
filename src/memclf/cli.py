"""The command line: parse, call, print."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import memclf
from memclf.exceptions import MemclfError

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

    console = Console()
    try:
        found = inspect_folder(folder)
    except MemclfError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None
    manifest, training = found.manifest, found.manifest["training"]
    console.print(f"[bold]{manifest['kind']}[/bold] saved {manifest['created']}, format {manifest['format_version']}")
    console.print(escape("versions: " + ", ".join(f"{k} {v}" for k, v in manifest["versions"].items())))
    console.print(escape(f"input: {manifest['input']}"))
    if manifest["classes"]:
        console.print(escape("classes: " + ", ".join(f"{k} ({n})" for k, n in training["class_counts"].items())))
    console.print(
        escape(
            f"{training['memories']} memories of {training['cases']} cases; threshold {training['threshold']:g}, "
            f"coverage {training['coverage']:.1%}, mean similarity {training['mean_similarity']:.3f}"
        )
    )
    if training.get("by_memory"):
        table = Table(title="memories", title_justify="left")
        for name in ("memory", "training row", "cases", "classes", "threshold", "classifier"):
            table.add_column(name, overflow="fold")
        for number, each in enumerate(training["by_memory"]):
            classes = ", ".join(f"{label}: {n}" for label, n in each["classes"].items())
            cells = (number, each["row"], each["cases"], classes, f"{each['threshold']:.3f}")
            table.add_row(*map(escape, map(str, cells)), escape(f"{each['classifier']} ({each['origin']})"))
        console.print(table)
    _two_columns(console, "parameters", manifest["parameters"])
    _two_columns(console, "types that loading constructs", found.types)
    _two_columns(console, "files", {k: f"{v['bytes']:,} bytes" for k, v in manifest["files"].items()})
    if found.strangers:
        console.print(f"[yellow]must be allowed with trusted=[...]:[/yellow] {escape(', '.join(found.strangers))}")
    for problem in found.problems:
        console.print(f"[red]problem:[/red] {escape(problem)}")
    if found.problems:
        raise typer.Exit(1)
    console.print("[green]all files are whole[/green]")


def _two_columns(console: Console, title: str, rows: Mapping[str, object]) -> None:
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in rows.items():
        table.add_row(escape(str(name)), escape(" ".join(str(value).split())))
    console.print(table)


if __name__ == "__main__":
    app()
