"""``memclf serve``: a saved classifier as an HTTP service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memclf.cli.load_model import Model, Trusted, load_classifier
from memclf.cli.output import exit_on_error, fail

MEGABYTE = 2**20


def serve(
    model: Model,
    host: Annotated[str, typer.Option(help="Address to listen on. Others than loopback need a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the token that clients must send as Authorization: Bearer TOKEN."),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Cases answered at once; 1: no batches.")] = 32,
    batch_wait: Annotated[float, typer.Option(min=0, help="Milliseconds a batch waits for more cases, at most.")] = 5,
    max_body: Annotated[float, typer.Option(min=0.001, help="Megabytes of a request.")] = 16,
    max_pixels: Annotated[int, typer.Option(min=1, help="Of an image, and of the images of a batch.")] = 50_000_000,
    max_cases: Annotated[int, typer.Option(min=1, help="Of a request.")] = 256,
    max_queue: Annotated[int, typer.Option(min=1, help="Cases that wait for their answers.")] = 1024,
    max_wait: Annotated[float, typer.Option(min=0, help="Seconds until a request must be answered.")] = 30,
    trusted: Trusted = None,
) -> None:
    """Answer cases over HTTP with a saved memory classifier.

    POST /v1/predict takes {"cases": [{column: value, ...}, ...]}, or image files in a form; /docs shows the rest.

    SIGTERM and Ctrl-C finish what was accepted.

    Examples:
        memclf serve MODEL
        memclf serve MODEL --port 8080
        memclf serve MODEL --host 0.0.0.0 --token-file token.txt
    """
    with exit_on_error():
        from memclf.serve import Limits, run  # says which extra is missing
    from memclf.serve.server import is_loopback, read_token

    if token_file is None and not is_loopback(host):
        fail(
            f"other machines can reach {host}, so clients must send a token: give --token-file FILE (make one with: "
            "openssl rand -hex 32 > FILE), or listen on 127.0.0.1",
            code=2,
        )
    try:
        token = None if token_file is None else read_token(token_file)
        limits = Limits(
            batch_size=batch_size,
            batch_wait=batch_wait / 1000,
            body=round(max_body * MEGABYTE),
            pixels=max_pixels,
            cases=max_cases,
            queue=max_queue,
            wait=max_wait,
        )
    except (OSError, ValueError) as error:
        fail(error, code=2)
    with exit_on_error(ValueError):
        clf = load_classifier(model, trusted, "the service answers with")
        try:
            run(clf, host, port, limits=limits, token=token)
        except OSError as error:
            fail(f"cannot listen on {host}, port {port}: {error.strerror or error}", code=2)
