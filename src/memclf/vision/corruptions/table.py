"""The severities of every corruption, read from a table that lies beside this file.

One row per preset and corruption; the names of its parameters are those of the corruption's function. Values of
one severity are separated by bars; a name with a star collects them all.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import TypeAlias

Value: TypeAlias = float | int | tuple[float, ...]

SEVERITIES = (1, 2, 3, 4, 5)


@cache
def table() -> dict[str, dict[str, tuple[dict[str, Value], ...]]]:
    """Preset -> corruption -> the parameters of severity 1 to 5."""
    found: dict[str, dict[str, tuple[dict[str, Value], ...]]] = {}
    file = resources.files("memclf.vision.corruptions") / "severities.csv"
    for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
        cells = (row[f"s{severity}"] for severity in SEVERITIES)
        found.setdefault(row["preset"], {})[row["corruption"]] = tuple(_parse(row["parameters"], c) for c in cells)
    return found


def parameters(preset: str, name: str, severity: int) -> dict[str, Value]:
    """What a corruption's function is called with."""
    return table()[preset][name][severity - 1]


def _parse(names: str, cell: str) -> dict[str, Value]:
    values = [_parse_number(text) for text in cell.split("|")]
    if names.startswith("*"):
        return {names[1:]: tuple(values)}
    return dict(zip(names.split("|"), values, strict=True))


def _parse_number(text: str) -> float | int:
    return int(text) if text.isdigit() else float(text)
