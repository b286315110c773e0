"""Contrast, elastic distortion, pixelation, compression and saturation."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from PIL import Image
from scipy.fft import dctn, idctn

from memclf._numbers import Array
from memclf.exceptions import ImageError
from memclf.vision import draws
from memclf.vision.corruptions.pixels import LEVELS, floats, in_bands, split, to_bytes
from memclf.vision.corruptions.registry import register
from memclf.vision.files import Pixels

OPENCV_4 = cv2.__version__.startswith("4.")


@register("digital", paper_row=3)
def contrast(image: Pixels, *, factor: float) -> Pixels:
    """Every channel is drawn towards its mean."""
    means = cv2.mean(image)[: 1 if image.ndim == 2 else 3]
    tables = np.stack([(LEVELS - mean) * factor + mean for mean in means], axis=-1)
    return cv2.LUT(image, to_bytes(tables)[None])  # type: ignore[return-value]


@register("digital", label="Elastic", paper_row=4)
def elastic_transform(
    image: Pixels,
    rng: np.random.Generator,
    *,
    alpha: float,
    sigma: float | None = None,
    affine: float = 0.0,
    sigma_share: float = 0.0,
    noise_share: float = 0.0,
) -> Pixels:
    """Every pixel is fetched from a place that smoothed noise moves by.

    Either in pixels (`sigma`; `affine`, a random affine map before), or in shares of the image's sides, which fits
    images of any size (`sigma_share`, `noise_share`).
    """
    height, width = image.shape[:2]
    values = floats(image)
    if affine:
        values = _jitter(values, affine, rng)
    noise = draws.signed_unit(rng, (2, height, width))
    if sigma is None:
        sigmas, reach = (sigma_share * height, sigma_share * width), alpha * noise_share * height
    else:
        sigmas, reach = (sigma, sigma), alpha
    right, down = (_smooth(field, sigmas) * np.float32(reach) for field in noise)
    right += np.arange(width, dtype=np.float32)
    down += np.arange(height, dtype=np.float32)[:, None]
    return to_bytes(cv2.remap(values, right, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT))


def _jitter(values: Any, affine: float, rng: np.random.Generator) -> Any:
    """Three points about the middle are moved, and the image with them."""
    height, width = values.shape[:2]
    middle, arm = np.array([height // 2, width // 2], dtype=np.float32), min(height, width) // 3
    points = np.array([middle + arm, [middle[0] + arm, middle[1] - arm], middle - arm], dtype=np.float32)
    moved = points + rng.uniform(-affine, affine, size=points.shape).astype(np.float32)
    matrix = cv2.getAffineTransform(points, moved)
    return cv2.warpAffine(values, matrix, (width, height), borderMode=cv2.BORDER_REFLECT_101)


def _smooth(field: Any, sigmas: tuple[float, float]) -> Any:
    """Gaussian blur that ends at 3 sigma and mirrors at the edge."""
    reaches = [int(3 * sigma + 0.5) for sigma in sigmas]
    if max(reaches) == 0:
        return field
    if max(reaches) < 40:
        size = (2 * reaches[1] + 1, 2 * reaches[0] + 1)
        return cv2.GaussianBlur(field, size, sigmas[1], sigmaY=sigmas[0], borderType=cv2.BORDER_REFLECT)
    # A mirrored signal is a sum of cosines, and a symmetric kernel of any length only scales them.
    spectrum = dctn(field, type=2)
    for axis, (sigma, reach) in enumerate(zip(sigmas, reaches, strict=True)):
        weights = np.exp(-(np.arange(reach + 1) ** 2) / (2 * sigma**2))
        weights[1:] *= 2
        angle = np.pi * np.arange(field.shape[axis]) / field.shape[axis]
        response = np.cos(angle[:, None] * np.arange(reach + 1)) @ (weights / weights.sum())
        spectrum *= np.expand_dims(response, 1 - axis).astype(np.float32)
    return idctn(spectrum, type=2)


@register("digital", paper_row=5)
def pixelate(image: Pixels, *, scale: float) -> Pixels:
    """Shrunk by Pillow's box filter, then enlarged again pixel by pixel."""
    height, width = image.shape[:2]
    # Pillow keeps colours in four bytes, and takes an array of such pixels without copying it
    mode, pixels = ("L", image) if image.ndim == 2 else ("RGBX", cv2.cvtColor(image, cv2.COLOR_RGB2RGBA))
    whole = Image.frombuffer(mode, (width, height), pixels, "raw", mode, 0, 1)
    small = whole.resize((int(width * scale), int(height * scale)), Image.Resampling.BOX)
    blocks: Any
    if OPENCV_4:  # where two pixels are equally near, it takes the other one
        blocks = np.asarray(small.resize((width, height), Image.Resampling.NEAREST))
    else:
        blocks = cv2.resize(np.asarray(small), (width, height), interpolation=cv2.INTER_NEAREST_EXACT)
    return np.asarray(blocks if image.ndim == 2 else cv2.cvtColor(blocks, cv2.COLOR_RGBA2RGB), dtype=np.uint8)


@register("digital", label="JPEG", paper_row=6)
def jpeg_compression(image: Pixels, *, quality: int) -> Pixels:
    colour: Any = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    done, encoded = cv2.imencode(".jpg", colour, (cv2.IMWRITE_JPEG_QUALITY, quality))
    if not done:
        raise ImageError(f"an image of shape {image.shape} cannot be encoded as JPEG")
    decoded: Any = cv2.imdecode(encoded, cv2.IMREAD_GRAYSCALE if image.ndim == 2 else cv2.IMREAD_COLOR)
    return decoded if image.ndim == 2 else np.asarray(cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB), dtype=np.uint8)


@register("digital", paper_row=10, extra=True)
def saturate(image: Pixels, *, factor: float, offset: float) -> Pixels:
    """S * factor + offset in HSV, which scales how far each channel lies below the largest one.

    Grey pixels have no hue; with an offset they turn red, as in the reference. Images without colour stay as they are.
    """
    if image.ndim == 2:
        return image.copy()
    table = _saturation_table(factor, offset)

    def saturate_rows(rows: slice) -> Pixels:
        red, green, blue = split(image[rows])
        largest, smallest = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
        scale = table.take((largest.astype(np.uint16) << np.uint16(8)) | smallest)
        grey = (largest == smallest).view(np.uint8)
        below = (largest - red, largest - green + grey, largest - blue + grey)
        return to_bytes(cv2.merge([largest - scale * part for part in below]))

    return in_bands(image, saturate_rows)


@lru_cache(maxsize=16)
def _saturation_table(factor: float, offset: float) -> Array:
    """The factor for each largest (rows) and smallest value (columns) of a pixel.

    For grey pixels, how far green and blue drop.
    """
    largest, smallest = LEVELS[:, None].astype(np.float64), LEVELS[None].astype(np.float64)
    span = largest - smallest
    with np.errstate(divide="ignore", invalid="ignore"):
        old = span / largest
        scale = np.clip(old * factor + offset, 0, 1) / old
    scale = np.where(span > 0, scale, largest * min(max(offset, 0), 1))
    return scale.astype(np.float32).ravel()
