"""The studio as an ASGI application: pages, their pictures, and how they fail."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse

from memclf._version import __version__
from memclf.exceptions import DataError, MemclfError
from memclf.studio import pages
from memclf.studio.guard import Guard
from memclf.studio.pictures import KEPT, LARGE, as_jpeg, shrink
from memclf.studio.project import Project
from memclf.studio.session import NoModel
from memclf.studio.studio import Studio, environment

STATIC = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def create_studio(project: Project, *, token: str | None = None, trusted: tuple[str, ...] = ()) -> FastAPI:
    """The studio for a project, for uvicorn or another ASGI server.

    Parameters
    ----------
    project : Project
    token : str or None
        What the first address must end in: ``?token=TOKEN``. None: there is none, and only requests that are addressed
        to this machine by the name localhost are answered.
    trusted : tuple of str
        Types and functions that loading a model may use; see `memclf.load`.
    """
    studio = Studio(project, trusted)

    @asynccontextmanager
    async def end(app: FastAPI) -> AsyncIterator[None]:
        yield
        studio.close()

    app = FastAPI(title="memclf studio", docs_url=None, redoc_url=None, openapi_url=None, lifespan=end)
    app.state.studio = studio
    app.add_middleware(Guard, token=token)
    app.include_router(_common(studio))
    for module in pages.MODULES:
        app.include_router(module.routes(studio))
    _add_failures(app, studio)
    # This builds all routes now. At the first request FastAPI would build them while jobs run, under a filter of
    # warnings that another thread's may undo.
    app.openapi()
    return app


def _common(studio: Studio) -> APIRouter:
    """What no single page has: the start, health, files of the package, thumbnails, jobs."""
    router = APIRouter()

    @router.get("/")
    def start() -> Response:
        return RedirectResponse("/data" if studio.project.model is None else "/memories", 303)

    @router.get("/healthz")
    def health() -> Response:
        return Response(json.dumps({"status": "working", "version": __version__}), media_type="application/json")

    @router.get("/static/{name}")
    def static(name: str) -> Response:
        kind = STATIC.get(name[name.rfind(".") :])
        content = _static(name) if kind else None
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type=f"{kind}; charset=utf-8", headers={"Cache-Control": "no-cache"})

    @router.get("/thumbnail/{row}")
    def thumbnail(row: int) -> Response:
        images = _images(studio, row)
        return Response(studio.thumbnails.get(images, row), media_type="image/jpeg", headers={"Cache-Control": KEPT})

    @router.get("/picture/{row}")
    def picture(row: int, side: int = LARGE) -> Response:
        images = _images(studio, row)
        content = as_jpeg(shrink(images[row], max(16, min(side, 2048))))
        return Response(content, media_type="image/jpeg", headers={"Cache-Control": KEPT})

    @router.get("/memory-picture/{memory}")
    def memory_picture(memory: int, side: int = 320) -> Response:
        """A memory as the model keeps it, whether or not the data is at hand."""
        memories = studio.session.classifier.memories_
        if not 0 <= memory < len(memories):
            raise DataError(f"there is no memory {memory}")
        content = as_jpeg(shrink(memories[memory], max(16, min(side, 2048))))
        return Response(content, media_type="image/jpeg", headers={"Cache-Control": "no-store"})

    @router.get("/job/{number}")
    def job(number: int, go: str = "/data") -> Response:
        found = studio.jobs.get(number)
        if found is None:
            raise HTTPException(404)
        return studio.show_job(found, _own_address(go))

    @router.post("/job/{number}/stop")
    def stop(number: int, go: str = "/data") -> Response:
        studio.jobs.stop(number)
        return RedirectResponse(_own_address(go), 303)

    return router


def _own_address(go: str) -> str:
    """An address of the studio; nothing leads to another site."""
    return go if go.startswith("/") and not go.startswith("//") and "\\" not in go else "/data"


def _images(studio: Studio, row: int) -> Any:
    data = studio.session.data
    if data.kind != "images" or not 0 <= row < len(data):
        raise DataError(f"there is no picture {row}")
    return data.cases


def _add_failures(app: FastAPI, studio: Studio) -> None:
    def show(request: Request, status: int, title: str, text: str, go: tuple[str, str] | None = None) -> Response:
        if request.headers.get("x-fragment"):
            return HTMLResponse(environment().get_template("failure.html.j2").render(title=title, text=text), status)
        return studio.page(request, "failed.html.j2", status=status, title=title, text=text, go=go)

    @app.exception_handler(NoModel)
    async def no_model(request: Request, error: NoModel) -> Response:
        text = "Memories, reasons and edits are about a fitted model. Fit one first; it takes a minute or two."
        return show(request, 409, "There is no model yet", text, ("/numbers", "Go to Numbers and fit one"))

    @app.exception_handler(MemclfError)
    async def known(request: Request, error: MemclfError) -> Response:
        go = ("/data", "Go to Data") if studio.project.log.last("data") is None else None
        return show(request, 422, "That did not work", str(error), go)

    @app.exception_handler(OSError)  # a disk that is full, a folder that may not be read
    @app.exception_handler(ValueError)
    async def bad_value(request: Request, error: Exception) -> Response:
        return show(request, 422, "That did not work", str(error))

    @app.exception_handler(RequestValidationError)
    async def bad_request(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        return show(request, 422, "That did not work", f"{where}: {first['msg']}")

    @app.exception_handler(404)
    async def no_page(request: Request, error: Any) -> Response:
        return show(request, 404, "There is nothing here", "The pages of the studio are listed above.")

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        text = (
            f"The studio failed ({type(error).__name__}: {error}). Nothing that you did is lost; go on, or try again."
        )
        return show(request, 500, "Something broke", text)


@cache
def _static(name: str) -> bytes | None:
    """A file of the package; names hold no folders, so nothing else can be reached."""
    homes = {"report.css": files("memclf.report") / "templates"}
    if "/" in name or "\\" in name or name.startswith("."):
        return None
    file = homes.get(name, files("memclf.studio") / "static") / name
    return file.read_bytes() if file.is_file() else None
