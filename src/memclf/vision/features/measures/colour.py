"""The colour of a region beside its surroundings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.vision.features.base import Masks
from memclf.vision.features.measures.base import Measurement
from memclf.vision.features.measures.sight import FOREGROUND, PICTURE, Sight, to_lab

LEVELS = {"low": 0.1, "middle": 0.5, "high": 0.9}
AXES = ("lightness", "redness", "yellowness")
GREY = 3.0  # chroma at which a hue counts half


class ColourOf(Measurement):
    """How light, red and yellow something is beside its surroundings, and its hue.

    Colours are those of CIELAB with the surroundings as white (the median of a ring around the region; of the whole
    picture the background), so that the colour and the strength of the light cancel. Low, middle and high are the
    quantiles 0.1, 0.5 and 0.9. `hue_red` and `hue_yellow` are the direction of the middle colour, shortened where it
    is nearly grey: they stay where fog or a faded print take the same share from all colours. `hue_spread` says how
    different the hues are, from 0 to 1. All numbers are 0 where there is nothing.

    Parameters
    ----------
    of, regions
        See `Measurement`.

    Examples
    --------
    >>> image = np.full((60, 60, 3), 200, dtype=np.uint8)
    >>> image[20:40, 20:40] = 200, 90, 80
    >>> colour = ColourOf()
    >>> row = dict(zip(colour.names, colour.transform([image])[0].tolist(), strict=True))
    >>> row["foreground_redness_middle"] > 30, round(row["foreground_hue_red"], 1)
    (True, 0.8)
    """

    word = "colour"
    label = "colour beside the surroundings"
    sentence = "How light, red and yellow it is beside its surroundings, at its low, middle and high end, and its hue."

    def __init__(self, of: str = FOREGROUND, *, regions: Any = None):
        self.of = of
        self.regions = regions

    def parts(self) -> Sequence[str]:
        return (*(f"{axis}_{level}" for axis in AXES for level in LEVELS), "hue_red", "hue_yellow", "hue_spread")

    def read(self, sight: Sight) -> Sequence[float]:
        mask = self.mask(sight)
        if not mask.any():
            return [0.0] * len(self.parts())
        tones = sight.tones[mask]
        if self.of != PICTURE:
            tones = tones - np.median(sight.tones[sight.surroundings(mask)], axis=0)
        lab = to_lab(tones)
        levels = np.quantile(lab, list(LEVELS.values()), axis=0)
        return [*levels.T.ravel().tolist(), *_hue(lab[:, 1:])]

    def show(self, sight: Sight) -> Masks:
        mask = self.mask(sight)
        return {} if self.of == PICTURE or not mask.any() else {f"around {self.of}": sight.surroundings(mask)}


def _hue(chroma: Array) -> tuple[float, float, float]:
    """The direction of the middle colour, and how different directions are."""
    red, yellow = np.median(chroma, axis=0)
    length = float(np.hypot(red, yellow))
    strength = np.hypot(chroma[:, 0], chroma[:, 1])
    weight = float(strength.sum())
    together = float(np.hypot(*chroma.sum(axis=0))) / weight if weight > 0 else 1.0
    spread = (1 - together) * weight / (weight + GREY * len(chroma))  # hues of what is nearly grey are noise
    return float(red) / (length + GREY), float(yellow) / (length + GREY), spread
