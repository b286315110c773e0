"""Running a study: train, evaluate, report; killed at any moment, the same command goes on."""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

import memclf
from memclf.evaluate import Condition, Contender, ModelId, Store, evaluate, summarise, write_exhibits
from memclf.exceptions import MissingExtraError, StudyError
from memclf.report import published
from memclf.studies.published import table
from memclf.studies.settings import Settings
from memclf.studies.watch import Watch

PACKAGES = ("numpy", "scikit-learn", "torch", "torchvision", "timm", "opencv-contrib-python-headless")
# What a setting that is not made means, in a plan.
PLAIN = {
    ("data", "None"): "generated images",
    ("split", "None"): "as the data have it",
    ("corrupt_at", "None"): "the image's own size",
    ("local_epochs", "None"): "as epochs",
    ("schedule", "None"): "constant",
}
PART = ".part"  # of files that are being written
RESULTS, BOUNDS = "results.sqlite", "bounds.json"


def run_study(
    settings: Settings,
    out: Path,
    *,
    command: str = "",
    console: Console | None = None,
    networks: Path | None = None,
) -> Path:
    """Run a study, or go on with it, and write its report. Returns the folder of the run.

    `out` is that folder; when it holds a run with other settings or other data, a new folder is made beside it, so
    that rows are never mixed. Interrupted by Ctrl-C, it leaves a report of what is finished. Trained networks are kept
    in the folder `networks`, if there is one, and found there by any run that would train the same.
    """
    from memclf.studies import study_for
    from memclf.studies.models import train_all

    if missing := [name for name in ("jinja2", "matplotlib") if find_spec(name) is None]:
        raise MissingExtraError(f'the report needs {", ".join(missing)}: pip install "memclf[report]"')
    console = Console(stderr=True) if console is None else console
    watch = Watch(console)
    study = study_for(settings)
    _check_images(study)
    digest = settings.fingerprint(study.digest() + memclf.__version__ + _machine())
    folder = folder_for(out, digest)
    if folder != out:
        watch.says(f"{out} holds a run with other settings or other data; this one goes to {folder}")
    if (folder / "settings.json").is_file():
        watch.says(f"going on with the run in {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "settings.json", {"fingerprint": digest, **settings.as_dict()})
    _write(folder / published.FILE, {"tables": [table(name).as_dict() for name in study.published]})
    store = Store(folder / RESULTS)
    try:
        _about(store, settings, study, command)
        watch.says(f"{study.title}: {study.note}")
        started, before = time.monotonic(), store.get("seconds") or 0.0
        contenders: list[Contender] = []
        try:

            def measure(fitted: list[Contender], conditions: Sequence[Condition] = (), watcher: Any = None) -> None:
                new = {each.name for each in fitted} - {each.name for each in contenders}
                contenders[:] = fitted
                test = study.test
                options = {
                    "groups": study.groups(test),
                    "store": store,
                    "study": study.name,
                    "watcher": watcher,
                    "show": False,
                }
                rows = evaluate(fitted, test, test.labels, conditions, make=study.make, **options)
                if watcher is None:  # the first thing to be seen, perhaps hours before the rest
                    watch.says(_first_look(rows, new))

            # The clean test set at once, so that there is something to see while others are trained.
            verbose = int(console.is_terminal)
            train_all(study, settings, folder / "models", watch.says, verbose, measure, networks)
            watch.knows(store.rows())
            with watch:
                measure(contenders, [Condition(c, s) for c in settings.corruptions for s in settings.severities], watch)
            store.put("finished", store.get("finished") or _now())
        except KeyboardInterrupt:
            with _undisturbed():
                watch.says("stopping; a report of what is finished is being written")
                _conclude(folder, store, study, settings, contenders, watch)
            watch.says(f"{folder / 'report.html'} shows what is finished; the same command goes on from here")
            raise
        finally:
            store.put("seconds", before + time.monotonic() - started)
        _conclude(folder, store, study, settings, contenders, watch)
        shutil.rmtree(folder / "models" / ".training", ignore_errors=True)
    finally:
        store.close()
    return folder


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C may come twice, from the keyboard and from whoever started the process; the report takes seconds."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _machine() -> str:
    """What trained networks depend on beside the settings: sums over threads come out a little differently."""
    import torch

    return f"torch {torch.__version__} on {torch.get_num_threads()} threads"


def _first_look(rows: list[dict[str, Any]], new: set[ModelId]) -> str:
    """What those who have just been trained make of the clean test images."""
    shown = [row for row in rows if tuple(row[part] for part in ModelId._fields) in new]
    scores = (f"{r['model']} {100 * r['accuracy']:.1f} / {100 * r['balanced_accuracy']:.1f}" for r in shown)
    return f"clean, accuracy / balanced accuracy: {', '.join(scores)}"


def _check_images(study: Any) -> None:
    """Images that cannot be read are found before hours of training, all of them at once."""
    for images in (study.train, study.test):
        if any(path is not None for path in images.paths) and (broken := images.broken(n_jobs=-1)):
            said = "; ".join(list(broken.values())[:5])
            raise StudyError(f"{len(broken)} images cannot be read: {said}")


def folder_for(out: Path, fingerprint: str) -> Path:
    """`out`, or a folder beside it when `out` holds another run."""
    number = 1
    while True:
        folder = out if number == 1 else out.with_name(f"{out.name}-{number}")
        if folder.exists() and not folder.is_dir():
            raise StudyError(f"{folder} is a file; --out names the folder of the run")
        if not folder.exists() or not any(each.suffix != PART for each in folder.iterdir()):  # killed at once
            return folder
        try:
            found = json.loads((folder / "settings.json").read_text())["fingerprint"]
        except (OSError, ValueError, KeyError, TypeError):
            raise StudyError(f"{folder} holds something that is no run of a study; choose another --out") from None
        if found == fingerprint:
            return folder
        number += 1


def _about(store: Store, settings: Settings, study: Any, command: str) -> None:
    about = {
        "study": study.name,
        "title": study.title,
        "question": study.question,
        "source": study.source,
        "source_note": study.note,
        "generated_note": study.generated_note,
        "settings": {name: value for name, value in settings.as_dict().items() if not _idle(name, settings)},
        "versions": {"memclf": memclf.__version__, "python": platform.python_version(), **_versions()},
    }
    for key, value in about.items():
        store.put(key, value)
    if command:
        store.put("command", command)
    if store.get("started") is None:
        store.put("started", _now())


def _idle(name: str, settings: Settings) -> bool:
    """Whether a setting changes nothing in this run, so that its report need not show it."""
    if name in ("n_train", "n_test"):
        return settings.data is not None
    return name == "patch_size" and settings.study != "color"


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _conclude(
    folder: Path, store: Store, study: Any, settings: Settings, contenders: list[Contender], watch: Watch
) -> None:
    """Exhibits, bounds, summary and report, of a partial run too."""
    from memclf.report import build
    from memclf.studies.promises import promises

    _write(folder / "summary.json", summarise(store))
    by_model = {each.model: each for each in reversed(contenders)}
    if store.get("finished") and "memory" in by_model and not (folder / "exhibits.json").is_file():
        watch.says("collecting pictures for the report")
        memory = by_model["memory"]
        try:
            write_exhibits(
                folder,
                store,
                memory,
                study.test,
                make=lambda condition: study.make(*condition),
                train=(study.train, study.train.labels),
                seed=settings.seeds[0],
            )
        except Exception as error:  # hours of work must not end without a report for want of pictures
            watch.says(f"no pictures in the report: {type(error).__name__}: {error}")
    if store.get("finished") and not (folder / BOUNDS).is_file():
        try:
            # A network of which only the last layer was trained shows local classifiers nothing that it learned here.
            given = ["inputs"] if settings.train == "head" else []
            found = promises(contenders, train=study.train, test=study.test, given=given, say=watch.says)
            if found["contenders"]:
                _write(folder / BOUNDS, found)
        except Exception as error:  # nor for want of theory
            watch.says(f"no bounds in the report: {type(error).__name__}: {error}")
    build(folder)


def _write(file: Path, content: dict[str, Any]) -> None:
    """All of it or nothing: a run may be killed at any moment."""
    text = json.dumps(content, indent=1) + "\n"
    if not file.is_file() or file.read_text() != text:
        part = file.with_suffix(PART)
        part.write_text(text)
        os.replace(part, file)


def print_plan(settings: Settings, console: Console) -> None:
    """What a study is going to do, in full."""
    table = Table(title=f"memclf study {settings.study} --scale {settings.scale}", title_justify="left")
    table.add_column("setting", no_wrap=True)
    table.add_column("value")
    for name, value in settings.as_dict().items():
        if name in ("image_size", "corrupt_at") and value is not None:
            value = "x".join(map(str, reversed(value)))  # as the flags have it: width first
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        table.add_row(name, PLAIN.get((name, shown), shown))
    console.print(table)
    cells, seeds = len(settings.cells()), len(settings.seeds)
    conditions = len(settings.corruptions) * len(settings.severities)
    folds = f", each {settings.folds} times more on parts of the data" if settings.learns else ""
    console.print(
        f"to train: {cells * seeds} (recipes and backbones: {cells}, seeds: {seeds}){folds}; to answer: the clean test "
        f"images and {conditions} conditions",
        highlight=False,
    )


def print_summary(summary: dict[str, Any], console: Console) -> None:
    """The table that a finished study ends with."""
    models = summary["models"]
    told = [name for name in ("recipe", "backbone") if len({each[name] for each in models if each[name]}) > 1]
    table = Table(title=f"accuracy / balanced accuracy in %, {summary['n']} test images", title_justify="left")
    for name in ("model", *told):
        table.add_column(name, no_wrap=True)
    quiet = any(each["mean"] and each["mean"]["coverage"] < 1 for each in models)  # somebody says unknown
    for name in (
        "clean",
        "1 condition" if summary["conditions"] == 1 else f"{summary['conditions']} conditions",
        *(["answered"] if quiet else []),
        "gain over the baseline (95 %)",
    ):
        table.add_column(name, justify="right")
    for each in models:
        gain = (each["gain"] or {}).get("mean")
        shown = [_pair(each["clean"]), _pair(each["mean"])]
        shown += [f"{100 * each['mean']['coverage']:.1f}" if each["mean"] else ""] if quiet else []
        shown += ["" if gain is None else _gain(gain["accuracy"])]
        table.add_row(*(each[name] for name in ("model", *told)), *shown)
    console.print(table)


def print_warnings(folder: Path, console: Console) -> None:
    """What the report warns of, for those who read no further than the terminal."""
    from memclf.report.findings import cautions, contested, warnings
    from memclf.report.run import Run

    run = Run(folder)
    for sentence in cautions(run):
        console.print(Text(sentence), soft_wrap=True)
    found = warnings(run)
    if found and contested(run):
        console.print("A gain that a control has too is no gain:")
    for sentence in found:
        console.print(Text(f"- {sentence}"), soft_wrap=True)


def _pair(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    return " / ".join(f"{100 * found[name]['value']:.1f}" for name in ("accuracy", "balanced_accuracy"))


def _gain(interval: dict[str, float]) -> str:
    value, low, high = (100 * interval[name] for name in ("value", "low", "high"))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
