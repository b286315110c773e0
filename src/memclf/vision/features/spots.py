"""Numbers about the spots of a leaf: how many, how large, where, and how clear."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from memclf._numbers import Array

Mask = NDArray[np.bool_]

CHANCES = (0.15, 0.3, 0.7, 0.85, 0.95)
SMALL, MEDIUM, LARGE = 0.002, 0.001, 0.004  # shares of the leaf
RIM = np.ones((9, 9), dtype=np.uint8)  # half its side is the width of the rim

SPOTS = (
    *(f"share_above_{chance:g}" for chance in CHANCES),
    "mean_chance",
    "spots",
    "largest_spot",
    "three_largest_spots",
    "medium_spots",
    "large_spots",
    "share_in_small_spots",
    "share_inside",
    "share_at_rim",
)


def describe_spots(chances: Array, leaf: Mask, affected: Mask) -> Array:
    """The numbers named in `SPOTS`.

    Parameters
    ----------
    chances : ndarray of shape (3, height, width)
        Of background, healthy leaf and symptom.
    leaf, affected : masks
        What is taken for leaf, and for affected.
    """
    size = max(1, int(np.count_nonzero(leaf)))
    chance = (chances[2] / np.maximum(chances[1] + chances[2], 1e-6))[leaf]
    _, _, about, _ = cv2.connectedComponentsWithStats(affected.astype(np.uint8))
    spots = np.sort(about[1:, cv2.CC_STAT_AREA])[::-1] / size
    inside = cv2.erode(leaf.astype(np.uint8), RIM) > 0
    rim = leaf & ~inside
    return np.array(
        [
            *(np.count_nonzero(chance > limit) / size for limit in CHANCES),
            chance.sum() / size,
            len(spots),
            spots[:1].sum(),
            spots[:3].sum(),
            np.count_nonzero(spots > MEDIUM),
            np.count_nonzero(spots > LARGE),
            spots[spots < SMALL].sum(),
            np.count_nonzero(affected & inside) / max(1, int(np.count_nonzero(inside))),
            np.count_nonzero(affected & rim) / max(1, int(np.count_nonzero(rim))),
        ]
    )
