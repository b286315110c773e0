"""The page Teach: paint regions, see them found elsewhere, and choose what is measured."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Form, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from memclf.exceptions import DataError
from memclf.studio.measuring import (
    MEASUREMENTS,
    choose,
    follow_regions,
    inspect_measurements,
    key_of,
    leave_out,
    list_choices,
    read_chosen,
    read_defaults,
    read_inspection,
    undo_choice,
)
from memclf.studio.painting import (
    REGIONS,
    Region,
    add_stroke,
    list_regions,
    list_strokes,
    set_regions,
    undo_stroke,
)
from memclf.studio.pictures import as_jpeg, as_png
from memclf.studio.project import ProjectCases
from memclf.studio.studio import Studio
from memclf.studio.teaching import Teacher, sample_rows
from memclf.vision.features import Measurements

OTHERS = 6  # pictures beside the one that is painted
SHOWN = 768  # pixels of the longer side of a mask, at most
OVERLAY = 360
NEVER = {"Cache-Control": "no-store"}
LEFT, TOP, WIDE, HIGH = 56, 14, 560, 300  # of the chart


def routes(studio: Studio) -> APIRouter:
    """The addresses below /teach."""
    router = APIRouter()
    project, teacher = studio.project, Teacher(studio.project)
    studio.closing.append(teacher.work.close)

    @router.get("/teach")
    def start(request: Request) -> Response:
        data = project.data
        if data is None or data.kind != "images":
            return studio.page(request, "teach_empty.html.j2", data=data)
        painted = [each.about["case"] for each in list_strokes(project)]
        rows = [data.rows[case] for case in reversed(painted) if case in data.rows] or sample_rows(project, 1)
        if not rows:
            raise DataError("none of the pictures can be read")
        return RedirectResponse(f"/teach/{rows[0]}", 303)

    @router.get("/teach/measurements")
    def measurements(request: Request, row: int | None = None) -> Response:
        data = project.data
        if data is None or data.kind != "images":
            return studio.page(request, "teach_empty.html.j2", data=data)
        _wake_first(teacher)
        known = read_chosen(project)
        return studio.page(
            request,
            "teach_measurements.html.j2",
            row=row if row is not None and 0 <= row < len(data) else next(iter(sample_rows(project, 1)), 0),
            choices=list_choices(project),
            chosen=set() if known is None else {key_of(each) for each in known.measurements},
            written=project.spec.exists(),
            changed=project.log.last(MEASUREMENTS) is not None,
            **_inspection(studio),
        )

    @router.post("/teach/measurements")
    def take_measurements(
        chosen: Annotated[list[str] | None, Form()] = None, row: Annotated[int, Form()] = 0
    ) -> Response:
        choose(project, chosen or [])
        return RedirectResponse(f"/teach/measurements?row={row}", 303)

    @router.post("/teach/measurements/undo")
    def undo_measurements() -> Response:
        undo_choice(project)
        return RedirectResponse("/teach/measurements", 303)

    @router.post("/teach/inspect")
    def inspect() -> Response:
        if project.labels is None:
            raise DataError("this needs classes: choose a folder with one subfolder for each")
        job = studio.jobs.start("inspect", "Which will survive the field?", inspect_measurements, project.folder)
        return studio.show_job(job, "/teach/measurements#survive")

    @router.post("/teach/leave")
    def leave(name: Annotated[str, Form()], leave: Annotated[str, Form()] = "") -> Response:
        leave_out(project, name, bool(leave))
        return studio.fragment("teach_inspection.html.j2", **_inspection(studio))

    @router.get("/teach/numbers/{row}")
    def numbers(row: int) -> Response:
        """The numbers of one picture; it asks again while the regions are being learned."""
        data = _images(studio, row)
        _wake_first(teacher)
        known = read_chosen(project)
        features = _with_regions(known or read_defaults(), teacher)
        if features is None:
            return studio.fragment("teach_numbers.html.j2", row=row, waiting=teacher.work.busy, parts=None)
        image = data.cases[row]
        parts = []
        for place, each in enumerate(features.measurements):
            masks = each.masks(image)
            _, colours = each.outline(image, masks, 16)
            values = zip(each.names, each.measure(image, {})[: len(each.names)].tolist(), strict=True)
            parts.append(
                {
                    "place": place,
                    "label": _title(each),
                    "values": list(values),
                    "legend": list(zip(masks, colours, strict=True)),
                }
            )
        left_out = [] if known is None else list(known.leave_out)
        version = 0 if teacher.lesson is None else teacher.lesson.number
        shown = {"parts": parts, "version": version, "left_out": left_out}
        return studio.fragment("teach_numbers.html.j2", row=row, waiting=False, **shown)

    @router.get("/teach/overlay/{row}/{place}")
    def overlay(row: int, place: int) -> Response:
        data = _images(studio, row)
        features = _with_regions(read_chosen(project) or read_defaults(), teacher)
        if features is None or not 0 <= place < len(features.measurements):
            raise DataError("this measurement is no more; reload the page")
        each, image = features.measurements[place], data.cases[row]
        return Response(
            as_jpeg(each.outline(image, each.masks(image), OVERLAY)[0]), media_type="image/jpeg", headers=NEVER
        )

    @router.get("/teach/{row}")
    def paint(request: Request, row: int, x: int | None = None, y: int | None = None) -> Response:
        data = _images(studio, row)
        _wake_first(teacher)
        height, width = data.cases[row].shape[:2]
        rows = [each for each in sample_rows(project, OTHERS + 1) if each != row][:OTHERS]
        painted = dict.fromkeys(each.about["case"] for each in list_strokes(project))
        return studio.page(
            request,
            "teach.html.j2",
            row=row,
            key=data.keys[row],
            size=(width, height),
            at=None if x is None or y is None else (x, y),
            regions=list_regions(project),
            renamed=project.log.last(REGIONS) is not None,
            strokes=_strokes(studio, row),
            others=[(each, data.keys[each]) for each in rows],
            painted=[(data.rows[case], case) for case in painted if case in data.rows][-12:],
            around=_around(project, row),
            **_status(teacher),
        )

    @router.post("/teach/{row}/stroke")
    def stroke(
        row: int,
        region: Annotated[int, Body()],
        size: Annotated[float, Body()],
        points: Annotated[list[list[float]], Body()],
        erase: Annotated[bool, Body()] = False,
    ) -> Response:
        event = add_stroke(project, row, region, size, points, erase)
        teacher.work.wake()
        return JSONResponse({"number": event.number}, headers=NEVER)

    @router.post("/teach/{row}/undo")
    def undo(row: int) -> Response:
        undo_stroke(project, _images(studio, row).keys[row])
        teacher.work.wake()
        return JSONResponse({"strokes": _strokes(studio, row)}, headers=NEVER)

    @router.post("/teach/{row}/regions")
    def name_regions(
        row: int,
        number: Annotated[list[int], Form()],
        name: Annotated[list[str], Form()],
        inside: Annotated[list[str], Form()],
    ) -> Response:
        """Name the regions: a row without a name is removed."""
        if not len(number) == len(name) == len(inside):
            raise DataError("each region needs a number, a name and what it lies in")
        kept = {n for n, text in zip(number, name, strict=True) if text.strip()}
        made = [
            Region(n, text.strip(), int(parent) if parent.isdigit() and int(parent) in kept else None)
            for n, text, parent in zip(number, name, inside, strict=True)
            if text.strip()
        ]
        before = list_regions(project)
        set_regions(project, made)
        follow_regions(project, before)
        teacher.work.wake()
        return RedirectResponse(f"/teach/{row}", 303)

    @router.post("/teach/{row}/regions/undo")
    def undo_regions(row: int) -> Response:
        event = project.log.last(REGIONS)
        if event is not None:
            before = list_regions(project)
            project.log.undo(event.number)
            follow_regions(project, before)
            teacher.work.wake()
        return RedirectResponse(f"/teach/{row}", 303)

    @router.get("/teach/{row}/status")
    def status(row: int) -> Response:
        """How far the learning is, and which lesson the masks are of."""
        lesson = teacher.lesson
        found = studio.fragment("teach_status.html.j2", **_status(teacher))
        found.headers["X-Lesson"] = "0" if lesson is None else str(lesson.number)
        found.headers["X-Learning"] = "1" if teacher.work.busy else ""
        return found

    @router.get("/teach/{row}/places")
    def places(row: int) -> Response:
        data = _images(studio, row)
        shown = [(place, data.keys[place.row]) for place in teacher.places if place.row < len(data)]
        looking = teacher.lesson is not None and teacher.looked_for is not teacher.lesson and not teacher.work.problem
        return studio.fragment("teach_places.html.j2", places=shown, row=row, looking=looking)

    @router.get("/teach/{row}/mask")
    def mask(row: int, side: int = SHOWN) -> Response:
        _images(studio, row)
        drawn = teacher.draw(row, max(32, min(side, SHOWN)))
        return Response(as_png(drawn), media_type="image/png", headers=NEVER)

    return router


def _images(studio: Studio, row: int) -> ProjectCases:
    data = studio.session.data
    if data.kind != "images" or not 0 <= row < len(data):
        raise DataError(f"there is no picture {row}")
    return data


def _wake_first(teacher: Teacher) -> None:
    """Learn from strokes of an earlier day, once."""
    if not teacher.work.asked and list_strokes(teacher.project):
        teacher.work.wake()


def _strokes(studio: Studio, row: int) -> list[dict[str, Any]]:
    case = studio.session.data.keys[row]
    return [{"number": each.number, **each.about} for each in list_strokes(studio.project, case)]


def _around(project: Any, row: int) -> tuple[int | None, int | None]:
    """The picture before and the one after this one that can be read."""
    broken, n = project.broken, len(project.data)
    before = next((each for each in range(row - 1, -1, -1) if each not in broken), None)
    return before, next((each for each in range(row + 1, n) if each not in broken), None)


def _status(teacher: Teacher) -> dict[str, Any]:
    """What the page says about the learning, and what is missing for it."""
    regions, strokes = list_regions(teacher.project), list_strokes(teacher.project)
    painted = {each.about["region"] for each in strokes if not each.about["erase"]}
    return {
        "lesson": teacher.lesson,
        "learning": teacher.work.busy,
        "problem": teacher.work.problem,
        "missing": [each for each in regions if each.number not in painted],
        "stroke_count": len(strokes),
    }


def _with_regions(known: Measurements, teacher: Teacher) -> Measurements | None:
    """The measurements with what was learned so far; None if a region is not among it."""
    lesson = teacher.lesson
    named = [each for each in known.measurements if each.regions is not None]
    if not named:
        return known
    if lesson is None or not {each.of for each in named} <= set(lesson.taught.regions):
        return None
    made = [
        each if each.regions is None else type(each)(**{**each.get_params(deep=False), "regions": lesson.taught})
        for each in known.measurements
    ]
    return Measurements(made, leave_out=known.leave_out)


def _title(measurement: Any) -> str:
    """What people call a measurement."""
    params = measurement.get_params(deep=False)
    if "within" in params:
        return f"share of {measurement.of} in the {params['within']}"
    option = " ".join(str(params[name]) for name in ("kind", "part") if name in params)
    return f"{measurement.label}{f' ({option})' if option else ''}: {measurement.of}"


def _inspection(studio: Studio) -> dict[str, Any]:
    """The chart of separation against steadiness: points with their places."""
    found, known = read_inspection(studio.project), read_chosen(studio.project)
    left_out = set() if known is None else set(known.leave_out)
    points = []
    for number, each in enumerate([] if found is None else found["measurements"], 1):
        steady = 1.0 if each["steadiness"] is None else each["steadiness"]
        x, y = LEFT + WIDE * steady, TOP + HIGH * (1 - min(1.0, each["separation"]))
        points.append(
            {**each, "number": number, "x": round(x, 1), "y": round(y, 1), "left_out": each["name"] in left_out}
        )
    box = {"left": LEFT, "top": TOP, "right": LEFT + WIDE, "bottom": TOP + HIGH}
    return {"found": found, "points": points, "box": box, "inspecting": studio.jobs.last("inspect")}
