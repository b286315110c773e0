"""How the report shows a single case: as a picture, as columns of a table, or as a text."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import mutual_info_score

from memclf._numbers import Array, format_number
from memclf.cases import containers
from memclf.evaluate.kinds import column_names, kind_of, shorten

View = dict[str, Any]  # {"picture": path}, {"columns": {name: value}} or {"text": text}

SHARP = 16_000  # bytes up to which a picture stays a PNG
TEXT = 280  # characters of a text
VALUE = 40  # characters of one entry of a table
COLUMNS = 8
FEW = 3  # columns of a case in a few words
SEARCHED = 300  # columns among which the telling ones are looked for
BINS = 5
SIDE, GAP, LINE = 160, 12, 15  # pixels of a contact sheet: a picture, the space around it, a line below it
PALE, PAINT = 0.55, 0.7  # shares of white and of a mask's colour in a painted picture


class CaseViews:
    """Views of single cases; pictures are written into the folder ``exhibits`` of a run.

    Parameters
    ----------
    run : Path
        The folder of the run.
    X, labels
        The test cases and their labels: of a table with many columns, those that tell most about the labels are shown.
    """

    def __init__(self, run: Path, X: Any, labels: Array):
        self.run = run
        self.kind = kind_of(X)
        self.columns = telling_columns(X, labels) if self.kind == "table" else []
        self._written: set[str] = set()

    def show(self, name: str, X: Any, position: int, side: int) -> View:
        """One case of X as the report shows it.

        `name` names the file and `side` is the longer side in pixels if it is a picture.
        """
        if self.kind == "images":
            return {"picture": self.save(name, read_pixels(X[position]), side)}
        if self.kind == "table":
            return {"columns": dict(zip(*self._row(X, position), strict=True))}
        return {"text": shorten(X[position] if isinstance(X, Sequence) else list(X)[position], TEXT)}

    def _row(self, X: Any, position: int) -> tuple[list[str], list[str]]:
        names, row = column_names(X), _read_row(X, position)
        return [names[k] for k in self.columns], [as_text(row[k]) for k in self.columns]

    def save(self, name: str, pixels: Any, side: int | None) -> str:
        """Write a picture at display size and return its path relative to the run."""
        from PIL import Image

        folder = self.run / "exhibits"
        folder.mkdir(parents=True, exist_ok=True)
        picture = Image.fromarray(pixels if side is None else resize(pixels, side))
        content, suffix = _encode(picture, format="PNG", optimize=True), ".png"
        if len(content) > SHARP:
            content, suffix = _encode(picture, format="JPEG", quality=85, subsampling=0), ".jpg"
        (folder / f"{name}{suffix}").write_bytes(content)
        self._written.add(f"{name}{suffix}")
        return f"exhibits/{name}{suffix}"

    def remove_old_pictures(self) -> None:
        """Delete the pictures of exhibits that were written before these."""
        for picture in (self.run / "exhibits").glob("*.*"):
            if picture.name not in self._written and picture.suffix in (".png", ".jpg"):
                picture.unlink()


def show_in_words(X: Any, labels: Array, columns: int = FEW) -> list[dict[str, str]]:
    """Each case in a few words: names and values of the columns that tell most about the labels.

    A case that is no row of a table is one entry without a name.

    >>> show_in_words([[1.0, 5.25], [2.0, 5.25]], np.array([0, 1]), columns=1)
    [{'x0': '1'}, {'x0': '2'}]
    """
    if kind_of(X) != "table":
        return [{"": shorten(case, VALUE)} for case in X]
    names, chosen = column_names(X), telling_columns(X, labels, columns)
    return [
        {names[k]: as_text(row[k]) for k in chosen}
        for row in (_read_row(X, position) for position in range(containers.count(X)))
    ]


def _read_row(X: Any, position: int) -> list[Any]:
    picked = containers.take(X, np.array([position]))
    if containers.is_table(picked):
        return list(containers.as_sequence(picked)[0].values())
    return list((picked.toarray() if sp.issparse(picked) else np.asarray(picked)).reshape(-1).tolist())


def telling_columns(X: Any, labels: Array, columns: int = COLUMNS) -> list[int]:
    """Positions of the columns to show: those with most information about the labels.

    If there are few columns, all are shown.

    >>> telling_columns(np.c_[np.zeros((40, 9)), np.arange(40) % 2], np.arange(40) % 2)[-1]
    9
    """
    names = column_names(X)
    if len(names) <= columns:
        return list(range(len(names)))
    told = [mutual_info_score(labels, _binned(X, k)) for k in range(min(SEARCHED, len(names)))]
    return sorted(np.argsort(-np.array(told), kind="stable")[:columns].tolist())


def _binned(X: Any, column: int) -> Array:
    """A column as few groups: quantiles of numbers, everything else as it is."""
    picked = containers.take_columns(X, np.array([column]))
    values = (picked.toarray() if sp.issparse(picked) else np.asarray(picked)).reshape(-1)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        return np.unique(values.astype(str), return_inverse=True)[1]
    edges = np.nanquantile(numbers, np.linspace(0, 1, BINS + 1)[1:-1]) if np.isfinite(numbers).any() else []
    return np.searchsorted(edges, numbers)


def as_text(value: Any) -> str:
    """An entry of a table, short.

    >>> as_text(3.14159265), as_text(46130.0), as_text(7), as_text(float("nan")), as_text("often")
    ('3.142', '46,130', '7', '–', 'often')
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, (float, np.floating)):
        return format_number(float(value))
    return shorten(str(value).removesuffix(" 00:00:00"), VALUE)  # a date without a time of day


