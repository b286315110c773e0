"""The sections of the report, in their order.

A new section is one function and one entry in `SECTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memclf._progress import in_words
from memclf.report import about, beside_paper, bounds, contenders, exhibits, formats, headline, method, mistakes
from memclf.report.labels import UNSET
from memclf.report.run import Run
from memclf.report.section import Block, Code, Section, Text
from memclf.report.tables import Cell, Column, Table

SIZES = ("image_size", "corrupt_at")


def collect(run: Run, folder: Path) -> list[Section]:
    """All sections that have something to show; their figures are written into `folder`."""
    return [section for make in SECTIONS if (section := make(run, folder)) is not None]


def notices(run: Run) -> list[Text]:
    """What must be read before any section: a partial run, generated data."""
    found = []
    if run.partial:
        text = f"Means are over {len(run.common)} corrupted conditions, which all shown contenders have finished."
        lines = [
            *run.partial,
            *([] if run.exhibits or not run.study else ["There are no pictures yet (exhibits.json)."]),
        ]
        found.append(Text(text, "This is a PARTIAL report: the run is not complete.", lines, "alert"))
    if run.generated:
        usual = "Numbers on generated pictures say how the method behaves, not how well it does in the field."
        text = str(run.about["generated_note"] or usual)
        found.append(Text(text, "GENERATED data, not photographs.", style="alert"))
    return found


def data(run: Run, folder: Path) -> Section:
    """Which data the run was on."""
    return Section("data", "Which data", about.data(run), short="Data")


def settings(run: Run, folder: Path) -> Section:
    """Command, settings and versions."""
    noted = run.about
    times = [f"Started {formats.format_moment(noted['started'])}."] if noted["started"] else []
    times += [f"Finished {formats.format_moment(noted['finished'])}."] if noted["finished"] else []
    times += ["Not finished."] if run.partial and not noted["finished"] else []
    times += [f"It took {in_words(noted['seconds'])}."] if (noted["seconds"] or 0) >= 1 else []
    table = settings_table(run)
    blocks: list[Block] = [
        *([Code(str(noted["command"]))] if noted["command"] else []),
        *([Text(" ".join(times), style="small")] if times else []),
        *([table] if table.rows else []),
        *([models] if (models := about.model_settings(run)) is not None else []),
    ]
    return Section("settings", "Settings, command, versions", blocks, short="Settings")


def settings_table(run: Run) -> Table:
    """What was asked for, as it was noted, and the versions."""
    rows: list[list[Cell]] = [[key, show_setting(key, value)] for key, value in sorted(run.settings.items())]
    versions = run.about["versions"]
    rows += [[f"version of {key}", show_value(value)] for key, value in (versions or {}).items()]
    return Table("settings", "Settings and versions", [Column("What"), Column("Value")], rows)


def show_setting(name: str, value: Any) -> str:
    """A setting of a study as text; sizes as WIDTHxHEIGHT, which is how they are asked for."""
    if value is None and name in UNSET:
        return UNSET[name]
    if name in SIZES and isinstance(value, list | tuple) and len(value) == 2:
        return f"{value[1]}x{value[0]}"
    return show_value(value)


def show_value(value: Any) -> str:
    """A setting as text."""
    if isinstance(value, list | tuple):
        return ", ".join(show_value(each) for each in value) or "–"
    if isinstance(value, dict):
        return ", ".join(f"{key} {show_value(each)}" for key, each in value.items()) or "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None or value == "" else str(value)


SECTIONS: tuple[Callable[[Run, Path], Section | None], ...] = (
    headline.section,
    exhibits.opening,
    method.section,
    data,
    exhibits.samples,
    contenders.section,
    beside_paper.section,
    contenders.ablation_section,
    contenders.severities_section,
    exhibits.memories,
    exhibits.routes,
    exhibits.overlays,
    exhibits.masks,
    mistakes.section,
    mistakes.gains_section,
    bounds.section,
    settings,
)
