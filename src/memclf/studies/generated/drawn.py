"""What the generators share: pictures drawn when they are looked at, and draws that depend on an index only."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.exceptions import MissingExtraError

GOLDEN = (math.sqrt(5) - 1) / 2


class Drawn:
    """A picture that is drawn anew whenever it is looked at: ``np.asarray`` calls ``draw(*args)``.

    Three thousand pictures of 500 x 500 pixels would take 2 GB; `ImageCollection.loaded` keeps them where they fit.
    """

    def __init__(self, draw: Callable[..., Array], *args: Any):
        self.draw, self.args = draw, args

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.draw(*self.args), dtype=dtype)


def opencv() -> Any:
    """OpenCV, which is no part of the base install; where it is absent, the error names the extra."""
    try:
        import cv2
    except ModuleNotFoundError as error:
        raise MissingExtraError('generated pictures need cv2: pip install "memclf[vision]"') from error
    return cv2


def generator(seed: int, index: int) -> np.random.Generator:
    """Random numbers for one picture, whatever others are drawn."""
    return np.random.default_rng([seed, index])


def indices(n: int, seed: int, start: int) -> range:
    """The numbers of the pictures asked for."""
    for name, value in (("n", n), ("seed", seed), ("start", start)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(f"{name} must be a whole number from 0, got {value!r}")
    return range(start, start + n)


def class_of(seed: int, index: int, frequencies: Sequence[float]) -> int:
    """A class for a picture, such that any run of pictures has nearly the given frequencies.

    Steps of the golden section spread more evenly than independent draws, so that a small test set has rare classes
    too, and the class of a picture does not depend on how many others there are.
    """
    place = (np.random.default_rng(seed).random() + index * GOLDEN) % 1.0
    limits = np.cumsum(frequencies) / np.sum(frequencies)
    return min(int(np.searchsorted(limits, place, side="right")), len(limits) - 1)


def field(rng: np.random.Generator, height: int, width: int, cell: float) -> Array:
    """Smooth noise of about unit strength, its waves about two cells long."""
    cv2 = opencv()
    shape = (max(2, round(height / cell) + 1), max(2, round(width / cell) + 1))
    coarse = rng.standard_normal(shape, dtype=np.float32)
    if cell > 8:  # straight lines between points that far apart would show; a curve through every fourth pixel does
        coarse = cv2.resize(coarse, (-(-width // 4), -(-height // 4)), interpolation=cv2.INTER_CUBIC)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR)


def planes(colour: Array) -> Array:
    """A colour to multiply a plane with: the result is three planes."""
    return colour.astype(np.float32)[:, None, None]


def strips(height: int, rows: int = 32) -> list[slice]:
    """A picture a few rows at a time: what is between stays in the processor's cache, twice as fast."""
    return [slice(first, min(first + rows, height)) for first in range(0, height, rows)]


def write_csv(file: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    with open(file, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
