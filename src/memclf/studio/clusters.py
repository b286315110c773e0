"""What a memory stands for: its cluster, the cases at its boundary, labels to look at again."""

from __future__ import annotations

from typing import Any

import numpy as np

from memclf._numbers import Array, reaches
from memclf.evaluate import LabelCheck, check_labels
from memclf.exceptions import DataError
from memclf.studio.project import LABEL
from memclf.studio.session import Session
from memclf.studio.showing import CaseViewer

CHECKED = "checked"  # kind of event: the expert looked at a label and found it right
SHOWN = 48  # cases of a page
NEAR = 6  # cases on each side of a threshold
LISTED = 24  # labels to look at again, at a time


def check_memory(session: Session, memory: int) -> int:
    """The number of a memory that exists."""
    count = len(session.classifier.memory_indices_)
    if not 0 <= memory < count:
        raise DataError(f"there is no memory {memory}; the memories have the numbers 0 to {count - 1}")
    return memory


def measure_inside(session: Session, held: Any, answers: Any) -> list[tuple[int, int]]:
    """For each memory how many held-out cases go to it, and how many answers are right."""
    count = len(session.classifier.memory_indices_)
    if answers is None:
        return [(0, 0)] * count
    right = np.asarray(answers.labels).astype(str) == held.target.astype(str)
    memory = answers.routes.memory
    return [(int((memory == k).sum()), int(right[memory == k].sum())) for k in range(count)]


def list_members(session: Session, memory: int) -> Array:
    """Positions of the training cases of a memory's cluster, most similar first."""
    clf = session.classifier
    own = np.flatnonzero(clf.labels_ == memory)
    found: Array = own[np.argsort(-clf.search_result_.similarity[own], kind="stable")]
    return found


def show_cluster(session: Session, memory: int, start: int) -> dict[str, Any]:
    """A page of the cluster; `cases` is empty where the training cases are not at hand."""
    clf, rows, members = session.classifier, session.rows, list_members(session, memory)
    start = min(max(0, start), max(0, len(members) - 1)) // SHOWN * SHOWN
    some = members[start : start + SHOWN] if rows is not None else members[:0]
    viewer = CaseViewer(session) if len(some) else None
    cases = [
        viewer.show(
            int(rows[place]),
            similarity=float(clf.search_result_.similarity[place]),
            is_memory=place == clf.memory_indices_[memory],
        )
        for place in some.tolist()
        if rows is not None and viewer is not None
    ]
    return {"cases": cases, "start": start, "total": len(members), "shown": SHOWN}


def find_boundary(session: Session, memory: int, answers: Any) -> dict[str, list[dict[str, Any]]]:
    """Cases nearest to the threshold, above and below: of the cluster, and held out."""
    clf, rows = session.classifier, session.rows
    near, cases, held = np.zeros(0), np.zeros(0, dtype=np.intp), np.zeros(0, dtype=bool)
    if rows is not None:
        own = np.flatnonzero(clf.labels_ == memory)
        near, cases, held = clf.search_result_.similarity[own], rows[own], np.zeros(len(own), dtype=bool)
    if answers is not None:
        places = np.flatnonzero(answers.routes.nearest == memory)
        near = np.append(near, answers.routes.similarity[places])
        cases, held = np.append(cases, session.held_rows()[places]), np.append(held, np.ones(len(places), dtype=bool))
    if not len(cases):
        return {"inside": [], "outside": []}
    threshold, viewer = float(clf.thresholds_[memory]), CaseViewer(session)
    order = np.argsort(np.abs(near - threshold), kind="stable")
    met = reaches(near[order], threshold)
    return {
        name: [
            viewer.show(int(cases[k]), similarity=float(near[k]), held_out=bool(held[k])) for k in some[:NEAR].tolist()
        ]
        for name, some in (("inside", order[met]), ("outside", order[~met]))
    }


def check_cluster(session: Session, memory: int) -> LabelCheck:
    """Labels of a memory's cluster beside those of the most similar cases, found once."""

    def check(clf: Any) -> LabelCheck:
        return check_labels(clf, np.flatnonzero(clf.labels_ == memory))

    found: LabelCheck = session.keep(("labels", memory), check)
    return found


def list_doubts(session: Session, memory: int) -> dict[str, Any]:
    """Cases whose label disagrees with all around them, open and settled."""
    rows = session.rows
    if rows is None:
        return {"open": [], "settled": [], "more": 0, "at_hand": False}
    found, settled = check_cluster(session, memory), _list_settled(session)
    viewer = CaseViewer(session)
    keys = viewer.data.keys
    places = found.doubtful.tolist()
    unsettled = [place for place in places if keys[int(rows[found.rows[place]])] not in settled]
    doubts = []
    for place in unsettled[:LISTED]:
        around = [int(rows[other]) for other in found.alike.rows[place].tolist()]
        doubts.append(
            viewer.show(
                int(rows[found.rows[place]]),
                around=str(found.around[place]),
                share=float(found.around_share[place]),
                neighbours=[viewer.show(row) for row in around[:4]],
                n_around=len(around),
            )
        )
    own = {keys[int(rows[place])] for place in found.rows.tolist()}
    known = [
        viewer.show(viewer.data.rows[key], event=event.number, decision=event)
        for key, event in settled.items()
        if key in own
    ]
    return {"open": doubts, "settled": known, "more": len(unsettled) - len(doubts), "at_hand": True}


def _list_settled(session: Session) -> dict[str, Any]:
    """The last decision about the label of each case, by its key."""
    return {str(each.about["case"]): each for each in session.project.log.events(LABEL, CHECKED)}
