"""The charts: drawn with matplotlib, saved as PNG, and as SVG that takes on the colours of the page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memclf.evaluate.store import BASELINE
from memclf.report import formats
from memclf.report.labels import CONTROLS
from memclf.report.run import Run
from memclf.report.section import Chart

# Unusual colours: in the page they become its variables, so that charts follow light and dark.
INK, SOFT, LINE = "#1c2126", "#667080", "#d5dae1"
BLUE, ORANGE, PAPER = "#0b69a8", "#c2570c", "#fefefd"
PAGE = {
    INK: "currentColor",
    SOFT: "var(--soft)",
    LINE: "var(--line)",
    BLUE: "var(--win)",
    ORANGE: "var(--lose)",
    PAPER: "var(--page)",
}
WIDE, NARROW = 8.0, 4.1  # inches; at 96 pixels an inch about the column of a desktop and of a phone


def figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_chart(
    name: str, title: str, alt: str, folder: Path, draw: Callable[[float], Any], *, caption: str = ""
) -> Chart:
    """Draw, write FOLDER/figures/NAME.png, and return the chart with its SVGs."""
    import matplotlib

    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    settings = {"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9.5, "axes.edgecolor": LINE}
    settings |= dict.fromkeys(("text.color", "xtick.color", "ytick.color", "axes.labelcolor"), SOFT)
    with matplotlib.rc_context(settings):
        draw(WIDE).savefig(figures / f"{name}.png", dpi=150, facecolor="white", metadata={"Software": None})
        svgs = tuple(_svg(draw(width), f"{name}-{k}") for k, width in enumerate((WIDE, NARROW)))
    return Chart(name, title, alt, svgs, caption)


def _svg(drawn: Any, name: str) -> str:
    """An SVG to stand inside a page: no addresses, no fixed size, the page's font and colours."""
    import matplotlib

    file = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        drawn.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r'\sxmlns(:xlink)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r"font(-family)?: ?[^;\"]*(?:DejaVu|sans-serif)[^;\"]*;?", _font, text)
    text = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" aria-hidden="true">', text, count=1)
    for colour, variable in PAGE.items():
        text = text.replace(colour, variable)
    return re.sub(r"\n\s*", "\n", text)


def _font(found: re.Match[str]) -> str:
    size = re.search(r"([\d.]+)px", found.group())
    weight = "font-weight: 600; " if re.search(r"\b(bold|600|700)\b", found.group()) else ""
    return f"{weight}font-size: {size.group(1)}px;" if size else weight


# --------------------------------------------------------------------------------------------------- the contenders


def contenders(run: Run, folder: Path) -> Chart | None:
    """Everyone's mean accuracy as a point with its interval, the best on top; the recommended one stands out."""
    found = [(name, mean) for name in run.field if (mean := run.mean(name, run.judged)) is not None]
    if not found:
        return None
    found.sort(key=lambda each: -each[1].value)  # stable: equal ones stay in the order of the report
    pick = run.verdict.pick if run.verdict is not None else None
    baselines = [mean.value for name, mean in found if name.model == BASELINE]

    def draw(width: float) -> Any:
        wide = width > NARROW
        row = 0.3 if wide else 0.46  # on a narrow page the name stands above its point
        whole = figure(width, row * len(found) + 0.55)
        panel = whole.subplots()
        if len(baselines) == 1:
            panel.axvline(100 * baselines[0], color=ORANGE, lw=1, ls=(0, (2, 3)))
        for place, (name, mean) in enumerate(found):
            chosen, control = name == pick, name.model in CONTROLS
            colour = BLUE if chosen else ORANGE if name.model == BASELINE else SOFT if control else INK
            panel.plot([100 * mean.low, 100 * mean.high], [place] * 2, color=colour, lw=2.2 if chosen else 1.3)
            face = PAPER if control and not chosen else colour
            panel.plot(100 * mean.value, place, "o", color=colour, mfc=face, ms=8 if chosen else 5.5, mew=1.4)
            style: dict[str, Any] = {"color": colour if chosen else INK, "fontweight": "bold" if chosen else "normal"}
            said = formats.percent(mean.value)
            panel.annotate(said, (1, place), (6, 0), ("axes fraction", "data"), "offset points", va="center", **style)
            if not wide:
                at = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
                panel.annotate(run.name(name, short=True), (0, place), (0, 7), va="bottom", fontsize=9, **at, **style)
        panel.set_yticks(range(len(found)), [run.name(name) if wide else "" for name, _ in found], color=INK)
        if wide and pick is not None:
            for label, (name, _) in zip(panel.get_yticklabels(), found, strict=True):
                label.set(**({"color": BLUE, "fontweight": "bold"} if name == pick else {}))
        panel.set_ylim(len(found) - 0.5, -0.5 if wide else -0.9)
        panel.grid(axis="x", color=LINE, lw=0.7)
        panel.set_axisbelow(True)
        panel.tick_params(length=0)
        panel.spines[["top", "right", "left"]].set_visible(False)
        panel.set_xlabel(f"% correct {'under corruption' if run.common else 'on the clean test set'}")
        return whole

    told = "; ".join(f"{run.name(name)} {formats.percent(mean.value)} %" for name, mean in found)
    kinds = {"Blue: recommended": pick is not None, "orange: the baseline": bool(baselines)}
    kinds["hollow: controls"] = any(name.model in CONTROLS for name, _ in found)
    caption = f"Mean accuracy with 95 % intervals. {'; '.join(kind for kind, there in kinds.items() if there)}."
    alt = f"Points with intervals, the best first: {told}."
    return save_chart("contenders", "Everyone’s accuracy", alt, folder, draw, caption=caption)
