"""The exhibits as PNG sheets, for report.md and for slides; the page sets the same pictures in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memclf.report import words
from memclf.report.charts import BLUE, INK, LINE, ORANGE, Chart, figure, kept
from memclf.report.run import Run


def opening(run: Run, folder: Path) -> Chart | None:
    """One picture clean and corrupted, with what each model answers."""
    found = run.exhibits.get("opening") or {}
    pictures = [run.picture(found.get(side)) for side in ("clean", "corrupted")]
    if not all(pictures):
        return None
    answers = found.get("answers") or []
    truth, condition = str(found.get("truth", "")), words.condition(str(found.get("condition", "")))

    def draw(width: float) -> Any:
        whole = figure(width, 2.4 + 0.22 * len(answers))
        sides = (("clean", "Clean"), ("corrupted", condition))
        for panel, file, (side, title) in zip(whole.subplots(1, 2), pictures, sides, strict=True):
            _show(panel, file)
            panel.set_title(_plain(f"{title}; true class: {truth}"), fontsize=10, color=INK, loc="left")
            for line, answer in enumerate(answers):
                said = str(answer.get(side, ""))
                colour = BLUE if said == truth else ORANGE
                text = f"{'✓' if said == truth else '✗'} {words.model(str(answer.get('model')))}: {said}"
                place = (0, -0.07 - 0.11 * line)
                panel.annotate(_plain(text), place, xycoords="axes fraction", va="top", color=colour, fontsize=9)
        return whole

    told = f"{truth}, clean and under {condition}"
    return kept("opening", "One picture, clean and corrupted", told, folder, draw, page=False)


def memories(run: Run, folder: Path) -> Chart | None:
    """Each memory in a row with cases of its cluster."""
    found = [each for each in run.exhibits.get("memories") or [] if run.picture(each.get("picture"))]
    if not found:
        return None
    rows = []
    for each in found:
        title = f"memory {each.get('number')}: {each.get('label')}\n{each.get('cases')} cases"
        members = [(file, "") for file in map(run.picture, each.get("members") or []) if file]
        rows.append([(run.picture(each["picture"]), title), *members])
    return _grid("memories", "Memories and their clusters", rows, folder)


def routes(run: Run, folder: Path) -> Chart | None:
    """Queries beside the memories that they were routed to."""
    known = {(each.get("model"), each.get("number")): each for each in run.exhibits.get("memories") or []}
    rows = []
    for each in run.exhibits.get("routes") or []:
        query = run.picture(each.get("picture"))
        if query is None:
            continue
        memory = run.picture((known.get((each.get("model"), each.get("memory"))) or {}).get("picture"))
        similarity, threshold = each.get("similarity"), each.get("threshold")
        there = f"memory {each.get('memory')}" if each.get("memory", -1) >= 0 else "unknown"
        numbers = f"{_two(similarity)} against {_two(threshold)}"
        said = f"{words.condition(str(each.get('condition')))}: {each.get('truth')}"
        rows.append([(query, said), (memory, f"{there}, {numbers}\nanswer: {each.get('answer')}")])
    paired = [[cell for row in rows[k : k + 2] for cell in row] for k in range(0, len(rows), 2)]
    return _grid("routes", "Sample routes: query and memory", paired, folder) if rows else None


def overlays(run: Run, folder: Path) -> Chart | None:
    """What the expert feature saw, clean and corrupted."""
    found = [(run.picture(each.get("picture")), each) for each in run.exhibits.get("overlays") or []]
    cells = [(file, f"{words.condition(str(each.get('condition')))}\n{_numbers(each)}") for file, each in found if file]
    rows = [cells[k : k + 4] for k in range(0, len(cells), 4)]
    return _grid("overlays", "What the expert feature sees", rows, folder) if rows else None


def hardest(run: Run, folder: Path) -> Chart | None:
    """Test cases that most answers get wrong."""
    cells: list[tuple[Path | None, str]] = []
    for each in run.exhibits.get("hardest") or []:
        file = run.picture(each.get("picture"))
        if file is not None:
            taken = f"{each.get('truth')}, taken for {each.get('mostly_answered')}"
            cells.append((file, f"{taken}\nwrong: {words.percent(each.get('wrong_share'))} %"))
    rows = [cells[k : k + 4] for k in range(0, len(cells), 4)]
    return _grid("hardest", "Hardest test cases", rows, folder) if rows else None


def _numbers(each: dict[str, Any]) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {_two(value)}" for key, value in (each.get("numbers") or {}).items())


def _two(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, int | float) else "–"


def _grid(name: str, title: str, rows: Sequence[Sequence[tuple[Path | None, str]]], folder: Path) -> Chart:
    across = max(len(row) for row in rows)

    def draw(width: float) -> Any:
        whole = figure(width, len(rows) * (width / across * 0.75 + 0.45))
        panels = whole.subplots(len(rows), across, squeeze=False)
        for panel in panels.ravel():
            panel.set_axis_off()
        for line, row in zip(panels, rows, strict=True):
            for panel, (file, text) in zip(line, row, strict=False):
                _show(panel, file)
                panel.set_title(_plain(text), fontsize=8, color=INK, loc="left")
        return whole

    return kept(name, title, title, folder, draw, page=False)


def _show(panel: Any, file: Path | None) -> None:
    from PIL import Image

    panel.set_axis_off()
    if file is None:
        return
    with Image.open(file) as picture:
        panel.imshow(picture.convert("RGB"))
    panel.add_patch(_frame(panel))


def _frame(panel: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((0, 0), 1, 1, transform=panel.transAxes, fill=False, ec=LINE, lw=0.8)


def _plain(text: str) -> str:
    """No mathematics in labels that happen to hold dollars."""
    return text.replace("$", r"\$")
