"""Blobs of a kind in a region: how many, and how large."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import cv2
import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from memclf._numbers import Array
from memclf.vision.features.base import Mask, Masks
from memclf.vision.features.measures.base import Measurement
from memclf.vision.features.measures.sight import (
    FAINT,
    PICTURE,
    Sight,
    disc,
    fit_plane,
    keep_large,
)

# Which way a blob differs from what is around it, as weights of lightness, redness and yellowness.
KINDS = {
    "dark": (-1, 0, 0),
    "bright": (1, 0, 0),
    "red": (0, 1, 0),
    "green": (0, -1, 0),
    "yellow": (0, 0, 1),
    "blue": (0, 0, -1),
}
CORE = 0.75  # depth inside a piece, of its deepest, from which it belongs to the core of a blob
CLEAR = 4.0  # spreads of the ordinary part by which a blob stands out
RIM = 40  # the rim of a region is this part of the shorter side of the picture
FEW = 20  # pixels
PEAK = 0.4  # share of the strongest contrast that a blob has at least


class CountOf(Measurement):
    """How many blobs of a kind there are in something, and how much they take.

    A blob differs from the ordinary part of the region (a plane fitted without what does not agree, so that light from
    one side does not count) by at least four times its spread, and by two fifths of the strongest blob. Blobs that
    touch are told apart by their cores. At the rim of a region none are looked for, where it has something of the
    colour of its surroundings (under strong JPEG compression 16 pixels deep, which is more than the rim). `share`,
    `largest` and `typical` (the median blob) are shares of the region.

    Parameters
    ----------
    of, regions
        See `Measurement`.
    kind : {"dark", "bright", "red", "green", "yellow", "blue"}
        Which way blobs differ from what is around them. Brown spots on a green leaf are red: they are redder than the
        leaf, and often no darker.
    smallest : float
        Share of the region below which a blob is dirt.

    Examples
    --------
    >>> image = np.full((120, 120, 3), 210, dtype=np.uint8)
    >>> for x, y in ((30, 30), (80, 40), (60, 90)):
    ...     _ = cv2.circle(image, (x, y), 8, (90, 90, 90), -1)
    >>> CountOf("picture").transform([image])[:, 0]
    array([3.])
    """

    word = "count"
    label = "blobs of a kind"
    variants = tuple(({"kind": kind}, f"{kind} blobs") for kind in ("dark", "bright", "red", "yellow"))
    sentence = "How many blobs of a kind (dark, bright, red, green, yellow or blue) it has, and how much they take."
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kind": [StrOptions(set(KINDS))],
        "smallest": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(self, of: str = PICTURE, *, regions: Any = None, kind: str = "dark", smallest: float = 0.001):
        self.of = of
        self.regions = regions
        self.kind = kind
        self.smallest = smallest

    def parts(self) -> Sequence[str]:
        return tuple(f"{self.kind}_{part}" for part in ("blobs", "share", "largest", "typical"))

    def read(self, sight: Sight) -> Sequence[float]:
        mask = self.mask(sight)
        sizes = _sizes(self._blobs(sight, mask)) / max(1, np.count_nonzero(mask))
        if not len(sizes):
            return [0.0] * 4
        return [float(len(sizes)), float(sizes.sum()), float(sizes.max()), float(np.median(sizes))]

    def show(self, sight: Sight) -> Masks:
        return {f"{self.kind} blobs": self._blobs(sight, self.mask(sight))}

    def _blobs(self, sight: Sight, mask: Mask) -> Mask:
        size = np.count_nonzero(mask)
        if not mask.all():  # at its outline, a region has something of the colour of its surroundings
            inner = cv2.erode(mask.astype(np.uint8), disc(max(2, min(mask.shape) // RIM)), borderValue=1) > 0
            mask = inner if np.count_nonzero(inner) >= 0.3 * size else mask
        if size < FEW:
            return np.zeros(mask.shape, dtype=bool)
        value = cv2.GaussianBlur(sight.lab @ np.array(KINDS[self.kind], dtype=np.float32), (0, 0), 1)
        rest = (value - fit_plane(value[:, :, None], mask)[:, :, 0])[mask]
        # The side where no blobs are has the spread of the ordinary part, unless something else is there, as glare is
        # on the bright side of a leaf with dark spots.
        sides = [float(np.median(np.abs(side))) for side in (rest[rest <= 0], rest[rest > 0]) if side.size]
        spread = 1.4826 * min(sides)
        limit = max(FAINT, CLEAR * spread, PEAK * float(np.quantile(rest, 1 - min(0.5, FEW / rest.size))))
        found = np.zeros(mask.shape, dtype=np.uint8)
        found[mask] = rest > limit
        return keep_large(found, max(4.0, self.smallest * size))


def _sizes(blobs: Mask) -> Array:
    """The size of each blob in pixels; pieces with several cores are shared among them."""
    number, pieces, about, _ = cv2.connectedComponentsWithStats(blobs.astype(np.uint8))
    if number == 1:
        return np.empty(0)
    depth = cv2.GaussianBlur(cv2.distanceTransform(blobs.astype(np.uint8), cv2.DIST_L2, 5), (0, 0), 1)
    deepest = np.zeros(number, dtype=np.float32)
    np.maximum.at(deepest, pieces.ravel().astype(np.intp), depth.ravel())
    cores = (blobs & (depth >= CORE * deepest[pieces])).astype(np.uint8)
    _, labels = cv2.connectedComponents(cv2.dilate(cores, disc(1)) & blobs.astype(np.uint8))
    firsts = np.unique(np.column_stack([labels[cores > 0], pieces[cores > 0]]), axis=0)
    per_piece = np.bincount(firsts[:, 1], minlength=number)
    sizes = about[1:, cv2.CC_STAT_AREA] / np.maximum(1, per_piece[1:])
    return np.repeat(sizes, np.maximum(1, per_piece[1:]))
