"""Running a study: train, evaluate, report. A run that was stopped can go on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from memclf._version import __version__
from memclf.evaluate import Condition, Contender, Store, evaluate, list_versions, summarise, write_exhibits
from memclf.evaluate.exhibits import choose_contender
from memclf.exceptions import MissingExtraError, StudyError
from memclf.report import build, published
from memclf.studies.bounds import compute_bounds
from memclf.studies.checks import check_weights, spell
from memclf.studies.progress import Progress
from memclf.studies.published import table
from memclf.studies.registry import find_study
from memclf.studies.settings import Settings
from memclf.studies.study import Study, StudyData, groups_of
from memclf.studies.training import train
from memclf.vision.nets.catalogue import CATALOGUE
from memclf.vision.nets.devices import find_device
from memclf.vision.nets.recipes import RECIPES

#: Runs with another number are begun anew and not joined. Raise it whenever training or measuring changes: rows of two
#: methods must never stand in one table. It is no version of the package.
GOES_ON_FROM = "0.3.1"
THEN = ", then "  # between the versions that made a run
PART = ".part"  # suffix of files that are being written
RESULTS, SETTINGS, SUMMARY = "results.sqlite", "settings.json", "summary.json"
BOUNDS, EXHIBITS = "bounds.json", "exhibits.json"


def run_study(
    settings: Settings,
    out: Path,
    *,
    command: str = "",
    console: Console | None = None,
    networks: Path | None = None,
    cache: Path | None = None,
) -> Path:
    """Run a study, or go on with it, and write its report. Returns the folder of the run.

    `out` is that folder; when it holds a run with other settings or other data, a new folder is made beside it, so
    that rows are never mixed. After Ctrl-C a report of what is finished is written. The folder `networks`, if given,
    keeps trained networks for other runs that train the same; the folder `cache` what features and networks computed
    about images.
    """
    if missing := [name for name in ("jinja2", "matplotlib") if find_spec(name) is None]:
        raise MissingExtraError(f'the report needs {", ".join(missing)}: pip install "memclf[report]"')
    find_device(settings.device)  # one that is missing is an error now, not after the images are loaded
    progress = Progress(console)
    check_weights(settings, progress.say)
    study = find_study(settings.study)
    data = study.load(settings)
    data = data if cache is None else data.cached(cache)
    digest = data.digest()
    fingerprint = settings.fingerprint(digest + GOES_ON_FROM + _describe_machine())
    folder = folder_for(out, fingerprint)
    if folder != out:
        progress.say(f"{out} holds a run with {name_differences(out, settings)}; this one goes to {folder}")
    if (folder / SETTINGS).is_file():
        progress.say(f"going on with the run in {folder}")
    else:  # the fingerprint says that a run which goes on has the same images
        _check_images(data)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / SETTINGS, {"fingerprint": fingerprint, **settings.as_dict()})
    _write(folder / published.FILE, {"tables": [table(name).as_dict() for name in study.published]})
    store = Store(folder / RESULTS)
    try:
        if THEN in (versions := _join_versions(store)):
            progress.say(f"its rows are made with memclf {versions}")
        _store_facts(store, settings, study, data, command)
        store.put("data_digest", digest)  # runs on other images are not joined into one table
        store.put("goes_on_from", GOES_ON_FROM)  # nor those that were trained or measured otherwise
        store.put("textures_digest", settings.digest_textures())
        progress.say(f"{study.title}: {data.note}")
        _train_and_evaluate(folder, store, study, data, settings, progress, networks)
        shutil.rmtree(folder / "models" / ".training", ignore_errors=True)
    finally:
        store.close()
    return folder


def _train_and_evaluate(
    folder: Path,
    store: Store,
    study: Study,
    data: StudyData,
    settings: Settings,
    progress: Progress,
    networks: Path | None,
) -> None:
    """Train contenders, measuring each on clean images; then measure all under corruption."""
    started, before = time.monotonic(), store.get("seconds") or 0.0
    contenders: list[Contender] = []
    test = data.test.remembered()  # described once for all contenders
    options: dict[str, Any] = {"groups": groups_of(test), "store": store, "study": study.name, "show": False}
    verbose = int(progress.console.is_terminal)
    training = train(
        study, data.train, settings, folder / "models", say=progress.say, verbose=verbose, networks=networks
    )
    try:
        for contender in training:
            contenders.append(contender)
            (row,) = evaluate([contender], test, test.labels, **options)
            scores = f"{100 * row['accuracy']:.1f} / {100 * row['balanced_accuracy']:.1f}"
            progress.say(f"{contender.model}: clean accuracy / balanced accuracy {scores}")
        progress.add(store.rows())
        conditions = [Condition(c, s) for c in settings.corruptions for s in settings.severities]
        with progress:
            evaluate(contenders, test, test.labels, conditions, make=data.make, watcher=progress, **options)
        store.put("finished", store.get("finished") or _now())
    except KeyboardInterrupt:
        with _ignore_ctrl_c():
            progress.say("stopping; a report of what is finished is being written")
            conclude(folder, store, data, settings, contenders, progress)
        progress.say(f"{folder / 'report.html'} shows what is finished; the same command goes on from here")
        raise
    finally:
        store.put("seconds", before + time.monotonic() - started)
    conclude(folder, store, data, settings, contenders, progress)


@contextmanager
def _ignore_ctrl_c() -> Iterator[None]:
    """Ignore a second Ctrl-C, as from a parent process, for the seconds that a report takes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _describe_machine() -> str:
    """The parts of the machine that trained networks depend on: sums differ between threads."""
    return f"torch {torch.__version__} on {torch.get_num_threads()} threads"


