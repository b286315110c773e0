"""A project: the folder that holds what an expert taught, judged, edited and fitted."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import Memory
from memclf.cases.store import Store
from memclf.data import TrainingCases, list_images, read_images, read_training
from memclf.data.images import find_paths
from memclf.data.tables import SUFFIXES, TableFile
from memclf.exceptions import DataError
from memclf.persist.history import name_state
from memclf.persist.manifest import read_manifest
from memclf.studio.added import ADDED, join_added
from memclf.studio.log import Event, Log

EVENTS = "project.sqlite"
SPEC = "description.yaml"
HELD_OUT = 5  # every fifth case of a class is held out of fits, to show what edits and corruptions do
DATA, LABEL, MODEL = "data", "label", "model"  # kinds of events
LEAVE_OUT = ""  # a label that is none: the case is not learned from


@dataclass(frozen=True)
class ProjectCases:
    """The cases of a project, in the order of their files.

    Attributes
    ----------
    cases : ImageCollection or table
        All of them, broken images too.
    target : array of str, or None
        Labels as the files say; None: there are none.
    keys : list of str
        What each is called by: the path of an image below its folder, or the number of a row.
    kind : {"images", "table"}
    path : Path
    notes : tuple of str
        What was left out, for the user.
    """

    cases: Any
    target: Array | None
    keys: list[str]
    kind: str
    path: Path
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each key."""
        return {key: row for row, key in enumerate(self.keys)}

    @property
    def classes(self) -> list[str]:
        """The classes, in the order of their names."""
        return [] if self.target is None else sorted(set(self.target.tolist()))


