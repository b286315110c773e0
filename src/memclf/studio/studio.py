"""What all pages share: the project, the model in use, jobs, pictures and templates."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from memclf._numbers import format_number
from memclf._version import __version__
from memclf.report.formats import format_moment, percent, points, safe_colour
from memclf.studio.jobs import Job, Jobs
from memclf.studio.pictures import Thumbnails
from memclf.studio.project import Project
from memclf.studio.session import Session
from memclf.studio.uploads import Decoder

#: Address and title of each page, in the order of the work.
PAGES = (
    ("/data", "Data"),
    ("/teach", "Teach"),
    ("/compare", "Compare"),
    ("/numbers", "Numbers"),
    ("/memories", "Memories"),
    ("/why", "Why"),
    ("/stress", "Stress"),
    ("/edit", "Edit"),
    ("/unknown", "Unknown"),
)


class Studio:
    """The project, the model in use, jobs, thumbnails, the decoder, and templates."""

    def __init__(self, project: Project, trusted: tuple[str, ...] = ()):
        self.project = project
        self.session = Session(project, trusted)
        self.jobs = Jobs()
        self.thumbnails = Thumbnails(project.folder / "thumbnails")
        self.decoder = Decoder()
        self.closing: list[Callable[[], None]] = []  # what pages end when the studio ends

    def page(self, request: Request, template: str, *, status: int = 200, **shown: Any) -> HTMLResponse:
        """A whole page; `template` extends base.html.j2."""
        text = (
            environment()
            .get_template(template)
            .render(here=request.url.path, pages=PAGES, studio=self, version=__version__, **shown)
        )
        return HTMLResponse(text, status, headers={"Cache-Control": "no-store"})

    def fragment(self, template: str, **shown: Any) -> HTMLResponse:
        """A part of a page, which the page's script puts in its place."""
        text = environment().get_template(template).render(studio=self, **shown)
        return HTMLResponse(text, headers={"Cache-Control": "no-store"})

    def show_job(self, job: Job, go: str) -> HTMLResponse:
        """The progress of a job, which asks for itself until it is done and then goes to a page."""
        response = self.fragment("job.html.j2", job=job, go=go)
        if job.state == "done":
            response.headers["X-Go"] = go
        return response

    def close(self) -> None:
        """End jobs and children, and close the project."""
        for end in self.closing:
            end()
        self.jobs.close()
        self.decoder.close()
        self.project.close()


@cache
def environment() -> Environment:
    """The templates, with every value escaped."""
    found = Environment(
        loader=PackageLoader("memclf.studio", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "percent": percent,
        "points": points,
        "moment": format_moment,
        "short": lambda value: format_number(value, 3),
        "count": lambda value: f"{value:,}",
        "colour": safe_colour,
    }
    return found
