"""One case put to the model: why it gets its answer, as a page shows it."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import Cases, Collection
from memclf.cases.join import wrap_case
from memclf.data import takes_images
from memclf.evaluate import find_alike
from memclf.exceptions import DataError
from memclf.local.pool import ask
from memclf.protocols import gives_probabilities
from memclf.similarity.base import find_drawing
from memclf.studio.pictures import shrink
from memclf.studio.session import Session
from memclf.studio.showing import COLOURS, CaseViewer, short, show_memory
from memclf.vision.features.base import ImageFeatures
from memclf.vision.files import Pixels

KEPT = 20  # pictures that were dropped
ROOM = 512 * 2**20  # bytes of their pixels; the last one stays in any case
ALIKE = 12
SIDE = 640  # pixels of a picture with outlines
FEW = 12  # measurements that are shown at once


class Dropped:
    """The last pictures that were dropped on a page, in memory alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pictures: OrderedDict[str, tuple[str, Pixels]] = OrderedDict()

    def keep(self, name: str, pixels: Pixels) -> str:
        """Keep a picture; what it is called from now on."""
        key = secrets.token_urlsafe(9)
        with self._lock:
            self._pictures[key] = (name, pixels)
            while len(self._pictures) > 1 and (len(self._pictures) > KEPT or self._size() > ROOM):
                self._pictures.popitem(last=False)
        return key

    def get(self, key: str) -> tuple[str, Pixels]:
        """The name of its file, and its pixels."""
        with self._lock:
            if key not in self._pictures:
                raise DataError("this picture is no longer kept; drop it again")
            return self._pictures[key]

    def _size(self) -> int:
        return sum(pixels.nbytes for _, pixels in self._pictures.values())


def as_case(session: Session, pixels: Pixels) -> Any:
    """A picture as the model takes it."""
    clf = session.classifier
    if not takes_images(clf):
        raise DataError("this model is about rows of a table, not about pictures")
    found = wrap_case(pixels, clf.memories_)
    return found.remembered() if isinstance(found, Collection) else found  # described once for all that is asked


def explain_case(session: Session, case: Any, row: int | None = None) -> dict[str, Any]:
    """All that the page Why shows about one case; `row` is where it is in the project's data."""
    clf = session.classifier
    item = clf.explain(case)[0]
    return {
        "item": item,
        "memory": show_memory(session, item.memory),
        "runner_up": None if item.runner_up is None else show_memory(session, item.runner_up),
        "scale": draw_scale(item),
        "chances": list_chances(clf, item),
        "has_global": clf.global_ is not None and gives_probabilities(clf.global_),
        "likeness": list_likeness(item),
        "measured": compare_measured(item),
        "alike": list_alike(session, case, row),
        "commonest": max(item.cluster_classes, key=item.cluster_classes.__getitem__),
        "draws": find_drawing(clf.similarity_) is not None,
    }


def draw_scale(item: Any) -> dict[str, Any]:
    """Places on the scale of similarity, in per cent: the case, the threshold, and all memories."""
    others = [
        {"at": 100 * float(value), "memory": k, "value": float(value)}
        for k, value in enumerate(item.similarities.tolist())
        if k not in (item.memory, item.runner_up)
    ]
    runner_up = None if item.runner_up is None else 100 * float(item.runner_up_similarity)
    return {
        "similarity": 100 * float(item.similarity),
        "threshold": 100 * float(item.threshold),
        "runner_up": runner_up,
        "others": others,
    }


def list_chances(clf: Any, item: Any) -> list[dict[str, Any]]:
    """What each side says of each class: cluster, local classifier, global classifier, answer."""
    local = ask_alone(clf, clf.estimators_[item.memory], item.case)
    whole = ask_alone(clf, clf.global_, item.case)
    total = max(1, item.cluster_size)
    found = []
    for code, label in enumerate(clf.classes_.tolist()):
        answer = None if item.probabilities is None else item.probabilities[label]
        found.append(
            {
                "name": str(label),
                "colour": code % COLOURS,
                "count": item.cluster_classes[label],
                "share": item.cluster_classes[label] / total,
                "local": None if local is None else float(local[code]),
                "whole": None if whole is None else float(whole[code]),
                "answer": answer,
                "is_answer": item.answer == label,
            }
        )
    found.sort(key=lambda each: -(each["answer"] or each["local"] or 0))
    return found


def ask_alone(clf: Any, estimator: Any, case: Any) -> Array | None:
    """Probabilities that one classifier of the model gives a case; None if it gives none."""
    if estimator is None or not gives_probabilities(estimator):
        return None
    out = np.zeros((1, len(clf.classes_)))
    found: Array = ask([estimator], np.zeros(1, dtype=np.intp), Cases.of(case), "predict_proba", out, clf.classes_)[0]
    return found


def list_likeness(item: Any) -> list[dict[str, Any]]:
    """What each measurement adds to the similarity or takes from it, for bars around the middle."""
    if not item.likeness:
        return []
    most = max(abs(value) for _, value in item.likeness[1:]) or 1.0
    return [
        {
            "name": name,
            "value": value,
            "start": 50 if value >= 0 else 50 - 50 * abs(value) / most,
            "width": 50 * abs(value) / most,
        }
        for name, value in item.likeness[1 : FEW + 1]
    ]


def compare_measured(item: Any) -> list[tuple[str, str, str]]:
    """Numbers or columns of the case beside those of its memory, what counts most first."""
    if item.measured:
        order = {name: place for place, (name, _) in enumerate(item.likeness)}
        measured = sorted(item.measured, key=lambda each: order.get(each[0], len(order)))
        return [(name, short(here), short(there)) for name, here, there in measured]
    found: list[tuple[str, str, str]] = item.compare_with_memory()
    return found


def list_alike(session: Session, case: Any, row: int | None) -> list[dict[str, Any]]:
    """The training cases most like a case, by the expert's own likeness, without itself."""
    rows = session.rows
    if rows is None:
        return []
    found = find_alike(session.classifier, case, ALIKE + 1)
    viewer = CaseViewer(session)
    pairs = zip(rows[found.rows[0]].tolist(), found.similarity[0].tolist(), strict=True)
    return [viewer.show(other, similarity=near) for other, near in pairs if other != row][:ALIKE]


def draw_measured(session: Session, image: Pixels, info: Any = None) -> Pixels:
    """A picture with lines around the regions that the description measures."""
    feature = find_drawing(session.classifier.similarity_)
    if feature is None:
        raise DataError("the description of this model draws nothing")
    if isinstance(feature, ImageFeatures):
        image = shrink(image, 2 * SIDE)
        found: Pixels = feature.outline(image, feature.masks(image, info), SIDE)[0]
        return found
    return np.asarray(feature.overlay(image, info))
