"""Single pictures of a report: sized, outlined, packed; and which expert feature has something to show."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from memclf.vision.images import ImageCollection

LARGE = 320  # pixels of the longer side


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


def outlined(image: Any, masks: Mapping[str, Any]) -> Any:
    """The image with the outlines of masks, at display size: lines and letters drawn before would be too fine."""
    from memclf.vision.features import draw_masks

    return draw_masks(sized(image, LARGE), {name: _sized_mask(mask) for name, mask in masks.items()})


def _sized_mask(mask: Any) -> Any:
    """A mask at display size that takes the same share of the image, since the legend tells it."""
    covered = sized(mask.astype(np.float32), LARGE)
    most = np.argsort(-covered, axis=None, kind="stable")[: round(float(mask.mean()) * covered.size)]
    small = np.zeros(covered.shape, dtype=bool)
    small.flat[most] = True
    return small


def packed(picture: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, **options)
    return stream.getvalue()
