"""Where the brightest, reddest or most saturated part of a region lies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import cv2
import numpy as np
from sklearn.utils._param_validation import StrOptions

from memclf._numbers import Array
from memclf.vision.features.base import Mask, Masks
from memclf.vision.features.measures.base import Measurement
from memclf.vision.features.measures.sight import FAINT, PICTURE, Sight

# What is the most of what: weights of lightness, redness and yellowness; None: distance from grey.
MOST: dict[str, tuple[int, int, int] | None] = {
    "brightest": (1, 0, 0),
    "darkest": (-1, 0, 0),
    "reddest": (0, 1, 0),
    "greenest": (0, -1, 0),
    "yellowest": (0, 0, 1),
    "bluest": (0, 0, -1),
    "most_saturated": None,
}
TOP = 0.05  # share of the region that the part takes at most
PEAK = 0.995  # quantile that counts as the most


class PlaceOf(Measurement):
    """Where the brightest, reddest or most saturated part of something lies.

    The part is what differs from the median of the region, slightly smoothed, by at least half as much as the most
    does; it takes a twentieth at most. `x` and `y` are its middle, from -1 (left, top) to 1 (right, bottom) of the
    region's box; `from_centre` is its distance from the middle of the box. All three are drawn towards 0 where the part
    hardly differs from the rest, and `difference` says how far it does.

    Parameters
    ----------
    of, regions
        See `Measurement`.
    part : {"brightest", "darkest", "reddest", "greenest", "yellowest", "bluest", "most_saturated"}
        Of what the place is measured.

    Examples
    --------
    >>> image = np.full((100, 100, 3), 90, dtype=np.uint8)
    >>> image[10:30, 60:80] = 230
    >>> PlaceOf("picture").transform([image])[0, :2].round(1)
    array([ 0.4, -0.6])
    """

    word = "place"
    label = "place of a part"
    variants = tuple(({"part": part}, f"place of the {part} part") for part in ("darkest", "reddest"))
    sentence = "Where its brightest, darkest, most saturated or most coloured part lies, and how far that part differs."
    _parameter_constraints: ClassVar[dict[str, Any]] = {"part": [StrOptions(set(MOST))]}

    def __init__(self, of: str = PICTURE, *, regions: Any = None, part: str = "brightest"):
        self.of = of
        self.regions = regions
        self.part = part

    def parts(self) -> Sequence[str]:
        return tuple(f"{self.part}_{name}" for name in ("x", "y", "from_centre", "difference"))

    def read(self, sight: Sight) -> Sequence[float]:
        mask = self.mask(sight)
        if not mask.any():
            return [0.0] * 4
        value, chosen, difference = self._find(sight, mask)
        rows, columns = np.nonzero(mask)
        weight = np.where(chosen, value - value[mask].min(), 0)[rows, columns]
        weight = weight / weight.sum() if weight.sum() > 0 else np.full(len(rows), 1 / len(rows))
        sure = difference / (difference + FAINT)
        place = [
            sure * float(2 * (weight @ along - along.min()) / max(1, np.ptp(along)) - 1) for along in (columns, rows)
        ]
        return [*place, math.hypot(*place), difference]

    def show(self, sight: Sight) -> Masks:
        mask = self.mask(sight)
        return {self.part.replace("_", " "): self._find(sight, mask)[1]} if mask.any() else {}

    def _find(self, sight: Sight, mask: Mask) -> tuple[Array, Mask, float]:
        """What is measured, the part where it is most, and how far that part is from the median."""
        weights = MOST[self.part]
        lab = cv2.GaussianBlur(sight.lab, (0, 0), max(1.0, min(sight.shape) / 60))
        value = np.hypot(lab[:, :, 1], lab[:, :, 2]) if weights is None else lab @ np.array(weights, dtype=np.float32)
        inside = value[mask]
        usual, most, limit = np.quantile(inside, (0.5, PEAK, 1 - TOP)).tolist()
        chosen = mask & (value >= max(limit, (usual + most) / 2))
        return value, chosen, max(0.0, float(np.median(value[chosen])) - usual)
