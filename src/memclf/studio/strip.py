"""A memory's cases on the scale of similarity, as dots that a page draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

WIDTH, PAD, STEP = 640.0, 12.0, 9.0  # of the drawing, in its own units
LEVELS = 8  # dots above each other; more lie on top of one another
MIDDLE, HEIGHT = 92.0, 176.0
MOST = 600  # dots of each kind


@dataclass(frozen=True)
class Strip:
    """Dots and the part of the scale that they lie on."""

    dots: list[dict[str, Any]]
    low: float
    threshold: float
    left_out: int

    @property
    def at_threshold(self) -> float:
        """Where the threshold is."""
        return place(self.threshold, self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Where numbers of the scale stand, and what they say."""
        values = [self.low + (1 - self.low) * part / 4 for part in range(5)]
        return [(place(value, self.low), f"{value:.2f}") for value in values]


def place(similarity: float, low: float) -> float:
    """Where a similarity lies on a scale from `low` to 1."""
    share = (similarity - low) / (1 - low)
    return PAD + (WIDTH - 2 * PAD) * min(1.0, max(0.0, share))


def draw_strip(cases: list[dict[str, Any]], threshold: float) -> Strip:
    """Put cases on the scale of similarity: training cases above it, held-out ones below.

    Of very many, those nearest to the threshold are drawn.
    """
    near = sorted(cases, key=lambda each: abs(each["similarity"] - threshold))
    shown = [each for held in (False, True) for each in [case for case in near if case["held"] is held][:MOST]]
    lowest = min([threshold, *(each["similarity"] for each in shown)])
    low = max(0.0, min(0.95, int(20 * lowest - 1) / 20))
    stacked: dict[tuple[bool, int], int] = {}
    dots = []
    for each in sorted(shown, key=lambda case: case["similarity"]):
        x = place(each["similarity"], low)
        key = (each["held"], round(x / STEP))
        level = stacked[key] = stacked.get(key, -1) + 1
        away = 12 + STEP * (level % LEVELS)
        dots.append({**each, "x": x, "y": MIDDLE + away if each["held"] else MIDDLE - away})
    return Strip(dots, low, threshold, len(cases) - len(shown))
