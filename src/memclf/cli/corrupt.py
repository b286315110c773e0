"""``memclf corrupt``: corrupted copies of a folder of images."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memclf.cli.output import as_line, check_workers, exit_on_error, fail


def corrupt(
    folder: Annotated[Path | None, typer.Argument(help="A folder of images, with subfolders or without.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the copies go, or the file of the sheet.")] = None,
    corruption: Annotated[list[str] | None, typer.Option(help="As fog or snow; repeat it. Default: all.")] = None,
    severity: Annotated[list[int] | None, typer.Option(help="1 to 5; repeat it. Default: all.")] = None,
    preset: Annotated[str, typer.Option(help="Table of severities; small images need another than the default.")] = (
        "imagenet-c"
    ),
    seed: Annotated[int, typer.Option(help="For another draw of the whole data set.")] = 0,
    workers: Annotated[
        int,
        typer.Option(callback=check_workers, help="Processes at work; -1: all cores. Results do not depend on it."),
    ] = 1,
    quality: Annotated[int | None, typer.Option(help="JPEG of this quality instead of PNG; ImageNet-C: 85.")] = None,
    texture_dir: Annotated[Path | None, typer.Option(help="A folder with photographs of frost.")] = None,
    sheet: Annotated[Path | None, typer.Option(help="Instead: draw this one image under all conditions.")] = None,
) -> None:
    """Write corrupted copies of a folder of images.

    They go to OUT/<corruption>/<severity>/<path of the image>. Only images are copied. An interrupted run goes on
    where it stopped when the same command is given again.

    Examples:
        memclf corrupt photos/ --out corrupted/
        memclf corrupt photos/ --out foggy/ --corruption fog --severity 3
        memclf corrupt --sheet photos/leaf.png --out sheet.png
    """
    if sheet is not None and (corruption or severity):
        fail("a sheet shows all conditions; leave out --corruption and --severity", code=2)
    if out is None or (folder is None) == (sheet is None):
        fail("give FOLDER and --out FOLDER, or --sheet IMAGE and --out FILE", code=2)
    try:
        with exit_on_error(OSError, ValueError):
            from memclf.vision import corruptions

            if sheet is not None:
                corruptions.save_sheet(sheet, out, seed=seed, preset=preset)
                return
            done = corruptions.corrupt_folder(
                folder or Path(),
                out,
                corruptions=corruption or corruptions.CORRUPTIONS,
                severities=severity or corruptions.SEVERITIES,
                preset=preset,
                seed=seed,
                quality=quality,
                texture_dir=texture_dir,
                workers=workers,
                verbose=1,
            )
    except KeyboardInterrupt:
        typer.echo("stopped; the same command goes on from here", err=True)
        raise typer.Exit(130) from None
    typer.echo(f"{done.written:,} files written, {done.finished:,} were there already")
    for failure in done.failures:
        typer.echo(f"failed: {as_line(failure)}", err=True)
    if done.failures:
        typer.echo(f"{len(done.failures):,} images failed", err=True)
        raise typer.Exit(1)
