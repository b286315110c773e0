"""Tables and warnings that ``memclf study`` prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memclf._progress import in_words
from memclf.studies import Settings, find_study


def print_plan(settings: Settings, console: Console) -> None:
    """Print the settings that matter in a study, and how much there is to train and to answer."""
    from memclf.report.contents import show_setting

    table = Table(title=f"memclf study {settings.study} --scale {settings.scale}", title_justify="left")
    table.add_column("setting", no_wrap=True)
    table.add_column("value")
    for name, value in settings.used().items():
        only = name == "features" and len(find_study(settings.study).feature_names) == 1
        table.add_row(name, f"{show_setting(name, value)}{' (which is the paper’s)' if only else ''}")
    console.print(table)
    cells, seeds = len(settings.cells()), len(settings.seeds)
    conditions = len(settings.corruptions) * len(settings.severities)
    folds = f", each {settings.folds} times more on parts of the data" if settings.uses_folds else ""
    console.print(
        f"to train: {cells * seeds} (recipes and backbones: {cells}, seeds: {seeds}){folds}; to answer: the clean test "
        f"images and {conditions} conditions",
        highlight=False,
    )


def print_estimate(settings: Settings, console: Console) -> None:
    """Print the time and disk that a study will need here, as a short trial estimates them."""
    console.print("trying a few steps on this machine ...", highlight=False)
    from memclf.studies.estimate import estimate  # which loads torch

    found = estimate(settings)
    parts = {"training": found.training, "corruptions and descriptions": found.conditions, "answers": found.answers}
    shares = ", ".join(f"{name} {in_words(seconds)}" for name, seconds in parts.items())
    disk, more = in_megabytes(found.disk), in_megabytes(found.checkpoints)
    lines = (
        f"time: about {in_words(found.seconds)} ({shares})",
        f"disk: about {disk}, and {more} more until the run has finished",
        f"These are estimates from a trial of {in_words(found.trial)}. If the machine was busy then, or gets busier, "
        "the time differs.",
    )
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)


def in_megabytes(size: float) -> str:
    """A number of bytes for people.

    >>> in_megabytes(300_000), in_megabytes(45_600_000), in_megabytes(12_340_000_000)
    ('1 MB', '46 MB', '12.3 GB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(1, round(size / 1e6))} MB"


def print_summary(summary: dict[str, Any], console: Console) -> None:
    """Print the table that a finished study ends with."""
    models = summary["models"]
    shown_names = [name for name in ("recipe", "backbone") if len({each[name] for each in models if each[name]}) > 1]
    table = Table(title=f"accuracy / balanced accuracy in %, {summary['n']} test images", title_justify="left")
    for name in ("model", *shown_names):
        table.add_column(name, no_wrap=True)
    partial = any(each["mean"] and each["mean"]["coverage"] < 1 for each in models)  # some answers are unknown
    for name in (
        "clean",
        "1 condition" if summary["conditions"] == 1 else f"{summary['conditions']} conditions",
        *(["answered"] if partial else []),
        "gain over the baseline (95 %)",
    ):
        table.add_column(name, justify="right")
    for each in models:
        gain = (each["gain"] or {}).get("mean")
        shown = [_pair(each["clean"]), _pair(each["mean"])]
        shown += [f"{100 * each['mean']['coverage']:.1f}" if each["mean"] else ""] if partial else []
        shown += ["" if gain is None else _gain(gain["accuracy"])]
        table.add_row(*(each[name] for name in ("model", *shown_names)), *shown)
    console.print(table)


def print_warnings(folder: Path, console: Console) -> None:
    """Print what is missing, the verdict and the cautions of the report."""
    from memclf.report.findings import cautions, headline
    from memclf.report.run import Run

    run = Run(folder)
    head = headline(run)
    for sentence in (*run.partial, f"{head.title}. {head.sentence}", *cautions(run)):
        console.print(Text(sentence), soft_wrap=True)


def _pair(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    return " / ".join(f"{100 * found[name]['value']:.1f}" for name in ("accuracy", "balanced_accuracy"))


def _gain(interval: dict[str, float]) -> str:
    value, low, high = (100 * interval[name] for name in ("value", "low", "high"))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"
