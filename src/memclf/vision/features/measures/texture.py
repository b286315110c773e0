"""The texture of a region: energy at several scales and directions, and local patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.vision.features.base import Mask
from memclf.vision.features.measures.base import Measurement
from memclf.vision.features.measures.sight import PICTURE, Sight, disc, resize_mask

SCALES = {"fine": 1.0, "medium": 2.0, "coarse": 4.0, "broad": 8.0}  # standard deviations in pixels at fine size
DIRECTIONS = {"across": 0, "rising": 45, "down": 90, "falling": 135}  # of the change, in degrees
CLIPPED = 0.98  # quantile from which energy is cut, so that a few edges do not decide
QUIET = 1e-4  # energy of the logarithm of brightness that nobody sees
FLAT = 0.02  # difference of logarithms below which two pixels are equal
RADIUS = 2.0  # pixels at fine size between a pixel and those around it
# The eight neighbours of a pixel, in turn.
AROUND = [(np.sin(turn), np.cos(turn)) for turn in np.arange(8) * np.pi / 4]


class TextureOf(Measurement):
    """How rough something is at four scales, whether in one direction, and its local patterns.

    Everything is measured in the logarithm of brightness, so that the strength of the light cancels, and the energy
    that the noise of the picture must have is taken off. `roughness` is the energy of all scales together, as a power
    of ten; `roughness_fine`, `_medium`, `_coarse` and `_broad` are their shares, which contrast does not change;
    `aligned` says for each scale how much of the change lies along one direction (0: none, 1: all). Patterns are local
    binary patterns that do not change when the picture is turned (Ojala, Pietikäinen and Mäenpää, 2002): `pattern_0` to
    `pattern_8` are the shares of pixels that have so many brighter neighbours in one row, `pattern_mixed` of all
    others.

    Parameters
    ----------
    of, regions
        See `Measurement`.
    directed : bool
        Whether to measure the share of four directions, too. It says something where objects always lie the same way.

    Examples
    --------
    >>> stripes = np.repeat(128 + 60 * np.sin(np.arange(120) / 2)[None, :, None], 120, axis=0)
    >>> image = np.repeat(stripes, 3, axis=2).astype(np.uint8)
    >>> texture = TextureOf("picture")
    >>> row = dict(zip(texture.names, texture.transform([image])[0].round(1).tolist(), strict=True))
    >>> row["picture_aligned_fine"]
    1.0
    """

    word = "texture"
    label = "texture"
    sentence = "How rough it is at four scales, whether along one direction, and how its pixels differ from neighbours."
    _parameter_constraints: ClassVar[dict[str, Any]] = {"directed": ["boolean"]}

    def __init__(self, of: str = PICTURE, *, regions: Any = None, directed: bool = False):
        self.of = of
        self.regions = regions
        self.directed = directed

    def parts(self) -> Sequence[str]:
        return (
            "roughness",
            *(f"roughness_{scale}" for scale in SCALES),
            *(f"aligned_{scale}" for scale in SCALES),
            *(f"{direction}_{scale}" for scale in SCALES for direction in (DIRECTIONS if self.directed else ())),
            *(f"pattern_{number}" for number in range(9)),
            "pattern_mixed",
        )

    def read(self, sight: Sight) -> Sequence[float]:
        mask = resize_mask(self.mask(sight), sight.fine.shape)
        if not mask.any():
            return [0.0] * len(self.parts())
        energies, aligned, directions = [], [], []
        for scale in SCALES.values():
            xx, yy, xy = _energy(sight, scale, _inside(mask, scale))
            energy = xx + yy
            energies.append(energy)
            straight, oblique = ((part / energy if energy > 0 else 0.0) for part in (xx - yy, 2 * xy))
            aligned.append(min(1.0, float(np.hypot(straight, oblique))) * energy / (energy + QUIET))
            turns = np.deg2rad(2 * np.array(list(DIRECTIONS.values())))
            directions += (0.25 * (1 + straight * np.cos(turns) + oblique * np.sin(turns))).tolist()
        total = sum(energies)
        return [
            float(np.log10(total + QUIET)),
            *((energy + QUIET / 4) / (total + QUIET) for energy in energies),
            *aligned,
            *(directions if self.directed else []),
            *_patterns(sight, _inside(mask, RADIUS)),
        ]


def _inside(mask: Mask, reach: float) -> Mask:
    """The mask without its rim, where it is wide enough: the outline itself is no texture."""
    if mask.all():
        return mask
    inner = cv2.erode(mask.astype(np.uint8), disc(max(1, round(1.5 * reach))), borderValue=1) > 0
    return inner if np.count_nonzero(inner) >= 50 else mask


def _energy(sight: Sight, scale: float, mask: Mask) -> tuple[float, float, float]:
    """Mean squares and product of the slopes at a scale, without those of the noise."""
    smooth = cv2.GaussianBlur(sight.fine, (0, 0), scale)
    x, y = (
        scale * cv2.Sobel(smooth, cv2.CV_32F, dx, dy, ksize=3, scale=1 / 8, borderType=cv2.BORDER_REPLICATE)[mask]
        for dx, dy in ((1, 0), (0, 1))
    )
    strong = np.sqrt(x**2 + y**2)
    limit = max(float(np.quantile(strong, CLIPPED)), 1e-6)
    shorter = np.minimum(1, limit / np.maximum(strong, 1e-6))
    x, y = x * shorter, y * shorter
    # White noise under a Gaussian of width s has slopes of variance noise^2 / (8 pi s^4).
    grain = sight.fine_noise**2 / (8 * np.pi * scale**2)
    square_x, square_y = (max(0.0, float(np.mean(each**2)) - grain) for each in (x, y))
    product = float(np.mean(x * y))
    most = np.sqrt(square_x * square_y)
    return square_x, square_y, float(np.clip(product, -most, most))


def _patterns(sight: Sight, mask: Mask) -> list[float]:
    """Shares of the local binary patterns that a turn leaves alone."""
    smooth = cv2.GaussianBlur(sight.fine, (0, 0), 1)
    # Smoothed noise differs by a third of itself at this distance: three standard deviations.
    limit = np.float32(max(FLAT, sight.fine_noise))
    brighter = [_moved(smooth, RADIUS * right, RADIUS * down) - smooth > limit for down, right in AROUND]
    bits = np.stack([each[mask] for each in brighter]).astype(np.uint8)
    ones = bits.sum(axis=0)
    changes = (bits != np.roll(bits, 1, axis=0)).sum(axis=0)
    kind = np.where(changes <= 2, ones, 9)
    return (np.bincount(kind, minlength=10) / kind.size).tolist()


def _moved(values: Array, right: float, down: float) -> Array:
    """Each pixel's neighbour so far to the right and below, between pixels where needed."""
    shift = np.array([[1, 0, right], [0, 1, down]], dtype=np.float32)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(values, shift, values.shape[::-1], flags=flags, borderMode=cv2.BORDER_REFLECT_101)
