"""Snow, frost, fog, bright light, and spatter of water or mud."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import cv2
import numpy as np

from memclf.vision import draws
from memclf.vision.corruptions.motion import motion
from memclf.vision.corruptions.pixels import (
    HALF,
    LEVELS,
    floats,
    gaussian,
    in_bands,
    luminance,
    split,
    spread,
    to_bytes,
)
from memclf.vision.corruptions.plasma import plasma
from memclf.vision.corruptions.registry import register
from memclf.vision.corruptions.textures import frost_crop
from memclf.vision.corruptions.zoom import enlarge, middle_of
from memclf.vision.files import Pixels

WATER = np.array([175, 238, 238], dtype=np.float32)
MUD = np.array([63, 42, 20], dtype=np.float32)
EMBOSS = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]], dtype=np.float32)


@register("weather", paper_row=18)
def snow(
    image: Pixels,
    rng: np.random.Generator,
    *,
    loc: float,
    scale: float,
    zoom: float,
    threshold: float,
    radius: int,
    sigma: float,
    blend: float,
) -> Pixels:
    """Whitened image and two layers of flakes.

    Flakes are enlarged noise above a threshold, blurred along a steep line.
    """
    flakes: Any = _flakes(rng, image.shape[0], image.shape[1], loc, scale, zoom, threshold, radius, sigma)
    flakes = cv2.add(flakes, flakes[::-1, ::-1])

    def whiten(rows: slice) -> Pixels:
        values, both = floats(image[rows]), spread(flakes[rows], image)
        grey = values if image.ndim == 2 else cv2.cvtColor(values, cv2.COLOR_RGB2GRAY)
        # blend * x + (1 - blend) * max(x, white) is the larger of x and the blend with white
        white = spread((grey * np.float32(1.5) + np.float32(127.5)) * np.float32(1 - blend), image)
        mixed = cv2.add(cv2.scaleAdd(values, blend, white), both, dtype=cv2.CV_32F)
        return np.maximum(to_bytes(mixed), cv2.add(image[rows], both))

    return in_bands(image, whiten)


def _flakes(
    rng: np.random.Generator,
    height: int,
    width: int,
    loc: float,
    scale: float,
    zoom: float,
    threshold: float,
    radius: int,
    sigma: float,
) -> Pixels:
    (_, tall, taller), (_, wide, wider) = middle_of(height, zoom), middle_of(width, zoom)
    noise = draws.normal(rng, (tall, wide))  # only the middle is enlarged and used
    noise *= np.float32(scale)
    noise += np.float32(loc)
    layer = enlarge(noise, (0, tall, taller), (0, wide, wider), taller, wider)
    layer = cv2.threshold(layer, _below(threshold), 0, cv2.THRESH_TOZERO)[1]
    layer = motion(np.clip(layer, 0, 1, out=layer), radius, sigma, rng.uniform(-135, -45))
    return np.rint(layer[:height, :width] * np.float32(255)).astype(np.uint8)


def _below(threshold: float) -> float:
    """The next smaller float32.

    OpenCV keeps what lies above a threshold, the definition what reaches it.
    """
    return float(np.nextafter(np.float32(threshold), np.float32(0)))


@register("weather", paper_row=16)
def frost(
    image: Pixels,
    rng: np.random.Generator,
    *,
    image_weight: float,
    frost_weight: float,
    texture_scale: float | None = None,
    texture_side: int | None = None,
    texture_dir: str | os.PathLike[str] | None = None,
) -> Pixels:
    """A mixture of the image and a photograph of frost."""
    height, width = image.shape[:2]
    crop: Any = frost_crop(rng, height, width, scale=texture_scale, side=texture_side, folder=texture_dir)
    if image.ndim == 2:
        crop = luminance(crop)
        return to_bytes(floats(image) * np.float32(image_weight) + crop * np.float32(frost_weight))
    return np.asarray(cv2.addWeighted(image, image_weight, crop, frost_weight, -HALF), dtype=np.uint8)


@register("weather", paper_row=1)
def fog(image: Pixels, rng: np.random.Generator, *, strength: float, decay: float) -> Pixels:
    """(x + strength * plasma) scaled so that the brightest pixel could not get brighter."""
    height, width = image.shape[:2]
    clouds = plasma(height, width, decay, rng)
    top = int(image.max()) / 255
    share = top / (top + strength)
    clouds *= np.float32(255 * strength * share)
    return in_bands(image, lambda rows: to_bytes(cv2.scaleAdd(floats(image[rows]), share, spread(clouds[rows], image))))


@register("weather", paper_row=2)
def brightness(image: Pixels, *, offset: float) -> Pixels:
    """V + offset in HSV.

    This scales all channels of a pixel by the same factor; black becomes grey.
    """
    if image.ndim == 2:
        return cv2.LUT(image, to_bytes(LEVELS + 255 * offset))  # type: ignore[return-value]
    table = _brightness_table(offset)

    def brighten(rows: slice) -> Pixels:
        red, green, blue = split(image[rows])
        largest = np.maximum(np.maximum(red, green), blue).astype(np.uint16) << np.uint16(8)
        return table.take(largest[..., None] | image[rows])

    return in_bands(image, brighten)


@lru_cache(maxsize=16)
def _brightness_table(offset: float) -> Pixels:
    """What each value (columns) becomes beside each largest value of its pixel (rows)."""
    largest = LEVELS[:, None].astype(np.float64)
    raised = np.minimum(largest + 255 * offset, 255)
    new = np.where(largest > 0, LEVELS * raised / np.maximum(largest, 1), raised)
    return to_bytes(new).ravel()


@register("weather", paper_row=9, extra=True)
def spatter(
    image: Pixels,
    rng: np.random.Generator,
    *,
    loc: float,
    scale: float,
    sigma: float,
    threshold: float,
    strength: float,
    mud: int,
) -> Pixels:
    """Drops where smoothed noise exceeds a threshold: embossed pale water, or opaque mud."""
    noise = draws.normal(rng, image.shape[:2])
    noise *= np.float32(scale)
    noise += np.float32(loc)
    liquid = gaussian(noise, sigma)
    if mud:
        cover = gaussian((liquid > np.float32(threshold)).astype(np.float32), strength)
        cover = cv2.threshold(cover, _below(0.8), 0, cv2.THRESH_TOZERO)[1]
        kept, colour = 1 - cover, MUD
    else:
        liquid = cv2.threshold(liquid, _below(threshold), 0, cv2.THRESH_TOZERO)[1]
        cover = _drops(to_bytes(liquid * np.float32(255)))
        most = cover.max()
        cover *= np.float32(strength / most if most > 0 else 0)
        kept, colour = None, WATER

    def add_drops(rows: slice) -> Pixels:
        part = cover[rows]
        added = part * luminance(colour) if image.ndim == 2 else cv2.merge([part * level for level in colour])
        under = image[rows] if kept is None else np.multiply(image[rows], spread(kept[rows], image))
        return to_bytes(cv2.add(under, added, dtype=cv2.CV_32F))

    return in_bands(image, add_drops)


def _drops(liquid: Pixels) -> Any:
    """How much light the water adds: embossed by the distance from the edges of the drops."""
    distance = cv2.distanceTransform(255 - cv2.Canny(liquid, 50, 150), cv2.DIST_L2, 5)
    distance = cv2.blur(np.minimum(distance, np.float32(20)), (3, 3)).astype(np.uint8)
    embossed = cv2.filter2D(cv2.equalizeHist(distance), cv2.CV_8U, EMBOSS)
    return cv2.multiply(liquid, cv2.blur(embossed, (3, 3)), dtype=cv2.CV_32F)
