"""Lines over severities, as coordinates that a template draws in the page's colours."""

from __future__ import annotations

from typing import Any

WIDTH, HEIGHT = 440.0, 260.0
LEFT, RIGHT, TOP, BOTTOM = 36.0, 14.0, 12.0, 28.0


def draw_curves(found: dict[str, Any]) -> dict[str, Any]:
    """Points, intervals and ticks for the models of `memclf.studio.stressing.summarise`."""
    values = [each for model in found["models"] for each in model["values"] if each is not None]
    low = min(0.8, int(5 * min([each["low"] for each in values], default=0.0)) / 5)

    def at(number: int, value: float) -> tuple[float, float]:
        steps = max(1, len(found["levels"]) - 1)
        x = LEFT + (WIDTH - LEFT - RIGHT) * number / steps
        return x, TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - low) / (1 - low))

    lines = []
    for model in found["models"]:
        known = [(number, each) for number, each in enumerate(model["values"]) if each is not None]
        points = [at(number, each["value"]) for number, each in known]
        spans = [(at(number, each["low"]), at(number, each["high"])) for number, each in known]
        lines.append({"id": model["id"], "name": model["name"], "points": points, "spans": spans})
    shown = [low + part / 5 for part in range(round(5 * (1 - low)) + 1)]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "lines": lines,
        "rows": [(at(0, value)[1], f"{100 * value:.0f}") for value in shown],
        "columns": [(at(number, low)[0], name) for number, name in enumerate(found["levels"])],
    }
