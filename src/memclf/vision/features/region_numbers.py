"""Numbers about a region of a picture: size, spots, shape, colour, edge and place."""

from __future__ import annotations

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.vision.features.outline import Mask

SPECK = 4  # pixels at work size; smaller pieces are no spots
AROUND = 4  # pixels at work size that are the surroundings of a region
FAINT = 2.0  # difference of colour (Lab) below which an edge has no sharpness

# What is measured of each region, beside its share.
NUMBERS = (
    "spots",
    "largest_spot",
    "median_spot",
    "elongation",
    "solidity",
    "lightness",
    "redness",
    "yellowness",
    "colour_spread",
    "edge_sharpness",
    "x",
    "y",
)


def share(mask: Mask, whole: Mask) -> float:
    """The share of the whole that a region takes; 0 if there is no whole."""
    return float(np.count_nonzero(mask)) / max(1, int(np.count_nonzero(whole)))


def describe_region(mask: Mask, whole: Mask, lab: Array) -> Array:
    """The numbers named in `NUMBERS`.

    Spots are shares of the whole. Elongation (1 is round) and solidity (share of its convex hull) are those of the
    largest spot; lightness, redness and yellowness are differences of Lab from the surroundings; the edge is sharp (1)
    if colour changes from one pixel to the next. The place is that of the region's centre in the whole, from 0 to 1. A
    region that is absent has no spots, and otherwise the numbers of a round spot in the centre that has the colour of
    its surroundings: measurements by which cases are compared must be numbers.

    Parameters
    ----------
    mask, whole : masks
        The region, and the region that it lies in: the picture if it lies in none.
    lab : ndarray of shape (height, width, 3), float32
        The picture.
    """
    _, labels, about, centres = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    sizes = about[1:, cv2.CC_STAT_AREA]
    if not sizes.size or sizes.max() < SPECK:
        return np.array([0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0.5, 0.5])
    size = max(1, int(np.count_nonzero(whole)))
    spots = sizes[sizes >= SPECK] / size
    largest = labels == 1 + int(sizes.argmax())
    centre = np.average(centres[1:], axis=0, weights=sizes)
    return np.array(
        [
            len(spots),
            spots.max(),
            np.median(spots),
            *_shape(largest),
            *_colour(mask, lab),
            *_place(centre, whole),
        ]
    )


def _shape(spot: Mask) -> tuple[float, float]:
    moments = cv2.moments(spot.astype(np.uint8), binaryImage=True)
    half = (moments["mu20"] + moments["mu02"]) / 2
    apart = float(np.hypot((moments["mu20"] - moments["mu02"]) / 2, moments["mu11"]))
    pixel = moments["m00"] / 12  # a pixel is a square: a line of them is not infinitely thin
    hull = cv2.convexHull(cv2.findNonZero(spot.astype(np.uint8)))
    filled = cv2.fillConvexPoly(np.zeros(spot.shape, dtype=np.uint8), hull, 1)
    return float(np.sqrt((half + apart + pixel) / (half - apart + pixel))), moments["m00"] / np.count_nonzero(filled)


def _colour(mask: Mask, lab: Array) -> tuple[float, ...]:
    """How the colour differs from the surroundings, how it varies, and how sharp the edge is."""
    inside = mask.astype(np.uint8)
    window = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * AROUND + 1, 2 * AROUND + 1))
    ring = (cv2.dilate(inside, window) > 0) & ~mask
    colours = lab[mask]
    spread = float(np.sqrt(colours.var(axis=0).sum()))
    if not ring.any():
        return 0.0, 0.0, 0.0, spread, 0.0
    apart = colours.mean(axis=0) - lab[ring].mean(axis=0)
    cross = np.ones((3, 3), dtype=np.uint8)
    edge = (cv2.dilate(inside, cross) > 0) & (cv2.erode(inside, cross) == 0)
    # Across a step of one pixel the difference of neighbours on both sides is the whole step.
    slopes = [cv2.Sobel(lab, -1, *way, ksize=3, scale=1 / 4) for way in ((1, 0), (0, 1))]
    steep = np.sqrt(sum(slope[edge] ** 2 for slope in slopes).sum(axis=1)).mean()
    rim = (cv2.erode(inside, window) == 0) & mask
    step = float(np.linalg.norm(lab[rim].mean(axis=0) - lab[ring].mean(axis=0)))
    return *apart.tolist(), spread, min(1.0, float(steep) / step) if step > FAINT else 0.0


def _place(centre: Array, whole: Mask) -> tuple[float, float]:
    left, top, width, height = cv2.boundingRect(whole.astype(np.uint8))
    return (float(centre[0]) + 0.5 - left) / max(1, width), (float(centre[1]) + 0.5 - top) / max(1, height)
