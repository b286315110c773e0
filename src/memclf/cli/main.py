"""All commands of ``memclf``.

A new command is a function in this package and a line in `COMMANDS`. A command's module is imported when the command is
called: ``memclf --help`` needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from memclf._version import __version__
from memclf.cli.output import join_lines

#: Name of a command -> its module, its function, and the first sentence of its help.
COMMANDS = {
    "study": ("memclf.cli.study", "study", "Run a case study and write a report with every number beside the paper's."),
    "report": ("memclf.cli.study", "report", "Build the report of a run again, from what its folder holds."),
    "compare": (
        "memclf.cli.study",
        "compare_runs",
        "Put runs side by side, and join their cells of the paper's tables.",
    ),
    "measure": (
        "memclf.cli.measure",
        "measure",
        "Show which measurements of a SPEC tell the classes apart, and which of them are steady.",
    ),
    "corrupt": ("memclf.cli.corrupt", "corrupt", "Write corrupted copies of a folder of images."),
    "inspect": ("memclf.cli.model", "inspect_model", "Show what a model folder holds, without running any of it."),
    "cache": (
        "memclf.cli.cache",
        "cache",
        "Show how many descriptions and embeddings a cache folder keeps, or clear it.",
    ),
    "doctor": (
        "memclf.cli.doctor",
        "doctor",
        "Say what is installed, which extras are missing, and whether all of it works.",
    ),
    "bound": (
        "memclf.cli.bound",
        "bound",
        "Show what theory promises for a saved classifier: how many new cases are wrong at most.",
    ),
}


class LazyCommand(TyperCommand):
    """A command that is known by name and one sentence until it is called."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself, which is imported here."""
        return load_command(str(self.name)).make_context(info_name, args, parent, **extra)


class Commands(TyperGroup):
    """The group of `COMMANDS`, and of what is registered in the usual way."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the order of the help page."""
        return [*COMMANDS, *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name, None if there is none."""
        if cmd_name in COMMANDS:
            return LazyCommand(cmd_name, help=COMMANDS[cmd_name][2])
        return super().get_command(ctx, cmd_name)


def load_command(name: str) -> Any:
    """Import the command of this name."""
    module, function, _ = COMMANDS[name]
    command = getattr(import_module(module), function)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, help=join_lines(command.__doc__ or ""))(command)
    return typer.main.get_command(alone)


app = typer.Typer(
    cls=Commands,
    help="Memory classifiers: the remembered case behind every answer, and unknown when nothing is close.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def memclf() -> None:
    """Keep `version` a command of its own, though no other is registered in the usual way."""


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)
