"""Sections rendered as one HTML page and as Markdown, by the templates beside this file."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from memclf._progress import in_words
from memclf.exceptions import MissingExtraError
from memclf.report import captions, charts, formats, tables
from memclf.report.run import Run
from memclf.report.section import Section, Text
from memclf.report.tables import Number

LARGEST = 60_000  # bytes of a picture that goes into the page as it is
SIDE = 320  # pixels, for larger ones
BUDGET = 4_000_000  # characters of all pictures together, so that the page stays under 5 MB
HEAT = 0.55  # how strong a colour behind text may be


class Pictures:
    """Pictures as data URIs, until the budget is used up."""

    def __init__(self, run: Run, budget: int = BUDGET):
        self.run = run
        self.left = budget
        self.dropped = 0
        self._known: dict[Path, str] = {}

    def __call__(self, path: Any) -> str:
        """The picture for an `src`, "" if there is none or no room."""
        file = self.run.picture(path)
        if file is None:
            return ""
        if file not in self._known:
            self._known[file] = _embedded(file)
        text = self._known[file]
        if len(text) > self.left:
            self.dropped += 1
            return ""
        self.left -= len(text)
        return text


def _embedded(file: Path) -> str:
    from PIL import Image, UnidentifiedImageError

    data, kind = file.read_bytes(), "png" if file.suffix.lower() == ".png" else "jpeg"
    try:
        with Image.open(io.BytesIO(data)) as picture:
            if len(data) > LARGEST or picture.format not in ("PNG", "JPEG"):
                small = picture.convert("RGB")
                small.thumbnail((SIDE, SIDE))
                target = io.BytesIO()
                small.save(target, "JPEG", quality=82)
                data, kind = target.getvalue(), "jpeg"
    except (UnidentifiedImageError, OSError):
        return ""
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def html(run: Run, notices: Sequence[Text], sections: Sequence[Section]) -> str:
    """The page: one file with all pictures in it."""
    shown = {
        "run": run,
        "label": run.label,
        "labels": run.labels,
        "notices": notices,
        "sections": sections,
        "picture": Pictures(run),
    }
    return render("report.html.j2", **shown)


def markdown(run: Run, notices: Sequence[Text], sections: Sequence[Section]) -> str:
    """The same in Markdown, with pictures as links to `figures/`."""
    text = render("report.md.j2", run=run, notices=notices, sections=sections)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def render(template: str, **shown: Any) -> str:
    return _environment(template.endswith(".html.j2")).get_template(template).render(**shown)


def require(package: str) -> None:
    """Say which extra brings a package, before any work is done."""
    try:
        import_module(package)
    except ImportError as error:
        raise MissingExtraError(f'the report needs {package}: pip install "memclf[report]"') from error


@cache
def _environment(escape: bool) -> Any:
    require("jinja2")
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    found = Environment(
        loader=PackageLoader("memclf.report", "templates"),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = resources.files("memclf.report") / "templates" / "report.css"
    found.filters |= {
        "percent": formats.percent,
        "duration": in_words,
        "colour": formats.safe_colour,
        "moment": formats.format_moment,
        "listed": formats.join_words,
        "nb": lambda text: str(text).replace(" %", "\u00a0%"),
        "md": tables.markdown,
        "md_table": tables.to_markdown,
        "md_captioned": lambda table: f"*{tables.markdown(table.title)}.*\n\n{tables.to_markdown(table)}",
        "safe_svg": Markup,
    }
    # Jinja's own test of that name is for plain numbers, which cells of a table never are.
    found.tests |= {"number_like": found.tests["number"], "number": lambda cell: isinstance(cell, Number)}
    found.globals |= {"terms": captions.TERMS, "captions": captions.CAPTIONS, "heat": HEAT}
    found.globals |= {"style": Markup(style.read_text(encoding="utf-8") + charts.style())}
    return found
