"""``memclf studio``: a page on which an expert teaches, looks, doubts and corrects."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memclf.cli.load_model import Trusted
from memclf.cli.output import exit_on_error, fail


def studio(
    model: Annotated[
        Path | None, typer.Argument(help="A model folder to look at; it is copied into the project.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="A folder with one subfolder of images per class, a list of images, or a table.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column of a table that holds the classes.")] = None,
    project: Annotated[Path, typer.Option(help="The folder of the project; made if it is not there.")] = Path(
        "memclf-project"
    ),
    host: Annotated[str, typer.Option(help="Address to listen on. Others than loopback get a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8765,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    trusted: Trusted = None,
) -> None:
    """Open a page on which an expert teaches, looks, doubts and corrects.

    Everything is kept in the folder of the project, and nothing leaves this computer. Ctrl-C stops it.

    Examples:
        memclf studio --data leaves
        memclf studio MODEL --data leaves --project leaf-project
        memclf studio --data patients.csv --target outcome --no-browser
    """
    with exit_on_error(ValueError, OSError):
        from memclf.studio import Project, run  # says which extra is missing

        opened = Project(project)
        if data is not None:
            opened.set_data(data, target)
        if model is not None:
            opened.take_model(model)
        try:
            run(opened, host, port, browser=browser, trusted=tuple(trusted or ()))
        except OSError as error:
            fail(f"cannot listen on {host}, port {port}: {error.strerror or error}", code=2)
