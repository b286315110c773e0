"""All commands of ``memclf``. A new command is a function in this package and a line here."""

from __future__ import annotations

import typer

from memclf._version import __version__
from memclf.cli.bound import bound
from memclf.cli.corrupt import corrupt
from memclf.cli.model import inspect_model
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


app.command("inspect")(inspect_model)
app.command("corrupt")(corrupt)
app.command("study")(study)
app.command("report")(report)
app.command("compare")(compare_runs)
app.command("bound")(bound)
