"""Leaf colours as in the paper: segments, thresholds on their colour, the hull of the green."""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.vision.features.base import Mask, Masks
from memclf.vision.features.segments import segment, segment_means
from memclf.vision.files import Pixels

WIDTH, HEIGHT = 512, 256  # what the settings of the segments were chosen for
SCALE, SIGMA, MIN_SIZE = 100.0, 0.8, 50


class Band(NamedTuple):
    """A kind of colour, as limits on OpenCV's 8-bit hue, saturation and value.

    Hue goes from 0 to 179; both limits are included.
    """

    hue: tuple[float, float]
    saturation: tuple[float, float]
    value: tuple[float, float]

    def has(self, hsv: Array) -> Array:
        limits = np.array([self.hue, self.saturation, self.value])
        return np.all((hsv >= limits[:, 0]) & (hsv <= limits[:, 1]), axis=1)


# The paper prints no thresholds; these were chosen for its photographs. Hues of segment means are no whole numbers:
# a discoloured hue lies strictly between brown and green.
GREEN = Band((35, 85), (40, 255), (30, 255))
BROWN = Band((5, 20), (50, 255), (20, 200))
DISCOLOURED = Band((np.nextafter(20, 35), np.nextafter(35, 20)), (40, 255), (60, 255))


def classes(image: Pixels) -> Masks:
    """Where a leaf is green, brown, discoloured, or one of the last two; and its hull.

    Masks have the image's size.

    The image is measured at 512 x 256 pixels (256 x 512 when it is upright). Brown and discoloured count inside the
    hull only. Without any green the hull is the whole image.
    """
    height, width = image.shape[:2]
    size = (WIDTH, HEIGHT) if width >= height else (HEIGHT, WIDTH)
    inter = cv2.INTER_AREA if width * height > WIDTH * HEIGHT else cv2.INTER_LINEAR
    x: Any = image if (width, height) == size else cv2.resize(image, size, interpolation=inter)
    labels = segment(x, SCALE, SIGMA, MIN_SIZE)
    means = np.rint(segment_means(x, labels)).astype(np.uint8)
    hsv = cv2.cvtColor(means[None], cv2.COLOR_RGB2HSV)[0]
    green, brown, discoloured = (band.has(hsv)[labels] for band in (GREEN, BROWN, DISCOLOURED))
    leaf = hull(green) if green.any() else np.ones_like(green)
    masks = {"leaf": leaf, "affected": (brown | discoloured) & leaf, "green": green}
    masks |= {"brown": brown & leaf, "discoloured": discoloured & leaf}
    if x is image:
        return masks
    return {name: cv2.resize(mask.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST) > 0
            for name, mask in masks.items()}  # fmt: skip


def hull(mask: Mask) -> Mask:
    """The convex hull of what is marked."""
    points = cv2.findNonZero(mask.astype(np.uint8))
    return cv2.fillConvexPoly(np.zeros(mask.shape, dtype=np.uint8), cv2.convexHull(points), 1) > 0


def shares(masks: Masks, literal: bool) -> tuple[float, float]:
    """F_d and F_b, discoloured and brown.

    Literal: in relation to the green, which may exceed 1 and is cut there. Otherwise in relation to the hull, which
    is the leaf. Both are 1 when nothing is green.
    """
    green = np.count_nonzero(masks["green"])
    if not green:
        return 1.0, 1.0
    whole = green if literal else np.count_nonzero(masks["leaf"])
    discoloured, brown = (np.count_nonzero(masks[name]) / whole for name in ("discoloured", "brown"))
    return min(1.0, discoloured), min(1.0, brown)
