"""The page Unknown: cases that no memory claims, and what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from memclf.data import CaseFile, takes_images
from memclf.exceptions import DataError
from memclf.studio.asking import draw_measured, explain_case
from memclf.studio.holding import find_held_out, start_again
from memclf.studio.inbox import (
    GROUPS,
    INBOX,
    MOST,
    answer_source,
    decide,
    find_groups,
    list_decisions,
    list_items,
    list_sources,
    read_cases,
    show_groups,
    take_back,
)
from memclf.studio.jobs import Job
from memclf.studio.pages.data import read_path
from memclf.studio.pictures import as_jpeg, shrink
from memclf.studio.showing import show_memory
from memclf.studio.studio import Studio

OWN = {"Cache-Control": "no-store"}


def routes(studio: Studio) -> APIRouter:
    """The addresses below /unknown."""
    router = APIRouter()
    session, log = studio.session, studio.project.log

    @router.get("/unknown")
    def show(request: Request) -> Response:
        clf = session.classifier
        return studio.page(
            request,
            "unknown.html.j2",
            images=takes_images(clf),
            never=clf.fallback != "unknown",
            sources=list_sources(session),
            job=studio.jobs.last(INBOX),
        )

    @router.get("/unknown/groups")
    def groups() -> Response:
        return _show_groups()

    @router.post("/unknown/again")
    def answer_held_out() -> Response:
        return studio.show_job(start_again(studio), "/unknown")

    @router.post("/unknown/add")
    def add(path: Annotated[str, Form()]) -> Response:
        place = read_path(path)
        CaseFile(session.classifier, place)  # an error says what the model takes
        if str(place) not in {each.about["path"] for each in log.events(INBOX)}:
            log.append(INBOX, {"path": str(place)})
        return _answer(str(place))

    @router.post("/unknown/answer")
    def answer(event: Annotated[int, Form()]) -> Response:
        return _answer(_path_of(event))

    @router.post("/unknown/remove")
    def remove(event: Annotated[int, Form()]) -> Response:
        _path_of(event)
        log.undo(event)
        return RedirectResponse("/unknown", 303)

    @router.post("/unknown/decide")
    def decide_group(
        cases: Annotated[list[str], Form()],
        decision: Annotated[str, Form()],
        memory: Annotated[int, Form()] = -1,
        label: Annotated[str, Form()] = "",
    ) -> Response:
        held = find_held_out(studio)
        known = {each.name: each for each in list_items(session, None if isinstance(held, Job) else held)}
        if missing := [name for name in cases if name not in known]:
            raise DataError(f"{missing[0]!r} is no longer in the inbox; load the page again")
        with session.edit_alone():  # a second click must find the first one's decision
            decide(session, [known[name] for name in cases], decision, memory, label)
        return _show_groups()

    @router.post("/unknown/undo")
    def undo(event: Annotated[int, Form()]) -> Response:
        take_back(session, event)
        return _show_groups()

    @router.get("/unknown/picture/{source}/{place}")
    def picture(source: int, place: int, side: int = 0) -> Response:
        images = _images(source, place)
        if side:
            return _send(shrink(images[place], max(16, min(side, 2048))))
        return Response(studio.thumbnails.get(images, place), media_type="image/jpeg", headers=OWN)

    @router.get("/unknown/drawn/{source}/{place}")
    def drawn(source: int, place: int) -> Response:
        images = _images(source, place)
        return _send(draw_measured(session, images[place], images.info_of(place)))

    @router.get("/unknown/case/{source}/{place}")
    def case(request: Request, source: int, place: int) -> Response:
        found = _cases(source, place)
        images = takes_images(session.classifier)
        one = found[place : place + 1] if images else found.iloc[[place]]
        return studio.page(
            request,
            "why_case.html.j2",
            **explain_case(session, one),
            name=str(found.key(place)) if images else f"row {place}",
            truth=None,
            learned=False,
            picture=f"/unknown/picture/{source}/{place}?side=640" if images else "",
            drawn=f"/unknown/drawn/{source}/{place}" if images else "",
            before=None,
            after=None,
            fields=None,
        )

    def _show_groups() -> Response:
        held = find_held_out(studio) if studio.project.data is not None else None
        if isinstance(held, Job):
            return studio.fragment("unknown_waiting.html.j2", job=held)
        items = list_items(session, held)
        found = find_groups(session, items)
        shown = show_groups(session, found[:GROUPS])
        memories = {each["nearest"]: show_memory(session, each["nearest"]) for each in shown}
        return studio.fragment(
            "unknown_groups.html.j2",
            groups=shown,
            total=sum(map(len, found)),
            n_groups=len(found),
            waiting=max(0, len(items) - MOST),
            memories=memories,
            all_memories=[(k, session.name_of(k)) for k in range(len(session.classifier.memory_indices_))],
            classes=[str(label) for label in session.classifier.classes_.tolist()],
            decisions=list_decisions(session)[::-1],
            name_of=session.name_of,
        )

    def _answer(path: str) -> Response:
        job = studio.jobs.start(
            INBOX,
            f"Answering the cases of {Path(path).name}",
            answer_source,
            studio.project.folder,
            path,
            session.trusted,
        )
        return studio.show_job(job, "/unknown")

    def _path_of(event: int) -> str:
        for each in log.events(INBOX):
            if each.number == event:
                return str(each.about["path"])
        raise DataError(f"there is no folder or file {event} in the inbox")

    def _cases(source: int, place: int) -> Any:
        cases = read_cases(session, _path_of(source))
        if not 0 <= place < len(cases):
            raise DataError(f"there is no case {place}; there are {len(cases)}")
        return cases

    def _images(source: int, place: int) -> Any:
        if not takes_images(session.classifier):
            raise DataError("the cases of this model are rows, not pictures")
        return _cases(source, place)

    return router


def _send(image: Any) -> Response:
    return Response(as_jpeg(image), media_type="image/jpeg", headers=OWN)
