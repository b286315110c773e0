"""Separation against steadiness as a picture: the upper right survives the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memclf.exceptions import MissingExtraError

COLOURS = {"good": "#0b69a8", "fragile": "#c2570c", "other": "#667080", "line": "#d5dae1", "page": "#fefefd"}
MARKERS = {"good": "o", "fragile": "s", "repeats": "D", "unsure": "x", "says little": "."}
NUMBERED = {"good": 8, "fragile": 6}  # points of each kind that get a number and a name in the key


def plot(found: Any, ax: Any = None) -> Any:
    """Draw a `FeatureInspection` into axes of matplotlib, new ones by default."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError('pictures need matplotlib: pip install "memclf[report]"') from error
    ax = Figure(figsize=(8, 4.5), layout="constrained").subplots() if ax is None else ax
    draw(found, ax)
    return ax


def list_numbered(found: Any) -> list[Any]:
    """The measurements that have a number in the picture, in its order."""
    return [each for verdict, most in NUMBERED.items() for each in found.with_verdict(verdict)[:most]]


def draw(found: Any, panel: Any, *, colours: Mapping[str, str] = COLOURS, below: bool = False) -> None:
    """Draw one point per measurement; those that matter most have numbers, and a key names them.

    Where cases cannot be changed, so that nothing is steady or fragile, all points stand on the right. `below`: the key
    stands below the axes instead of beside them, for narrow pages.
    """
    numbered = list_numbered(found)
    for verdict, marker in MARKERS.items():
        some = [each for each in found.measurements if each.verdict == verdict and each not in numbered]
        if some:
            colour = colours.get(verdict, colours["other"])
            face = "none" if verdict == "repeats" else colour
            size = 12 if verdict == "says little" else 24
            edge = {} if verdict == "unsure" else {"edgecolors": colour}  # a cross has none
            panel.scatter(*_places(some), size, marker=marker, c=face, **edge, label=verdict, zorder=2)
    for number, each in reversed(list(enumerate(numbered, 1))):  # the first lie on top
        (x,), (y,) = _places([each])
        colour, order = colours[each.verdict], {"zorder": 4 + len(numbered) - number}
        label = each.verdict if number == _first(numbered, each.verdict) else None
        panel.scatter(
            [x], [y], 125, marker=MARKERS[each.verdict], c=colour, label=label, edgecolors=colours["page"], **order
        )
        text = {"ha": "center", "va": "center_baseline", "fontsize": 7, "fontweight": "bold", "color": colours["page"]}
        panel.annotate(str(number), (x, y), **text, **order)
    left = min((_places(list(found.measurements))[0]), default=0.0)
    panel.set_xlim(max(-0.03, min(0.5, left - 0.05)), 1.03)
    panel.set_ylim(bottom=-0.01)
    panel.set_xlabel("steadiness under mild changes")
    panel.set_ylabel("separation of the classes")
    panel.grid(color=colours["line"], lw=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(length=0)
    panel.spines[["top", "right"]].set_visible(False)
    handles, labels = panel.get_legend_handles_labels()
    first = dict(zip(reversed(labels), reversed(handles), strict=True))
    shown = [verdict for verdict in MARKERS if verdict in first]
    panel.legend(
        [first[verdict] for verdict in shown],
        shown,
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
        ncols=2 if below else len(shown),
        fontsize="small",
        frameon=False,
        handletextpad=0.2,
        columnspacing=1.2,
        markerscale=0.7,
    )
    _key(panel, numbered, colours, below)


def _key(panel: Any, numbered: list[Any], colours: Mapping[str, str], below: bool) -> None:
    """The names of the numbered points, beside the axes or below them."""
    where: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "fontsize": "small"}
    for number, each in enumerate(numbered, 1):
        offset = (-24, -34 - 13 * number) if below else (10, 3 - 13 * number)
        panel.annotate(
            f"{number:2d}  {each.name}",
            (0, 0) if below else (1, 1),
            offset,
            ha="left",
            va="center",
            color=colours[each.verdict],
            **where,
        )


def _places(some: list[Any]) -> tuple[list[float], list[float]]:
    return [1.0 if each.steadiness is None else each.steadiness for each in some], [each.separation for each in some]


def _first(numbered: list[Any], verdict: str) -> int:
    return 1 + next(place for place, each in enumerate(numbered) if each.verdict == verdict)
