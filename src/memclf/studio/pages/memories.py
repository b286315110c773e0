"""The page Memories: the wall of memories, and what each of them stands for."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from memclf.exceptions import DataError
from memclf.studio.clusters import (
    CHECKED,
    check_memory,
    find_boundary,
    list_doubts,
    measure_inside,
    show_cluster,
)
from memclf.studio.holding import find_held_out, start_again
from memclf.studio.jobs import Job
from memclf.studio.project import LABEL, LEAVE_OUT
from memclf.studio.showing import show_memory
from memclf.studio.studio import Studio

SHOWN = 60  # memories of a page


def routes(studio: Studio) -> APIRouter:
    """The addresses below /memories."""
    router = APIRouter()
    session = studio.session

    @router.get("/memories")
    def wall(request: Request, start: int = 0) -> Response:
        clf = session.classifier
        held, job = _held_out(studio)
        total = len(clf.memory_indices_)
        start = min(max(0, start), total - 1) // SHOWN * SHOWN
        inside = None if held is None else measure_inside(session, *held)
        memories = []
        for memory in range(start, min(start + SHOWN, total)):
            n, right = (0, 0) if inside is None else inside[memory]
            memories.append({**show_memory(session, memory), "held_out": n, "right": right})
        return studio.page(
            request,
            "memories.html.j2",
            memories=memories,
            start=start,
            shown=SHOWN,
            total=total,
            cases=len(clf.labels_),
            measured=inside is not None,
            job=job,
        )

    @router.post("/memories/answer")
    def answer() -> Response:
        return studio.show_job(start_again(studio), "/memories")

    @router.get("/memories/{memory}")
    def one(request: Request, memory: int, start: int = 0) -> Response:
        check_memory(session, memory)
        held, _ = _held_out(studio)
        answers = None if held is None else held[1]
        n, right = (0, 0) if held is None else measure_inside(session, *held)[memory]
        return studio.page(
            request,
            "memory.html.j2",
            memory={**show_memory(session, memory), "held_out": n, "right": right},
            total=len(session.classifier.memory_indices_),
            cluster=show_cluster(session, memory, start),
            boundary=find_boundary(session, memory, answers),
            measured=held is not None,
            at_hand=session.rows is not None,
        )

    @router.get("/memories/{memory}/labels")
    def labels(memory: int) -> Response:
        return _show_doubts(memory)

    @router.post("/memories/{memory}/labels")
    def decide(
        memory: int,
        row: Annotated[int, Form()],
        decision: Annotated[str, Form()],
        label: Annotated[str, Form()] = "",
    ) -> Response:
        data = session.data
        if not 0 <= row < len(data):
            raise DataError(f"there is no case {row}")
        if decision == "right":
            studio.project.log.append(CHECKED, {"case": data.keys[row]})
        elif decision == "out":
            studio.project.log.append(LABEL, {"case": data.keys[row], "label": LEAVE_OUT})
        elif decision == "wrong" and label in _classes():
            studio.project.log.append(LABEL, {"case": data.keys[row], "label": label})
        else:
            raise DataError(
                f"say whether the label is right, which one it should be, or to leave it out; got {label!r}"
            )
        return _show_doubts(memory)

    @router.post("/memories/{memory}/undo")
    def undo(memory: int, event: Annotated[int, Form()]) -> Response:
        if event not in {each.number for each in studio.project.log.events(LABEL, CHECKED)}:
            raise DataError(f"there is no decision {event} about a label that could be undone")
        studio.project.log.undo(event)
        return _show_doubts(memory)

    def _show_doubts(memory: int) -> Response:
        found = list_doubts(session, check_memory(session, memory))
        return studio.fragment("memory_labels.html.j2", memory=memory, classes=_classes(), **found)

    def _classes() -> list[str]:
        return [str(label) for label in session.classifier.classes_.tolist()]

    return router


def _held_out(studio: Studio) -> tuple[Any, Job | None]:
    """Held-out cases with answers, or the job that finds them, or neither."""
    try:
        found = find_held_out(studio)
    except DataError:  # a model without its data can be looked at all the same
        return None, None
    return (None, found) if isinstance(found, Job) else (found, None)
