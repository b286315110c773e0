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

from memclf._numbers import format_number
from memclf.exceptions import MissingExtraError
from memclf.report import charts, formats, tables
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


def write(
    folder: Path,
    name: str,
    *,
    title: str,
    kicker: str,
    notices: Sequence[Text],
    sections: Sequence[Section],
    lines: Sequence[str] = (),
    run: Run | None = None,
) -> Path:
    """Write a page with its pictures as one HTML file, also as Markdown; return its path.

    The files are FOLDER/NAME.html, FOLDER/NAME.md, and the tables. `lines` stand below the title. Sections with single
    cases need the `run` that they are from.
    """
    shown = {"title": title, "kicker": kicker, "lines": lines, "notices": notices, "sections": sections}
    own = {} if run is None else {"label": run.label, "labels": run.labels, "picture": Pictures(run)}
    for table in (table for section in sections for table in section.tables()):
        tables.write(table, folder / "tables")
    text = _environment(False).get_template("page.md.j2").render(**shown)
    (folder / f"{name}.md").write_text(re.sub(r"\n{3,}", "\n\n", text).strip() + "\n", encoding="utf-8")
    target = folder / f"{name}.html"
    target.write_text(render(**shown, **own, tables=folder / "tables"), encoding="utf-8")
    return target


def render(**shown: Any) -> str:
    """A page as HTML, from what the template shows: title, kicker, lines, notices, sections."""
    return str(_environment(True).get_template("page.html.j2").render(**shown))


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
        "colour": formats.safe_colour,
        "short": lambda value: format_number(value, 3),
        "nb": lambda text: str(text).replace(" %", "\u00a0%"),
        "md": tables.markdown,
        "md_captioned": lambda table: f"*{tables.markdown(table.title)}.*\n\n{tables.to_markdown(table)}",
        "safe_svg": Markup,
    }
    # Jinja's own test of that name is for plain numbers, which cells of a table never are.
    found.tests |= {"number_like": found.tests["number"], "number": lambda cell: isinstance(cell, Number)}
    found.globals |= {"heat": HEAT, "style": Markup(style.read_text(encoding="utf-8") + charts.style())}
    return found
