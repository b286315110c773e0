"""The charts: drawn once with matplotlib, kept as PNG, and as SVG that takes on the colours of the page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memclf.report import contents, words
from memclf.report.run import Contender, Run
from memclf.report.tables import Number, Table

# Colours that nobody uses by chance: in the page they become its variables, so that charts follow light and dark.
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
# Told apart by eyes that see few colours, by line style and by marker as well.
STYLES: dict[str, tuple[str, str, str]] = {
    "baseline": (ORANGE, "-", "s"),
    "memory": (BLUE, "-", "o"),
    "memory-paper": ("#4fa3d8", "-", "D"),
    "sturdy": ("#6f42b5", "-", "*"),
    "careful": ("#b58be0", "-", "h"),
    "augmented": ("#1a8a66", "-", "^"),
    "majority": (SOFT, ":", "x"),
    "stage1": ("#a9791c", "--", "v"),
    "stage1-paper": ("#c4a15a", "--", "v"),
    "stage1-sturdy": ("#8a6d3b", "--", "^"),
    "stage1-balanced": ("#5c7a29", "--", "<"),
    "prior-balanced": ("#d08bbf", "--", "p"),
    "ensemble": ("#8c5a2b", "--", "d"),
    "prior": ("#b0609a", "--", "P"),
    "random": (SOFT, "--", "."),
}
UNDRAWN = ("stage1-balanced", "prior-balanced")  # over the severities: lines enough without them
PALE = 0.35  # how strong a colour is for what may be chance; report.css has the same
WIDE, NARROW = 8.0, 4.1  # inches; at 96 pixels an inch about the column of a desktop and of a phone


@dataclass(frozen=True)
class Chart:
    """A figure of the report: `svgs` for wide and narrow pages, empty where the page shows it in its own way."""

    name: str
    title: str
    alt: str
    svgs: tuple[str, ...] = ()


def figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def kept(name: str, title: str, alt: str, folder: Path, draw: Callable[[float], Any], *, page: bool = True) -> Chart:
    """Draw, write the PNG into `folder`, and return the chart with its SVGs."""
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    settings = {"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9.5, "axes.edgecolor": LINE}
    settings |= dict.fromkeys(("text.color", "xtick.color", "ytick.color", "axes.labelcolor"), SOFT)
    with matplotlib.rc_context(settings):
        draw(WIDE).savefig(folder / f"{name}.png", dpi=150, facecolor="white", metadata={"Software": None})
        svgs = tuple(_svg(draw(width), f"{name}-{k}") for k, width in enumerate((WIDE, NARROW))) if page else ()
    return Chart(name, title, alt, svgs)


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


# ------------------------------------------------------------------------------------------------------ the charts


def severities(run: Run, folder: Path) -> Chart | None:
    """Robust accuracy over the severities: one panel per training, one line per model, bands are intervals."""
    steps = list(contents.steps(run))
    if len(steps) < 2 or not run.field or not run.crossed:
        return None
    trainings: list[tuple[str, str]] = list(
        dict.fromkeys((name.recipe, name.backbone) for name in run.field if any(name[1:]))
    ) or [("", "")]
    unpaired = [name for name in run.field if not any(name[1:]) and name.model not in UNDRAWN]

    def lines(training: tuple[str, str]) -> dict[str, list[Any]]:
        names = [name for name in run.field if name[1:] == training and name.model not in UNDRAWN]
        names += [name for name in unpaired if name not in names]
        return {name.model: [run.mean(name, asked) for _, asked in steps] for name in names}

    found = {training: lines(training) for training in trainings}
    levels = [level for level, _ in steps]

    def draw(width: float) -> Any:
        across = min(len(found), 2 if width > NARROW else 1)
        down = -(-len(found) // across)
        models = list(dict.fromkeys(model for each in found.values() for model in each))
        per_row = 3 if width > NARROW else 1
        legend = 0.24 * -(-len(models) // per_row) + 0.15
        whole = figure(width, (3.4 if across == 1 else 2.9) * down + legend)
        panels = np.atleast_1d(whole.subplots(down, across, sharey=True, squeeze=False)).ravel()
        for panel, (training, shown) in zip(panels, found.items(), strict=False):
            _lines(panel, levels, shown)
            if len(found) > 1:
                title = run.called(training) or "without training"
                panel.set_title(title, fontsize=10, color=INK, loc="left", fontweight="bold")
        for panel in panels[len(found) :]:
            panel.set_axis_off()
        seen: dict[str, Any] = {}
        for panel in panels[: len(found)]:
            seen |= {name: mark for mark, name in zip(*panel.get_legend_handles_labels(), strict=True)}
        names = [name for name in map(words.model, sorted(models, key=words.rank)) if name in seen]
        marks = [seen[name] for name in names]
        whole.legend(marks, names, loc="outside lower left", ncols=per_row, frameon=False, labelcolor=INK)
        return whole

    alt = _told(run, found, levels)
    return kept("severities", "Robust accuracy over the severities", alt, folder, draw)


def _lines(panel: Any, levels: Sequence[int], shown: dict[str, list[Any]]) -> None:
    for model in sorted(shown, key=lambda each: (each not in words.CONTROLS, words.rank(each))):  # controls below
        values = shown[model]
        known = [k for k, value in enumerate(values) if value is not None]
        if not known:
            continue
        colour, style, mark = STYLES.get(model, (SOFT, "-", "o"))
        x = [levels[k] for k in known]
        control = model in words.CONTROLS
        low, high = ([100 * values[k][end] for k in known] for end in (1, 2))
        if not control:
            panel.fill_between(x, low, high, color=colour, alpha=0.14, lw=0)
        panel.plot(
            x,
            [100 * values[k].value for k in known],
            style,
            color=colour,
            marker=mark,
            ms=3.5 if control else 5,
            lw=1.2 if control else 2,
            label=words.model(model),
        )
    panel.set_xticks(levels, ["clean" if not level else str(level) for level in levels])
    panel.set_xlabel("severity")
    panel.set_ylabel("accuracy, %")
    panel.grid(axis="y", color=LINE, lw=0.7)
    panel.set_axisbelow(True)
    panel.tick_params(length=0)
    panel.spines[["top", "right", "left"]].set_visible(False)


def _told(run: Run, found: dict[tuple[str, str], dict[str, list[Any]]], levels: Sequence[int]) -> str:
    parts = []
    for training, shown in found.items():
        for model in ("baseline", "memory", "sturdy"):
            known = [value for value in shown.get(model, [None]) if value is not None]
            if len(known) == len(levels):
                first, last = words.percent(known[0].value), words.percent(known[-1].value)
                name = run.full_name(Contender(model, *training))
                parts.append(f"{name} from {first} % clean to {last} % at severity {levels[-1]}")
    return "Lines of accuracy over severity. " + "; ".join(parts) + "."


def standing(run: Run, folder: Path) -> Chart | None:
    """Everyone's mean accuracy and balanced accuracy under corruption, as points with intervals."""
    if not run.field:
        return None
    found = [(name, run.mean(name), run.mean(name, balanced=True)) for name in run.field]
    several = len({name[1:] for name in run.field if any(name[1:])}) > 1

    def draw(width: float) -> Any:
        row = 0.4 if several and width <= NARROW else 0.36 if len(found) < 12 else 0.29
        whole = figure(width, row * len(found) + 0.8)
        panel = whole.subplots()
        for place, (name, plain, balanced) in enumerate(found):
            colour = STYLES.get(name.model, (SOFT, "-", "o"))[0]
            for value, shift, face in ((plain, -0.17, colour), (balanced, 0.17, "none")):
                if value is None:
                    continue
                ends = [100 * value.low, 100 * value.high]
                panel.plot(ends, [place + shift] * 2, color=colour, lw=1.4, solid_capstyle="round")
                panel.plot(100 * value.value, place + shift, "o", color=colour, mfc=face, ms=5.5, mew=1.4)
        panel.set_yticks(range(len(found)), [_label(run, name, several, width) for name, _, _ in found], color=INK)
        panel.invert_yaxis()
        panel.grid(axis="x", color=LINE, lw=0.7)
        panel.set_axisbelow(True)
        panel.tick_params(length=0)
        panel.spines[["top", "right", "left"]].set_visible(False)
        panel.set_xlabel("% right under corruption")
        return whole

    told = "; ".join(f"{run.full_name(name)} {words.percent(plain.value)} %" for name, plain, _ in found if plain)
    return kept("contenders", "Everyone under corruption", f"Points with intervals: {told}.", folder, draw)


