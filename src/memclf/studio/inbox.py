"""The inbox: cases that no memory claims, in groups, and what the expert decides about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memclf.cases import Cases, Memory, containers
from memclf.cases.join import join_cases
from memclf.cases.store import Store
from memclf.data import read_unlabelled, takes_images
from memclf.exceptions import DataError
from memclf.memory import group_alike
from memclf.own import predict_file
from memclf.similarity.base import describe
from memclf.studio import editing
from memclf.studio.added import ADDED, add_case
from memclf.studio.log import Event
from memclf.studio.project import Project
from memclf.studio.session import Session, as_classes
from memclf.studio.showing import CaseViewer, key_columns

INBOX = "inbox"  # kind of event: a folder or file whose cases are looked at, {path}
UNKNOWN = "unknown"  # kind of event: {cases, decision, memory, label, edit, added}
MEMORY, SAME, REALLY = DECISIONS = ("memory", "same as", "unknown")
SHOWN = 12  # cases of a group
GROUPS = 20  # of a page
MOST = 3000  # cases that are grouped; the others come when these are decided
CLOSE = 1e-6  # by how much a threshold is set below the least similarity


@dataclass(frozen=True)
class Item:
    """A case in the inbox.

    Attributes
    ----------
    name : str
        What it is called by in the log: ``data:KEY``, or ``file:PATH:KEY``.
    key : str
    source : int
        The event that brought it, 0 for held-out cases of the project.
    place : int
        Its row in the project's data, or its position in the source.
    """

    name: str
    key: str
    source: int
    place: int


# ------------------------------------------------------------------------------------------------------------ sources


def answers_file(project: Project, path: str) -> Path:
    """Where the answers to the cases of a source are."""
    return project.folder / "inbox" / f"{hashlib.sha256(path.encode()).hexdigest()[:16]}.jsonl"


def answer_source(folder: Path, path: str, trusted: tuple[str, ...]) -> dict[str, Any]:
    """Answer all cases of a source with the model in use; it runs as a job."""
    project = Project(folder)
    session, out = Session(project, trusted), answers_file(project, path)
    if project.model is None:
        raise DataError("there is no model yet: fit one on the page Numbers")
    out.parent.mkdir(exist_ok=True)
    found = predict_file(project.model, path, out, skip_broken=True, trusted=trusted)
    note = {"path": path, "state": project.state, "cases": found.answers, "broken": list(found.broken)}
    out.with_suffix(".json").write_text(json.dumps(note), encoding="utf-8")
    items = read_source(session, 0, path)
    if items:  # what is kept in the project's cache makes the page quick
        describe(session.classifier.similarity_, Cases.of(_take(read_cases(session, path), items)))
    project.close()
    return {"path": path, "cases": found.answers, "unknown": found.unknown}


def list_sources(session: Session) -> list[dict[str, Any]]:
    """Folders and files in the inbox, and what is known about the answers to their cases."""
    found = []
    for event in session.project.log.events(INBOX):
        out = answers_file(session.project, event.about["path"])
        try:
            note = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            note = None
        fresh = note is not None and note["state"] == session.project.state
        found.append({"event": event.number, "path": event.about["path"], "note": note, "fresh": fresh})
    return found


def read_source(session: Session, event: int, path: str) -> list[Item]:
    """The cases of a source that no memory claimed when they were answered."""
    out = answers_file(session.project, path)
    if not out.exists():
        return []
    cases = read_cases(session, path)
    images = takes_images(session.classifier)
    places = {str(cases.key(k)): k for k in range(len(cases))} if images else {}
    found = []
    with open(out, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            key = str(row["file" if images else "row"])
            place = places.get(key) if images else int(key)
            if not row["known"] and place is not None and place < len(cases):
                found.append(Item(f"file:{path}:{key}", key, event, place))
    return found


def read_cases(session: Session, path: str) -> Any:
    """The cases of a source as the model takes them, read once; descriptions are kept."""

    def read(clf: Any) -> Any:
        found = read_unlabelled(clf, Path(path))
        if not takes_images(clf):
            return found
        return found.remembered(Memory(len(found), Store(session.project.folder / "cache")))

    return session.keep((INBOX, path), read)


# ------------------------------------------------------------------------------------------------------------- groups


def list_items(session: Session, held: Any) -> list[Item]:
    """Cases in the inbox: held out or of sources, without those that are really unknown.

    Those that a new memory or a lower threshold claims leave it by themselves; see `find_groups`.
    """
    items: list[Item] = []
    if held is not None:
        rows, keys = session.held_rows(), session.data.keys
        unknown = np.flatnonzero(~held[1].routes.known)
        items += [Item(f"data:{keys[row]}", keys[row], 0, int(row)) for row in rows[unknown].tolist()]
    for event in session.project.log.events(INBOX):
        items += read_source(session, event.number, event.about["path"])
    away = {
        name for each in list_decisions(session) if each.about["decision"] == REALLY for name in each.about["cases"]
    }
    return [each for each in items if each.name not in away]


def take_items(session: Session, items: Sequence[Item]) -> Any:
    """The cases of some items, in their order, as the model takes them."""
    parts, order = [], []
    paths = {each.number: each.about["path"] for each in session.project.log.events(INBOX)}
    for source in dict.fromkeys(each.source for each in items):
        own = [k for k, each in enumerate(items) if each.source == source]
        cases = session.data.cases if source == 0 else read_cases(session, paths[source])
        parts.append(_take(cases, [items[k] for k in own]))
        order += own
    found = parts[0]
    for part in parts[1:]:
        found = join_cases(found, part)
    return containers.take(found, np.argsort(order))


def _take(cases: Any, items: Sequence[Item]) -> Any:
    return containers.take(cases, np.array([each.place for each in items], dtype=np.intp))


def find_groups(session: Session, items: Sequence[Item]) -> list[list[tuple[Item, Any]]]:
    """Items that no memory claims now, with their routes, in groups of cases that are alike."""
    items = list(items)[:MOST]
    if not items:
        return []

    def find(clf: Any) -> list[list[tuple[Item, Any]]]:
        routes, parts = [], []
        for source in dict.fromkeys(each.source for each in items):  # each with its own cache of descriptions
            own = [each for each in items if each.source == source]
            cases = take_items(session, own)
            found = clf.route(cases)
            still = np.flatnonzero(~found.known)
            routes += [(own[k], found[k]) for k in still.tolist()]
            if len(still):
                parts.append(containers.take(describe(clf.similarity_, Cases.of(cases)), still))
        if not routes:
            return []
        groups = group_alike(containers.stack(parts), clf.similarity_, float(np.median(clf.thresholds_)))
        return [[routes[k] for k in group.tolist()] for group in groups]

    found: list[list[tuple[Item, Any]]] = session.keep(("groups", tuple(each.name for each in items)), find)
    return found


def show_groups(session: Session, groups: Sequence[Sequence[tuple[Item, Any]]]) -> list[dict[str, Any]]:
    """Groups for the page: cases, the memory that they are most like, and its threshold."""
    viewer = CaseViewer(session) if session.project.data is not None else None
    paths = {each.number: each.about["path"] for each in session.project.log.events(INBOX)}
    shown = []
    for group in groups:
        nearest = int(group[0][1].nearest)
        fitting = [way for _, way in group if way.nearest == nearest and way.trusted and way.similarity < way.threshold]
        shown.append(
            {
                "cases": [_show_item(session, viewer, paths, item, way) for item, way in group[:SHOWN]],
                "hidden": [item.name for item, _ in group[SHOWN:]],
                "size": len(group),
                "nearest": nearest,
                "threshold": float(session.classifier.thresholds_[nearest]),
                "lowest": min((way.similarity for way in fitting), default=None),
                "guess": viewer.show(group[0][0].place)["label"] if viewer and group[0][0].source == 0 else "",
            }
        )
    return shown


def _show_item(
    session: Session, viewer: CaseViewer | None, paths: dict[int, str], item: Item, way: Any
) -> dict[str, Any]:
    more = {"name": item.name, "similarity": float(way.similarity), "reason": _say_why(way), "from": ""}
    if item.source == 0 and viewer is not None:
        return viewer.show(item.place, **more)
    address = f"{item.source}/{item.place}"
    images = takes_images(session.classifier)
    return {
        "key": item.key,
        "link": f"/unknown/case/{address}",
        "label": "",
        "picture": f"/unknown/picture/{address}" if images else "",
        "columns": [] if images else key_columns(read_cases(session, paths[item.source]), item.place),
        **more,
        "from": Path(paths[item.source]).name,
    }


def _say_why(way: Any) -> str:
    if not way.trusted:
        return "its description is not trusted"
    return f"{way.similarity:.3f}" if way.similarity < way.threshold else "too strange to the classifier"


# ---------------------------------------------------------------------------------------------------------- decisions


def list_decisions(session: Session) -> list[Event]:
    """Decisions that stand: really unknown cases, and edits of the model in use."""
    log, model = session.project.log, session.project.model
    edits = {each.number for each in log.events(editing.EDIT) if model and each.about["model"] == model.name}
    return [each for each in log.events(UNKNOWN) if each.about["edit"] is None or each.about["edit"] in edits]


def decide(session: Session, items: Sequence[Item], decision: str, memory: int = -1, label: str = "") -> Event:
    """Do what the expert decides about some cases that are alike, the most typical first.

    Parameters
    ----------
    session : Session
    items : sequence of Item
    decision : {"memory", "same as", "unknown"}
        The first case becomes a memory with this label; the threshold of a memory is lowered just enough that it claims
        the cases; or they are really unknown, and leave the inbox.
    memory : int
    label : str
    """
    if not items or decision not in DECISIONS:
        raise DataError(f"choose at least one case, and one of {', '.join(DECISIONS)}; got {decision!r}")
    edit = added = None
    if gone := {name for each in list_decisions(session) for name in each.about["cases"]} & {
        each.name for each in items
    }:
        raise DataError(f"{min(gone)!r} was decided already; load the page again")
    if decision == MEMORY:
        edit, added = _make_memory(session, items[0], label)
    elif decision == SAME:
        edit = _lower_threshold(session, items, memory)
    about = {
        "case": items[0].name,
        "cases": [each.name for each in (items[:1] if decision == MEMORY else items)],
        "decision": decision,
        "memory": memory if decision == SAME else None,
        "label": label if decision == MEMORY else None,
        "edit": None if edit is None else edit.number,
        "added": None if added is None else added.number,
    }
    return session.project.log.append(UNKNOWN, about)


def take_back(session: Session, number: int) -> None:
    """Undo a decision; of those that edited the model, only the last edit can be undone."""
    log = session.project.log
    event = next((each for each in list_decisions(session) if each.number == number), None)
    if event is None:
        raise DataError(f"there is no decision {number} that could be undone")
    edit = event.about["edit"]
    if edit is not None:
        if log.events(editing.EDIT)[-1].number != edit:
            raise DataError("the model was edited since; undo the later edits on the page Edit first")
        editing.undo(session)
    log.undo(number)
    if event.about["added"] in {each.number for each in log.events(ADDED)}:
        log.undo(event.about["added"])
        session.forget()


def _make_memory(session: Session, item: Item, label: str) -> tuple[Event, Event | None]:
    clf = session.classifier
    if missing := editing.what_is_missing(session):
        raise DataError(missing)
    found = as_classes(clf, np.array([label]))[0]
    if found not in clf.classes_:
        known = ", ".join(map(str, clf.classes_))
        raise DataError(
            f"say which class it is, one of {known}; a new class needs some cases and a new fit. Got {label!r}"
        )
    case, added, key = take_items(session, [item]), None, item.key
    after = clf.add(case, found)
    if item.source:
        own = case[0] if takes_images(clf) else case
        added = add_case(session.project.log, session.project.folder, own, item.key, label)
        key = added.about["key"]
    try:
        what = f"add {key} as a memory ({label})"
        return editing.apply_edit(session, after, what, "from the inbox", labels={key: label}), added
    except BaseException:
        if added is not None:
            session.project.log.undo(added.number)
        raise


def _lower_threshold(session: Session, items: Sequence[Item], memory: int) -> Event:
    """Lower a memory's threshold so far that it claims all of these cases."""
    clf = session.classifier
    if not 0 <= memory < len(clf.memory_indices_):
        raise DataError(f"there is no memory {memory}")
    cases = take_items(session, items)
    near = float(clf.similarities(cases)[:, memory].min())
    if near <= 2 * CLOSE:
        raise DataError(
            f"these cases have nothing in common with {session.name_of(memory)}; make them a memory instead"
        )
    after = clf.set_threshold(memory, near - CLOSE) if near < clf.thresholds_[memory] else clf
    routes = after.route(cases)
    missed = np.flatnonzero(routes.memory != memory)
    if len(missed):
        key, other = items[int(missed[0])].key, int(routes.nearest[missed[0]])
        why = f"it is more like {session.name_of(other)}" if other != memory else "it is too strange to its classifier"
        raise DataError(
            f"no threshold makes {session.name_of(memory)} claim {key}: {why}. Untick it, or make it a memory"
        )
    before, now = float(clf.thresholds_[memory]), float(after.thresholds_[memory])
    what = f"threshold of {session.name_of(memory)}: {now:.4g} instead of {before:.4g}"
    return editing.apply_edit(session, after, what, "from the inbox")
