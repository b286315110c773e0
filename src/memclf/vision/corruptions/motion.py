"""Motion blur: a one-sided Gaussian along a line, as ImageMagick draws it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np

from memclf._numbers import Array

# OpenCV filters directly, and by the non-zero weights alone, up to this many cells; beyond, by Fourier transform.
DIRECT_CELLS = 129

Step = tuple[int, int, float]


def steps(radius: int, sigma: float, angle: float, shape: tuple[int, ...]) -> list[Step]:
    """How far (down, right) each sample is taken from, and its weight.

    Steps beyond the image are left out.
    """
    width = 2 * radius + 1
    weights = np.exp(-(np.arange(width) ** 2) / (2 * sigma**2))
    weights /= weights.sum()
    down, right = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    found: list[Step] = []
    for i, weight in enumerate(weights):
        y, x = math.ceil(i * down - 0.5), math.ceil(i * right - 0.5)
        if abs(y) >= shape[0] or abs(x) >= shape[1]:
            break
        found.append((y, x, float(weight)))
    return found


def motion(values: Any, radius: int, sigma: float, angle: float) -> Any:
    """Float32 values blurred along a line; the edge is repeated."""
    taken = steps(radius, sigma, angle, values.shape)
    reach_y, reach_x = max(abs(y) for y, _, _ in taken), max(abs(x) for _, x, _ in taken)
    padded = cv2.copyMakeBorder(values, reach_y, reach_y, reach_x, reach_x, cv2.BORDER_REPLICATE)
    height, width = values.shape[:2]
    total = None
    for top, left, kernel in _kernels(taken):
        y, x = reach_y + top, reach_x + left
        rows, columns = kernel.shape
        part = padded[y : y + height + rows - 1, x : x + width + columns - 1]
        part = cv2.filter2D(part, -1, kernel, anchor=(0, 0))[:height, :width]
        total = part if total is None else np.add(total, part, out=total)
    return total


def _kernels(taken: list[Step]) -> Iterator[tuple[int, int, Array]]:
    """The line cut into kernels small enough to be filtered directly."""
    start = 0
    while start < len(taken):
        stop = start + 1
        while stop < len(taken) and _cells(taken[start : stop + 1]) <= DIRECT_CELLS:
            stop += 1
        part = taken[start:stop]
        top, left = min(y for y, _, _ in part), min(x for _, x, _ in part)
        bottom, right = max(y for y, _, _ in part), max(x for _, x, _ in part)
        kernel = np.zeros((bottom - top + 1, right - left + 1), dtype=np.float32)
        for y, x, weight in part:
            kernel[y - top, x - left] += weight
        yield top, left, kernel
        start = stop


def _cells(part: list[Step]) -> int:
    rows, columns = zip(*((y, x) for y, x, _ in part), strict=True)
    return (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1)
