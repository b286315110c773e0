"""Published numbers of a study that a report puts beside its own.

They are tables, held in a file of the run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = "paper.json"  # in the folder of a run
SIDES = ("baseline", "memory")
CLEAN = "clean"

Side = tuple[str, str]  # (column, "baseline" or "memory")


@dataclass(frozen=True)
class PublishedTable:
    """A published table of accuracies in whole per cent, means over five severities.

    Attributes
    ----------
    name, title : str
    kind : {"recipe", "backbone", "augmented"}
        What its columns are: recipes; backbones; backbones whose baseline has the expert features joined to it.
    rows : dict
        Corruption (or "clean") -> (column, "baseline" or "memory") -> per cent, in the published order. A corruption
        that was not published has no row.
    notes : tuple of str
        Known errors of the table and other remarks.
    """

    name: str
    kind: str
    title: str
    rows: Mapping[str, Mapping[Side, float]]
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Recipes or backbones, in the published order."""
        return tuple(column for column, side in self.rows[CLEAN] if side == SIDES[0])

    @property
    def corruptions(self) -> tuple[str, ...]:
        """The rows except the clean one."""
        return tuple(name for name in self.rows if name != CLEAN)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as JSON has them.

        >>> table = PublishedTable("t", "recipe", "T", {"clean": {("vanilla", "baseline"): 99.0}})
        >>> table.as_dict()["rows"]
        {'clean': {'vanilla': {'baseline': 99.0}}}
        >>> PublishedTable.from_dict(table.as_dict()) == table
        True
        """
        rows: dict[str, dict[str, dict[str, float]]] = {name: {} for name in self.rows}
        for name, cells in self.rows.items():
            for (column, side), value in cells.items():
                rows[name].setdefault(column, {})[side] = value
        return {"name": self.name, "kind": self.kind, "title": self.title, "rows": rows, "notes": list(self.notes)}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> PublishedTable:
        """The table that `as_dict` describes."""
        rows = {
            name: {(column, side): value for column, sides in cells.items() for side, value in sides.items()}
            for name, cells in found["rows"].items()
        }
        return cls(found["name"], found["kind"], found["title"], rows, tuple(found["notes"]))


def read_published(folder: Path) -> list[PublishedTable]:
    """The published tables that a run folder holds; [] where nothing was published."""
    file = folder / FILE
    if not file.is_file():
        return []
    return [PublishedTable.from_dict(each) for each in json.loads(file.read_text(encoding="utf-8"))["tables"]]
