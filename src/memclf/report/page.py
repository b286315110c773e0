"""Everything that the page shows, gathered once; the templates beside this file set it as HTML and as Markdown."""

from __future__ import annotations

import base64
import io
import re
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from memclf.exceptions import MissingExtraError
from memclf.report import about, charts, contents, exhibits, findings, promises, tables, words
from memclf.report.run import Contender, Run
from memclf.report.tables import Number, Table

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


def gather(run: Run, *, folder: Path) -> dict[str, Any]:
    """Tables and figures are written into `folder`; returned is what the templates need."""
    _needed("matplotlib")
    _needed("jinja2")
    figures = folder / "figures"
    listed = [contents.contenders(run)] if run.field else []
    listed += [contents.severities(run)] if run.field and run.crossed else []
    parts = contents.ablation(run)
    listed += [] if parts is None else [parts]
    printed = contents.paper_tables(run)
    heats = [contents.gains(run, pair) for pair in run.pairs]
    wrong = {name: make(run) for name, make in _WRONG.items()}
    promised = promises.table(run)
    settings = contents.about(run)
    model_settings = about.model_settings(run)
    found = [make(run, figures) for make in (exhibits.opening, exhibits.memories, exhibits.routes, exhibits.overlays)]
    cases = [section for section in found if section is not None]
    shown = [table for section in cases for table in section.tables()]
    extra = [each for each in (*wrong.values(), promised, model_settings) if each]
    for table in [*listed, *printed, *heats, *extra, *shown, settings]:
        tables.write(table, folder / "tables")
    drawn = {
        "contenders": charts.standing(run, figures),
        "severities": charts.severities(run, figures),
        **{table.name: charts.heat(run, table, figures) for table in heats},
    }
    return {
        "run": run,
        "headline": findings.headline(run),
        "cautions": findings.cautions(run),
        "warnings": findings.warnings(run),
        "contested": findings.contested(run),
        "matched": bool(findings.matched(run, "memory")),
        "controls": [name for name in words.CONTROLS if any(each.model == name for each in run.field)],
        "contenders": contents.halves(listed[0]) if listed else [],
        "ablation": parts,
        "models": about.models(run),
        "data": about.data(run),
        "model_settings": model_settings,
        "cases": cases,
        "hard": exhibits.hardest(run, figures),
        "undrawn": [name.model for name in run.field if name.model in charts.UNDRAWN],
        "grouped": run.cases is not None and run.cases.groups is not None,
        "papers": [(table.picked(lambda c: not c.folded), table.picked(lambda c: c.folded)) for table in printed],
        "label": run.label,
        "heats": [(table, strengths(table)) for table in heats],
        **wrong,
        "worst_losses": _losses(wrong["worst"]),
        "promised": promised,
        "promise_charts": promises.charts(run, figures),
        "remarks": promises.remarks(run),
        "unmet": promises.assumptions(run, False),
        "judged": promises.assumptions(run, None),
        "about": settings,
        "charts": {name: chart for name, chart in drawn.items() if chart is not None},
        "exhibits": run.exhibits,
        "size": contents.run_size(run),
        "of_the_paper": bool(run.published),
        "left_out": [run.full_name(name) for name in run.contenders if name not in (*run.field, *run.parts)],
    }


_WRONG = {"worst": contents.worst, "confusions": contents.confusions, "hardest": contents.hardest}


def _losses(table: Table | None) -> bool:
    """Whether the last column of a table, a gain, is a loss anywhere."""
    return table is not None and any(isinstance(row[-1], Number) and row[-1].mark == "lose" for row in table.rows)


def strengths(table: Table) -> float:
    """The largest absolute gain in a table, for colouring."""
    cells = [cell for row in table.rows for cell in row if isinstance(cell, Number)]
    return max([0.01, *(abs(cell.value) for cell in cells if cell.value is not None)])


def html(run: Run, shown: dict[str, Any]) -> str:
    pictures = Pictures(run)
    return _environment(True).get_template("report.html.j2").render(picture=pictures, **shown)


def markdown(shown: dict[str, Any]) -> str:
    text = _environment(False).get_template("report.md.j2").render(**shown)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def render(template: str, **shown: Any) -> str:
    return _environment(template.endswith(".html.j2")).get_template(template).render(**shown)


def _needed(package: str) -> None:
    """Say which extra brings a package, before any work is done."""
    try:
        import_module(package)
    except ImportError as error:
        raise MissingExtraError(f'the report needs {package}: pip install "memclf[report]"') from error


@cache
def _environment(escape: bool) -> Any:
    _needed("jinja2")
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
        "percent": words.percent,
        "points": words.points,
        "model": words.model,
        "training": lambda each: contents.training_of(Contender("", each.get("recipe", ""), each.get("backbone", ""))),
        "condition": words.condition,
        "duration": words.duration,
        "colour": words.colour,
        "moment": words.moment,
        "listed": words.listed,
        "nb": lambda text: str(text).replace(" %", "\u00a0%"),
        "md": tables.markdown,
        "md_table": tables.to_markdown,
        "md_captioned": lambda table: f"*{tables.markdown(table.title)}.*\n\n{tables.to_markdown(table)}",
        "safe_svg": Markup,
        "written": contents.written,
    }
    # Jinja's own test of that name is for plain numbers, which cells of a table never are.
    found.tests |= {"number_like": found.tests["number"], "number": lambda cell: isinstance(cell, Number)}
    found.globals |= {"terms": words.TERMS, "captions": words.CAPTIONS, "kinds": words.BOUNDS, "heat": HEAT}
    found.globals |= {"style": Markup(style.read_text(encoding="utf-8"))}
    return found
