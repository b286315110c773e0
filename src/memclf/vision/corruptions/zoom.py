"""Enlarging the middle of an image, as scipy.ndimage.zoom does: corners stay on corners."""

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np


def middle_of(side: int, factor: float) -> tuple[int, int, int]:
    """Where the middle that is enlarge begins, how long it is, and how long it becomes."""
    length = math.ceil(side / factor)
    return (side - length) // 2, length, round(length * factor)


def enlarge(values: Any, rows: tuple[int, int, int], columns: tuple[int, int, int], height: int, width: int) -> Any:
    """Enlarge bilinearly.

    `length` samples of `values` from `start` become `longer` ones, of which the first are returned.
    """
    (top, tall, taller), (left, wide, wider) = rows, columns
    scale_y, scale_x = (tall - 1) / max(1, taller - 1), (wide - 1) / max(1, wider - 1)
    matrix = np.array([[scale_x, 0, left], [0, scale_y, top]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(values, matrix, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE)
