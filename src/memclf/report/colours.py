"""Colours of classes: the same for a class everywhere.

A class that is called by a colour has that colour.
"""

from __future__ import annotations

from collections.abc import Iterable
from colorsys import hls_to_rgb, rgb_to_hls

from memclf.report.run import Run

# Distinguishable with most kinds of colour blindness (Paul Tol's "bright"), on light and on dark pages.
PALETTE = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999999")
LIGHT_PAGE, DARK_PAGE = (0.3, 0.55), (0.6, 0.8)  # lightness that can be seen on each
STRONGEST = 0.65  # saturation; purer colours are glaring


def class_colours(run: Run) -> dict[str, str]:
    """For each class what CSS needs after ``background:``."""
    shown = run.exhibits.get("memories") or []
    names = [str(each) for each in (run.cases.classes if run.cases is not None else [])]
    return choose_colours([*names, *(str(name) for each in shown for name in each.get("classes") or {})])


def choose_colours(names: Iterable[str]) -> dict[str, str]:
    """For each of these classes what CSS needs after ``background:``."""
    found = {name: choose_colour(name, place) for place, name in enumerate(dict.fromkeys(names))}
    # Twice, for browsers that do not know light-dark().
    return {
        name: light if light == dark else f"{light};background:light-dark({light},{dark})"
        for name, (light, dark) in found.items()
    }


def lighten(colour: str) -> str:
    """A colour of the light page, as bright as a dark page needs it.

    >>> lighten("#6f42b5"), lighten("#ffffff")
    ('#9d7ccf', '#ffffff')
    """
    hue, lightness, saturation = rgb_to_hls(*(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)))
    return _hex(hue, max(lightness, DARK_PAGE[0] + 0.05), saturation)


def choose_colour(name: str, place: int) -> tuple[str, str]:
    """A class's colour on a light and a dark page: that of its name, or of the palette.

    >>> choose_colour("healthy", 0)
    ('#4477aa', '#4477aa')
    >>> choose_colour("Red", 0)
    ('#d22d2d', '#db5757')
    >>> choose_colour("black", 0)
    ('#4c4c4c', '#999999')
    """
    from matplotlib.colors import CSS4_COLORS, to_rgb

    if name.lower() in CSS4_COLORS:
        hue, lightness, purity = rgb_to_hls(*to_rgb(name.lower()))
        saturation = min(purity, STRONGEST)
        light, dark = (_hex(hue, min(max(lightness, low), high), saturation) for low, high in (LIGHT_PAGE, DARK_PAGE))
        return light, dark
    if place < len(PALETTE):
        return PALETTE[place], PALETTE[place]
    found = _hex(place * 0.618 % 1, 0.52, 0.45)  # multiples of the golden section do not repeat a hue
    return found, found


def _hex(hue: float, lightness: float, saturation: float) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in hls_to_rgb(hue, lightness, saturation))
