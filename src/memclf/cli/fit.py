"""``memclf fit``: from a user's data to a model folder, and whether it beats a plain model."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from memclf.cli.cluster import CLUSTER_HELP, WORKERS_HELP, open_cluster
from memclf.cli.load_model import Regions, load_regions
from memclf.cli.output import as_line, as_markup, exit_on_error, fail
from memclf.exceptions import OptionError

if TYPE_CHECKING:
    from memclf.own import Comparison, FittedData

MEASURES = ("accuracy", "balanced_accuracy")
STYLES = {"memory": "bold green", "stage1": "bold green", "plain": "bold yellow"}


def fit(
    data: Annotated[
        Path,
        typer.Argument(
            help="A folder with one subfolder of images per class, a .csv file that lists images, or a table: .csv, "
            ".parquet, .arrow, .feather."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The model folder that is written.")],
    target: Annotated[
        str | None, typer.Option(help="Column with the classes. Default: the first of label, class, target, y.")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="For images: a SPEC that names what to measure, a YAML file (docs/measure.md).")
    ] = None,
    regions: Regions = None,
    similarity: Annotated[
        str | None,
        typer.Option(
            help="What makes two cases alike: gower, rank, rbf, cosine, tree, or module:object of your own. Default: "
            "gower for tables, rank of ready measurements for images."
        ),
    ] = None,
    estimator: Annotated[
        str | None,
        typer.Option(
            help="The plain model and local classifier: forest, boosting, logistic, for images network, or "
            "module:object of your own. Default: forest, for images network."
        ),
    ] = None,
    answer: Annotated[
        str, typer.Option(help="Who answers: local, global, labels, product or auto (docs/answers.md).")
    ] = "auto",
    metric: Annotated[
        str, typer.Option(help="What auto is to be good at: accuracy, balanced_accuracy or both.")
    ] = "both",
    unknown_rate: Annotated[
        float, typer.Option(min=0, max=0.5, help="Share of cases like these that may be answered unknown; 0: none is.")
    ] = 0.05,
    groups: Annotated[
        str | None, typer.Option(help="Column: cases of one group (patient, plant) are never in two folds.")
    ] = None,
    seed: Annotated[int, typer.Option(help="For folds, search and models.")] = 0,
    report: Annotated[
        Path | None, typer.Option(help="Write a page with table and memories into this HTML file.")
    ] = None,
    skip_broken: Annotated[bool, typer.Option("--skip-broken", help="Leave out images that cannot be read.")] = False,
    keep_training: Annotated[
        bool,
        typer.Option(
            "--keep-training", help="Save the training cases with the model: memclf edit then needs no --data."
        ),
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps what was measured about images: the next fit does not measure them again."
        ),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help=f"{CLUSTER_HELP} Its workers describe images and fit the held-out folds.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help=WORKERS_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, for scripts.")] = False,
) -> None:
    """Fit a memory classifier on your own data, and say whether it beats a plain model.

    It fits on all cases, saves the model folder, and ends with a table from five held-out folds: commonest class,
    plain model, stage 1 alone (labels of the memories), memory classifier; with 95 % intervals, and which to use.

    Examples:

    memclf fit patients.csv --target outcome --out model

    memclf fit pictures/ --out model --report page.html
    """
    with exit_on_error(OSError, TypeError, ValueError):
        from memclf.answers import RULES

        if answer not in RULES:
            fail(f"--answer must be one of {', '.join(RULES)}; got {answer!r}", code=2)
        if regions is not None and features is None:
            fail("--regions finds what a SPEC measures; give the SPEC too: --features SPEC", code=2)
        if report is not None:
            _check_report(report)
        try:
            from memclf.own import fit_data

            measured: Any = features
            if features is not None and regions is not None:
                from memclf.vision.features import read_spec

                measured = read_spec(features, regions=load_regions(regions))
            with open_cluster(cluster, workers):
                found = fit_data(
                    data,
                    out,
                    target=target,
                    groups=groups,
                    features=measured,
                    similarity=similarity,
                    estimator=estimator,
                    answer=answer,
                    metric=metric,
                    unknown_rate=unknown_rate or None,
                    seed=seed,
                    skip_broken=skip_broken,
                    keep_training=keep_training,
                    cache=cache,
                )
        except OptionError as error:
            fail(error, code=2)
        if report is not None:
            from memclf.own.page import write_page

            write_page(found, report, command=shlex.join(["memclf", *sys.argv[1:]]))
        if as_json:
            typer.echo(json.dumps(found.as_dict(), indent=1))
            return
        _print_found(found, report)


def _check_report(report: Path) -> None:
    """Say what the page lacks before minutes of work."""
    from memclf.report.page import require

    if not report.absolute().parent.is_dir():
        fail(f"there is no folder {report.absolute().parent} to write {report.name} into")
    for package in ("matplotlib", "jinja2"):
        require(package)


def _print_found(found: FittedData, report: Path | None) -> None:
    console = Console() if sys.stdout.isatty() else Console(width=120)
    for line in (*found.data.notes, *found.data.broken):
        console.print(Text(as_line(line)), style="dim", soft_wrap=True)
    console.print(make_table(found.comparison, len(found.data.target)))
    for line in say_differences(found.comparison):
        console.print(Text(line), soft_wrap=True)
    advice = found.comparison.advice
    console.print(Text(advice.sentence, style=STYLES[advice.use]), soft_wrap=True)
    if advice.more:
        console.print(Text(advice.more), soft_wrap=True)
    console.print(
        as_markup(f"who answers in the memory classifier: {found.classifier.answer_.say_who()}"), soft_wrap=True
    )
    console.print(f"model: {as_markup(found.model)}", soft_wrap=True)
    if report is not None:
        console.print(f"report: {as_markup(report)}", soft_wrap=True)


def make_table(found: Comparison, n: int) -> Table:
    """Contenders with their measures in %."""
    declines = found.share < 1
    title = f"{n:,} cases, each answered by fits without its fold; in %"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("model", no_wrap=True)
    heads = ["accuracy", "balanced"]
    if declines:
        heads += ["coverage", "accuracy,\nanswered", "balanced,\nanswered"]
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for row in found.rows:
        cells = [row["name"], *_measures(row, "")]
        if declines:
            cells += [f"{100 * row['coverage']:.1f}", *_measures(row, "answered_")]
        table.add_row(*cells)
    return table


def say_differences(found: Comparison) -> list[str]:
    """What the memory classifier has more than the plain model and stage 1, with intervals."""
    where = f", on the {100 * found.share:.1f} % that it answers" if found.share < 1 else ""
    lines = [f"memory classifier minus another{where}, in points (95 % interval):"]
    for row in found.rows:
        minus = found.differences.get(row["contender"])
        if minus is not None and row["contender"] != "majority":
            shown = ", ".join(f"{name.removesuffix('_accuracy')} {_show(minus[name])}" for name in MEASURES)
            lines.append(f"  minus {row['name']}: {shown}")
    return lines


def _measures(row: dict[str, Any], key: str) -> list[str]:
    return [f"{100 * row[key + name]['value']:.1f}" for name in MEASURES]


def _show(found: dict[str, float]) -> str:
    value, low, high = (100 * found[part] for part in ("value", "low", "high"))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"
