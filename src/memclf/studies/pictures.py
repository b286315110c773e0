"""Single pictures of a report: sized, outlined, packed; and which expert feature has something to show."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from memclf.vision.images import ImageCollection

LARGE = 320  # pixels of the longer side
SHARP = 400  # of pictures with lines in them
# Bright, since they stand between dark edges.
COLOURS = ((255, 72, 112), (64, 186, 255), (255, 225, 25), (110, 220, 120), (255, 150, 60), (200, 110, 240))
DARK = (24, 24, 28)


def feature_of(similarity: Any) -> Any:
    """The expert feature that shows what it saw, be it in a part of a combined similarity; None if there is none."""
    for each in (similarity, *getattr(similarity, "similarities_", ())):
        feature = getattr(each, "features_", None)
        if hasattr(feature, "masks") and hasattr(feature, "transform"):
            return feature
    return None


def relates(feature: Any) -> bool:
    from memclf.vision.features import ImageFeatures

    return getattr(type(feature), "relate", ImageFeatures.relate) is not ImageFeatures.relate


def much_to_see(feature: Any, images: ImageCollection, row: int) -> tuple[int, float]:
    """How many masks are not empty, and how large the smallest of them is."""
    masks = feature.masks(images[row], None if images.info is None else images.info[row])
    sizes = [float(mask.mean()) for mask in masks.values() if mask.any()]
    return len(sizes), min(sizes, default=0.0)


def sized(image: Any, side: int) -> Any:
    """At most `side` pixels long; small images are enlarged by a whole number, so that their pixels stay sharp."""
    import cv2

    longest = max(image.shape[:2])
    if longest > side:
        size = [max(1, round(length * side / longest)) for length in image.shape[1::-1]]
        return cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return np.repeat(np.repeat(image, side // longest, axis=0), side // longest, axis=1)


def colours(n: int) -> list[tuple[int, int, int]]:
    """Of the outlines of so many masks."""
    return [COLOURS[number % len(COLOURS)] for number in range(n)]


def outlined(image: Any, masks: Mapping[str, Any]) -> Any:
    """The image with lines around its masks, at display size: drawn before, they would be too fine.

    Each line has dark edges, so that it stands out from snow and from noise, and leaves its own mask alone.
    """
    shown = sized(image, SHARP).copy()
    lines = zip(masks.values(), colours(len(masks)), strict=True)
    for mask, colour in reversed(list(lines)):  # where masks touch, the first is to be seen
        edge, start, end, edge_end = (_grown(_sized_mask(mask), pixels) for pixels in (0, 1, 3, 4))
        shown[edge_end & ~edge] = DARK
        shown[end & ~start] = colour
    return shown


def _grown(mask: Any, pixels: int) -> Any:
    import cv2

    around = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * pixels + 1, 2 * pixels + 1))
    return cv2.dilate(mask.astype(np.uint8), around).astype(bool)


def _sized_mask(mask: Any) -> Any:
    """A mask at display size that takes the same share of the image, since the legend tells it."""
    covered = sized(mask.astype(np.float32), SHARP)
    most = np.argsort(-covered, axis=None, kind="stable")[: round(float(mask.mean()) * covered.size)]
    small = np.zeros(covered.shape, dtype=bool)
    small.flat[most] = True
    return small


def packed(picture: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, **options)
    return stream.getvalue()
