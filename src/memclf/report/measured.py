"""The page of `memclf measure`: which measurements survive, and what each of them looks at."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from memclf.evaluate.inspection import FeatureInspection, picture
from memclf.evaluate.inspection.result import REPEATS, STEADY
from memclf.report import page
from memclf.report.charts import BLUE, INK, LINE, NARROW, ORANGE, PAPER, SOFT, draw_chart, figure
from memclf.report.section import Block, Chart, Code, Folded, Gallery, Section, Terms, Text
from memclf.report.tables import EMPTY, Cell, Column, Number, Table

SIDE = 260  # pixels of the longer side of a picture
MOST_CLASSES = 6  # pictures beside each other

MEANINGS = [
    (
        "separation",
        "How well the measurement tells the classes apart by itself: the balanced accuracy of a small tree on held-out "
        "cases, rescaled so that 0 is chance and 1 is all right; with its 95 % interval.",
    ),
    (
        "steadiness",
        "How little the measurement moves when the pictures change a little (tint and direction of the light, stripes, "
        "fewer shades, colour fringes, reflections, small holes): 1 not at all, 0 as far as to another case at random.",
    ),
    ("corrupted", "The same under corruptions, the mean of all. It is reported, and is no ground to choose by."),
    ("overlap", "The largest rank correlation with another measurement."),
    (
        "verdict",
        f"Good: tells the classes apart and has a steadiness of at least {STEADY:g}. Fragile: tells them apart, but "
        "moves. Unsure: may tell them apart, but with so few cases that may be luck. Repeats: has a rank "
        f"correlation of at least {REPEATS:g} with a better one. Says little: all "
        "others.",
    ),
]


@dataclass(frozen=True)
class Looked:
    """A part of the features: what it is, what it says, and the features that draw it."""

    title: str
    sentence: str
    feature: Any


def write_page(
    found: FeatureInspection,
    target: str | os.PathLike[str],
    *,
    title: str,
    lines: Sequence[str] = (),
    parts: Sequence[Looked] = (),
    samples: Sequence[tuple[str, Any, Any]] = (),
    spec: str = "",
    command: str = "",
) -> Path:
    """Write the page as one HTML file and return its path. Needs ``memclf[report]``.

    Parameters
    ----------
    found : FeatureInspection
    target : path
    title, lines : what stands above
    parts : what the features are made of, for the pictures
    samples : name, image and info of some cases to draw
    spec, command : text of the SPEC, and how the page was made
    """
    for package in ("matplotlib", "jinja2"):
        page.require(package)
    found = _in_words(found)
    looks = Section("looks", "What each measurement looks at", [_gallery(parts, samples)], short="Pictures")
    shown = [_opening(found), _table_section(found), looks if parts and samples else None, _corruptions(found)]
    made: list[Block] = [Code(text) for text in (command, spec) if text]
    sections = [section for section in shown if section is not None]
    sections += [Section("made", "How this page was made", made, short="SPEC")] if made else []
    target = Path(target)
    html = page.render(title=title, kicker="measurements", lines=lines, notices=[], sections=sections)
    target.write_text(html, encoding="utf-8")
    return target


def _in_words(found: FeatureInspection) -> FeatureInspection:
    """The same with spaces in names, where a narrow page can break them."""
    return replace(
        found,
        measurements=tuple(
            replace(each, name=_words(each.name), overlaps_with=_words(each.overlaps_with))
            for each in found.measurements
        ),
    )


def _words(name: str) -> str:
    return name.replace("_", " ")


def _opening(found: FeatureInspection) -> Section:
    blocks: list[Block] = [Text(found.build_on, style="verdict"), Text(f"{found.beware} {found.caution}"), chart(found)]
    return Section("advice", "Which measurements survive", blocks, short="Advice")


def chart(found: FeatureInspection) -> Chart:
    """Separation against steadiness, for a wide and a narrow page."""
    colours = {"good": BLUE, "fragile": ORANGE, "other": SOFT, "line": LINE, "page": PAPER, "text": INK}
    numbered = len(picture.list_numbered(found))

    def draw(width: float) -> Any:
        narrow = width <= NARROW
        whole = figure(width, 3.4 + 0.19 * numbered if narrow else 4.2)
        picture.draw(found, whole.subplots(), colours=colours, below=narrow)
        return whole

    told = "; ".join(
        f"{each.name} {each.separation:.2f} and {'unknown' if each.steadiness is None else f'{each.steadiness:.2f}'}"
        for each in sorted(found.measurements, key=lambda each: -each.separation)[:8]
    )
    return draw_chart(
        "steadiness",
        "Separation against steadiness",
        f"Points of separation and steadiness: {told}.",
        draw,
        caption="Up: tells the classes apart. Right: stays the same when pictures change a little.",
    )


def _table_section(found: FeatureInspection) -> Section:
    columns = [
        Column("Measurement"),
        Column("Verdict"),
        Column("Separation"),
        Column("95 %"),
        Column("Steadiness"),
        Column("Steadiness", "Corrupted"),
        Column("Separation", "Corrupted"),
        Column("Overlap"),
        Column("With"),
    ]
    rows: list[list[Cell]] = [
        [
            row["name"],
            row["verdict"],
            _number(row["separation"]),
            "{:.2f} to {:.2f}".format(*row["interval"]),
            _number(row["steadiness"]),
            _number(row["corrupted_steadiness"]),
            _number(row["corrupted_separation"]),
            _number(row["overlap"]),
            row["overlaps_with"],
        ]
        for row in found.table
    ]
    strong = frozenset(k for k, row in enumerate(found.table) if row["verdict"] == "good")
    table = Table("measurements", "All measurements, the most useful first", columns, rows, strong=strong)
    return Section(
        "table", "All measurements", [table, Folded("What the columns mean", [Terms(MEANINGS)])], short="Table"
    )


def _corruptions(found: FeatureInspection) -> Section | None:
    kinds = list(found.measurements[0].corrupted)
    if not kinds:
        return None
    rows: list[list[Cell]] = [
        [row["name"], *(Number(row[f"under {kind}"], plain=True, digits=2, mark="win", sure=True) for kind in kinds)]
        for row in found.table
    ]
    at = "" if found.severity is None else f" at severity {found.severity}"
    table = Table(
        "corruptions",
        f"Steadiness under each corruption{at}, of {found.n_corrupted} cases",
        [Column("Measurement"), *(Column(found.labels.get(kind, kind)) for kind in kinds)],
        rows,
        look="heat",
    )
    note = "For the record: do not choose measurements by these numbers if they are to be judged by them later."
    return Section("corruptions", "Under corruption", [Text(note), table], short="Corruptions")


def _number(value: float | None) -> Number:
    return EMPTY if value is None else Number(value, plain=True, digits=2)


def _gallery(parts: Sequence[Looked], samples: Sequence[tuple[str, Any, Any]]) -> Gallery:
    shown = [_draw(part, samples[:MOST_CLASSES]) for part in parts]
    shown = [each for each in shown if each["legend"]]  # what looks at the whole picture has nothing to draw
    rows: list[list[Cell]] = [[part.title, part.sentence] for part in parts]
    return Gallery("measured", shown, Table("looks", "Measurements", [Column("What"), Column("It says")], rows))


def _draw(part: Looked, samples: Sequence[tuple[str, Any, Any]]) -> dict[str, Any]:
    legend: dict[str, str] = {}
    pictures = []
    for name, image, info in samples:
        masks = part.feature.masks(image, info or {})
        drawn, colours = part.feature.outline(image, masks, SIDE)
        legend |= dict(zip(masks, colours, strict=True))
        pictures.append({"source": _embed(drawn), "name": name})
    return {"title": part.title, "sentence": part.sentence, "legend": legend, "pictures": pictures}


def _embed(image: Any) -> str:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.asarray(image)).save(file, "JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
