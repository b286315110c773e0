"""``memclf measure``: which measurements of a SPEC survive the field, on a folder of images."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from memclf.cli.load_model import AsJson, Regions, Target, load_regions
from memclf.cli.output import (
    as_line,
    as_markup,
    check_folder_of,
    check_workers,
    exit_on_error,
    fail,
    make_console,
    print_json,
)

if TYPE_CHECKING:
    from rich.console import Console

    from memclf.evaluate.inspection import FeatureInspection

STYLES = {"good": "green", "fragile": "yellow", "repeats": "", "unsure": "", "says little": "dim"}


def measure(
    folder: Annotated[
        Path | None,
        typer.Argument(help="A folder with one subfolder of images per class, or a .csv file that lists images."),
    ] = None,
    features: Annotated[Path | None, typer.Option(help="The SPEC: a YAML file that names measurements.")] = None,
    regions: Regions = None,
    report: Annotated[Path | None, typer.Option(help="Write a page into this HTML file.")] = None,
    as_json: AsJson = False,
    path: Annotated[
        str | None,
        typer.Option(
            help="Column of the .csv file with the paths, or a pattern as 'photos/{id}.jpg'. Default: the first of "
            "path, file, filename, image."
        ),
    ] = None,
    target: Target = None,
    groups: Annotated[
        str | None, typer.Option(help="Column of the .csv file; cases of one group are never in two folds.")
    ] = None,
    severity: Annotated[int, typer.Option(min=1, max=5, help="Of the corruptions that are reported.")] = 3,
    workers: Annotated[int, typer.Option(callback=check_workers, help="Threads that measure; -1: all cores.")] = -1,
    words: Annotated[bool, typer.Option("--words", help="Instead: list what a SPEC may say.")] = False,
) -> None:
    """Show which measurements of a SPEC tell the classes apart, and which of them are steady.

    At most 200 images are measured as they are and changed a little, 40 of them under each corruption. What --words
    prints is a SPEC with all measurements and their options.

    Examples:
        memclf measure --words > spec.yaml
        memclf measure photos/ --features spec.yaml --report measured.html
    """
    if words:
        with exit_on_error():
            from memclf.vision.features.measures.spec import list_words

            typer.echo(list_words(), nl=False)
        return
    if folder is None or features is None:
        fail("give FOLDER and --features SPEC, or --words for what a SPEC may say", code=2)
    with exit_on_error(OSError, TypeError, ValueError):
        from memclf.data import read_groups, read_images
        from memclf.evaluate.inspection import inspect_features
        from memclf.vision.features import read_spec

        check_folder_of(report)
        if report is not None:
            from memclf.report.page import require

            for package in ("matplotlib", "jinja2"):  # before minutes of work
                require(package)
        if not folder.exists():
            raise ValueError(f"there is no file or folder {folder}")
        made = read_spec(features, regions=load_regions(regions)).set_params(n_jobs=workers)
        images, labels = read_images(folder, target, path)
        together = None if groups is None else read_groups(images, groups, folder)
        found = inspect_features(made, images, labels, groups=together, severity=severity, verbose=1)
        _print_found(make_console(for_json=as_json), found)
        if as_json:
            print_json({"data": str(folder), "features": str(features), **found.as_dict()})
        if report is not None:
            page = _write_report(found, report, folder, features, made, images, labels)
            typer.echo(f"report: {as_line(page)}", err=as_json)


def _write_report(
    found: FeatureInspection, target: Path, folder: Path, spec: Path, made: Any, images: Any, labels: Any
) -> Path:
    import numpy as np

    from memclf.report.measured import Looked, write_page
    from memclf.vision.features.measures import Measurement

    firsts = {str(name): int(np.flatnonzero(labels == name)[0]) for name in np.unique(labels)}
    parts = []
    for each in made.measurements:
        names = ", ".join(map(str, each.get_feature_names_out()))
        title, sentence = names, f"A function of your own: {names}."
        if isinstance(each, Measurement):
            chosen = [str(value) for name, value in each.get_params().items() if name in each.options()]
            title = f"{each.label}: {', '.join([each.of, *chosen])}".capitalize().replace("_", " ")
            sentence = each.sentence
        parts.append(Looked(title, sentence, each))
    return write_page(
        found,
        target,
        title=folder.resolve().name,
        lines=[f"{len(images):,} images of {len(firsts)} classes, {found.n_cases:,} of them measured."],
        parts=parts,
        samples=[(name, images[place], images.info_of(place)) for name, place in firsts.items()],
        spec=spec.read_text(encoding="utf-8"),
        command=shlex.join(["memclf", "measure", str(folder), "--features", str(spec), "--report", str(target)]),
    )


def _print_found(console: Console, found: FeatureInspection) -> None:
    title = as_markup(f"{found.n_cases:,} cases of {len(found.classes)} classes")
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("measurement", overflow="fold")
    for name in ("apart", "95 %", "steady", "corrupted", "overlap"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for row in found.table:
        numbers = (row[name] for name in ("separation", "steadiness", "corrupted_steadiness", "overlap"))
        cells = ["–" if value is None else f"{value:.2f}" for value in numbers]
        cells.insert(1, "{:.2f}–{:.2f}".format(*row["interval"]))
        table.add_row(as_markup(row["name"]), *cells, row["verdict"], style=STYLES[row["verdict"]])
    console.print(table)
    console.print(as_markup(found.advice))
