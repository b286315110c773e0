"""Edits of the model in use: what one would do, applying it, and taking it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.answers import Answers
from memclf.classifier import MemoryClassifier
from memclf.evaluate import Changes, find_changes
from memclf.exceptions import DataError
from memclf.persist import read_edits, save_edit, undo_edit
from memclf.studio.log import Event
from memclf.studio.project import LABEL
from memclf.studio.session import NAME, Session, as_classes

EDIT = "edit"  # kind of event
DROP, ADD, PIN, UNPIN, THRESHOLD, RELABEL = KINDS = ("drop", "add", "pin", "unpin", "threshold", "relabel")
ABOUT_MEMORY = (DROP, PIN, UNPIN, THRESHOLD)
NEED_TRAINING = (DROP, ADD, RELABEL)


@dataclass(frozen=True)
class Change:
    """An edit that is wished for.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    memory : int
        The memory to drop, pin, unpin, or give a threshold.
    case : int
        The row, in the project's data, of the case to add as a memory or to give a label.
    value : float
        The threshold.
    label : str
        The class of a case: the right one, or that of a case which the model has not learned from and which is added.
    """

    kind: str
    memory: int = -1
    case: int = -1
    value: float = 0.0
    label: str = ""

    @classmethod
    def read(cls, form: Mapping[str, Any]) -> Change:
        """A change from the fields of a form."""
        kind = str(form.get("kind", ""))
        if kind not in KINDS:
            raise DataError(f"there is no edit called {kind!r}; there are {', '.join(KINDS)}")
        try:
            return cls(
                kind,
                int(form["memory"]) if kind in ABOUT_MEMORY else -1,
                -1 if kind in ABOUT_MEMORY else int(form["case"]),
                float(form["value"]) if kind == THRESHOLD else 0.0,
                str(form.get("label", "")),
            )
        except (KeyError, ValueError) as error:
            raise DataError(f"the edit {kind!r} lacks a number or has a bad one: {error}") from None


@dataclass(frozen=True)
class Effect:
    """What an edit would do; nothing is changed yet.

    Attributes
    ----------
    change : Change
    what : str
        The edit in words.
    before, after : MemoryClassifier
    changes : Changes or None
        Answers to held-out cases; None if there are none.
    rows : ndarray
        The rows of these cases in the project's data.
    labels : dict
        Key and label of a training case that is corrected or added.
    """

    change: Change
    what: str
    before: MemoryClassifier
    after: MemoryClassifier
    changes: Changes | None
    rows: Array
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, Any]:
        """What the log notes."""
        if self.changes is None:
            return {}
        measures = {name: [*pair] for name, pair in self.changes.measures.items()}
        return {"held_out": len(self.rows), **self.changes.counts, **measures}


def preview(session: Session, change: Change) -> Effect:
    """Make the edit on a copy of the model, and ask both about the held-out cases."""
    before = session.classifier
    after, labels = _edit(session, before, change)
    what = say_change(session, change)
    rows = _held_out_rows(session)
    rows = rows[rows != change.case] if change.kind == ADD else rows
    changes = None
    if len(rows):
        held, answers = session.held_out()
        if len(answers) != len(rows):  # without the case that is added
            held, answers = session.project.take(rows), None
        changes = find_changes(before, after, held.cases, as_classes(before, held.target), answers=answers)
    return Effect(change, what, before, after, changes, rows, labels)


def apply_effect(session: Session, effect: Effect, note: str = "") -> Event:
    """Apply an edit whose effect was looked at; an error if the model has changed since."""
    with session.edit_alone():
        if effect.before is not session.classifier:
            raise DataError("the model has changed since you looked at this effect; look at it again")
        return apply_edit(session, effect.after, effect.what, note, numbers=effect.numbers, labels=effect.labels)


def apply_edit(
    session: Session,
    after: MemoryClassifier,
    what: str,
    note: str = "",
    *,
    numbers: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
) -> Event:
    """Save an edited classifier in the place of the model, log it, and use it from now on.

    Parameters
    ----------
    session : Session
    after : MemoryClassifier
        The model in use, edited.
    what, note : str
        What was done, and why.
    numbers : mapping or None
        What it does to held-out cases, for the log.
    labels : mapping or None
        Key and label of training cases that the edit corrected or added; without them, the training cases of the
        model could not be put together again.
    """
    labels, more = dict(labels or {}), dict(numbers or {})
    with session.edit_alone():
        project, before = session.project, session.classifier
        folder = project.model
        if folder is None:
            raise DataError("there is no model to edit")
        save_edit(before, after, folder, [what], note, {**more, **({"labels": labels} if labels else {})})
        also = [
            project.log.append(LABEL, {"case": key, "label": label}, note).number
            for key, label in _new(session, labels)
        ]
        about = {"model": folder.name, "what": what, "numbers": more, "labels": also, "state": _state(session)}
        event = project.log.append(EDIT, about, note)
        rows = session.rows
        if rows is not None:
            added = [session.data.rows[key] for key in labels if session.data.rows[key] not in set(rows.tolist())]
            rows = np.concatenate([rows, np.array(added, dtype=np.intp)])
        session.replace(after, rows)
    return event


def undo(session: Session, note: str = "") -> str:
    """Take the last edit of the model back; returns what it was."""
    with session.edit_alone():
        folder, log = session.project.model, session.project.log
        if folder is None:
            raise DataError("there is no model, and so no edit to undo")
        undone = undo_edit(folder, note)
        for event in log.events(EDIT):
            if event.about["model"] == folder.name and event.about["state"] == undone["to"]:
                log.undo(event.number, note)
                standing = {each.number for each in log.events(LABEL)}
                for number in standing.intersection(event.about["labels"]):
                    log.undo(number, note)
        session.forget()
    return "; ".join(map(str, undone.get("what") or ()))


def undo_event(session: Session, number: int) -> None:
    """Take back a name, or a label that no edit of the model came with."""
    log = session.project.log
    if number not in {each.number for each in _single_events(session)}:
        raise DataError("this cannot be undone by itself; undo the edit that it came with")
    log.undo(number)


def list_edits(session: Session) -> list[dict[str, Any]]:
    """Edits, names and labels that stand, the last first; which of them can be undone."""
    folder = session.project.model
    edits = [] if folder is None else read_edits(folder)
    found: list[dict[str, Any]] = [
        {
            "time": entry["time"],
            "what": "; ".join(map(str, entry.get("what") or ())),
            "note": str(entry.get("note", "")),
            "numbers": entry,
            "undo": "last" if entry is edits[-1] else "",
        }
        for entry in edits
    ]
    for event in _single_events(session):
        about = event.about
        if event.kind == NAME:
            what = (
                f"training case {about['row']} is called {about['name']}" if about["name"] else "a name was taken away"
            )
        else:
            what = f"{about['case']} is {about['label']}" if about["label"] else f"{about['case']} is left out"
        found.append({"time": event.time, "what": what, "note": event.note, "numbers": {}, "undo": event.number})
    return sorted(found, key=lambda each: str(each["time"]), reverse=True)


def say_change(session: Session, change: Change) -> str:
    """An edit in words."""
    clf = session.classifier
    if change.kind in ABOUT_MEMORY:
        name = session.name_of(change.memory)
        if change.kind == THRESHOLD:
            return f"threshold of {name}: {change.value:.4g} instead of {clf.thresholds_[change.memory]:.4g}"
        return f"{change.kind} {name}"
    key = session.data.keys[change.case]
    return f"add {key} as a memory" if change.kind == ADD else f"{key} is {change.label}"


def sides(session: Session, memory: int, answers: Answers | None) -> list[dict[str, Any]]:
    """Cases that are most similar to a memory, and whether its threshold decides about them.

    `answers` are those to the held-out cases; None: training cases alone. These count by their similarity. Of a
    held-out case that is unknown for another reason (its description is
    not trusted, or it is too strange to the classifier) `free` is False.
    """
    clf, rows = session.classifier, session.rows
    found = [
        {"similarity": float(clf.search_result_.similarity[place]), "held": False, "free": True}
        | {"row": -1 if rows is None else int(rows[place])}
        for place in np.flatnonzero(clf.labels_ == memory).tolist()
    ]
    if answers is not None:
        held, routes = session.held_rows(), answers.routes
        free = routes.trusted & routes.familiar
        found += [
            {"similarity": float(routes.similarity[place]), "held": True, "free": bool(free[place])}
            | {"row": int(held[place])}
            for place in np.flatnonzero(routes.nearest == memory).tolist()
        ]
    return sorted(found, key=lambda each: float(each["similarity"]))


def what_is_missing(session: Session) -> str:
    """Why some edits are not possible; empty if all are."""
    if session.classifier.training_ is not None:
        return ""
    return (
        "The cases that this model was fitted on are not at hand: the project has other data, or none. Thresholds and "
        "pins can be changed all the same. To drop or add memories or correct labels, choose the data of the fit on "
        "the page Data, or fit a model here."
    )


# ------------------------------------------------------------------------------------------------------------- helpers


def _edit(session: Session, clf: MemoryClassifier, change: Change) -> tuple[MemoryClassifier, dict[str, str]]:
    """The edited classifier, and labels of training cases that are other than before."""
    if change.kind in NEED_TRAINING and (missing := what_is_missing(session)):
        raise DataError(missing)
    k = change.memory
    if change.kind in ABOUT_MEMORY and not 0 <= k < len(clf.memory_indices_):
        raise DataError(f"there is no memory {k}; there are {len(clf.memory_indices_)}, from 0")
    if change.kind == DROP:
        return clf.drop(k), {}
    if change.kind in (PIN, UNPIN):
        return clf.pin(k, pinned=change.kind == PIN), {}
    if change.kind == THRESHOLD:
        return clf.set_threshold(k, change.value), {}
    case, rows = session.case(change.case), session.rows
    key = session.data.keys[change.case]
    place = [] if rows is None else np.flatnonzero(rows == change.case).tolist()
    if change.kind == ADD and place:
        return clf.add(place[0]), {}
    label = as_classes(clf, np.array([change.label]))[0]
    if label not in clf.classes_:
        raise DataError(f"give {key} one of the classes that the model knows: {', '.join(map(str, clf.classes_))}")
    if change.kind == ADD:
        return clf.add(case, label), {key: change.label}
    if not place:
        raise DataError(f"the model has not learned from {key}; its label is corrected without an edit of the model")
    return clf.relabel(place[0], label), {key: change.label}


def _held_out_rows(session: Session) -> Array:
    """Rows of held-out cases; none where there is no data, or no labels."""
    data = session.project.data
    return np.zeros(0, dtype=np.intp) if data is None or data.target is None else session.held_rows()


def _new(session: Session, labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Labels that the project has not noted."""
    known = session.project.labels
    if known is None:
        return []
    return [(key, label) for key, label in labels.items() if known[session.data.rows[key]] != label]


def _state(session: Session) -> str:
    folder = session.project.model
    return "" if folder is None else str(read_edits(folder)[-1]["to"])


def _single_events(session: Session) -> list[Event]:
    """Names of this model's memories, and labels that no edit came with."""
    model, log = session.project.model, session.project.log
    bound = {number for event in log.events(EDIT) for number in event.about["labels"]}
    names = [each for each in log.events(NAME) if model is not None and each.about["model"] == model.name]
    return [*names, *(each for each in log.events(LABEL) if each.number not in bound)]
