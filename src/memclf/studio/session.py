"""The model in use, loaded once, with its training cases where they are at hand."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.classifier import MemoryClassifier
from memclf.data import TrainingCases
from memclf.exceptions import DataError, MemclfError
from memclf.persist import load
from memclf.studio.project import Project, ProjectCases

NAME = "name"  # kind of event: an expert's name for a memory


class NoModel(DataError):
    """There is no model yet; pages say how to get one."""


class Session:
    """The classifier of a project and what pages ask about it.

    Parameters
    ----------
    project : Project
    trusted : sequence of str
        Types and functions that loading a model may use; see `memclf.load`.
    """

    def __init__(self, project: Project, trusted: tuple[str, ...] = ()):
        self.project = project
        self.trusted = trusted
        self._lock = threading.RLock()
        self._loaded: tuple[Path, MemoryClassifier, Array | None] | None = None
        self._answers: dict[str, tuple[MemoryClassifier, Any]] = {}

    @property
    def classifier(self) -> MemoryClassifier:
        """The model in use, with its training cases if they are at hand; `NoModel` without one."""
        return self._load()[0]

    @property
    def rows(self) -> Array | None:
        """The row in the project's data of each training case; None if they are not at hand."""
        return self._load()[1]

    @property
    def data(self) -> ProjectCases:
        """The cases of the project; `DataError` without any."""
        data = self.project.data
        if data is None:
            raise DataError("no data yet: choose a folder or a table on the page Data")
        return data

    def replace(self, clf: MemoryClassifier) -> None:
        """Use an edited classifier, which was saved in the same folder."""
        with self._lock:
            if self._loaded is None:
                raise NoModel("there is no model yet")
            self._loaded = (self._loaded[0], clf, self._loaded[2])

    def forget(self) -> None:
        """Load the model anew when it is next asked for."""
        with self._lock:
            self._loaded = None

    def held_out(self) -> tuple[TrainingCases, Any]:
        """The cases that the fit did not see, and the model's answers to them."""
        with self._lock:
            clf = self.classifier
            known = self._answers.get("held out")
            if known is None or known[0] is not clf:
                held = self.project.held_out()
                known = self._answers["held out"] = (clf, (held, clf.answers(held.cases)))
            held, found = known[1]
            return held, found

    def case(self, row: int) -> Any:
        """One case of the project as the classifier takes it."""
        data = self.data
        if not 0 <= row < len(data):
            raise DataError(f"there is no case {row}; there are {len(data)}")
        return data.cases[np.array([row])] if data.kind == "images" else data.cases.iloc[[row]]

    def names(self) -> dict[int, str]:
        """What the expert calls memories, by their rows in the training data."""
        model = self.project.model
        events = [each for each in self.project.log.events(NAME) if model and each.about["model"] == model.name]
        return {int(each.about["row"]): str(each.about["name"]) for each in events if each.about["name"]}

    def name_of(self, memory: int) -> str:
        """A memory's name: the expert's, or its number."""
        row = int(self.classifier.memory_indices_[memory])
        return self.names().get(row, f"memory {memory}")

    def _load(self) -> tuple[MemoryClassifier, Array | None]:
        with self._lock:
            folder = self.project.model
            if folder is None:
                raise NoModel("there is no model yet: fit one on the page Numbers")
            if self._loaded is None or self._loaded[0] != folder:
                found = load(folder, trusted=self.trusted)
                if not isinstance(found, MemoryClassifier):
                    raise DataError(f"{folder} holds a {type(found).__name__}; the studio is about memory classifiers")
                self._loaded = (folder, *self._with_training(found))
            return self._loaded[1], self._loaded[2]

    def _with_training(self, clf: MemoryClassifier) -> tuple[MemoryClassifier, Array | None]:
        """The classifier with its training cases, and their rows; without, if they are not these."""
        with suppress(MemclfError, ValueError, KeyError, OSError):
            data, labels = self.project.data, self.project.about_model().get("labels")
            if data is None or data.target is None:
                return clf, None
            if labels is None:  # of a model from elsewhere: perhaps it was fitted on all of the data
                rows, y = np.arange(len(data)), np.asarray(data.target)
            else:
                rows, y = np.array([data.rows[key] for key in labels], dtype=np.intp), np.array(list(labels.values()))
            if len(rows) != len(clf.labels_):
                return clf, None
            cases = data.cases[rows] if data.kind == "images" else data.cases.iloc[rows]
            y = np.array([{str(label): label for label in clf.classes_.tolist()}[each] for each in y.tolist()])
            return clf.with_training(cases, y), rows
        return clf, None
