"""The page Compare: which of these two is more like the one above?"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from memclf.studio.comparing import ENOUGH, Comparer, describe_cases
from memclf.studio.judging import JUDGEMENT, SKIP, add_judgement, add_skip, find_contradictions, undo_answer
from memclf.studio.studio import Studio

COLUMNS = 60  # of a table, that are shown of a case: who judges must see all that is compared
BARS = 12  # measurements whose weights are shown
SHOWN = 4  # contradictions
ROUND = 2 * 3.14159265 * 42  # around the ring


def routes(studio: Studio) -> APIRouter:
    """The addresses below /compare."""
    router = APIRouter()
    project, comparer = studio.project, Comparer(studio.project)
    studio.closing.append(comparer.work.close)

    @router.get("/compare")
    def show(request: Request) -> Response:
        data = project.data
        ready = data is not None and comparer.described is not None
        if ready and not comparer.work.asked:
            comparer.work.wake()
        job = studio.jobs.last("describe")
        if data is None or not ready:
            return studio.page(request, "compare_start.html.j2", data=data, job=job)
        return studio.page(request, "compare.html.j2", **_question(studio, comparer))

    @router.post("/compare/describe")
    def describe() -> Response:
        job = studio.jobs.start(
            "describe", "Measuring the cases", describe_cases, project.folder, then=lambda _: comparer.work.wake()
        )
        return studio.show_job(job, "/compare")

    @router.get("/compare/question")
    def question() -> Response:
        """The question that waits; it asks again while the first ones are prepared."""
        return studio.fragment("compare_question.html.j2", **_question(studio, comparer))

    @router.post("/compare/answer")
    def answer(
        a: Annotated[str, Form()],
        left: Annotated[str, Form()],
        right: Annotated[str, Form()],
        said: Annotated[str, Form()],
        replaces: Annotated[str, Form()] = "",
    ) -> Response:
        if said == "neither":
            add_skip(project, a, left, right)
        else:
            more, than = (left, right) if said == "left" else (right, left)
            add_judgement(project, a, more, than, [int(each) for each in replaces.split(",") if each.isdigit()])
        comparer.answered((a, left, right))
        return studio.fragment("compare_question.html.j2", **_question(studio, comparer))

    @router.post("/compare/undo")
    def undo() -> Response:
        before = undo_answer(project)
        if before is not None:
            comparer.ask_again(before)
            comparer.work.wake()
        return studio.fragment("compare_question.html.j2", **_question(studio, comparer))

    @router.post("/compare/again")
    def again(a: Annotated[str, Form()], one: Annotated[str, Form()], other: Annotated[str, Form()]) -> Response:
        same = [
            each for each in find_contradictions(project) if (each.case, {each.one, each.other}) == (a, {one, other})
        ]
        comparer.ask_again((a, one, other), same[0].events if same else ())
        return studio.fragment("compare_question.html.j2", **_question(studio, comparer))

    @router.get("/compare/learned")
    def learned() -> Response:
        """What the answers taught; it asks again until the last answer was learned from."""
        return studio.fragment("compare_learned.html.j2", **_learned(studio, comparer))

    return router


def _question(studio: Studio, comparer: Comparer) -> dict[str, Any]:
    waiting = comparer.ask()
    return {
        "question": [_case(studio, key) for key in waiting[0][0]] if waiting else None,
        "following": [_case(studio, key) for key in waiting[1][0]] if len(waiting) > 1 else [],
        "replaces": ",".join(map(str, waiting[0][1])) if waiting else "",
        "data": studio.session.data,
        "given": len(studio.project.log.events(JUDGEMENT)),
        "undoable": bool(studio.project.log.events(JUDGEMENT, SKIP)),
        "problem": comparer.work.problem,
        **_learned(studio, comparer),
    }


def _learned(studio: Studio, comparer: Comparer) -> dict[str, Any]:
    learned = comparer.learned
    rows = studio.session.data.rows
    found = [each for each in find_contradictions(studio.project) if {each.case, each.one, each.other} <= rows.keys()]
    weights = [] if learned is None else learned.weights[:BARS]
    return {
        "learned": learned,
        "learning": comparer.work.busy,
        "enough": ENOUGH,
        "arc": round(ROUND * (0.0 if learned is None else learned.progress), 1),
        "round": round(ROUND, 1),
        "weights": [(name, value, 100 * value / weights[0][1]) for name, value in weights],
        "others": 0 if learned is None else len(learned.weights) - len(weights),
        "contradictions": [
            {"one": _case(studio, e.one), "other": _case(studio, e.other), "case": _case(studio, e.case), "about": e}
            for e in found[:SHOWN]
        ],
        "more_contradictions": max(0, len(found) - SHOWN),
    }


def _case(studio: Studio, key: str) -> dict[str, Any]:
    """A case as the page shows it: a picture, or its key columns."""
    data = studio.session.data
    row = data.rows[key]
    columns = (
        []
        if data.kind == "images"
        else [(str(name), data.cases[name].iloc[row]) for name in data.cases.columns[:COLUMNS]]
    )
    return {"row": row, "key": key, "columns": columns}
