"""The page Numbers: fit a model, and see honestly whether it beats a plain one."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import Annotated, Any

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import FileResponse, RedirectResponse, StreamingResponse

from memclf.exceptions import DataError
from memclf.own.defaults import CLASSIFIERS, NETWORK
from memclf.persist import read_edits
from memclf.studio.export import stream_model
from memclf.studio.fitting import fit_model, list_models, use_model
from memclf.studio.studio import Studio

MEASURES = {"accuracy": "Accuracy", "balanced_accuracy": "Balanced accuracy"}
HINTS = {
    "network": "network: a ready-made image network with a new last layer; slower",
    "forest": "forest: 60 decision trees",
    "boosting": "boosting: trees that correct each other",
    "logistic": "logistic: a weighted sum",
}


def routes(studio: Studio) -> APIRouter:
    """The addresses below /numbers."""
    router = APIRouter()
    project = studio.project

    @router.get("/numbers")
    def show(request: Request) -> Response:
        data, model, about = project.data, project.model, project.about_model()
        return studio.page(
            request,
            "numbers.html.j2",
            data=data,
            about=about,
            measures=MEASURES,
            declines=about.get("answered", 1.0) < 1,
            job=studio.jobs.last("fit"),
            estimators=[(name, HINTS[name]) for name in _estimators(data)],
            model=model,
            serve="" if model is None else _quote("memclf", "serve", str(model.resolve())),
            edits=0 if model is None else len(read_edits(model)),
            has_report=model is not None and model.with_suffix(".html").exists(),
            has_spec=model is not None and model.with_suffix(".yaml").exists(),
            models=list_models(project),
        )

    @router.post("/numbers/fit")
    def fit(estimator: Annotated[str, Form()] = "", unknown_rate: Annotated[float, Form()] = 5.0) -> Response:
        if project.labels is None:
            raise DataError("a model needs labelled cases: choose a folder with one subfolder per class, or a table")
        if estimator and estimator not in _estimators(project.data):
            raise DataError(f"there is no plain model called {estimator!r}")
        if not 0 <= unknown_rate < 100:
            raise DataError(f"the share of unknown cases is a number from 0 to 99 %, got {unknown_rate:g}")
        job = studio.jobs.start(
            "fit",
            "Fitting",
            fit_model,
            project.folder,
            estimator or None,
            unknown_rate / 100 or None,
            then=lambda found: use_model(project, found),
        )
        return studio.show_job(job, "/numbers")

    @router.post("/numbers/use")
    def use(model: Annotated[str, Form()]) -> Response:
        if model not in {each["name"] for each in list_models(project)}:
            raise DataError(f"there is no model {model!r} in this project")
        if project.model is None or project.model.name != model:
            use_model(project, {"model": model})
        return RedirectResponse("/numbers", 303)

    @router.get("/numbers/report.html")
    def report() -> Response:
        return _send(".html", "text/html", "memclf-report-{}.html")

    @router.get("/numbers/description.yaml")
    def description() -> Response:
        return _send(".yaml", "application/yaml", "description-{}.yaml")

    @router.get("/numbers/model.zip")
    def export() -> Response:
        model = project.model
        if model is None:
            raise HTTPException(404)
        spec = model.with_suffix(".yaml")
        headers = {"Content-Disposition": f'attachment; filename="memclf-model-{model.name}.zip"'}
        pieces = stream_model(model, spec if spec.exists() else None)
        return StreamingResponse(pieces, media_type="application/zip", headers=headers)

    def _send(suffix: str, kind: str, name: str) -> Response:
        """A file that lies beside the model."""
        model = project.model
        if model is None or not model.with_suffix(suffix).exists():
            raise HTTPException(404)
        return FileResponse(model.with_suffix(suffix), media_type=kind, filename=name.format(model.name))

    return router


def _quote(*words: str) -> str:
    """A command as the shell of this computer takes it."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _estimators(data: Any) -> list[str]:
    """Names of plain models that these cases can have."""
    images = data is not None and data.kind == "images"
    return [*([NETWORK] if images else []), *CLASSIFIERS]
