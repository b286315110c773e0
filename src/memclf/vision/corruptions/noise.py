"""Gaussian, shot, impulse and speckle noise: every pixel and channel on its own."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from memclf._numbers import Array
from memclf.vision import draws
from memclf.vision.corruptions.pixels import in_bands, to_bytes
from memclf.vision.corruptions.registry import register
from memclf.vision.files import Pixels


@register("noise", paper_row=11)
def gaussian_noise(image: Pixels, rng: np.random.Generator, *, std: float) -> Pixels:
    """x + N(0, std).

    Pixels are whole numbers, so truncating the sum is adding the truncated noise.
    """
    noise = draws.look_up(_whole_noise(std), draws.bits(rng, image.shape))
    return cv2.add(image, noise, dtype=cv2.CV_8U)  # type: ignore[return-value]


@lru_cache(maxsize=16)
def _whole_noise(std: float) -> NDArray[np.int16]:
    return np.floor(255 * std * draws.normal_quantiles()).astype(np.int16)


@register("noise", paper_row=12)
def shot_noise(image: Pixels, rng: np.random.Generator, *, photons: float) -> Pixels:
    """Poisson(photons x) / photons, from an alias table for each of the 256 grey values."""
    alias = _poisson(photons)
    drawn = draws.bits(rng, image.shape)
    return in_bands(image, lambda rows: alias.draw(image[rows], drawn[rows]))


class Alias(NamedTuple):
    """Walker's alias method: a value is that of a random column, or of the column's alias."""

    column_bits: int
    threshold: NDArray[np.uint16]
    own: Pixels
    other: Pixels

    def draw(self, values: Pixels, drawn: NDArray[np.uint16]) -> Pixels:
        """The high bits choose a column, the low ones between the column and its alias."""
        low_bits = np.uint16(16 - self.column_bits)
        column = drawn >> low_bits
        cell = (values.astype(np.uint16) << np.uint16(self.column_bits)) | column
        low = drawn & np.uint16((1 << int(low_bits)) - 1)
        return np.where(low < self.threshold.take(cell), self.own.take(column), self.other.take(cell))


@lru_cache(maxsize=16)
def _poisson(photons: float) -> Alias:
    chances, levels = shot_chances(photons)
    column_bits = max(1, int(len(levels) - 1).bit_length())
    columns = 1 << column_bits
    mass = np.zeros((256, columns))
    mass[:, : len(levels)] = chances * columns
    own = np.zeros(columns, dtype=np.uint8)
    own[: len(levels)] = levels
    share, alias = np.ones((256, columns)), np.tile(np.arange(columns), (256, 1))
    grey, unfilled = np.arange(256), np.ones((256, columns), dtype=bool)
    for _ in range(columns - 1):  # the poorest column is filled up by the richest, in all grey values at once
        poor = np.where(unfilled, mass, np.inf).argmin(axis=1)
        rich = np.where(unfilled, mass, -np.inf).argmax(axis=1)
        share[grey, poor], alias[grey, poor] = mass[grey, poor], rich
        mass[grey, rich] -= 1 - mass[grey, poor]
        unfilled[grey, poor] = False
    threshold = np.rint(share * (1 << (16 - column_bits))).astype(np.uint16)
    return Alias(column_bits, threshold.ravel(), own, own[alias].ravel())


def shot_chances(photons: float) -> tuple[Array, Pixels]:
    """Chance of each level that shot noise can give (columns) for every grey value (rows)."""
    counts = np.arange(int(np.ceil(photons)) + 1)
    levels = (np.clip(counts / photons, 0, 1) * 255).astype(np.uint8)
    rate = np.arange(256)[:, None] / 255 * photons
    chances = np.exp(xlogy(counts, rate) - rate - gammaln(counts + 1))
    chances[:, -1] = 1 - chances[:, :-1].sum(axis=1)  # all larger counts are clipped to white
    distinct, first = np.unique(levels, return_index=True)
    return np.clip(np.add.reduceat(chances, first, axis=1), 0, 1), distinct


@register("noise", paper_row=13)
def impulse_noise(image: Pixels, rng: np.random.Generator, *, amount: float) -> Pixels:
    """Each value becomes 0 or 255, equally often, with the given probability."""
    drawn = draws.bits(rng, image.shape)
    either, salt = round(amount * 65536), round(amount * 32768)
    black = (drawn < either).view(np.uint8)
    white = (drawn < salt).view(np.uint8)
    kept = np.multiply(image, 1 - black)
    return np.bitwise_or(kept, np.negative(white), out=kept)


@register("noise", paper_row=7, extra=True)
def speckle_noise(image: Pixels, rng: np.random.Generator, *, std: float) -> Pixels:
    """x + x N(0, std)."""
    drawn, table = draws.bits(rng, image.shape), _factors(std)
    return in_bands(image, lambda rows: to_bytes(table.take(drawn[rows]) * image[rows]))


@lru_cache(maxsize=16)
def _factors(std: float) -> NDArray[np.float32]:
    return (1 + std * draws.normal_quantiles()).astype(np.float32)
