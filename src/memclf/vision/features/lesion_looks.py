"""How a lesion looks beside the skin around it: its colours and its form."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from memclf._numbers import Array
from memclf.vision.files import Pixels

Mask = NDArray[np.bool_]

CENTRE, RIM = 0.6, 0.35  # depth inside the lesion, of the deepest, beyond and below which a pixel belongs to them
DARKEST = 4.0  # is added to every value, so that black has a logarithm
PARTS = ("low", "middle", "high", "centre", "rim", "spread")

LOOKS = (
    *(f"{colour}_{part}" for colour in ("lightness", "redness", "yellowness") for part in PARTS),
    "skin_lightness_spread",
    "skin_redness_spread",
    "elongation",
)


def describe_looks(pixels: Pixels, lesion: Mask, skin: Mask) -> Array:
    """The numbers named in `LOOKS`, in relation to the median colour of the skin.

    Low, middle and high are quantiles inside the lesion; centre and rim are compared with the mean of the lesion. A
    pustule is pale or yellow in the centre, a comedo often dark, a papule red throughout.
    """
    values = pixels.astype(np.float32) + DARKEST
    usual = np.median(values[skin] if skin.any() else values.reshape(-1, 3), axis=0)
    red, green, blue = np.moveaxis(np.log(values / usual), 2, 0)
    colours = (red + green + blue) / 3, red - green, (red + green) / 2 - blue
    depth = cv2.distanceTransform(lesion.astype(np.uint8), cv2.DIST_L2, 3)
    deepest = float(depth.max())
    centre, rim = depth > CENTRE * deepest, lesion & (depth < RIM * deepest)
    numbers: list[float] = []
    for colour in colours:
        inside = colour[lesion]
        mean = float(inside.mean())
        numbers += np.quantile(inside, (0.1, 0.5, 0.9)).tolist()
        numbers += [float(colour[part].mean()) - mean if part.any() else 0.0 for part in (centre, rim)]
        numbers.append(float(inside.std()))
    spread = [float(colour[skin].std()) if skin.any() else 0.0 for colour in colours[:2]]
    wide, high = (int(np.ptp(np.flatnonzero(lesion.any(axis=axis)))) + 1 for axis in (0, 1))
    return np.array([*numbers, *spread, abs(np.log(wide / high))])
