"""``memclf evaluate``: how good the answers of a model are, beside simpler models."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memclf.cli.load_model import AsJson, Model, Target, Trusted, load_classifier
from memclf.cli.output import as_line, check_folder_of, exit_on_error, fail, make_console, print_json

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier
    from memclf.report.run import Run

OWN = "memory"  # what the model is called among the contenders
SEVERITIES = (1, 3, 5)


def evaluate(
    model: Model,
    data: Annotated[Path, typer.Argument(help="Cases with labels that the model was not fitted on.")],
    target: Target = None,
    groups: Annotated[
        str | None, typer.Option(help="Column: cases of one group (patient, plant) are resampled together.")
    ] = None,
    corruptions: Annotated[bool, typer.Option("--corruptions", help="Images: also under every corruption.")] = False,
    corruption: Annotated[
        list[str] | None, typer.Option(help="Images: also under this one, as fog; repeat it.")
    ] = None,
    severity: Annotated[
        list[int] | None, typer.Option(min=1, max=5, help="Of the corruptions; repeat it. Default: 1, 3 and 5.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page into this HTML file.")] = None,
    as_json: AsJson = False,
    trusted: Trusted = None,
) -> None:
    """Measure a model on labelled cases, beside simpler models: is it worth it?

    Simpler models are the commonest class, stage 1 alone (the labels of the memory's cluster) and, where the model has
    one, its global classifier as the plain model. Unknown counts as an error in accuracy. Intervals are of 95 %, from
    resampled cases; the last column is how much better or worse than the model they are on the same cases.

    Examples:
        memclf evaluate MODEL new.csv --target species
        memclf evaluate MODEL photos/ --corruptions --report report.html
        memclf evaluate MODEL photos/ --corruption fog --severity 3 --json
    """
    if severity and not (corruptions or corruption):
        fail("--severity is for --corruptions or --corruption NAME", code=2)
    with exit_on_error(OSError, TypeError, ValueError), tempfile.TemporaryDirectory() as folder:
        from memclf.cli.show_evaluation import print_evaluation
        from memclf.data import read_cases
        from memclf.data.cases import read_column
        from memclf.evaluate.assess import assess

        check_folder_of(report)
        if report is not None:
            from memclf.report.page import require

            for package in ("matplotlib", "jinja2"):  # before the work
                require(package)
        clf = load_classifier(model, trusted)
        X, y = read_cases(clf, data, target)
        together = None if groups is None else read_column(data, groups, len(y))
        X = _check_cases(X, data, images=bool(corruptions or corruption))
        conditions = _list_conditions(corruptions, corruption, severity)
        title = f"{model.name} on {data.name}"
        run = _measure(clf, X, y, together, conditions, Path(folder), title=title, show=bool(report))
        found = assess(clf, X, y)
        print_evaluation(make_console(for_json=as_json), run, found, clf)
        if report is not None:
            from memclf.report import build

            shutil.copyfile(build(folder), report)
        if as_json:
            print_json({"model": str(model), "data": str(data), **as_document(run, found)})
    if report is not None:
        typer.echo(f"report: {as_line(report)}", err=as_json)


def _check_cases(X: Any, data: Path, *, images: bool) -> Any:
    from memclf.cases import Collection, containers

    if not containers.count(X):
        raise ValueError(f"{data} holds no cases")
    if images and not isinstance(X, Collection):
        raise ValueError("corruptions are for images, and this model takes none; leave out --corruptions")
    return X.remembered() if isinstance(X, Collection) else X


def _list_conditions(every: bool, names: list[str] | None, severities: list[int] | None) -> list[tuple[str, int]]:
    if not (every or names):
        return []
    from memclf.vision.corruptions import CORRUPTIONS

    return [(name, each) for name in (CORRUPTIONS if every else names or ()) for each in severities or SEVERITIES]


def _measure(
    clf: MemoryClassifier,
    X: Any,
    y: Any,
    groups: Any,
    conditions: list[tuple[str, int]],
    folder: Path,
    *,
    title: str,
    show: bool,
) -> Run:
    """Measure the model and its controls into a folder."""
    from memclf.evaluate import controls_of, evaluate
    from memclf.evaluate.store import BASELINE
    from memclf.report.run import Run

    baseline = {} if clf.global_ is None else {BASELINE: clf.global_}
    controls = {name: each for name, each in controls_of(clf).items() if not name.startswith("prior")}
    contenders = {OWN: clf, **baseline, **controls}
    options: dict[str, Any] = {"store": folder, "title": title, "show": show, "verbose": int(bool(conditions))}
    evaluate(contenders, X, y, conditions, groups=groups, **options)
    return Run(folder)


def as_document(run: Run, found: Any) -> dict[str, Any]:
    """All figures, for scripts."""
    from memclf.cli.show_evaluation import use_own_words
    from memclf.evaluate.results import summarise
    from memclf.evaluate.store import open_store
    from memclf.report.findings import cautions, headline

    said = headline(run)
    with open_store(run.folder / "results.sqlite") as store:
        summary = summarise(store)
    return {
        "cases": summary["n"],
        "verdict": use_own_words(f"{said.title}. {said.sentence}"),
        "cautions": cautions(run),
        "like_training": found.like_training,
        "models": [{name: each[name] for name in ("model", "clean", "mean")} for each in summary["models"]],
        "conditions": [
            {
                name: row[name]
                for name in ("model", "corruption", "severity", "accuracy", "balanced_accuracy", "coverage")
            }
            for row in run.rows
        ],
        "classes": found.by_class,
        "confusion": {"answers": [*map(str, found.classes), "unknown"], "counts": found.confusion},
        "memories": found.by_memory,
        "risk_coverage": {"area": found.curve.area, "confidence": found.confidence, "points": found.points()},
    }
