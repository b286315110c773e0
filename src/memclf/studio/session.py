"""The model in use, loaded once, with its training cases where they are at hand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import Collection, Memory
from memclf.cases.store import Store
from memclf.classifier import MemoryClassifier
from memclf.data import TrainingCases
from memclf.exceptions import DataError, MemclfError
from memclf.persist import load, read_edits
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
        self._editing = threading.RLock()
        self._loaded: tuple[Path, MemoryClassifier, Array | None] | None = None
        self._data: ProjectCases | None = None  # whose rows the loaded training cases have
        self._answering = threading.Lock()  # apart, so that other pages do not wait for answers
        self._answers: tuple[MemoryClassifier, Array, Any] | None = None
        self._held: tuple[MemoryClassifier, int, Array] | None = None
        self._kept: dict[Any, tuple[MemoryClassifier, Any]] = {}

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

    def replace(self, clf: MemoryClassifier, rows: Array | None = None) -> None:
        """Use an edited classifier, which was saved in the same folder.

        `rows` are those of its training cases; None: they are the same as before.
        """
        with self._lock:
            if self._loaded is None:
                raise NoModel("there is no model yet")
            self._loaded = (self._loaded[0], self._remember(clf), self._loaded[2] if rows is None else rows)

    def forget(self) -> None:
        """Load the model anew when it is next asked for."""
        with self._lock:
            self._loaded = None

    @contextmanager
    def edit_alone(self) -> Iterator[None]:
        """Hold the model while it is edited; an error if another edit holds it."""
        if not self._editing.acquire(blocking=False):
            raise DataError("another edit is being made; wait until it is done")
        try:
            yield
        finally:
            self._editing.release()

    def held_rows(self) -> Array:
        """Rows of the labelled cases that the model has not learned from.

        Of a model from elsewhere it may not be known: then they are the rows that a fit would hold out.
        """
        clf, events = self.classifier, len(self.project.log.all())
        if self._held is None or self._held[0] is not clf or self._held[1] != events:
            fit, held = self.project.split()
            seen, labels = self.rows, self.training_labels()
            if seen is None and labels is not None:
                seen = np.array([self.data.rows[each] for each in labels if each in self.data.rows], dtype=np.intp)
            found = held if seen is None else np.setdiff1d(np.union1d(fit, held), seen)
            self._held = (clf, events, found)
        return self._held[2]

    def held_out(self) -> tuple[TrainingCases, Any]:
        """The cases of `held_rows`, which the fit did not see, and the model's answers to them."""
        with self._answering:
            clf, rows = self.classifier, self.held_rows()
            held = self.project.take(rows)
            if not self.has_held_out():
                self._answers = (clf, rows, clf.answers(held.cases) if len(rows) else None)
            return held, self._answers[2] if self._answers else None

    def has_held_out(self) -> bool:
        """Whether `held_out` knows the answers already."""
        found = self._answers
        return found is not None and found[0] is self.classifier and np.array_equal(found[1], self.held_rows())

    def keep_held_out(self, state: str, rows: Array, answers: Any) -> None:
        """Take over answers that a job gave, if the model is still in the same `Project.state`."""
        with self._lock:
            if self.project.state == state:
                self._answers = (self.classifier, rows, answers)

    def keep(self, what: Any, make: Callable[[MemoryClassifier], Any]) -> Any:
        """What a function makes of the model, made once for each model."""
        clf = self.classifier
        known = self._kept.get(what)
        if known is None or known[0] is not clf:
            self._kept = {each: found for each, found in self._kept.items() if found[0] is clf}
            known = self._kept[what] = (clf, make(clf))
        return known[1]

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
        found = {int(each.about["row"]): str(each.about["name"]) for each in events}
        return {row: name for row, name in found.items() if name}  # an empty one takes the name away

    def name_of(self, memory: int) -> str:
        """A memory's name: the expert's, or its number."""
        row = int(self.classifier.memory_indices_[memory])
        return self.names().get(row, f"memory {memory}")

    def _load(self) -> tuple[MemoryClassifier, Array | None]:
        with self._lock:
            folder = self.project.model
            if folder is None:
                raise NoModel("there is no model yet: fit one on the page Numbers")
            data = self.project.data
            if self._loaded is None or self._loaded[0] != folder or self._data is not data:
                found = load(folder, trusted=self.trusted)
                if not isinstance(found, MemoryClassifier):
                    raise DataError(f"{folder} holds a {type(found).__name__}; the studio is about memory classifiers")
                self._loaded, self._data = (folder, *self._with_training(self._remember(found))), data
            return self._loaded[1], self._loaded[2]

    def _remember(self, clf: MemoryClassifier) -> MemoryClassifier:
        """The classifier, which measures the picture of a memory once for all explanations."""
        if isinstance(clf.memories_, Collection):
            memory = Memory(len(clf.memories_), Store(self.project.folder / "cache"))
            clf.memories_ = clf.memories_.remembered(memory)
        return clf

    def _with_training(self, clf: MemoryClassifier) -> tuple[MemoryClassifier, Array | None]:
        """The classifier with its training cases, and their rows; without, if they are not these."""
        with suppress(MemclfError, ValueError, KeyError, OSError):
            data, labels = self.project.data, self.training_labels()
            if data is None or data.target is None:
                return clf, None
            if labels is None:  # of a model from elsewhere: perhaps it was fitted on all of the data
                labels = self._edited(dict(zip(data.keys, data.target.tolist(), strict=True)))
            rows = np.array([data.rows[key] for key in labels], dtype=np.intp)
            if len(rows) != len(clf.labels_):
                return clf, None
            cases = data.cases[rows] if data.kind == "images" else data.cases.iloc[rows]
            return clf.with_training(cases, as_classes(clf, np.array(list(labels.values())))), rows
        return clf, None

    def training_labels(self) -> dict[str, str] | None:
        """Key and label of each training case, in their order, also of edits since the fit.

        None: the model was not fitted in this project.
        """
        labels = self.project.about_model().get("labels")
        return None if labels is None else self._edited(labels)

    def _edited(self, labels: dict[str, str]) -> dict[str, str]:
        """Labels that edits corrected, and cases that they added at the end."""
        folder = self.project.model
        for edit in [] if folder is None else read_edits(folder):
            labels = labels | edit.get("labels", {})
        return labels


def as_classes(clf: MemoryClassifier, labels: Array) -> Array:
    """Labels of the project, which are words, as the classifier's classes, which may be numbers."""
    known = {str(label): label for label in clf.classes_.tolist()}
    return np.array([known.get(each, each) for each in labels.tolist()])
