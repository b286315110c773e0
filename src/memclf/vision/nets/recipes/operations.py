"""The nine image operations of AugMix, on uint8 arrays.

Definitions and ranges are those of the authors' code, which calls Pillow, and all but three give Pillow's very
pixels. Turning and shearing go through OpenCV, which takes half the time; it differs from Pillow by rounding, and
along the rim of the moved image, where it blends into the black outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from memclf._numbers import Array

EXCLUDED = ("color", "contrast", "brightness", "sharpness")
"""Operations that AugMix leaves out because they overlap with the ImageNet-C corruptions."""


@dataclass(frozen=True)
class Operation:
    """An operation on uint8 images (H, W, 3): `operation(image, level)`, levels from 0 to 10.

    `signed` operations also take negative levels, the same thing in the opposite direction.
    """

    name: str
    function: Callable[[Array, float], Array]
    signed: bool = False

    def __call__(self, image: Array, level: float) -> Array:
        return self.function(image, level)


def autocontrast(image: Array, level: float) -> Array:
    """Stretch every channel to 0..255; the level does not matter."""
    tables = []
    for histogram in _histograms(image):
        used = np.flatnonzero(histogram)
        low, high = int(used[0]), int(used[-1])
        scale = 255.0 / max(1, high - low)
        stretched = np.arange(256) * scale + -low * scale if high > low else np.arange(256.0)
        tables.append(np.clip(np.trunc(stretched), 0, 255))
    return _look_up(image, np.stack(tables, axis=-1))


def equalize(image: Array, level: float) -> Array:
    """Flatten every channel's histogram; the level does not matter."""
    tables = []
    for histogram in _histograms(image):
        # Pillow's rule in whole numbers: the last used value counts for nothing.
        step = int(histogram.sum() - histogram[np.flatnonzero(histogram)[-1]]) // 255
        below = np.cumsum(histogram) - histogram
        tables.append(np.clip((step // 2 + below) // step, 0, 255) if step else np.arange(256))
    return _look_up(image, np.stack(tables, axis=-1))


def posterize(image: Array, level: float) -> Array:
    """Keep 4 bits per value below level 2.5, and down to one from level 7.5."""
    bits = max(1, 4 - int(0.4 * level))  # level 10 would leave none, which Pillow refuses
    return np.bitwise_and(image, np.uint8(256 - 2 ** (8 - bits)))


def solarize(image: Array, level: float) -> Array:
    """Invert the values from 256 - 25.6 level upwards; nothing at level 0."""
    values = np.arange(256)
    return _look_up(image, np.where(values < 256 - int(25.6 * level), values, 255 - values))


def rotate(image: Array, level: float) -> Array:
    """Turn by 3 level degrees (whole ones) about the centre, anticlockwise for positive levels."""
    height, width = image.shape[:2]
    degrees = int(3 * level)
    if degrees == 0:
        return image
    angle = np.deg2rad(degrees)
    cos, sin = float(np.cos(angle)), float(np.sin(angle))
    x, y = width / 2, height / 2
    return _move(image, [[cos, -sin, x - cos * x + sin * y], [sin, cos, y - sin * x - cos * y]])


def shear_x(image: Array, level: float) -> Array:
    """Row y moves left by 0.03 level y."""
    return _move(image, [[1, 0.03 * level, 0], [0, 1, 0]])


def shear_y(image: Array, level: float) -> Array:
    """Column x moves up by 0.03 level x."""
    return _move(image, [[1, 0, 0], [0.03 * level, 1, 0]])


def translate_x(image: Array, level: float) -> Array:
    """Everything moves left by level / 30 of the width, in whole pixels."""
    return _shift(image, int(level * image.shape[1] / 30), axis=1)


def translate_y(image: Array, level: float) -> Array:
    """Everything moves up by level / 30 of the height, in whole pixels."""
    return _shift(image, int(level * image.shape[0] / 30), axis=0)


OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("autocontrast", autocontrast),
        Operation("equalize", equalize),
        Operation("posterize", posterize),
        Operation("rotate", rotate, signed=True),
        Operation("solarize", solarize),
        Operation("shear_x", shear_x, signed=True),
        Operation("shear_y", shear_y, signed=True),
        Operation("translate_x", translate_x, signed=True),
        Operation("translate_y", translate_y, signed=True),
    )
}


def _histograms(image: Array) -> list[Array]:
    import cv2  # only where it is needed, so that commands can read the names of recipes without it

    histograms = [cv2.calcHist([image], [channel], None, [256], [0, 256]) for channel in range(3)]
    return [histogram.ravel().astype(np.int64) for histogram in histograms]


def _look_up(image: Array, table: Array) -> Array:
    """Replace each value v by table[v], or by table[v, channel]."""
    import cv2

    return np.asarray(cv2.LUT(image, table.astype(np.uint8).reshape(1, 256, -1)))


def _shift(image: Array, pixels: int, axis: int) -> Array:
    """Towards the beginning of the axis (or the end, if negative), black behind."""
    length = image.shape[axis] - abs(pixels)
    shifted = np.zeros_like(image)
    target = [slice(None)] * axis + [slice(max(0, -pixels), max(0, -pixels) + length)]
    source = [slice(None)] * axis + [slice(max(0, pixels), max(0, pixels) + length)]
    shifted[tuple(target)] = image[tuple(source)]
    return shifted


def _move(image: Array, source: list[list[float]]) -> Array:
    """Move pixels: that with centre (x, y) takes its value from `source` @ (x, y, 1).

    Outside the image it is black.
    """
    import cv2

    matrix = np.array(source, dtype=np.float64)
    # Pixel centres lie at halves; OpenCV counts from centre to centre.
    matrix[:, 2] += matrix[:, :2] @ [0.5, 0.5] - 0.5
    height, width = image.shape[:2]
    return np.asarray(
        cv2.warpAffine(
            image,
            matrix,
            (width, height),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=(0, 0, 0),
        )
    )
