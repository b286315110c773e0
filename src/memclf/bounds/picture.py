"""Bounds as pictures: their terms as stacked bars, and curves over the number of memories.

`Bound` and `BoundCurve` draw themselves with these functions, so this module imports neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memclf.bounds.terms import ERROR_LOOK, look_of
from memclf.exceptions import MissingExtraError

RED = ERROR_LOOK.colour
FAR = 3.0  # bars longer than this are cut, and their length is written beside them


def draw(bounds: Sequence[Any], axes: Any = None) -> Any:
    """Draw one bar for each bound, its terms end to end, and a line at 1."""
    figure, axes = _axes(axes, (8, 1.6 + 0.55 * len(bounds)))
    limit = max(1.15, min(FAR, 1.08 * max(bound.value for bound in bounds)))
    labelled: set[str] = set()
    for place, bound in enumerate(bounds):
        left = 0.0
        for term in bound.terms:
            length = max(0.0, min(term.value, limit - left))
            look = look_of(term.name)
            label = None if look.label in labelled else look.label
            axes.barh(place, length, left=left, color=look.colour, label=label, height=0.62)
            labelled.add(look.label)
            left += length
        cut = bound.value > limit
        text = f"{bound.value:,.2f}{' →' if cut else ''}{' vacuous' if bound.vacuous else ''}"
        inside = left > 0.75 * limit
        axes.text(
            left - 0.01 * limit if inside else left + 0.01 * limit,
            place,
            text,
            va="center",
            ha="right" if inside else "left",
            fontsize=9,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.85, "edgecolor": "none"},
        )
    axes.axvline(1.0, color=RED, lw=1.5, ls="--")
    beside = {"ha": "left", "x": 1.0 + 0.01 * limit} if limit > 1.5 else {"ha": "right", "x": 1.0 - 0.01 * limit}
    axes.text(y=-0.62, s="vacuous from 1 on", color=RED, fontsize=8, va="bottom", **beside)
    axes.set_yticks(range(len(bounds)), [bound.kind for bound in bounds])
    axes.set_ylim(len(bounds) - 0.45, -0.9)
    axes.set_xlim(0, limit)
    axes.set_xlabel("risk is at most …")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        fontsize=8, frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.45, -0.3 / len(bounds) - 0.12)
    )
    return figure


def draw_curve(curve: Any, axes: Any = None) -> Any:
    """Draw the bound over the number of memories, one line for each number of cases."""
    figure, axes = _axes(axes, (7, 4))
    shades = ["#3b6fb5", "#e08a3c", "#6aa89a", "#8f7fb8", "#555555"]
    for number, n in enumerate(sorted({point.n for point in curve.points})):
        points = sorted((p for p in curve.points if p.n == n), key=lambda point: point.n_memories)
        style = {"color": shades[number % len(shades)], "ls": ":" if points[0].extrapolated else "-", "marker": "o"}
        label = f"{n:,} cases{' (extrapolated)' if points[0].extrapolated else ''}"
        axes.plot([p.n_memories for p in points], [p.value for p in points], ms=4, label=label, **style)
        if not points[0].extrapolated:
            errors = [p.bound.terms[0].value for p in points]
            axes.plot([p.n_memories for p in points], errors, color=style["color"], lw=1, alpha=0.5)
    best = curve.best
    axes.plot(best.n_memories, best.value, "o", ms=11, mfc="none", mec=RED)
    axes.annotate(f"best: {best.n_memories}", (best.n_memories, best.value), xytext=(6, 8), textcoords="offset points")
    axes.axhline(1.0, color=RED, lw=1.2, ls="--")
    axes.set_ylim(0, max(1.2, min(FAR, 1.1 * max(point.value for point in curve.points))))
    axes.set_xscale("log")
    ticks = sorted({point.n_memories for point in curve.points})
    shown = [q for k, q in enumerate(ticks) if k == 0 or q >= 1.25 * ticks[k - 1] or len(ticks) < 10]
    axes.set_xticks(shown, [str(q) for q in shown])
    axes.minorticks_off()
    axes.set_xlabel("memories")
    axes.set_ylabel("bound (thin: errors on the training cases)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False)
    return figure


def _axes(axes: Any, size: tuple[float, float]) -> tuple[Any, Any]:
    if axes is not None:
        return axes.figure, axes
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError('pictures need matplotlib: pip install "memclf[report]"') from error
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots()
