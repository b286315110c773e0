"""Plasma fractal: a map of clouds by the diamond-square algorithm."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from memclf.vision import draws

START = 100.0  # of the roughness; noise is uniform within its square


def plasma(height: int, width: int, decay: float, rng: np.random.Generator) -> Any:
    """Clouds: the top left of a torus whose side is a power of two.

    Over the whole torus, values go from 0 to 1.

    Every level doubles the grid: the middle of four points, and then the points between them, are the mean of their
    four neighbours plus noise, which shrinks from level to level.
    """
    grid = np.zeros((1, 1), dtype=np.float32)
    rough = START
    while len(grid) < max(height, width):
        grid = _double(grid, rng, rough**2)
        rough /= decay
    low, high, _, _ = cv2.minMaxLoc(grid)
    return (grid[:height, :width] - np.float32(low)) * np.float32(1 / (high - low))


def _double(grid: Any, rng: np.random.Generator, spread: float) -> Any:
    """The next level: a grid with new points between the old ones.

    First the middles of squares, then the points above and left of the middles.
    """
    wrapped = cv2.copyMakeBorder(grid, 0, 1, 0, 1, cv2.BORDER_WRAP)
    across = wrapped[:, :-1] + wrapped[:, 1:]  # pairs of neighbours in a row
    along = wrapped[:-1, :-1] + wrapped[1:, :-1]  # and in a column
    middle = _displace(across[:-1] + across[1:], rng, spread)
    before = cv2.copyMakeBorder(middle, 1, 0, 1, 0, cv2.BORDER_WRAP)
    top = _displace(across[:-1] + before[:-1, 1:] + middle, rng, spread)
    left = _displace(along + before[1:, :-1] + middle, rng, spread)
    finer = np.empty((2 * len(grid), 2 * len(grid)), dtype=np.float32)
    finer[::2, ::2], finer[1::2, 1::2] = grid, middle
    finer[::2, 1::2], finer[1::2, ::2] = top, left
    return finer


def _displace(sums: Any, rng: np.random.Generator, spread: float) -> Any:
    """Means of four neighbours, whose sums these are, plus noise."""
    noise = draws.signed_unit(rng, sums.shape)
    noise *= np.float32(spread)
    sums *= np.float32(0.25)
    sums += noise
    return sums
