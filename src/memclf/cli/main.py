"""All commands of ``memclf``.

A new command is a function in this package and a line in `COMMANDS`. A command's module is imported when the command is
called: ``memclf --help`` needs none of them. What its docstring lists below "Examples:" ends its help.

Exit codes: 0 done, 1 the data or the model is at fault (or memclf, which it then says), 2 the command line is.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from memclf._progress import say_lines
from memclf._version import __version__
from memclf.cli.output import as_line, fail, fail_by_bug, join_lines, set_debug, split_examples

#: Name of a command -> its module, its function, and the first sentence of its help.
COMMANDS = {
    "fit": (
        "memclf.cli.fit",
        "fit",
        "Fit a memory classifier on your own data, and say whether it beats a plain model.",
    ),
    "predict": (
        "memclf.cli.predict",
        "predict",
        "Answer all cases of a file or folder with a saved model, and write the answers to a file.",
    ),
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
    "edit": (
        "memclf.cli.edit",
        "edit",
        "Change the memories of a saved classifier by hand, with a log and an undo.",
    ),
    "inspect": ("memclf.cli.model", "inspect_model", "Show what a model folder holds, without running any of it."),
    "cache": (
        "memclf.cli.cache",
        "cache",
        "Show how many descriptions and embeddings a cache folder keeps, or clear it.",
    ),
    "explain": (
        "memclf.cli.explain",
        "explain",
        "Show why a case got its answer: the remembered case that it is most like.",
    ),
    "evaluate": (
        "memclf.cli.evaluate",
        "evaluate",
        "Measure a model on labelled cases, beside simpler models: is it worth it?",
    ),
    "drift": (
        "memclf.cli.drift",
        "drift",
        "Show whether new cases are still like the training cases, and which are not.",
    ),
    "memories": (
        "memclf.cli.memories",
        "memories",
        "Show the cases that a model remembers, those that stand for most cases first.",
    ),
    "doctor": (
        "memclf.cli.doctor",
        "doctor",
        "Say what is installed, which extras are missing, and whether all of it works.",
    ),
    "studio": (
        "memclf.cli.studio",
        "studio",
        "Open a page on which an expert teaches, looks, doubts and corrects.",
    ),
    "serve": ("memclf.cli.serve", "serve", "Answer cases over HTTP with a saved memory classifier."),
    "bound": (
        "memclf.cli.bound",
        "bound",
        "Show what theory promises for a saved classifier: how many new cases are wrong at most.",
    ),
}


#: What ``memclf`` alone prints, as far as the commands exist: how a command is called, and what it does.
FIRST_STEPS = (
    ("fit DATA --out MODEL", "learn from a table or images"),
    ("predict MODEL DATA --out FILE", "answers for new cases"),
    ("explain MODEL DATA --row 3", "the remembered case behind one answer"),
    ("evaluate MODEL DATA", "how good it is, beside simpler models"),
    ("memories MODEL", "the cases that the model remembers"),
    ("drift MODEL DATA", "whether new cases are like the old"),
    ("studio --data FOLDER", "a page to teach, look, doubt and correct"),
    ("study leaf", "a case study of the paper"),
)
_UsageError: Any = typer.BadParameter.__mro__[1]  # of click, which typer brings along under a name of its own


class LazyCommand(TyperCommand):
    """A command that is known by name and one sentence until it is called."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself, which is imported here."""
        return load_command(str(self.name)).make_context(info_name, args, parent, **extra)


class Command(TyperCommand):
    """A command whose help ends with examples."""

    examples: tuple[str, ...] = ()

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, then the examples, each on a line of its own."""
        super().format_help(ctx, formatter)
        if self.examples:
            formatter.write("\n".join([" Examples:", *(f"   {each}" for each in self.examples), ""]))


class Commands(TyperGroup):
    """The group of `COMMANDS`, and of what is registered in the usual way."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        lazy = {name: LazyCommand(name, help=sentence) for name, (_, _, sentence) in COMMANDS.items()}
        self.commands = {**lazy, **self.commands}

    def main(
        self,
        args: Any = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; errors are one line, and the exit code says whose they are."""
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except _UsageError as error:
            if not standalone_mode:
                raise
            command = "memclf" if error.ctx is None else error.ctx.command_path
            typer.echo(f"error: {as_line(error.format_message()).rstrip('.')} (see {command} --help)", err=True)
            code = 2
        except typer.Abort:
            code = 130
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Call the command; an error that it did not expect is a bug, and is called so."""
        try:
            return super().invoke(ctx)
        except (typer.Abort, typer.Exit, BrokenPipeError, _UsageError.__mro__[1]):
            raise
        except KeyboardInterrupt:
            typer.echo("stopped by Ctrl-C", err=True)
            raise typer.Exit(130) from None
        except MemoryError as error:
            fail(f"there is not enough memory: {error}")
        except Exception as error:
            fail_by_bug(error)


def load_command(name: str) -> Any:
    """Import the command of this name."""
    module, function, _ = COMMANDS[name]
    command = getattr(import_module(module), function)
    text, examples = split_examples(command.__doc__ or "")
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, cls=Command, help=join_lines(text))(command)
    made: Any = typer.main.get_command(alone)
    made.examples = tuple(examples)
    return made


app = typer.Typer(
    cls=Commands,
    help="Memory classifiers: the remembered case behind every answer, and unknown when nothing is close.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def memclf(
    ctx: typer.Context,
    debug: Annotated[
        bool, typer.Option("--debug", envvar="MEMCLF_DEBUG", help="Show where an error comes from: its whole trace.")
    ] = False,
) -> None:
    """Set what holds for all commands; without a command, print what one can do."""
    set_debug(debug)
    say_lines()
    if ctx.invoked_subcommand is None:
        typer.echo(list_first_steps())


def list_first_steps() -> str:
    """What one can do, in a few lines."""
    shown = [(f"memclf {call}", what) for call, what in FIRST_STEPS if call.split()[0] in COMMANDS]
    width = max(len(call) for call, _ in shown) + 2
    return "\n".join(
        [
            "Memory classifiers: the remembered case behind every answer,",
            "and unknown when nothing is close.",
            "",
            *(f"  {call:{width}}{what}" for call, what in shown),
            "",
            "All commands: memclf --help. Examples of one: memclf COMMAND --help.",
        ]
    )


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)
