"""Between bytes and floats, and between grey and colour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from memclf.vision.files import Pixels

Floats = NDArray[np.float32]

# The reference truncates to bytes. What single precision puts a hair below a whole number still belongs to it.
HAIR = np.float32(1 / 1024)

# What to take off before OpenCV rounds to bytes, so that it truncates, with the same hair.
HALF = 0.499

BAND = 1 << 15  # values in a band of rows

LEVELS = np.arange(256)


def to_bytes(values: Any) -> Pixels:
    """Clip to 0..255 and truncate, as the reference does; `values` is used up."""
    values += HAIR
    return np.clip(values, 0, 255, out=values).astype(np.uint8)


def in_bands(image: Pixels, function: Callable[[slice], Any]) -> Pixels:
    """Call ``function(rows)`` for one band of rows after the other.

    Intermediate results then stay in the processor's cache.
    """
    result = np.empty_like(image)
    tall = max(1, BAND // image[0].size)
    for top in range(0, len(image), tall):
        rows = slice(top, top + tall)
        result[rows] = function(rows)
    return result


def floats(image: Pixels) -> Floats:
    return image.astype(np.float32)


def spread(layer: Any, image: Pixels) -> Any:
    """A layer of height x width on as many channels as the image has."""
    return layer if image.ndim == 2 else cv2.merge((layer, layer, layer))


def split(image: Pixels) -> Any:
    """The channels, each an array of its own."""
    return cv2.split(image)


def luminance(rgb: Any) -> Any:
    """Grey values of a colour image, as the reference weighs them."""
    return rgb @ np.array([0.299, 0.587, 0.114], dtype=np.float32)


def gaussian(values: Any, sigma: float) -> Any:
    """Gaussian blur that ends at 4 sigma and repeats the edge."""
    side = 2 * int(4 * sigma + 0.5) + 1
    if side == 1:
        return values
    return cv2.GaussianBlur(values, (side, side), sigma, borderType=cv2.BORDER_REPLICATE)
