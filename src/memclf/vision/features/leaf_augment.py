"""Outlined images, and how teaching shows them: whole, or cropped to the leaf."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from memclf._numbers import Array
from memclf.vision.features.leaf_light import dull_background
from memclf.vision.features.light import remove_impulses, remove_noise
from memclf.vision.features.views import change_light, disturb, draw_place
from memclf.vision.files import Pixels

CANVAS = (256, 128)  # width and height of what is shown
KEPT = (512, 256)  # larger images are made smaller once, to be cheap to show often
HEAVY = 10.0  # a leaf that is affected by a tenth is shown 1 + HEAVY / 10 times as often as a sound one
CROPPED = 0.25  # share of showings that are cropped to the leaf
DISTURBED = 0.5  # share of showings that are changed strongly


class Outlined(NamedTuple):
    """An image with outlines, lying on its longer side.

    Its outlines are three planes (0 to 255); with the leaf's bounding box, and how many times as often as a sound leaf
    it is shown.
    """

    image: Pixels
    shares: Pixels
    box: tuple[int, int, int, int]
    often: float


def prepare(image: Pixels, labels: NDArray[np.integer]) -> Outlined:
    """Prepare an image and its labels (0 background, 1 leaf, 2 symptom) for teaching."""
    shares = np.stack([labels == k for k in range(3)], axis=2).astype(np.uint8) * np.uint8(255)
    if image.shape[0] > image.shape[1]:
        image, shares = image.transpose(1, 0, 2), shares.transpose(1, 0, 2)
    image, shares = remove_impulses(np.ascontiguousarray(image)), np.ascontiguousarray(shares)
    if image.shape[1] > KEPT[0] or image.shape[0] > KEPT[1]:
        image, shares = (_shrink(part) for part in (image, shares))
    # Heavily affected leaves are rare; shown as rarely, they would be underestimated.
    affected = float(np.mean(labels == 2)) / max(1e-6, float(np.mean(labels > 0)))
    return Outlined(image, shares, _box(shares[:, :, 0] < 128), 1 + HEAVY * min(affected, 0.2))


def order_of_showing(cases: list[Outlined], rng: np.random.Generator) -> list[int]:
    """Positions of cases in random order, each as often as it is to be shown.

    A half means one time in two.
    """
    often = np.array([case.often for case in cases])
    times = np.floor(often + rng.random(len(cases))).astype(int)
    return rng.permutation(np.repeat(np.arange(len(cases)), times)).tolist()


def _shrink(part: Pixels) -> Pixels:
    return np.asarray(cv2.resize(part, KEPT, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _box(leaf: Array) -> tuple[int, int, int, int]:
    """Left, top, width and height of the largest piece; all of the image if there is none."""
    count, _, pieces, _ = cv2.connectedComponentsWithStats(leaf.astype(np.uint8))
    if count < 2:
        return 0, 0, leaf.shape[1], leaf.shape[0]
    left, top, width, height = pieces[1 + int(np.argmax(pieces[1:, cv2.CC_STAT_AREA])), :4].tolist()
    return left, top, width, height


def draw_view(case: Outlined, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw one showing of a case.

    Returns the image (height x width x 3, float32) and the shares of each kind (3 x height x width).
    """
    height, width = case.image.shape[:2]
    place = draw_place(case.box if rng.random() < CROPPED else (0, 0, width, height), CANVAS, rng)
    image, shares = (
        cv2.warpAffine(part, place, CANVAS, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        for part in (case.image, case.shares)
    )
    if rng.random() < DISTURBED:
        image = disturb(np.asarray(image, dtype=np.uint8), rng)
    scale = np.float32(1 / 255)
    x = dull_background(remove_noise(change_light(image.astype(np.float32) * scale, rng)))
    return x, np.ascontiguousarray((shares.astype(np.float32) * scale).transpose(2, 0, 1))