def _label(run: Run, name: Contender, several: bool, width: float) -> str:
    """On a narrow page shorter, and on two lines."""
    training = run.called(name[1:]) if several and any(name[1:]) else ""
    if width > NARROW:
        return f"{words.model(name.model)} · {training}" if training else words.model(name.model)
    short = words.SHORT.get(name.model, words.model(name.model))
    return f"{short}\n{training}" if training else short


def heat(run: Run, table: Table, folder: Path) -> Chart | None:
    """Gain for every condition; the page shows the table itself, coloured, so only the PNG is made."""
    if not table.rows:
        return None
    values = np.array(
        [[np.nan if not isinstance(c, Number) or c.value is None else 100 * c.value for c in r[1:]] for r in table.rows]
    )
    sure = np.array([[isinstance(c, Number) and c.sure for c in r[1:]] for r in table.rows])
    most = max(1.0, float(np.nanmax(np.abs(values)))) if not np.isnan(values).all() else 1.0
    tints = np.where(sure, values, PALE * values)

    def draw(width: float) -> Any:
        from matplotlib.colors import LinearSegmentedColormap

        colours = LinearSegmentedColormap.from_list("gain", [ORANGE, "#ffffff", BLUE])
        whole = figure(width, 0.3 * len(table.rows) + 1.1)
        panel = whole.subplots()
        panel.imshow(tints, cmap=colours, vmin=-most, vmax=most, aspect="auto")
        for row, column in np.ndindex(*values.shape):
            value = float(values[row, column])
            if not np.isnan(value):
                ink = "white" if abs(float(tints[row, column])) > 0.6 * most else INK
                weight = "bold" if sure[row, column] else "normal"
                said = words.points(value / 100)
                panel.text(column, row, said, ha="center", va="center", color=ink, fontsize=9, fontweight=weight)
        heads = [f"{c.group} {c.title}".strip() for c in table.columns[1:]]
        panel.set_xticks(range(values.shape[1]), heads)
        panel.set_yticks(range(values.shape[0]), [str(row[0]) for row in table.rows], color=INK)
        panel.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        panel.spines[:].set_visible(False)
        return whole

    return kept(table.name, table.title, table.title, folder, draw, page=False)
