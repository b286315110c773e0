"""All commands of ``memclf``.

A new command is a function in this package and a line in `COMMANDS`.
"""

from __future__ import annotations

from collections.abc import Callable

import typer

from memclf._version import __version__
from memclf.cli.bound import bound
from memclf.cli.corrupt import corrupt
from memclf.cli.model import inspect_model
from memclf.cli.output import join_lines
from memclf.cli.study import compare_runs, report, study

app = typer.Typer(
    help="Memory classifiers: the remembered case behind every answer, and unknown when nothing is close.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


COMMANDS: dict[str, Callable[..., None]] = {
    "inspect": inspect_model,
    "corrupt": corrupt,
    "study": study,
    "report": report,
    "compare": compare_runs,
    "bound": bound,
}
for name, command in COMMANDS.items():
    app.command(name, help=join_lines(command.__doc__ or ""))(command)
