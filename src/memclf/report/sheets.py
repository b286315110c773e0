"""The exhibits as PNG sheets, for report.md and for slides; the page sets the same pictures in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memclf.report import formats
from memclf.report.charts import BLUE, INK, LINE, ORANGE, SOFT
from memclf.report.run import Run
from memclf.report.section import Chart

WIDTH, GAP, LETTERS = 1200, 18, 19  # pixels
WIDEST = 560  # of one picture
SQUARE = "■"


@dataclass(frozen=True)
class Tile:
    """A picture (or the place of one) and lines of text below it, each with its colour."""

    picture: Path | None
    lines: tuple[tuple[str, str], ...] = ()


def opening(run: Run, folder: Path) -> Chart | None:
    """One picture clean and corrupted, with what each model answers."""
    found = run.exhibits.get("opening") or {}
    pictures = [_file(run, found.get(side)) for side in ("clean", "corrupted")]
    if not all(pictures):
        return None
    truth, condition = str(found.get("truth", "")), run.labels.condition(str(found.get("condition", "")))
    tiles = []
    for file, side, title in zip(pictures, ("clean", "corrupted"), ("Clean", condition), strict=True):
        lines = [(f"{title}; truth: {run.label(truth)}", INK)]
        for answer in found.get("answers") or []:
            said = str(answer.get(side, ""))
            name = run.labels.model(str(answer.get("model")))
            mark = "✓" if said == truth else "✗"
            lines.append((f"{mark} {name}: {run.label(said)}", BLUE if said == truth else ORANGE))
        tiles.append(Tile(file, tuple(lines)))
    told = f"{run.label(truth)}, clean and under {condition}"
    return _save_sheet("opening", "One picture, clean and corrupted", told, [tiles], folder)


def memories(run: Run, folder: Path) -> Chart | None:
    """Each memory in a row with cases of its cluster."""
    rows = []
    for each in run.exhibits.get("memories") or []:
        label = "" if each.get("label") is None else f" · {run.label(each.get('label'))}"
        title = f"memory {each.get('number')}{label}"
        lines = ((title, INK), (f"{each.get('cases')} cases", SOFT))
        members = [Tile(file) for member in each.get("members") or [] if (file := _file(run, member))]
        rows.append([Tile(_file(run, each.get("case")), lines), *members])
    return _save_sheet("memories", "Memories and their clusters", "", rows, folder)


def routes(run: Run, folder: Path) -> Chart | None:
    """Queries beside the memories that they were routed to."""
    known = {(each.get("model"), each.get("number")): each for each in run.exhibits.get("memories") or []}
    tiles = []
    for each in run.exhibits.get("routes") or []:
        number = each.get("memory")
        found = isinstance(number, int) and number >= 0
        memory = known.get((each.get("model"), number if found else each.get("nearest"))) or {}
        there = f"→ memory {number}" if found else "→ unknown; the nearest:"
        truth, said = str(each.get("truth")), str(each.get("answer"))
        query = ((run.labels.condition(str(each.get("condition"))), INK), (f"truth: {run.label(truth)}", SOFT))
        numbers = f"{formats.two_digits(each.get('similarity'))} against {formats.two_digits(each.get('threshold'))}"
        mark = (f"{'✓' if said == truth else '✗'} {run.label(said)}", BLUE if said == truth else ORANGE)
        tiles += [Tile(_file(run, each.get("case")), query)]
        tiles += [Tile(_file(run, memory.get("case")), ((there, INK), (numbers, SOFT), mark))]
    return _save_sheet("routes", "Sample routes: query and memory", "", _in_rows(tiles), folder)


def overlays(run: Run, folder: Path) -> Chart | None:
    """What the expert feature saw, clean and corrupted."""
    tiles = []
    for each in run.exhibits.get("overlays") or []:
        numbers = [
            f"{key.replace('_', ' ')} {formats.two_digits(value)}" for key, value in (each.get("numbers") or {}).items()
        ]
        legend = [
            (
                f"{SQUARE} {part.get('name')}: {formats.percent(part.get('share'))} %",
                formats.safe_colour(part.get("colour")),
            )
            for part in each.get("legend") or []
        ]
        lines = [(run.labels.condition(str(each.get("condition"))), INK), *legend, *((text, SOFT) for text in numbers)]
        tiles.append(Tile(_file(run, each.get("case")), tuple(lines)))
    return _save_sheet("overlays", "What the expert feature sees", "", _in_rows(tiles), folder)


def hardest(run: Run, folder: Path) -> Chart | None:
    """Test cases that most answers get wrong."""
    tiles = []
    for each in run.exhibits.get("hardest") or []:
        taken = f"{run.label(each.get('truth'))}, taken for {run.label(each.get('mostly_answered'))}"
        wrong = f"{formats.percent(each.get('wrong_share'))} % wrong"
        tiles.append(Tile(_file(run, each.get("case")), ((taken, INK), (wrong, SOFT))))
    return _save_sheet("hardest", "Hardest test cases", "", _in_rows(tiles), folder)


def _file(run: Run, case: Any) -> Path | None:
    return run.picture(case.get("picture")) if isinstance(case, dict) else None


def _in_rows(tiles: Sequence[Tile]) -> list[Sequence[Tile]]:
    return [tiles[k : k + 4] for k in range(0, len(tiles), 4)]


def _save_sheet(name: str, title: str, alt: str, rows: Sequence[Sequence[Tile]], folder: Path) -> Chart | None:
    """Paint the rows into FOLDER/figures/NAME.png; None when there is no picture in them."""
    if not any(tile.picture for row in rows for tile in row):
        return None
    import matplotlib
    from PIL import Image, ImageDraw, ImageFont

    # A font with many alphabets that comes with matplotlib.
    font = ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), LETTERS)
    across = max(len(row) for row in rows)
    width = min(WIDEST, (WIDTH - GAP * (across + 1)) // across)
    pictures = [[_open_picture(tile.picture, width) for tile in row] for row in rows]
    heights = [
        max(picture.height for picture in line) + (LETTERS + 6) * max(len(tile.lines) for tile in row) + GAP
        for line, row in zip(pictures, rows, strict=True)
    ]
    sheet = Image.new("RGB", (GAP + across * (width + GAP), GAP + sum(heights)), "white")
    draw = ImageDraw.Draw(sheet)
    top = GAP
    for line, row, height in zip(pictures, rows, heights, strict=True):
        for place, (picture, tile) in enumerate(zip(line, row, strict=True)):
            left = GAP + place * (width + GAP)
            sheet.paste(picture, (left, top))
            draw.rectangle((left, top, left + picture.width - 1, top + picture.height - 1), outline=LINE)
            for number, (text, colour) in enumerate(tile.lines):
                below = top + picture.height + 4 + number * (LETTERS + 6)
                swatch = text.startswith(SQUARE)  # bright letters could not be read
                draw.text((left, below), _shorten_to(text, font, width), fill=SOFT if swatch else colour, font=font)
                if swatch:
                    draw.text((left, below), SQUARE, fill=colour, font=font)
        top += height
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    sheet.save(folder / "figures" / f"{name}.png")
    return Chart(name, title, alt or title)


def _open_picture(file: Path | None, width: int) -> Any:
    """The picture at this width; an empty place when there is none or it cannot be read."""
    from PIL import Image

    try:
        if file is not None:
            with Image.open(file) as picture:
                height = max(1, min(width, round(picture.height * width / picture.width)))
                return picture.convert("RGB").resize((round(picture.width * height / picture.height), height))
    except OSError:
        pass
    return Image.new("RGB", (width, width // 2), "#f2f4f6")


def _shorten_to(text: str, font: Any, width: int) -> str:
    text = " ".join(text.split())
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(f"{text}…") > width:
        text = text[:-1]
    return f"{text}…"
