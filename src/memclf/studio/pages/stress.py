"""The page Stress: what fog, blur or noise do to an answer, and where it breaks."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from memclf.exceptions import DataError
from memclf.studio.curves import draw_curves
from memclf.studio.pages.edit import find_case
from memclf.studio.pictures import KEPT, LARGE, as_jpeg, shrink
from memclf.studio.showing import CaseViewer, show_memory
from memclf.studio.stressing import (
    IMPOSSIBLE,
    OTHER_ANSWER,
    OTHER_MEMORY,
    SAME,
    UNKNOWN,
    Grids,
    ask,
    compare,
    read_results,
    stress_all,
)
from memclf.studio.studio import Studio
from memclf.vision.corruptions import CORRUPTIONS, FAMILIES, REGISTRY, SEVERITIES, check

#: A sign and words for each state, so that nothing hangs on colour alone.
STATES = {
    SAME: ("=", "same memory, same answer"),
    OTHER_MEMORY: ("≈", "same answer, another memory"),
    OTHER_ANSWER: ("✗", "another answer"),
    UNKNOWN: ("?", "unknown"),
    IMPOSSIBLE: ("–", "cannot be made here"),
}


def routes(studio: Studio) -> APIRouter:
    """The addresses below /stress."""
    router = APIRouter()
    session = studio.session
    grids = Grids(session)

    @router.get("/stress")
    def show(request: Request, row: int = -1, corruption: str = "gaussian_noise", severity: int = 3) -> Response:
        _ = session.classifier
        data = session.data
        held = session.held_rows().tolist() if data.target is not None else []
        shown: dict[str, Any] = {"data": data, "held": held, "all": _all_held_out(studio)}
        if data.kind != "images":
            return studio.page(request, "stress_table.html.j2", **shown)
        row = row if row >= 0 else held[0] if held else 0
        session.case(row)
        severity = check(corruption, severity)
        clean, other = ask(session, row), ask(session, row, corruption, severity)
        place = held.index(row) if row in held else -1
        return studio.page(
            request,
            "stress.html.j2",
            case=CaseViewer(session).show(row),
            corruption=REGISTRY[corruption],
            severity=severity,
            families=[(each, [c for c in REGISTRY.values() if c.family == each]) for each in FAMILIES],
            clean=clean,
            other=other,
            state=compare(clean, other),
            memories={k: show_memory(session, k) for k in {clean.memory, other.memory} if k >= 0},
            before=held[place - 1] if place > 0 else None,
            after=held[place + 1] if 0 <= place < len(held) - 1 else None,
            **shown,
            **_grid(row),
        )

    @router.get("/stress/find")
    def find(case: str, corruption: str = "gaussian_noise", severity: int = 3) -> Response:
        row = find_case(studio, case.strip())
        severity = check(corruption, severity)
        return RedirectResponse(f"/stress?row={row}&corruption={corruption}&severity={severity}", 303)

    @router.get("/stress/picture/{row}")
    def picture(row: int, corruption: str, severity: int, side: int = LARGE) -> Response:
        if session.data.kind != "images":
            raise DataError("a row of a table has no picture")
        image = session.case(row).corrupted(corruption, severity)[0]
        content = as_jpeg(shrink(image, max(16, min(side, 2048))))
        return Response(content, media_type="image/jpeg", headers={"Cache-Control": KEPT})

    @router.post("/stress/grid")
    def start_grid(row: Annotated[int, Form()]) -> Response:
        if session.data.kind != "images":
            raise DataError("corruptions are for pictures")
        session.case(row)
        grids.start(row)
        return studio.fragment("stress_grid.html.j2", **_grid(row))

    @router.get("/stress/grid")
    def show_grid(row: int) -> Response:
        return studio.fragment("stress_grid.html.j2", **_grid(row))

    @router.post("/stress/all")
    def start_all() -> Response:
        _ = session.classifier
        job = studio.jobs.start(
            "stress", "Measuring all held-out cases", stress_all, studio.project.folder, session.trusted
        )
        return studio.show_job(job, "/stress#all")

    def _grid(row: int) -> dict[str, Any]:
        grid = grids.get(row)
        cells = []
        for name in CORRUPTIONS if grid is not None else ():
            found = [] if grid is None else grid.rows.get(name, [])
            cells.append(
                {
                    "name": name,
                    "label": REGISTRY[name].label,
                    "outcomes": [(each, compare(grid.clean, each)) for each in found] if grid else [],
                    "breaks": grid.breaks_at(name) if grid else None,
                }
            )
        return {
            "row": row,
            "cells": cells,
            "grid": grid,
            "summary": None if grid is None else grid.summary(),
            "running": grids.is_running(row),
            "severities": SEVERITIES,
            "states": STATES,
            "total": len(CORRUPTIONS),
        }

    return router


def _all_held_out(studio: Studio) -> dict[str, Any]:
    """Results about all held-out cases, or the job that finds them."""
    data = studio.project.data
    found = None if data is None or data.target is None else read_results(studio.session)
    job = studio.jobs.last("stress")
    images = found is not None and found["kind"] == "images"
    return {"found": found, "job": job, "chart": draw_curves(found) if found is not None and images else None}
