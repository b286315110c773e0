"""One image under every condition, on one sheet."""

from __future__ import annotations

import os
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from memclf.exceptions import ImageError
from memclf.vision.corruptions.apply import CORRUPTIONS, SEVERITIES, corrupt
from memclf.vision.files import Pixels, read_image

SIDE = 224  # of the image as it is corrupted, for which the default preset is meant
GAP, LABEL, HEAD = 4, 118, 30  # pixels between tiles, beside them and above them
INK, PAPER = (30, 30, 30), (255, 255, 255)


def draw_sheet(
    image: Pixels, *, tile: int = 128, seed: int = 0, preset: str = "imagenet-c", key: str | None = None
) -> Image.Image:
    """Draw an image under all conditions: rows of corruptions, columns of severities.

    They stand in two blocks; the clean image fills the free corner.

    The largest square of the image is scaled to 224 pixels, corrupted, and shown in tiles of `tile` pixels.
    """
    clean = _square(image, SIDE)
    rows = (len(CORRUPTIONS) + 1) // 2
    block = LABEL + len(SEVERITIES) * (tile + GAP)
    sheet = Image.new("RGB", (2 * block + 2 * GAP, HEAD + rows * (tile + GAP)), PAPER)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(15)
    for number, name in enumerate([*CORRUPTIONS, "clean"]):
        left, top = number // rows * (block + 2 * GAP), HEAD + number % rows * (tile + GAP)
        middle = (left + LABEL - 8, top + tile // 2)
        draw.multiline_text(middle, name.replace("_", "\n"), fill=INK, font=font, anchor="rm", align="right")
        for column, severity in enumerate(SEVERITIES):
            x = left + LABEL + column * (tile + GAP)
            if number % rows == 0:
                draw.text(
                    (x + tile // 2, HEAD // 2),
                    f"severity {severity}" if column == 0 else str(severity),
                    fill=INK,
                    font=font,
                    anchor="mm",
                )
            if name == "clean" and column:
                break
            shown = clean if name == "clean" else corrupt(clean, name, severity, seed=seed, key=key, preset=preset)
            sheet.paste(Image.fromarray(_square(shown, tile)), (x, top))
    return sheet


def save_sheet(image: str | os.PathLike[str], out: str | os.PathLike[str], *, seed: int = 0, preset: str) -> None:
    """Draw the sheet of an image file into another file, whose suffix sets the format."""
    out = Path(out)
    if out.suffix.lower() not in (".png", ".jpg", ".jpeg"):
        raise ImageError(f"a sheet is written as .png or .jpg, got {out}")
    sheet = draw_sheet(read_image(image), seed=seed, preset=preset)
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix.lower() == ".png":
        sheet.save(out)
    else:
        sheet.save(out, quality=65, optimize=True)


def _square(image: Pixels, side: int) -> Pixels:
    """The middle of an image, scaled to a square."""
    height, width = image.shape[:2]
    short = min(height, width)
    top, left = (height - short) // 2, (width - short) // 2
    middle = np.ascontiguousarray(image[top : top + short, left : left + short])
    smooth = cv2.INTER_AREA if side < short else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(middle, (side, side), interpolation=smooth), dtype=np.uint8)
