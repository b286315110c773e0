"""The charts: drawn with matplotlib, saved as PNG and as SVG in the page's colours."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memclf.evaluate.intervals import Interval
from memclf.evaluate.results import Training
from memclf.evaluate.store import BASELINE, ModelId
from memclf.report import captions, formats
from memclf.report.colours import lighten
from memclf.report.labels import CONTROLS, model_order
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
# Distinguishable by line style and by marker as well as by colour.
STYLES: dict[str, tuple[str, str, str]] = {
    "baseline": (ORANGE, "-", "s"),
    "memory": (BLUE, "-", "o"),
    "memory-paper": ("#4fa3d8", "-", "D"),
    "sturdy": ("#6f42b5", "-", "*"),
    "auto": ("#c2185b", "-", "X"),
    "careful": ("#b58be0", "-", "h"),
    "augmented": ("#1a8a66", "-", "^"),
    "majority": (SOFT, ":", "x"),
    "stage1": ("#a9791c", "--", "v"),
    "stage1-paper": ("#c4a15a", "--", "v"),
    "stage1-sturdy": ("#8a6d3b", "--", "^"),
    "stage1-balanced": ("#5c7a29", "--", "<"),
    "measured": ("#00838f", "--", ">"),
    "prior-balanced": ("#d08bbf", "--", "p"),
    "ensemble": ("#8c5a2b", "--", "d"),
    "prior": ("#b0609a", "--", "P"),
    "random": (SOFT, "--", "."),
}
OTHER = (INK, "-", "o")  # models of one's own
UNDRAWN = ("stage1-balanced", "prior-balanced")  # over the severities: lines enough without them
# The colours of models in the page: variables, lighter on a dark page.
HUES = {colour: f"--hue-{colour[1:]}" for colour, _, _ in STYLES.values() if colour not in PAGE}
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
    with matplotlib.rc_context(_settings(name)):
        wide = draw(WIDE)
        chart = _make_chart(name, title, alt, wide, draw(NARROW), caption)
        wide.set_layout_engine("none")  # it is laid out
        wide.savefig(figures / f"{name}.png", dpi=150, facecolor="white", metadata={"Software": None})
    return chart


def draw_chart(name: str, title: str, alt: str, draw: Callable[[float], Any], *, caption: str = "") -> Chart:
    """Draw a chart for a page that has no folder: its SVGs, and no file."""
    import matplotlib

    with matplotlib.rc_context(_settings(name)):
        return _make_chart(name, title, alt, draw(WIDE), draw(NARROW), caption)


def _make_chart(name: str, title: str, alt: str, wide: Any, narrow: Any, caption: str) -> Chart:
    return Chart(name, title, alt, tuple(_svg(each, f"{name}-{k}") for k, each in enumerate((wide, narrow))), caption)


def _settings(name: str) -> dict[str, Any]:
    settings = {"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9.5, "axes.edgecolor": LINE}
    return settings | dict.fromkeys(("text.color", "xtick.color", "ytick.color", "axes.labelcolor"), SOFT)


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
    for colour, variable in (PAGE | {hue: f"var({name})" for hue, name in HUES.items()}).items():
        text = text.replace(colour, variable)
    return re.sub(r"\n\s*", "\n", text)


def style() -> str:
    """The CSS variables that the SVGs of charts use, for light and dark pages."""
    light = "".join(f"{name}:{hue};" for hue, name in HUES.items())
    dark = "".join(f"{name}:{lighten(hue)};" for hue, name in HUES.items())
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _font(found: re.Match[str]) -> str:
    size = re.search(r"([\d.]+)px", found.group())
    weight = "font-weight: 600; " if re.search(r"\b(bold|600|700)\b", found.group()) else ""
    return f"{weight}font-size: {size.group(1)}px;" if size else weight


# --------------------------------------------------------------------------------------------------- the contenders


def contenders(run: Run, folder: Path) -> Chart | None:
    """Draw each contender's mean accuracy with its interval, the best on top.

    The recommended one stands out.
    """
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
        _finish(panel, "x")
        panel.set_xlabel(f"% correct {'under corruption' if run.common else 'on the clean test set'}")
        return whole

    told = "; ".join(f"{run.name(name)} {formats.percent(mean.value)} %" for name, mean in found)
    kinds = {"Blue: recommended": pick is not None, "orange: the baseline": bool(baselines)}
    kinds["hollow: controls"] = any(name.model in CONTROLS for name, _ in found)
    caption = f"Mean accuracy with 95 % intervals. {'; '.join(kind for kind, there in kinds.items() if there)}."
    alt = f"Points with intervals, the best first: {told}."
    return save_chart("contenders", "Everyone’s accuracy", alt, folder, draw, caption=caption)


def _finish(panel: Any, grid: str) -> None:
    panel.grid(axis=grid, color=LINE, lw=0.7)
    panel.set_axisbelow(True)
    panel.tick_params(length=0)
    panel.spines[["top", "right", "left"]].set_visible(False)


# --------------------------------------------------------------------------------------------------- over severities

Lines = dict[str, list[Interval | None]]  # model -> mean at each severity
CLOSE = 0.0075  # lines that are nowhere further apart hide each other
DASH = 7.0  # points: length of the pieces in which lines that coincide take turns


def severities(run: Run, folder: Path) -> Chart | None:
    """Draw robust accuracy over the severities: one panel per training, one line per model.

    Bands are intervals.
    """
    steps = list(run.steps())
    if len(steps) < 2 or not run.field:
        return None
    levels = [level for level, _ in steps]
    found = {training: _lines_of(run, training) for training in _trainings(run)}

    def draw(width: float) -> Any:
        across = min(len(found), 2 if width > NARROW else 1)
        down = -(-len(found) // across)
        models = list(dict.fromkeys(model for each in found.values() for model in each))
        per_row = 3 if width > NARROW else 1
        legend = 0.24 * -(-len(models) // per_row) + 0.15
        whole = figure(width, (3.4 if across == 1 else 2.9) * down + legend)
        panels = np.atleast_1d(whole.subplots(down, across, sharey=True, squeeze=False)).ravel()
        for panel, (training, shown) in zip(panels, found.items(), strict=False):
            _draw_lines(panel, levels, shown)
            if len(found) > 1:
                title = run.name_training(training) or "without training"
                panel.set_title(title, fontsize=10, color=INK, loc="left", fontweight="bold")
        for panel in panels[len(found) :]:
            panel.set_axis_off()
        whole.legend(
            handles=[_legend_mark(run, model) for model in sorted(models, key=model_order)],
            loc="outside lower left",
            ncols=per_row,
            frameon=False,
            labelcolor=INK,
        )
        return whole

    alt = _describe_lines(run, found, levels)
    caption = " ".join(_severity_captions(run, found))
    return save_chart("severities", "Robust accuracy over the severities", alt, folder, draw, caption=caption)


def _trainings(run: Run) -> list[Training]:
    return list(dict.fromkeys(name.training for name in run.field if any(name.training))) or [("", "")]


def _lines_of(run: Run, training: Training) -> Lines:
    """The lines of a panel: the models of a training, and those that have none."""
    names = [n for n in run.field if n.training in (training, ("", "")) and n.model not in UNDRAWN]
    return {name.model: [run.mean(name, asked) for _, asked in run.steps()] for name in names}


def _severity_captions(run: Run, found: dict[Training, Lines]) -> list[str]:
    said = [captions.CAPTIONS["severities"]]
    said += [captions.CAPTIONS["thin"]] if any(name.model in CONTROLS for name in run.field) else []
    said += [captions.CAPTIONS["undrawn"]] if any(name.model in UNDRAWN for name in run.field) else []
    groups = []
    for training, shown in found.items():
        named = f" ({run.name_training(training)})" if len(found) > 1 else ""
        groups += [f"{formats.join_words(map(run.labels.model, group))}{named}" for group in coinciding(shown)]
    return [*said, f"Lines that coincide take turns: {'; '.join(groups)}."] if groups else said


def coinciding(shown: Lines) -> list[list[str]]:
    """Groups of models whose lines hide each other."""
    groups: list[list[str]] = []
    for model, values in shown.items():
        for group in groups:
            other = shown[group[0]]
            if all(
                a is not None and b is not None and abs(a.value - b.value) < CLOSE
                for a, b in zip(values, other, strict=True)
            ):
                group.append(model)
                break
        else:
            groups.append([model])
    return [group for group in groups if len(group) > 1]


def _draw_lines(panel: Any, levels: Sequence[int], shown: Lines) -> None:
    """Lines that coincide are drawn in pieces that take turns, with their markers side by side."""
    turns = {model: (place, len(group)) for group in coinciding(shown) for place, model in enumerate(group)}
    for model in sorted(shown, key=lambda each: (each not in CONTROLS, model_order(each))):  # controls below
        points = [(level, value) for level, value in zip(levels, shown[model], strict=True) if value is not None]
        if not points:
            continue
        colour, style, mark = STYLES.get(model, OTHER)
        place, count = turns.get(model, (0, 1))
        control = model in CONTROLS
        width = 2 if not control or count > 1 else 1.2
        x, y = [level for level, _ in points], [100 * value.value for _, value in points]
        if not control:
            low, high = ([100 * value[end] for _, value in points] for end in (1, 2))
            panel.fill_between(x, low, high, color=colour, alpha=0.14, lw=0)
        dashes: Any = (DASH / width * place, (DASH / width, DASH / width * (count - 1))) if count > 1 else style
        panel.plot(x, y, ls=dashes, color=colour, lw=width)
        dodge = 0.07 * (place - (count - 1) / 2)
        panel.plot([each + dodge for each in x], y, mark, color=colour, ms=3.5 if control else 5)
    panel.set_xticks(levels, ["clean" if not level else str(level) for level in levels])
    panel.set_xlabel("severity")
    panel.set_ylabel("accuracy, %")
    _finish(panel, "y")


def _legend_mark(run: Run, model: str) -> Any:
    from matplotlib.lines import Line2D

    colour, style, mark = STYLES.get(model, OTHER)
    control = model in CONTROLS
    size, width = (3.5, 1.2) if control else (5, 2)
    return Line2D([], [], color=colour, ls=style, marker=mark, label=run.labels.model(model), ms=size, lw=width)


def _describe_lines(run: Run, found: dict[Training, Lines], levels: Sequence[int]) -> str:
    parts = []
    for training, shown in found.items():
        for model in dict.fromkeys((BASELINE, "memory", run.subject)):
            known = [value for value in shown.get(model, [None]) if value is not None]
            if len(known) == len(levels):
                first, last = formats.percent(known[0].value), formats.percent(known[-1].value)
                name = run.full_name(ModelId(model, *training))
                parts.append(f"{name} from {first} % clean to {last} % at severity {levels[-1]}")
    return "Lines of accuracy over severity. " + "; ".join(parts) + "."
