"""Defocus, glass, motion, zoom and Gaussian blur."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.vision.corruptions.motion import DIRECT_CELLS, motion
from memclf.vision.corruptions.pixels import HALF, floats, gaussian, to_bytes
from memclf.vision.corruptions.registry import register
from memclf.vision.corruptions.zoom import enlarge, middle_of
from memclf.vision.files import Pixels


@register("blur", paper_row=14)
def defocus_blur(image: Pixels, *, radius: float, alias_sigma: float) -> Pixels:
    kernel = disk(radius, alias_sigma)
    if kernel.size <= DIRECT_CELLS:
        return to_bytes(cv2.filter2D(floats(image), -1, kernel, borderType=cv2.BORDER_REFLECT_101))
    # By Fourier transform OpenCV filters bytes faster than floats. It rounds; HALF less makes it truncate.
    blurred = cv2.filter2D(image, cv2.CV_8U, kernel, delta=-HALF, borderType=cv2.BORDER_REFLECT_101)
    return np.asarray(blurred, dtype=np.uint8)


@lru_cache(maxsize=32)
def disk(radius: float, alias_sigma: float) -> Array:
    """A smoothed disk.

    It is not renormalised: where it touches the kernel's border it sums to a little more than 1.
    """
    reach, side = (8, 3) if radius <= 8 else (int(radius), 5)
    x = np.arange(-reach, reach + 1)
    inside = (x**2 + x[:, None] ** 2 <= radius**2).astype(np.float32)
    kernel = np.asarray(cv2.GaussianBlur(inside / inside.sum(), (side, side), alias_sigma))
    margin = int(np.flatnonzero(kernel.any(axis=1))[0])  # rows and columns of zeros cost time
    kernel = kernel[margin : len(kernel) - margin, margin : len(kernel) - margin].copy()
    kernel.setflags(write=False)
    return kernel


@register("blur")
def glass_blur(image: Pixels, rng: np.random.Generator, *, sigma: float, max_delta: int, iterations: int) -> Pixels:
    """Gaussian blur, pixels taken from near by, Gaussian blur."""
    before = gaussian_blur(image, sigma=sigma)
    height, width = image.shape[:2]
    source = np.arange(height * width, dtype=np.int32)
    for _ in range(iterations):
        source = source[_draw_sources(height, width, max_delta, rng)]
    flat = before.reshape(height * width, -1)
    return gaussian_blur(flat.take(source, axis=0).reshape(image.shape), sigma=sigma)


def _draw_sources(height: int, width: int, max_delta: int, rng: np.random.Generator) -> Array:
    """Where each pixel comes from after one walk from the last pixel to the first.

    The reference means to swap two pixels but, as its pixels are views, copies one onto the other: each pixel becomes
    what its drawn neighbour holds by then. Neighbours later in the image have been replaced before, so a pixel's
    origin is found by following neighbours while they lie later; doubling the steps finds all origins at once.
    """
    origin = np.arange(height * width, dtype=np.int32)
    rows, columns = np.arange(height - max_delta, max_delta, -1), np.arange(width - max_delta, max_delta, -1)
    down, right = rng.integers(-max_delta, max_delta, size=(2, len(rows), len(columns)), dtype=np.int32)
    place = (rows[:, None] * width + columns).astype(np.int32)
    neighbour = place + down * width + right
    inside = (rows[:, None] + down >= rows[-1]) & (columns + right >= columns[-1])
    inside &= (rows[:, None] + down <= rows[0]) & (columns + right <= columns[0])
    replaced = inside & (neighbour > place)
    # an end of the chain is written as ~origin, so that following it further changes nothing
    step = ~origin
    step[place] = np.where(replaced, neighbour, ~neighbour)
    while (step >= 0).any():
        step = np.where(step >= 0, step[step], step)
    return ~step


@register("blur", paper_row=17)
def motion_blur(image: Pixels, rng: np.random.Generator, *, radius: int, sigma: float) -> Pixels:
    return to_bytes(motion(floats(image), radius, sigma, rng.uniform(-45, 45)))


@register("blur", paper_row=15)
def zoom_blur(image: Pixels, *, factors: tuple[float, ...]) -> Pixels:
    """The mean of the image and its enlargements.

    1 is among the factors, so the image itself counts twice.
    """
    height, width = image.shape[:2]
    values = floats(image)
    total = values.copy()
    for factor in factors:
        layer = values
        if factor != 1:
            layer = enlarge(values, middle_of(height, factor), middle_of(width, factor), height, width)
        cv2.add(total, layer, dst=total)
    total /= np.float32(len(factors) + 1)
    return to_bytes(total)


@register("blur", paper_row=8, extra=True)
def gaussian_blur(image: Pixels, *, sigma: float) -> Pixels:
    return to_bytes(gaussian(floats(image), sigma))
