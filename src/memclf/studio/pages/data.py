"""The page Data: the cases, broken files, and pictures that are nearly the same."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import RedirectResponse

from memclf.exceptions import DataError, ImageError
from memclf.studio.looking import look_at_all
from memclf.studio.studio import Studio
from memclf.vision.files import IMAGE_SUFFIXES

SHOWN = 60  # cases of a page
DROPPED = "dropped"  # the folder of files that were dropped on the page
LONGEST, LONGEST_PATH = 200, 4000  # characters of a file's name and of a path


def routes(studio: Studio) -> APIRouter:
    """The addresses below /data."""
    router = APIRouter()
    project = studio.project

    @router.get("/data")
    def show(request: Request, label: str = "", after: str = "", only: str = "") -> Response:
        data = project.data
        if data is None:
            return studio.page(request, "data_empty.html.j2")
        return studio.page(
            request,
            "data.html.j2",
            data=data,
            counts=_count(project),
            chosen=label,
            checked=project.checked,
            looking=studio.jobs.last("look"),
            **_list_cases(project, label, after, only),
        )

    @router.post("/data")
    def choose(path: Annotated[str, Form()], target: Annotated[str, Form()] = "") -> Response:
        project.set_data(read_path(path), target.strip() or None)
        _look(studio)
        return RedirectResponse("/data", 303)

    @router.post("/data/files")
    def take_files(
        paths: Annotated[list[str], Form()],
        files: Annotated[list[UploadFile], File()],
        last: Annotated[str, Form()] = "",
    ) -> Response:
        """Copy files that were dropped into the project; pictures are decoded first."""
        if len(paths) != len(files):
            raise DataError("each file must come with its path")
        folder = project.folder / DROPPED
        for path, file in zip(paths, files, strict=True):
            _keep(studio, folder, path, file.file.read())
        if last:
            project.set_data(_find_data(folder))
            _look(studio)
            return Response(headers={"X-Go": "/data"})
        return Response("")

    @router.post("/data/look")
    def look() -> Response:
        project.forget_data()
        job = _look(studio)
        return RedirectResponse("/data", 303) if job is None else studio.show_job(job, "/data")

    return router


def _look(studio: Studio) -> Any:
    """Start the look at all pictures, unless the data is a table."""
    data = studio.project.data
    if data is None or data.kind != "images":
        return None
    return studio.jobs.start("look", "Looking at all pictures", look_at_all, studio.project.folder)


def _count(project: Any) -> dict[str, int]:
    labels = project.labels
    return {} if labels is None else dict(sorted(Counter(labels.tolist()).items()))


def _list_cases(project: Any, label: str, after: str, only: str) -> dict[str, Any]:
    """A page of cases after a key: of a class, or broken ones, or near-duplicates."""
    data, labels = project.data, project.labels
    checked = project.checked or {"broken": {}, "twins": []}
    twins = {key: number for number, group in enumerate(checked["twins"]) for key in group}
    rows = list(range(len(data)))
    if label and labels is not None:
        rows = [row for row in rows if labels[row] == label]
    if only == "broken":
        rows = [row for row in rows if data.keys[row] in checked["broken"]]
    if only == "twins":
        rows = sorted((row for row in rows if data.keys[row] in twins), key=lambda row: (twins[data.keys[row]], row))
    start = 0
    if after and after in data.rows:
        start = next((place + 1 for place, row in enumerate(rows) if row == data.rows[after]), 0)
    some = rows[start : start + SHOWN]
    cases = [
        {
            "row": row,
            "key": data.keys[row],
            "label": "" if labels is None else str(labels[row]),
            "broken": checked["broken"].get(data.keys[row], ""),
            "group": twins.get(data.keys[row]),
        }
        for row in some
    ]
    more = data.keys[some[-1]] if start + SHOWN < len(rows) else ""
    return {"cases": cases, "first": start + 1, "total": len(rows), "more": more, "only": only}


def _keep(studio: Studio, folder: Path, path: str, content: bytes) -> None:
    """Copy one file into the project, under the name that it has below the dropped folder."""
    place = safe_path(path)
    if place.suffix.lower() in IMAGE_SUFFIXES:
        try:
            studio.decoder.decode(content, place.name)
        except ImageError as error:
            raise ImageError(f"{error}. Nothing of this batch was kept after it; leave the file out") from None
    elif place.suffix.lower() != ".csv":
        return  # notes, hidden files and the like
    target = folder / Path(*place.parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    part.write_bytes(content)
    part.replace(target)


def read_path(typed: str) -> Path:
    """A path as people type or paste it: with spaces, quotes or file:// around it.

    >>> read_path(' "/data/my leaves" ').as_posix()
    '/data/my leaves'
    """
    path = typed.strip().strip("\"'").removeprefix("file://")
    if not path or len(path) > LONGEST_PATH:
        raise DataError("give the path of a folder or a file on this computer")
    return Path(path).expanduser().resolve()


def safe_path(path: str) -> PurePosixPath:
    """A path below the folder that it is put into; whatever would lead elsewhere is refused.

    >>> safe_path("leaves/rust/7.png")
    PurePosixPath('leaves/rust/7.png')
    >>> safe_path("../7.png")
    Traceback (most recent call last):
    ...
    memclf.exceptions.DataError: a file cannot be called '../7.png'
    """
    parts = path.replace("\\", "/").split("/")
    bad = not path or any(each in ("", ".", "..") or "\0" in each or len(each) > LONGEST for each in parts)
    if bad or os.path.isabs(path) or ":" in parts[0]:
        raise DataError(f"a file cannot be called {path[:LONGEST]!r}")
    return PurePosixPath(*parts)


def _find_data(folder: Path) -> Path:
    """What was dropped: one table, or the folder that holds the class folders."""
    tables = sorted(folder.glob("*.csv"))
    if tables:
        return max(tables, key=lambda each: each.stat().st_mtime)
    while True:
        inside = [each for each in folder.iterdir() if not each.name.startswith(".")]
        if len(inside) != 1 or not inside[0].is_dir():
            return folder
        if not any(each.is_dir() for each in inside[0].iterdir()):
            return folder
        folder = inside[0]
