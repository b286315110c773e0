"""``memclf predict``: answers of a saved model to all cases of a file or folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from memclf.cli.cluster import CLUSTER_HELP, WORKERS_HELP, open_cluster
from memclf.cli.output import as_line, exit_on_error, fail
from memclf.exceptions import OptionError, UntrustedTypeError


def predict(
    model: Annotated[Path, typer.Argument(help="A folder written by memclf fit or memclf.save.")],
    data: Annotated[
        Path,
        typer.Argument(
            help="Cases like those of the training: a table (.csv, .parquet, .arrow, .feather), a folder of images, or "
            "a .csv file that lists images. Labels are not needed."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The file that is written: .csv, .jsonl or .parquet.")],
    id: Annotated[
        str | None, typer.Option(help="Tables: a column that names the cases, written in place of the row.")
    ] = None,
    skip_broken: Annotated[bool, typer.Option("--skip-broken", help="Leave out images that cannot be read.")] = False,
    trusted: Annotated[
        list[str] | None, typer.Option(help="A type or function that loading may use, as mylab.alike; repeat it.")
    ] = None,
    cluster: Annotated[str | None, typer.Option(help=f"{CLUSTER_HELP} Its workers answer the blocks.")] = None,
    workers: Annotated[int | None, typer.Option(help=WORKERS_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON, for scripts.")] = False,
) -> None:
    """Answer all cases of a file or folder with a saved model, and write the answers to a file.

    Columns: row (counted from 0), file or the --id, answer, probability, memory, similarity, known, reason. Cases are
    read and answered in blocks, so that files may be larger than memory. After an interruption the same command goes on
    where it stopped; OUT appears when it is complete.

    Examples:

    memclf predict model new.csv --out answers.csv

    memclf predict model new.csv --out answers.csv --id patient

    memclf predict model pictures/ --out answers.parquet --skip-broken

    memclf predict model large.parquet --out answers.parquet --workers 8
    """
    try:
        with exit_on_error(OSError, TypeError, ValueError):
            from memclf.own import predict_file

            if trusted:
                sys.path.append(str(Path.cwd()))  # where memclf fit found what the user named
            try:
                with open_cluster(cluster, workers):
                    found = predict_file(model, data, out, id_column=id, skip_broken=skip_broken, trusted=trusted or ())
            except OptionError as error:
                fail(error, code=2)
            except UntrustedTypeError as error:
                fail(f"{error}; here: {' '.join(f'--trusted {name}' for name in error.names)}")
    except KeyboardInterrupt:
        typer.echo("stopped; the same command goes on from here", err=True)
        raise typer.Exit(130) from None
    if as_json:
        typer.echo(json.dumps({**vars(found), "out": str(found.out)}))
        return
    for line in found.broken:
        typer.echo(f"skipped: {as_line(line)}", err=True)
    if found.new_columns:
        typer.echo(
            f"not looked at, since training had no such column: {as_line(', '.join(found.new_columns))}", err=True
        )
    kept = f", {found.before:,} of them by an earlier call" if found.before else ""
    typer.echo(as_line(f"{found.out}: {found.answers:,} answers{kept}; not known: {found.unknown:,}"))
