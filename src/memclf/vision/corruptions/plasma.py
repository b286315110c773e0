"""Plasma fractal: a map of clouds by the diamond-square algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from memclf.vision.corruptions import draws

START = 100.0  # of the roughness; noise is uniform within its square


def plasma(side: int, decay: float, rng: np.random.Generator) -> Any:
    """A torus of `side` x `side` (a power of two) in [0, 1].

    Every level doubles the grid: the middle of four points, and then the points between them, are the mean of their
    four neighbours plus noise, which shrinks from level to level.
    """
    grid = np.zeros((1, 1), dtype=np.float32)
    rough = START
    while len(grid) < side:
        noise = draws.signed_unit(rng, (3, *grid.shape))
        noise *= np.float32(rough**2)
        grid = _doubled(grid, noise)
        rough /= decay
    grid -= grid.min()
    top = grid.max()
    return grid / top if top > 0 else grid


def _doubled(grid: Any, noise: Any) -> Any:
    n = len(grid)
    wrapped = np.pad(grid, ((0, 1), (0, 1)), mode="wrap")
    across = wrapped[:, :-1] + wrapped[:, 1:]  # pairs of neighbours in a row
    along = wrapped[:-1] + wrapped[1:]  # and in a column
    middle, top, left = noise
    quarter = np.float32(0.25)
    middle += quarter * (across[:-1] + across[1:])
    wrapped_middle = np.pad(middle, ((1, 0), (1, 0)), mode="wrap")
    top += quarter * (across[:-1] + wrapped_middle[:-1, 1:] + middle)
    left += quarter * (along[:, :-1] + wrapped_middle[1:, :-1] + middle)
    finer = np.empty((2 * n, 2 * n), dtype=np.float32)
    finer[::2, ::2], finer[1::2, 1::2] = grid, middle
    finer[::2, 1::2], finer[1::2, ::2] = top, left
    return finer