class Project:
    """A folder with `project.sqlite`, `description.yaml`, models, thumbnails and a cache.

    Parameters
    ----------
    folder : path
        Made if it is not there. A folder that holds other things is refused.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        if self.folder.is_dir() and any(self.folder.iterdir()) and not (self.folder / EVENTS).exists():
            raise DataError(f"{self.folder} holds other things than a project; give a new or an empty folder")
        if self.folder.exists() and not self.folder.is_dir():
            raise DataError(f"{self.folder} is a file; a project is a folder")
        self.models.mkdir(parents=True, exist_ok=True)
        self.log = Log(self.folder / EVENTS)
        self._lock = threading.Lock()
        self._read: tuple[str, ProjectCases] | None = None

    @property
    def models(self) -> Path:
        """The folder of the model folders."""
        return self.folder / "models"

    @property
    def spec(self) -> Path:
        """The SPEC of the measurements; it may not exist yet."""
        return self.folder / SPEC

    # ---------------------------------------------------------------------------------------------------------- data

    def set_data(self, path: str | os.PathLike[str], target: str | None = None) -> ProjectCases:
        """Choose the folder or the table to learn from; it is read where it lies."""
        about = {"path": str(Path(path).expanduser().resolve()), "target": target}
        found = read_project_cases(Path(about["path"] or ""), target)  # an error leaves the project as it is
        before = self.log.last(DATA)
        if before is None or before.about != about:
            self.log.append(DATA, about)
        added = self.log.events(ADDED)
        with self._lock:
            self._read = (_name_data(about, added), self._remember(join_added(found, added, self.folder)))
        return self._read[1]

    @property
    def data(self) -> ProjectCases | None:
        """The cases, None before any were chosen. They are read once."""
        event = self.log.last(DATA)
        if event is None:
            return None
        added = self.log.events(ADDED)
        with self._lock:
            key = _name_data(event.about, added)
            if self._read is None or self._read[0] != key:
                found = read_project_cases(Path(event.about["path"]), event.about["target"])
                self._read = (key, self._remember(join_added(found, added, self.folder)))
            return self._read[1]

    def forget_data(self) -> None:
        """Read the files again when the data is next asked for."""
        with self._lock:
            self._read = None

    def _remember(self, found: ProjectCases) -> ProjectCases:
        """Images whose descriptions last: a second fit, or the next start, pays nothing for them."""
        if found.kind != "images":
            return found
        memory = Memory(len(found), Store(self.folder / "cache"))
        return replace(found, cases=found.cases.remembered(memory))

    @property
    def labels(self) -> Array | None:
        """The label of each case, as corrected; `LEAVE_OUT` for cases not to learn from."""
        data = self.data
        if data is None or data.target is None:
            return None
        about = [each.about for each in self.log.events(LABEL) if each.about["case"] in data.rows]
        corrected = {data.rows[each["case"]]: each["label"] for each in about}
        if not corrected:
            return data.target
        labels = data.target.astype(object)
        labels[list(corrected)] = list(corrected.values())
        return np.asarray(labels.tolist(), dtype=str)

    def split(self) -> tuple[Array, Array]:
        """Rows to fit on, and rows that are held out: every fifth case of a class, by its name.

        Broken images, and cases that the expert left out, are in neither. Classes are those of the files, so that a
        corrected label moves no case to the other side.
        """
        data, labels = self.data, self.labels
        if data is None or labels is None:
            raise DataError("there are no labelled cases yet: choose a folder or a table first")
        bad = set(self.broken)
        good = [row for row in range(len(data)) if labels[row] != LEAVE_OUT and row not in bad]
        held: list[int] = []
        given = np.asarray(data.target)
        for label in np.unique(given):
            own = np.flatnonzero(given == label).tolist()
            own.sort(key=lambda row: hashlib.sha256(data.keys[row].encode()).digest())
            held += own[HELD_OUT - 1 :: HELD_OUT]
        return np.setdiff1d(good, held).astype(np.intp), np.intersect1d(good, held).astype(np.intp)

    def training(self) -> TrainingCases:
        """The cases to fit on, as `memclf.own.fit_cases` takes them."""
        fit, _ = self.split()
        return self.take(fit)

    def held_out(self) -> TrainingCases:
        """The cases that no fit sees."""
        _, held = self.split()
        return self.take(held)

    def take(self, rows: Array) -> TrainingCases:
        """Some cases with their labels, as corrected."""
        data, labels = self.data, self.labels
        if data is None or labels is None:
            raise DataError("there are no labelled cases yet: choose a folder or a table first")
        cases = data.cases[rows] if data.kind == "images" else data.cases.iloc[rows]
        kind: Any = data.kind
        return TrainingCases(cases, labels[rows], None, kind, data.path, data.notes)

    # -------------------------------------------------------------------------------------------------------- checks

    @property
    def checked(self) -> dict[str, Any] | None:
        """What the last look at all pictures found; None before it, or if the data is another."""
        try:
            found = json.loads((self.folder / "check.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        event = self.log.last(DATA)
        return found if isinstance(found, dict) and event and found.get("path") == event.about["path"] else None

    @property
    def broken(self) -> dict[int, str]:
        """Rows of images that cannot be read, and why, as far as they were looked at."""
        checked, data = self.checked, self.data
        if checked is None or data is None:
            return {}
        return {data.rows[key]: str(why) for key, why in checked["broken"].items() if key in data.rows}

    # -------------------------------------------------------------------------------------------------------- models

    def new_model(self) -> Path:
        """A folder name for the next model; it does not exist yet."""
        taken = [int(each.name) for each in self.models.iterdir() if each.name.isdigit()]
        return self.models / f"{max(taken, default=0) + 1:04d}"

    def take_model(self, folder: str | os.PathLike[str]) -> Path:
        """Copy a model folder into the project, so that edits leave the original alone."""
        if not Path(folder).is_dir():
            raise DataError(f"there is no model folder {folder}")
        target = self.new_model()
        shutil.copytree(folder, target)
        self.log.append(MODEL, {"model": target.name, "from": str(Path(folder).resolve())})
        return target

    @property
    def model(self) -> Path | None:
        """The folder of the model in use, None before there is one."""
        event = self.log.last(MODEL)
        return None if event is None else self.models / str(event.about["model"])

    @property
    def state(self) -> str:
        """A name for the model as it is now, which every edit changes; empty before there is one."""
        return "" if self.model is None else f"{self.model.name}-{name_state(read_manifest(self.model))}"

    def about_model(self, folder: Path | None = None) -> dict[str, Any]:
        """What was noted when a model was fitted: its training cases, settings and comparison.

        `folder` is that of the model; None: of the one in use.
        """
        folder = self.model if folder is None else folder
        if folder is None:
            return {}
        file = folder.with_suffix(".json")
        try:
            return dict(_read_about(file, file.stat().st_mtime_ns))
        except (OSError, ValueError):
            return {}

    def close(self) -> None:
        """Close the file of events."""
        self.log.close()


@lru_cache(maxsize=32)
def _read_about(file: Path, changed: int) -> dict[str, Any]:
    """A file about a model, read again when it has changed; it names all training cases."""
    found = json.loads(file.read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else {}


def read_project_cases(path: Path, target: str | None = None) -> ProjectCases:
    """Cases of a folder of images, with or without classes, of a list of images, or of a table."""
    if not path.exists():
        raise DataError(f"there is no file or folder {path}")
    listed = path.suffix.lower() == ".csv" and find_paths(TableFile(path)) is not None
    if path.is_dir() or listed:
        try:
            images, labels = read_images(path, target)
        except DataError:  # without labels: regions can be taught all the same
            images, labels = list_images(path), None
        keys = [str(images.key(row)) for row in range(len(images))]
        return ProjectCases(images, None if labels is None else np.asarray(labels, dtype=str), keys, "images", path)
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(f"{path} is neither a folder of images nor a table; tables end in {', '.join(SUFFIXES)}")
    found = read_training(path, target)
    if found.kind != "table":
        raise DataError(
            f"{path} holds texts; the studio takes images and tables. Write numbers about each text as columns"
        )
    frame = found.cases.reset_index(drop=True)
    return ProjectCases(
        frame, np.asarray(found.target, dtype=str), [str(row) for row in range(len(frame))], "table", path, found.notes
    )


def _name_data(about: dict[str, Any], added: list[Event]) -> str:
    """What tells the cases of a project from those before: their path, and what was added."""
    return json.dumps([about, [each.number for each in added]])


def write_json(path: Path, content: Any) -> None:
    """Write a file that appears as a whole or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
    part.replace(path)
