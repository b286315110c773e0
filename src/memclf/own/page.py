"""The page of `memclf fit`: which model to use, the table behind it, and the memories."""

from __future__ import annotations

import base64
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from memclf.evaluate import list_versions
from memclf.evaluate.describe import describe_model, list_settings
from memclf.evaluate.exhibits.views import CaseViews
from memclf.evaluate.intervals import Interval
from memclf.evaluate.kinds import name_cases
from memclf.own.advice import MEMORY
from memclf.own.fit import FittedData
from memclf.report import page
from memclf.report.colours import choose_colours
from memclf.report.section import Block, Code, Folded, Gallery, Section, Terms, Text
from memclf.report.tables import EMPTY, Cell, Column, Number, Table, difference, number

SHOWN = 24  # memories
SIDE = 224  # pixels of the longer side of a picture

MEANINGS = [
    ("commonest class", "Always the same answer. Whatever is not above it has learned nothing."),
    ("plain model", "One model of the usual kind, fitted on the same cases."),
    ("stage 1 alone", "The commonest label among the cases that a memory stands for; no classifier is asked."),
    (
        "memory classifier",
        "The model that was saved: memories, local classifiers and the rule that puts them together.",
    ),
    ("accuracy", "Share of the cases that are answered rightly; unknown counts as an error."),
    ("balanced accuracy", "The mean over the classes of the share that is answered rightly."),
    ("coverage", "Share of the cases that get an answer; the others are called unknown."),
    ("answered cases", "Those that the memory classifier does not call unknown; all models are compared on them."),
    ("held out", "Five times a fifth of the cases was left out of the fit and answered; groups stay together."),
]


def write_page(found: FittedData, target: str | os.PathLike[str], *, command: str = "") -> Path:
    """Write one HTML file that needs no network, and return its path. Needs ``memclf[report]``."""
    for package in ("matplotlib", "jinja2"):
        page.require(package)
    data, n = found.data, len(found.data.target)
    names = [str(label) for label in found.classifier.classes_.tolist()]
    lines = [
        "Does a memory classifier beat one plain model on this data?",
        f"{n:,} {'images' if data.kind == 'images' else 'rows'} of {len(names)} classes",
    ]
    with tempfile.TemporaryDirectory() as folder:
        sections = [_verdict(found), _memories(found, Path(folder), names), _about(found, command)]
        html = page.render(
            title=data.path.resolve().stem,
            kicker="fit",
            lines=lines,
            notices=[],
            sections=sections,
            label=str,
            picture=lambda path: _embed(Path(folder), path),
        )
    target = Path(target)
    part = target.with_name(f"{target.name}.part")
    part.write_text(html, encoding="utf-8")
    part.replace(target)
    return target


def _verdict(found: FittedData) -> Section:
    advice = found.comparison.advice
    blocks: list[Block] = [
        Text(advice.sentence, style="verdict"),
        *([Text(advice.more)] if advice.more else []),
        make_table(found),
        Folded("What the words mean", [Terms(MEANINGS)]),
    ]
    return Section("verdict", "Which model to use", blocks, short="Which model")


def make_table(found: FittedData) -> Table:
    """Contenders on held-out cases: measures with intervals, and paired differences."""
    compared = found.comparison
    declines = compared.share < 1
    both = ("accuracy", "balanced_accuracy")
    groups = {"": "All cases"} | ({"answered_": "Answered cases"} if declines else {})
    columns = [Column("Model")]
    columns += [Column(name, group) for group in groups.values() for name in ("Accuracy", "Balanced")]
    columns += [Column("Coverage")] if declines else []
    columns += [Column(name, "Memory classifier minus it") for name in ("Accuracy", "Balanced")]
    rows: list[list[Cell]] = []
    for row in compared.rows:
        minus = compared.differences.get(row["contender"])
        cells: list[Cell] = [row["name"]]
        cells += [number(_interval(row[key + name])) for key in groups for name in both]
        cells += [Number(row["coverage"])] if declines else []
        cells += [EMPTY if minus is None else difference(_interval(minus[name])) for name in both]
        rows.append(cells)
    strong = frozenset(k for k, row in enumerate(compared.rows) if row["contender"] == MEMORY)
    title = f"Held-out answers to {len(found.data.target):,} cases, in %, with 95 % intervals; differences are paired"
    return Table("contenders", title, columns, rows, strong=strong, look="coloured")


def _interval(found: dict[str, float] | None) -> Interval | None:
    return None if found is None else Interval(**found)


def _memories(found: FittedData, folder: Path, names: list[str]) -> Section:
    clf, data = found.classifier, found.data
    views = CaseViews(folder, data.cases, np.searchsorted(clf.classes_, data.target))
    keys = name_cases(clf.memories_, [f"{row} of the training cases" for row in clf.memory_indices_])
    labels = data.target[clf.memory_indices_]
    shown: list[dict[str, Any]] = []
    for k in range(min(SHOWN, len(clf.memory_indices_))):
        counts = zip(names, clf.cluster_counts_[k].tolist(), strict=True)
        shown.append(
            {
                "number": k,
                "case": views.show(f"memory_{k}", clf.memories_, k, SIDE),
                "key": keys[k],
                "label": str(labels[k]),
                "cases": int(clf.cluster_counts_[k].sum()),
                "threshold": float(clf.thresholds_[k]),
                "classes": {label: count for label, count in counts if count},
            }
        )
    rows: list[list[Cell]] = [[f"{each['number']}", each["key"], each["label"], each["cases"]] for each in shown]
    table = Table("memories", "Memories", [Column(name) for name in ("Memory", "Case", "Class", "Cases")], rows)
    gallery = Gallery(
        "memories", {"memories": shown, "colours": choose_colours(names), "who": [""] * len(shown)}, table
    )
    many = len(clf.memory_indices_)
    said = f"The {many} training cases that are remembered, those that stand for most cases first."
    said += f" The first {SHOWN} are shown." if many > SHOWN else ""
    return Section("memories", "The memories", [Text(said), gallery], short="Memories")


def _about(found: FittedData, command: str) -> Section:
    clf, data = found.classifier, found.data
    labels, counts = np.unique(data.target, return_counts=True)
    classes = ", ".join(f"{label} {count:,}" for label, count in zip(labels.tolist(), counts.tolist(), strict=True))
    settings = {"memory classifier": describe_model(clf), "who answers": clf.answer_.say_who(), **list_settings(clf)}
    versions = {f"version of {name}": value for name, value in list_versions().items()}
    rows: list[list[Cell]] = [[name, value] for name, value in ({"classes": classes} | settings | versions).items()]
    blocks: list[Block] = [
        *([Code(command)] if command else []),
        *([Text(lines=[*data.notes, *data.broken])] if data.notes or data.broken else []),
        Table("settings", "Data, settings, versions", [Column("What"), Column("Value")], rows, look="fit"),
    ]
    return Section("about", "Data, settings, command", blocks, short="Settings")


def _embed(folder: Path, path: Any) -> str:
    file = folder / str(path)
    kind = "png" if file.suffix == ".png" else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
