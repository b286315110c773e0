"""How sharp the edges in a region are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.vision.features.base import Mask, Masks
from memclf.vision.features.measures.base import Measurement
from memclf.vision.features.measures.sight import PICTURE, Sight, resize_mask

NEAR, FAR = 1.0, 2.5  # pixels at fine size over which slopes are compared
EDGES = 0.05  # share of the region with the steepest slopes: its edges
CLEAR = 4.0  # times the slope of noise, from which a slope is an edge
FEW = 20  # pixels of edges below which nothing is measured
WIDEST = 12.0  # pixels; a wider edge is as good as none


class SharpnessOf(Measurement):
    """How sharp the edges of something are, whatever their contrast.

    The slope of an edge is compared at two scales. A sharp edge loses much of it at the larger one, a blurred edge
    hardly any, and the ratio of both gives the width of the edge (Zhuo and Sim, 2011) without its contrast. Only the
    steepest twentieth of the region counts, and only slopes well above the noise. `sharpness` is 1 / (1 + width in
    pixels) of the median edge, `sharpest` of the sharpest quarter; both are 0 where there are no edges.

    Parameters
    ----------
    of, regions
        See `Measurement`.

    Examples
    --------
    >>> image = np.full((120, 120, 3), 60, dtype=np.uint8)
    >>> image[30:90, 30:90] = 200
    >>> sharp, blurred = SharpnessOf().transform([image, cv2.blur(image, (9, 9))])[:, 0]
    >>> bool(sharp > 1.5 * blurred)
    True
    """

    word = "sharpness"
    label = "sharpness"
    sentence = "How sharp its edges are: those in the middle, and the sharpest."

    def __init__(self, of: str = PICTURE, *, regions: Any = None):
        self.of = of
        self.regions = regions

    def parts(self) -> Sequence[str]:
        return ("sharpness", "sharpest")

    def read(self, sight: Sight) -> Sequence[float]:
        edges, ratio = self._edges(sight)
        ratio = ratio[edges]
        if ratio.size < FEW:
            return [0.0, 0.0]
        # With width w, the slope at scale s is as 1 / sqrt(w^2 + s^2).
        limit = float(np.sqrt((WIDEST**2 + FAR**2) / (WIDEST**2 + NEAR**2)))
        square = np.clip(ratio, limit, FAR / NEAR) ** 2
        width = np.sqrt(np.maximum(0, (FAR**2 - square * NEAR**2) / (square - 1)))
        return [float(1 / (1 + np.quantile(width, level))) for level in (0.5, 0.25)]

    def show(self, sight: Sight) -> Masks:
        return {"edges": resize_mask(self._edges(sight)[0], sight.shape)}

    def _edges(self, sight: Sight) -> tuple[Mask, Array]:
        """Where edges are at fine size, and how their slopes at both scales compare."""
        mask = resize_mask(self.mask(sight), sight.fine.shape)
        near, far = (_slope(sight.fine, scale) for scale in (NEAR, FAR))
        if not mask.any():
            return mask, near
        noise = sight.fine_noise / np.sqrt(8 * np.pi) / FAR**2
        limit = max(float(np.quantile(far[mask], 1 - EDGES)), CLEAR * noise, 1e-3)
        around = cv2.dilate(far, np.ones((3, 3), dtype=np.uint8))
        return mask & (far >= limit) & (far >= 0.98 * around), near / np.maximum(far, 1e-6)


def _slope(values: Array, scale: float) -> Array:
    smooth = cv2.GaussianBlur(values, (0, 0), scale)
    x, y = (
        cv2.Sobel(smooth, cv2.CV_32F, dx, dy, ksize=3, scale=1 / 8, borderType=cv2.BORDER_REPLICATE)
        for dx, dy in ((1, 0), (0, 1))
    )
    return cv2.magnitude(x, y)
