"""The page Numbers: fit a model, and see honestly whether it beats a plain one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import FileResponse

from memclf.exceptions import DataError
from memclf.own.defaults import CLASSIFIERS, NETWORK
from memclf.studio.fitting import fit_model, use_model
from memclf.studio.studio import Studio


def routes(studio: Studio) -> APIRouter:
    """The addresses below /numbers."""
    router = APIRouter()
    project = studio.project

    @router.get("/numbers")
    def show(request: Request) -> Response:
        data = project.data
        about = project.about_model()
        return studio.page(
            request,
            "numbers.html.j2",
            data=data,
            about=about,
            job=studio.jobs.last("fit"),
            estimators=_estimators(data),
            model=project.model,
            has_report=project.model is not None and project.model.with_suffix(".html").exists(),
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

    @router.get("/numbers/report.html")
    def report() -> Response:
        if project.model is None or not project.model.with_suffix(".html").exists():
            raise HTTPException(404)
        name = f"memclf-report-{project.model.name}.html"
        return FileResponse(project.model.with_suffix(".html"), media_type="text/html", filename=name)

    return router


def _estimators(data: Any) -> list[str]:
    """Names of plain models that these cases can have."""
    images = data is not None and data.kind == "images"
    return [*([NETWORK] if images else []), *CLASSIFIERS]
