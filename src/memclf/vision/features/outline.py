"""Lines around the masks of an expert feature, drawn at the size at which they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle, islice
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from memclf.vision.files import Pixels

Mask = NDArray[np.bool_]

# Bright, since they stand between dark edges.
COLOURS = ((255, 72, 112), (64, 186, 255), (255, 225, 25), (110, 220, 120), (255, 150, 60), (200, 110, 240))
DARK = (24, 24, 28)


def mask_colours(n: int) -> list[tuple[int, int, int]]:
    """The colours of the lines around so many masks."""
    return list(islice(cycle(COLOURS), n))


def outline_masks(image: Pixels, masks: Mapping[str, Mask], size: tuple[int, int]) -> Pixels:
    """The image at this size (width, height) with a line around each mask.

    Lines are drawn after resizing, since they would be too fine before. Each has dark edges, so that it is visible on
    snow and on noise, and leaves the inside of its own mask as it is, so that its colours stay visible.
    """
    for name, mask in masks.items():
        if np.shape(mask) != image.shape[:2]:
            raise ValueError(f"mask {name!r} has shape {np.shape(mask)}, the image {image.shape[:2]}")
    shown = np.array(_resize(image, size), dtype=np.uint8)
    line = max(1, round(max(size) / 800))
    outlines = zip(masks.values(), mask_colours(len(masks)), strict=True)
    for mask, colour in reversed(list(outlines)):  # where masks touch, the first stays visible
        small = _resize_mask(mask, size)
        inside, start, end, edge = (_grow(small, steps * line) for steps in (0, 1, 3, 4))
        shown[edge & ~inside] = DARK
        shown[end & ~start] = colour
    return shown


def _resize(values: Any, size: tuple[int, int]) -> Any:
    smaller = size[0] < values.shape[1] or size[1] < values.shape[0]
    return cv2.resize(values, size, interpolation=cv2.INTER_AREA if smaller else cv2.INTER_NEAREST)


def _resize_mask(mask: Mask, size: tuple[int, int]) -> Mask:
    """The mask at display size with the same share of the image, since legends state that share."""
    covered = _resize(mask.astype(np.float32), size)
    most = np.argsort(-covered, axis=None, kind="stable")[: round(float(mask.mean()) * covered.size)]
    small = np.zeros(covered.shape, dtype=bool)
    small.flat[most] = True
    return small


def _grow(mask: Mask, pixels: int) -> Mask:
    around = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * pixels + 1, 2 * pixels + 1))
    return cv2.dilate(mask.astype(np.uint8), around).astype(bool)
