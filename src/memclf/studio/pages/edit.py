"""The page Edit: change memories and labels, see what that does, apply it, take it back."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from memclf._numbers import TOLERANCE
from memclf.exceptions import DataError
from memclf.studio import editing
from memclf.studio.clusters import check_memory
from memclf.studio.holding import find_held_out
from memclf.studio.jobs import FAILED, Job
from memclf.studio.project import LABEL, LEAVE_OUT
from memclf.studio.session import NAME
from memclf.studio.showing import CaseViewer, show_memory
from memclf.studio.strip import draw_strip
from memclf.studio.studio import Studio

AT_ONCE = 0.7  # seconds that a page waits for work before it shows that it works
LISTED = 60  # answers that change, of which a page shows so many
LONGEST = 80  # letters of a name


def routes(studio: Studio) -> APIRouter:
    """The addresses below /edit."""
    router = APIRouter()
    session, jobs, log = studio.session, studio.jobs, studio.project.log

    @router.get("/edit")
    def show(request: Request) -> Response:
        clf = session.classifier
        return studio.page(
            request,
            "edit.html.j2",
            memories=[show_memory(session, memory) for memory in range(len(clf.memory_indices_))],
            edits=editing.list_edits(session),
            missing=editing.what_is_missing(session),
            has_data=studio.project.data is not None,
        )

    @router.get("/edit/find")
    def find(case: str) -> Response:
        return RedirectResponse(f"/edit/case/{find_case(studio, case.strip())}", 303)

    @router.get("/edit/memory/{memory}")
    def one_memory(request: Request, memory: int) -> Response:
        check_memory(session, memory)
        held = _held_out(studio)
        answers = None if held is None or isinstance(held, Job) else held[1]
        cases = editing.sides(session, memory, answers)
        strip = draw_strip(cases, float(session.classifier.thresholds_[memory]))
        shown = show_memory(session, memory)
        return studio.page(
            request,
            "edit_memory.html.j2",
            memory=shown,
            given_name="" if shown["name"] == f"memory {memory}" else shown["name"],
            total=len(session.classifier.memory_indices_),
            strip=strip,
            job=held if isinstance(held, Job) else None,
            tolerance=TOLERANCE,
            images=studio.project.data is not None and studio.project.data.kind == "images",
            missing=editing.what_is_missing(session),
        )

    @router.get("/edit/case/{row}")
    def one_case(request: Request, row: int) -> Response:
        clf = session.classifier
        session.case(row)  # an error if there is none
        rows, labels = session.rows, session.training_labels() or {}
        place = [] if rows is None else [k for k, each in enumerate(rows.tolist()) if each == row]
        memories = clf.memory_indices_.tolist()
        return studio.page(
            request,
            "edit_case.html.j2",
            case=CaseViewer(session).show(row),
            learned=bool(place),
            learned_as=labels.get(session.data.keys[row], ""),
            memory=memories.index(place[0]) if place and place[0] in memories else None,
            classes=[str(each) for each in clf.classes_.tolist()],
            missing=editing.what_is_missing(session),
        )

    @router.post("/edit/preview")
    def preview(
        kind: Annotated[str, Form()],
        memory: Annotated[str, Form()] = "",
        case: Annotated[str, Form()] = "",
        value: Annotated[str, Form()] = "",
        label: Annotated[str, Form()] = "",
    ) -> Response:
        form = {"kind": kind, "memory": memory, "case": case, "value": value, "label": label}
        change = editing.Change.read(form)
        if change.case >= 0:
            session.case(change.case)
        job = jobs.start_here(editing.EDIT, "Working out the effect", editing.preview, session, change)
        return _show_work(job, AT_ONCE)

    @router.post("/edit/apply")
    def apply(number: Annotated[int, Form()], note: Annotated[str, Form()] = "") -> Response:
        looked = jobs.get(number)
        effect = None if looked is None else looked.result
        if not isinstance(effect, editing.Effect):
            raise DataError("this effect is no longer at hand; look at it again, then apply it")
        job = jobs.start_here(editing.EDIT, "Applying the edit", editing.apply_effect, session, effect, note.strip())
        return _show_work(job, AT_ONCE)

    @router.get("/edit/work/{number}")
    def work(number: int) -> Response:
        job = jobs.get(number)
        if job is None or job.name != editing.EDIT:
            raise DataError("there is no such work; go back to Edit")
        return _show_work(job, 0)

    @router.post("/edit/undo")
    def undo(note: Annotated[str, Form()] = "") -> Response:
        job = jobs.start_here(editing.EDIT, "Undoing the last edit", editing.undo, session, note.strip())
        return _show_work(job, AT_ONCE)

    @router.post("/edit/undo/{number}")
    def undo_event(number: int) -> Response:
        editing.undo_event(session, number)
        return RedirectResponse("/edit#log", 303)

    @router.post("/edit/name")
    def name(memory: Annotated[int, Form()], name: Annotated[str, Form()] = "") -> Response:
        check_memory(session, memory)
        model, row = studio.project.model, int(session.classifier.memory_indices_[memory])
        wanted = " ".join(name.split())[:LONGEST]
        if model is not None and wanted != session.names().get(row, ""):
            log.append(NAME, {"model": model.name, "row": row, "name": wanted})
        return RedirectResponse(f"/edit/memory/{memory}", 303)

    @router.post("/edit/label")
    def label(
        case: Annotated[int, Form()], label: Annotated[str, Form()] = LEAVE_OUT, note: Annotated[str, Form()] = ""
    ) -> Response:
        session.case(case)
        if label != LEAVE_OUT and label not in session.data.classes:
            raise DataError(f"there is no class {label!r}; the classes are {', '.join(session.data.classes)}")
        log.append(LABEL, {"case": session.data.keys[case], "label": label}, note.strip())
        return RedirectResponse("/edit#log", 303)

    def _show_work(job: Job, patience: float) -> Response:
        """The effect, or that it is being worked out, or what went wrong."""
        if job.thread is not None and patience:
            job.thread.join(patience)
        if job.running:
            return studio.fragment("edit_working.html.j2", job=job)
        if job.state == FAILED:
            return studio.fragment("failure.html.j2", title="That did not work", text=job.error)
        if isinstance(job.result, editing.Effect):
            return studio.fragment("edit_effect.html.j2", job=job, **_show_effect(studio, job.result))
        done = log.all()[-1].number  # another address each time, or a browser would not load the page anew
        return Response("", headers={"X-Go": f"/edit?after={done}#log"})

    return router


def _held_out(studio: Studio) -> tuple[Any, Any] | Job | None:
    """Held-out cases with answers, or the job that finds them; None where there are none."""
    return None if studio.project.data is None else find_held_out(studio)


def _show_effect(studio: Studio, effect: editing.Effect) -> dict[str, Any]:
    """An effect as the page lists it."""
    found = effect.changes
    if found is None:
        return {"effect": effect, "changed": [], "more": 0, "measures": []}
    viewer = CaseViewer(studio.session)
    positions = found.positions.tolist()
    changed = [
        viewer.show(
            int(effect.rows[place]),
            before=str(found.before.labels[place]),
            after=str(found.after.labels[place]),
            right_before=bool(found.before.labels[place] == found.y[place]) if found.y is not None else None,
            right_after=bool(found.after.labels[place] == found.y[place]) if found.y is not None else None,
        )
        for place in positions[:LISTED]
    ]
    names = {"accuracy": "Accuracy", "balanced_accuracy": "Balanced accuracy", "coverage": "Coverage"}
    measures = [{"name": names[name], "before": a, "after": b} for name, (a, b) in found.measures.items()]
    return {"effect": effect, "changed": changed, "more": len(positions) - len(changed), "measures": measures}


def find_case(studio: Studio, text: str) -> int:
    """The row of a case by its name, the end of its name, or its number."""
    data = studio.session.data
    if text in data.rows:
        return data.rows[text]
    ends = [
        row for key, row in data.rows.items() if text and (key.endswith(text) or key.rsplit(".", 1)[0].endswith(text))
    ]
    if len(ends) == 1:
        return ends[0]
    if len(ends) > 1:
        first, second = (data.keys[row] for row in ends[:2])
        raise DataError(f"{len(ends)} cases end in {text!r}, {first} and {second} among them; write more of the name")
    if text.isdigit() and int(text) < len(data):
        return int(text)
    raise DataError(f"there is no case called {text!r}")
