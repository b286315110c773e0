"""No recipe at all: the baseline that every other one is measured against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from memclf.vision.nets.recipes.base import Recipe


@dataclass(frozen=True)
class Vanilla(Recipe):
    """The image as it is and the plain cross-entropy ("Vanilla" in the paper's tables)."""

    name: ClassVar[str] = "vanilla"
    label: ClassVar[str] = "Vanilla"
    paper_column: ClassVar[int | None] = 1