def _join_versions(store: Store) -> str:
    """The versions of memclf that a run was made with, in their order."""
    before = (store.get("versions") or {}).get("memclf", "")
    versions = [each for each in before.split(THEN) if each]
    return before if __version__ in versions[-1:] else THEN.join([*versions, __version__])


def _check_images(data: StudyData) -> None:
    """Find all images that cannot be read before hours of training."""
    for images in (data.train, data.test):
        if any(path is not None for path in images.paths) and (broken := images.broken(n_jobs=-1)):
            reasons = "; ".join(list(broken.values())[:5])
            raise StudyError(f"{len(broken)} images cannot be read: {reasons}")


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
            found = json.loads((folder / SETTINGS).read_text())["fingerprint"]
        except (OSError, ValueError, KeyError, TypeError):
            raise StudyError(f"{folder} holds something that is no run of a study; choose another --out") from None
        if found == fingerprint:
            return folder
        number += 1


def name_differences(folder: Path, settings: Settings) -> str:
    """What is different in the run of a folder, in words."""
    before, now = json.loads((folder / SETTINGS).read_text()), settings.as_dict()
    names = [spell(name) for name, value in now.items() if name in before and before[name] != value]
    return f"other settings: {', '.join(names)}" if names else "other data, torch, threads or version"


def _store_facts(store: Store, settings: Settings, study: Study, data: StudyData, command: str) -> None:
    """Put into the store what the report says about the run."""
    facts = {
        "study": study.name,
        "title": study.title,
        "question": study.question,
        "source": data.source,
        "source_note": data.note,
        "generated_note": study.generated_note,
        "settings": settings.used(),
        "versions": list_versions() | {"memclf": _join_versions(store)},
        "training_labels": {
            "recipes": {name: recipe.label for name, recipe in RECIPES.items()},
            "backbones": {name: entry.label for name, entry in CATALOGUE.items()},
        },
    }
    for key, value in facts.items():
        store.put(key, value)
    if command:
        store.put("command", command)
    if store.get("started") is None:
        store.put("started", _now())


def conclude(
    folder: Path, store: Store, data: StudyData, settings: Settings, contenders: list[Contender], progress: Progress
) -> None:
    """Write summary, pictures, bounds and report; of a partial run the summary and the report."""
    _write(folder / SUMMARY, summarise(store))
    memory = choose_contender(store, contenders)
    if store.get("finished") and memory is not None and not (folder / EXHIBITS).is_file():
        progress.say("collecting pictures for the report")
        study = find_study(settings.study)
        painted = study.painted if "paper" in settings.features else {}
        try:
            write_exhibits(
                folder,
                store,
                memory,
                data.test,
                make=lambda condition: data.make(*condition),
                train=(data.train, data.train.labels),
                seed=settings.seeds[0],
                paint=(study.features("paper", settings.literal), painted) if painted else None,
            )
        except Exception as error:  # after hours of work a report without pictures is better than none
            progress.say(f"no pictures in the report: {type(error).__name__}: {error}")
    if store.get("finished") and not (folder / BOUNDS).is_file():
        try:
            # If only the last layer was trained, the embeddings of local classifiers were not learned here.
            given = ["inputs"] if settings.train == "head" else []
            found = compute_bounds(contenders, train=data.train, test=data.test, given=given, say=progress.say)
            if found["contenders"]:
                _write(folder / BOUNDS, found)
        except Exception as error:  # the same holds for bounds
            progress.say(f"no bounds in the report: {type(error).__name__}: {error}")
    build(folder)


def _write(file: Path, content: dict[str, Any]) -> None:
    """Write JSON, all of it or nothing: a run may be killed at any moment."""
    text = json.dumps(content, indent=1) + "\n"
    if not file.is_file() or file.read_text() != text:
        part = file.with_suffix(PART)
        part.write_text(text)
        os.replace(part, file)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
