"""The shape of a region: how large, long, round and whole it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np

from memclf.vision.features.base import Mask, Masks
from memclf.vision.features.measures.base import Measurement
from memclf.vision.features.measures.sight import FOREGROUND, PICTURE, Sight

HOLE = 0.004  # share of the filled piece below which a hole is noise


class ShapeOf(Measurement):
    """Area, elongation, solidity, roundness and holes of something.

    `area` is its share of the picture. The rest is about its largest piece, with holes filled: `elongation` is 0 for a
    circle and tends to 1 for a line (1 - width / length, from the moments of the piece, so that frayed edges hardly
    count); `solidity` is its share of its convex hull; `roundness` is 1 for a circle and less for a ragged outline
    (4 pi area / perimeter squared, the perimeter by Crofton's formula); `holes` counts the holes of at least 0.4 % of
    the piece, `hole_share` says how much they take. All numbers are 0 where there is nothing.

    Parameters
    ----------
    of, regions
        See `Measurement`. A picture has the shape of its frame, so `of` must not be "picture".

    Examples
    --------
    >>> image = np.full((100, 100, 3), 220, dtype=np.uint8)
    >>> _ = cv2.ellipse(image, (50, 50), (40, 20), 30, 0, 360, (30, 90, 30), -1)
    >>> shape = ShapeOf()
    >>> shape.names[:2], shape.transform([image])[0, :2].round(1)
    (('foreground_area', 'foreground_elongation'), array([0.3, 0.5]))
    """

    word = "shape"
    label = "shape"
    sentence = "How much of the picture it takes, how long, solid and round it is, and whether it has holes."

    def __init__(self, of: str = FOREGROUND, *, regions: Any = None):
        self.of = of
        self.regions = regions

    def parts(self) -> Sequence[str]:
        return ("area", "elongation", "solidity", "roundness", "holes", "hole_share")

    def read(self, sight: Sight) -> Sequence[float]:
        mask = self.mask(sight)
        if not mask.any():
            return [0.0] * len(self.parts())
        piece = largest_piece(mask)
        whole = fill(piece)
        area = float(np.count_nonzero(whole))
        hull = float(np.count_nonzero(_hull(whole)))
        _, _, about, _ = cv2.connectedComponentsWithStats((whole & ~piece).astype(np.uint8), connectivity=4)
        holes = about[1:, cv2.CC_STAT_AREA]
        holes = holes[holes >= max(2.0, HOLE * area)]
        return [
            float(mask.mean()),
            elongation(whole),
            area / hull,
            min(1.0, 4 * np.pi * area / perimeter(whole) ** 2),
            float(len(holes)),
            float(holes.sum()) / area,
        ]

    def show(self, sight: Sight) -> Masks:
        mask = self.mask(sight)
        piece = largest_piece(mask) if mask.any() else mask
        return {} if np.array_equal(piece, mask) else {"largest piece": piece}

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.of == PICTURE:
            raise ValueError('the picture has no shape of its own: give ShapeOf "foreground" or the name of a region')


def largest_piece(mask: Mask) -> Mask:
    """The connected piece with the most pixels."""
    _, pieces, about, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    return np.asarray(pieces == 1 + int(about[1:, cv2.CC_STAT_AREA].argmax()))


def fill(mask: Mask) -> Mask:
    """The mask with its holes filled."""
    outlines, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = np.zeros(mask.shape, dtype=np.uint8)
    cv2.drawContours(filled, outlines, -1, 1, cv2.FILLED)
    return filled > 0


def elongation(mask: Mask) -> float:
    """1 - width / length of the ellipse with the same second moments."""
    rows, columns = np.nonzero(mask)
    spread = np.cov(np.stack([rows, columns]), bias=True) + np.eye(2) / 12  # a pixel has an extent of its own
    short, long = np.linalg.eigvalsh(spread)
    return 1 - float(np.sqrt(max(short, 0.0) / long))


def perimeter(mask: Mask) -> float:
    """The length of the outline, from the lines in four directions that cross it (Crofton)."""
    solid = np.pad(mask, 1)
    crossings = [
        np.count_nonzero(solid[1:] != solid[:-1]),
        np.count_nonzero(solid[:, 1:] != solid[:, :-1]),
        np.count_nonzero(solid[1:, 1:] != solid[:-1, :-1]) / np.sqrt(2),
        np.count_nonzero(solid[1:, :-1] != solid[:-1, 1:]) / np.sqrt(2),
    ]
    return float(np.pi / 2 * np.mean(crossings))


def _hull(mask: Mask) -> Mask:
    filled = np.zeros(mask.shape, dtype=np.uint8)
    cv2.fillConvexPoly(filled, cv2.convexHull(cv2.findNonZero(mask.astype(np.uint8))), 1)
    return filled > 0
