"""The page Why: one case beside its memory, and every reason for the answer."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import RedirectResponse

from memclf.cases import containers
from memclf.data import takes_images
from memclf.data.records import Records
from memclf.exceptions import DataError
from memclf.studio.asking import Dropped, as_case, draw_measured, explain_case
from memclf.studio.holding import find_held_out
from memclf.studio.jobs import Job
from memclf.studio.pictures import as_jpeg, shrink
from memclf.studio.showing import CaseViewer
from memclf.studio.studio import Studio

PICKED = 6  # cases of a kind to begin with
LONGEST = 200  # characters of a file's name
OWN = {"Cache-Control": "no-store"}


def routes(studio: Studio) -> APIRouter:
    """The addresses below /why."""
    router = APIRouter()
    session, dropped = studio.session, Dropped()

    @router.get("/why")
    def start(request: Request) -> Response:
        clf = session.classifier
        data = studio.project.data
        return studio.page(
            request,
            "why.html.j2",
            images=takes_images(clf),
            data=data,
            picks=pick_cases(studio),
            fields=None if takes_images(clf) else list_fields(session, None),
        )

    @router.get("/why/find")
    def find(name: str = "") -> Response:
        data = session.data
        wanted = name.strip().lower()
        if not wanted:
            return RedirectResponse("/why", 303)
        exact = data.rows.get(name.strip())
        row = (
            exact if exact is not None else next((r for r, key in enumerate(data.keys) if wanted in key.lower()), None)
        )
        if row is None:
            raise DataError(f"no case is called {name.strip()[:LONGEST]!r}")
        return RedirectResponse(f"/why/case/{row}", 303)

    @router.get("/why/case/{row}")
    def case(request: Request, row: int) -> Response:
        found = explain_case(session, session.case(row), row)
        data, labels = session.data, studio.project.labels
        learned = session.rows is not None and bool(np.isin(row, session.rows))
        images = data.kind == "images"
        return studio.page(
            request,
            "why_case.html.j2",
            **found,
            name=data.keys[row],
            truth=None if labels is None else str(labels[row]) or None,
            learned=learned,
            picture=f"/picture/{row}?side=640" if images else "",
            drawn=f"/why/drawn/case/{row}" if images else "",
            before=row - 1 if row > 0 else None,
            after=row + 1 if row + 1 < len(data) else None,
            fields=None if images else list_fields(session, row),
        )

    @router.post("/why/picture")
    def take_picture(paths: Annotated[list[str], Form()], files: Annotated[list[UploadFile], File()]) -> Response:
        """A picture that was dropped; it is kept in memory alone."""
        if not takes_images(session.classifier):
            raise DataError("this model is about rows of a table, not about pictures")
        if len(files) != 1 or len(paths) != 1:
            raise DataError(f"drop one picture at a time; these were {len(files)} files")
        name = paths[0].replace("\\", "/").rsplit("/", 1)[-1][:LONGEST] or "the picture"
        key = dropped.keep(name, studio.decoder.decode(files[0].file.read(), name))
        return Response(headers={"X-Go": f"/why/picture/{key}"})

    @router.get("/why/picture/{key}")
    def picture(request: Request, key: str) -> Response:
        name, pixels = dropped.get(key)
        return studio.page(
            request,
            "why_case.html.j2",
            **explain_case(session, as_case(session, pixels)),
            name=name,
            truth=None,
            learned=False,
            picture=f"/why/pixels/{key}",
            drawn=f"/why/drawn/picture/{key}",
            before=None,
            after=None,
            fields=None,
        )

    @router.post("/why/row")
    async def row_of_table(request: Request) -> Response:
        """A row of a table that was typed in."""
        form = await request.form(max_fields=5000)
        records = Records(session.classifier)
        words = {key.removeprefix("column:"): str(value) for key, value in form.items() if key.startswith("column:")}
        asked = records.take([records.check_form(words)])
        return studio.page(
            request,
            "why_case.html.j2",
            **explain_case(session, asked),
            name="a row that you typed",
            truth=None,
            learned=False,
            picture="",
            drawn="",
            before=None,
            after=None,
            fields=[(name, words.get(name, "")) for name, _ in list_fields(session, None)],
        )

    @router.get("/why/pixels/{key}")
    def pixels(key: str) -> Response:
        return Response(as_jpeg(shrink(dropped.get(key)[1], 640)), media_type="image/jpeg", headers=OWN)

    @router.get("/why/drawn/picture/{key}")
    def drawn_picture(key: str) -> Response:
        return _send(draw_measured(session, dropped.get(key)[1]))

    @router.get("/why/drawn/case/{row}")
    def drawn_case(row: int) -> Response:
        case = session.case(row)
        return _send(draw_measured(session, case[0], case.info_of(0)))

    @router.get("/why/drawn/memory/{memory}")
    def drawn_memory(memory: int) -> Response:
        memories = session.classifier.memories_
        if not takes_images(session.classifier) or not 0 <= memory < len(memories):
            raise DataError(f"there is no memory {memory} with a picture")
        info = None if isinstance(memories, np.ndarray) else memories.info_of(memory)
        return _send(draw_measured(session, memories[memory], info))

    return router


def _send(image: Any) -> Response:
    return Response(as_jpeg(image), media_type="image/jpeg", headers=OWN)


def list_fields(session: Any, row: int | None) -> list[tuple[str, str]]:
    """Columns of a table for a form, with the values of a case."""
    memories = session.classifier.memories_
    names = [str(name) for name in memories.columns] if containers.is_table(memories) else []
    if row is None:
        return [(name, "") for name in names]
    frame = session.data.cases
    values = {str(name): frame[name].iloc[row] for name in frame.columns}
    return [(name, "" if values[name] is None or values[name] != values[name] else str(values[name])) for name in names]


def pick_cases(studio: Studio) -> list[tuple[str, list[dict[str, Any]]]]:
    """Held-out cases that are worth a look: wrong answers, unknown ones, close calls."""
    try:
        found = find_held_out(studio)
    except DataError:  # a model without its data
        return []
    if found is None or isinstance(found, Job):
        return []
    held, answers = found
    rows, routes, viewer = studio.session.held_rows(), answers.routes, CaseViewer(studio.session)
    wrong = routes.known & (np.asarray(answers.labels).astype(str) != held.target.astype(str))
    close = np.argsort(np.abs(routes.similarity - routes.threshold), kind="stable")
    kinds = (
        ("Answered wrongly", np.flatnonzero(wrong)),
        ("Unknown", np.flatnonzero(~routes.known)),
        ("Nearest to a threshold", close[~wrong[close] & routes.known[close]]),
    )
    return [
        (title, [viewer.show(int(rows[k]), answer=str(answers.labels[k])) for k in places[:PICKED].tolist()])
        for title, places in kinds
        if len(places)
    ]
