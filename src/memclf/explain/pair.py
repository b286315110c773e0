"""The images of a case and its memory as HTML that needs no other file."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import Any

import numpy as np

from memclf.exceptions import MissingExtraError
from memclf.explain.picture import show_image

MEASURED = 6  # numbers that an overlay has room for below a picture
SIDE = 360  # pixels of the longer side of a picture


def show_pair(item: Any, name: str = "") -> str:
    """The case of an `Explanation` beside its memory; "" if they are no images.

    What an expert's feature measured is drawn into both.
    """
    # An overlay writes every number below the picture, which many numbers would make tiny.
    overlay = item.overlay if len(item.measured) <= MEASURED else None
    here, there = show_image(item.case, overlay), show_image(item.memory_case, overlay)
    if not (_is_picture(here) and _is_picture(there)):
        return ""
    shown = [
        (here, name or f"case {item.position}"),
        (there, f"memory {item.memory} (training case {item.memory_row})"),
    ]
    return f"<div class='pair'>{''.join(_figure(pixels, text) for pixels, text in shown)}</div>"


def _is_picture(pixels: Any) -> bool:
    """Whether an array can be shown as it is: grey or colours, in bytes or from 0 to 1."""
    if pixels is None or not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (1, 3, 4))):
        return False
    return pixels.dtype == np.uint8 or (pixels.dtype.kind == "f" and pixels.min() >= 0 and pixels.max() <= 1)


def _figure(pixels: Any, text: str) -> str:
    return f"<figure><img alt='{escape(text)}' src='{_embed(pixels)}'><figcaption>{escape(text)}</figcaption></figure>"


def _embed(pixels: Any) -> str:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError('pictures need pillow: pip install "memclf[vision]"') from error
    pixels = pixels if pixels.dtype == np.uint8 else (255 * np.clip(pixels, 0, 1)).astype(np.uint8)
    picture = Image.fromarray(pixels.squeeze()).convert("RGB")
    picture.thumbnail((SIDE, SIDE))
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