def read_pixels(case: Any) -> Any:
    """An image as uint8 pixels, grey or in colours; from the file if the case is a path."""
    if isinstance(case, (str, Path)):
        from PIL import Image, ImageOps

        with Image.open(case) as picture:
            return np.asarray(ImageOps.exif_transpose(picture).convert("RGB"))
    pixels = np.asarray(case)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if pixels.dtype == np.uint8:
        return pixels
    top = 1.0 if pixels.size == 0 or pixels.max() <= 1 else float(pixels.max())
    return (255 * np.clip(pixels / top, 0, 1)).astype(np.uint8)


def paint_masks(image: Any, masks: Mapping[str, Array], colours: Mapping[str, str]) -> Any:
    """An image made pale, with the masks that have a colour painted over it.

    >>> image, mask = np.zeros((1, 2, 3), dtype=np.uint8), np.array([[True, False]])
    >>> paint_masks(image, {"brown": mask}, {"brown": "#804000"}).tolist()
    [[[90, 45, 0], [140, 140, 140]]]
    """
    pixels = np.atleast_3d(read_pixels(image))[..., :3].astype(np.float64) * np.ones(3)
    shown = (1 - PALE) * pixels + PALE * 255
    for name, colour in colours.items():
        paint = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
        shown[masks[name]] = (1 - PAINT) * pixels[masks[name]] + PAINT * paint
    return np.rint(shown).astype(np.uint8)


def resize(pixels: Any, side: int) -> Any:
    """Resize an image so that its longer side is at most `side` pixels.

    Small images are enlarged by a whole number, so that their pixels stay sharp.
    """
    from PIL import Image

    longest = max(pixels.shape[:2])
    if longest > side:
        width, height = (max(1, round(length * side / longest)) for length in pixels.shape[1::-1])
        return np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.BOX))
    return np.repeat(np.repeat(pixels, side // longest, axis=0), side // longest, axis=1)


def _encode(picture: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, **options)
    return stream.getvalue()


def draw_contact_sheet(pictures: Sequence[Any], captions: Sequence[Sequence[str]]) -> Any:
    """Pictures in rows, each with lines of text below it, as one image of Pillow's."""
    from PIL import Image, ImageDraw, ImageFont

    across = min(len(pictures), max(4, round(len(pictures) ** 0.5)))
    small = [Image.fromarray(resize(read_pixels(picture), SIDE)).convert("RGB") for picture in pictures]
    tallest = max(picture.height for picture in small)
    wide, high = SIDE + GAP, tallest + LINE * max(map(len, captions)) + 2 * GAP
    sheet = Image.new("RGB", (across * wide + GAP, -(-len(pictures) // across) * high + GAP), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=11)
    for number, (picture, lines) in enumerate(zip(small, captions, strict=True)):
        left, top = GAP + number % across * wide, GAP + number // across * high
        sheet.paste(picture, (left, top + tallest - picture.height))
        for line, text in enumerate(lines):
            while text and pen.textlength(text, font=font) > SIDE:
                text = text[:-2].rstrip() + "…"
            pen.text((left, top + tallest + LINE * line + 3), text, fill="black", font=font)
    return sheet
