"""The service as an ASGI application: its addresses, and what each of them does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response

from memclf._version import __version__
from memclf.serve import schemas
from memclf.serve.batches import Batcher, Work
from memclf.serve.bodies import read_form, read_json
from memclf.serve.gate import Gate, State
from memclf.serve.limits import Limits
from memclf.serve.metrics import Metrics
from memclf.serve.model import Model, as_problem
from memclf.serve.problems import MEDIA_TYPE, Problem, join_problems

PAGE = Path(__file__).parent / "page"
SWAGGER = files("fastapi_swagger") / "resources"  # a package that carries the files: nothing is fetched
ASSETS = {"docs.js": "text/javascript", "swagger-ui-bundle.js": "text/javascript", "swagger-ui.css": "text/css"}
# The page asks this service alone, whatever is in its scripts.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
INLINE = 2**16  # bytes of a body that is read in the event loop; a thread reads larger ones


def create_app(clf: Any, *, limits: Limits | None = None, token: str | None = None) -> FastAPI:
    """The service for a fitted memory classifier, for uvicorn or another ASGI server.

    Parameters
    ----------
    clf : MemoryClassifier
        Fitted on a table, an array of numbers, texts or images.
    limits : Limits or None
        What is accepted; None: the defaults of `Limits`.
    token : str or None
        What clients send as ``Authorization: Bearer TOKEN``. None: there is none, and only requests that are addressed
        to this machine by the name localhost are answered.
    """
    limits = limits or Limits()
    metrics, state = Metrics(), State()
    model = Model(clf, limits, metrics)
    batcher = Batcher(limits, metrics.count_batch)
    metrics.queue.set_function(lambda: len(batcher))
    metrics.open.set_function(lambda: state.open)

    @asynccontextmanager
    async def run_batches(app: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        yield
        await batcher.stop()

    app = FastAPI(
        title="memclf",
        version=__version__,
        summary="Answers of a memory classifier, with the remembered case behind each.",
        description=schemas.DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=run_batches,
    )
    app.state.memclf = state
    app.add_middleware(Gate, state=state, limits=limits, metrics=metrics, token=token)
    _add_work(app, model, batcher, limits)
    _add_memories(app, model)
    _add_health(app, batcher, state, metrics)
    _add_docs(app)
    schemas.secure(app, token is not None)
    return app


def _add_work(app: FastAPI, model: Model, batcher: Batcher, limits: Limits) -> None:
    """Predict and explain."""
    sent = schemas.request_body(None if model.takes_images else model.reader.schema, limits.cases)

    async def answer(request: Request, work: Work, member: str) -> Response:
        read = await _read_cases(request, model, limits)
        good = [each for each in read if not isinstance(each, Problem)]
        results = iter(await batcher.answer(work, *map(list, zip(*good, strict=True))) if good else ())
        found = [each if isinstance(each, Problem) else next(results) for each in read]
        found = [as_problem(each) if isinstance(each, Exception) else each for each in found]
        problems = [each for each in found if isinstance(each, Problem)]
        if len(problems) == len(found):
            raise join_problems(problems)
        return _as_json({member: [{"error": e.as_dict()} if isinstance(e, Problem) else e for e in found]})

    @app.post("/v1/predict", openapi_extra=sent, responses=schemas.responses(schemas.Answers, schemas.WORK))
    async def predict(request: Request) -> Response:
        """Answer cases: the label, its probability, and the memory behind it."""
        return await answer(request, model.predict, "answers")

    @app.post("/v1/explain", openapi_extra=sent, responses=schemas.responses(schemas.Explanations, schemas.WORK))
    async def explain(request: Request) -> Response:
        """Explain answers: the case beside its memory, the classes of its cluster, and a sentence."""
        return await answer(request, model.explain, "explanations")


async def _read_cases(request: Request, model: Model, limits: Limits) -> list[Any]:
    """Each case as the model takes it and its weight, or what is wrong with it."""
    body, content_type = await request.body(), request.headers.get("content-type", "")
    kind = content_type.partition(";")[0].strip().lower()
    wanted = "multipart/form-data" if model.takes_images else "application/json"
    if kind != wanted:
        raise Problem("wrong-type", f"this model takes {wanted}, got {kind or 'no Content-Type'}"[:200])

    def read() -> list[Any]:
        sent: list[Any] = read_form(content_type, body, limits) if model.takes_images else read_json(body, limits)
        return [_read_case(model, case) for case in sent]

    return read() if len(body) <= INLINE else await asyncio.to_thread(read)


def _read_case(model: Model, case: Any) -> Any:
    try:
        return model.read(case)
    except Problem as problem:
        return problem


def _add_memories(app: FastAPI, model: Model) -> None:
    memories = _as_json({"memories": model.memories()}).body
    picture: dict[int | str, Any] = {
        200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}
    }

    @app.get("/v1/memories", responses=schemas.responses(schemas.Memories, ("no-token", "stopping")))
    async def list_memories() -> Response:
        """The memories: what each of them stands for, and its threshold."""
        return Response(memories, media_type="application/json")

    @app.get(
        "/v1/memories/{memory}/picture",
        openapi_extra=schemas.MEMORY,
        response_class=Response,
        responses={**schemas.responses(None, ("no-token", "not-found", "stopping")), **picture},
    )
    async def show_memory(request: Request) -> Response:
        """A memory that is an image, as PNG."""
        number = request.path_params["memory"]
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            raise Problem("not-found", "a memory is called by its number: /v1/memories/0/picture")
        return Response(await asyncio.to_thread(model.picture, int(number)), media_type="image/png")


def _add_health(app: FastAPI, batcher: Batcher, state: State, metrics: Metrics) -> None:
    @app.get("/healthz", responses=schemas.responses(schemas.Status, ("failed",)))
    async def check_health() -> Response:
        """Whether the service works at all; if not, start it anew."""
        if not batcher.running:
            raise Problem("failed", "no batches are being answered")
        return _as_json({"status": "working"})

    @app.get("/readyz", responses=schemas.responses(schemas.Status, ("stopping",)))
    async def check_readiness() -> Response:
        """Whether new requests should be sent here; not while the service stops."""
        if state.stopping:
            raise Problem("stopping", "the service finishes what it accepted and takes nothing new")
        return _as_json({"status": "ready"})

    text: dict[int | str, Any] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}

    @app.get("/metrics", response_class=Response, responses={**schemas.responses(None, ("no-token",)), **text})
    async def show_metrics() -> Response:
        """Numbers for Prometheus: answers, unknown rate, similarity, competence, latency, queue."""
        return Response(metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_docs(app: FastAPI) -> None:
    page = (PAGE / "docs.html").read_bytes()
    assets = {name: (PAGE / name if (PAGE / name).exists() else SWAGGER / name).read_bytes() for name in ASSETS}
    headers = {"Content-Security-Policy": POLICY}

    @app.get("/docs", include_in_schema=False)
    async def show_docs() -> Response:
        return Response(page, media_type="text/html; charset=utf-8", headers=headers)

    @app.get("/docs/{name}", include_in_schema=False)
    async def show_asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in assets:
            return await no_route(request, None)
        return Response(assets[name], media_type=f"{ASSETS[name]}; charset=utf-8")

    @app.exception_handler(404)
    async def no_route(request: Request, error: Any) -> Response:
        return _as_response(Problem("not-found", "the addresses are listed at /docs"))

    @app.exception_handler(405)
    async def no_method(request: Request, error: Any) -> Response:
        return _as_response(Problem("wrong-method", "the methods are listed at /docs", headers=error.headers))


def _as_json(content: Any) -> Response:
    return Response(json.dumps(content, allow_nan=False), media_type="application/json")


def _as_response(problem: Problem) -> Response:
    content = json.dumps(problem.as_dict())
    return Response(content, problem.status, headers=problem.headers, media_type=MEDIA_TYPE)
