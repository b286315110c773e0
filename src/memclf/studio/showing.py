"""Cases and memories as pages show them: pictures by address, key columns of tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from memclf._numbers import format_number
from memclf.cases import containers
from memclf.data import takes_images
from memclf.studio.session import Session

KEY_COLUMNS = 6  # of a row that stands for a case
LETTERS = 40  # of a value
COLOURS = 8  # of classes, in look.css


class CaseViewer:
    """Shows cases of the project's data; labels are read once."""

    def __init__(self, session: Session):
        self.data, self._labels = session.data, session.project.labels
        self._images = self.data.kind == "images"

    def show(self, row: int, **more: Any) -> dict[str, Any]:
        """A case by its row, and what else is to be shown of it."""
        return {
            "row": row,
            "key": self.data.keys[row],
            "link": f"/why/case/{row}",
            "label": "" if self._labels is None else str(self._labels[row]),
            "picture": f"/thumbnail/{row}" if self._images else "",
            "columns": [] if self._images else key_columns(self.data.cases, row),
            **more,
        }


def show_memory(session: Session, memory: int) -> dict[str, Any]:
    """A memory as the model keeps it: its name, picture or key columns, cluster and threshold."""
    clf = session.classifier
    counts = clf.cluster_counts_[memory]
    images = takes_images(clf)
    row = None if session.rows is None else int(session.rows[int(clf.memory_indices_[memory])])
    stored = images and row is not None and session.data.kind == "images"
    return {
        "number": memory,
        "name": session.name_of(memory),
        "link": f"/memories/{memory}",
        "row": row,
        "key": "" if row is None else session.data.keys[row],
        "picture": (f"/thumbnail/{row}" if stored else f"/memory-picture/{memory}") if images else "",
        "columns": [] if images else key_columns(clf.memories_, memory),
        "size": int(counts.sum()),
        "classes": share_classes(clf, counts),
        "threshold": float(clf.thresholds_[memory]),
        "pinned": int(clf.memory_indices_[memory]) in clf.edits_.pinned,
    }


def share_classes(clf: Any, counts: Any) -> list[dict[str, Any]]:
    """The classes that some cases have, commonest first, with where each begins on a bar of 100."""
    total, start, found = max(1, int(counts.sum())), 0.0, []
    for code in np.argsort(-counts, kind="stable").tolist():
        if counts[code]:
            share = 100 * int(counts[code]) / total
            name = str(clf.classes_[code])
            found.append(
                {"name": name, "count": int(counts[code]), "start": start, "share": share, "colour": code % COLOURS}
            )
            start += share
    return found


def key_columns(cases: Any, position: int) -> list[tuple[str, str]]:
    """The first columns of a row: name and value."""
    if containers.is_table(cases):
        return [(str(name), short(cases[name].iloc[position])) for name in list(cases.columns)[:KEY_COLUMNS]]
    values = np.ravel(cases[position])[:KEY_COLUMNS]
    return [(f"column {number}", short(value)) for number, value in enumerate(values.tolist())]


def short(value: Any) -> str:
    """A value in few letters."""
    if isinstance(value, (float, np.floating)):
        return "missing" if value != value else format_number(float(value))
    text = str(value)
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"
