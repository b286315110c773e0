"""The paper's colour study: one patch, pure red, green or blue, on black."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memclf._numbers import Array
from memclf.studies.generated._common import Drawn, generator, indices

if TYPE_CHECKING:
    from memclf.vision import ImageCollection

COLOURS = ("red", "green", "blue")


def colour_patches(n: int, size: int = 500, *, seed: int = 0) -> ImageCollection:
    """The first n pictures of the colour study, labelled with their colours.

    On black, one patch whose side is a tenth of the picture's; its centre is uniform on all places where the patch
    fits, between pixels too, and a pixel belongs to it if it is less than half a side away from the centre, down and
    across. Colours come in turn. Pictures are drawn when they are looked at.

    Parameters
    ----------
    n : int
        How many; a multiple of 3 gives equal numbers.
    size : int
        Pixels of a side, at least 20.
    seed : int
        Another seed gives other pictures.

    Examples
    --------
    >>> patches = colour_patches(6, size=100)
    >>> patches.labels.tolist(), patches[0].max(axis=(0, 1)).tolist(), patches.key(5)
    (['red', 'green', 'blue', 'red', 'green', 'blue'], [255, 0, 0], 'patch-00005')
    """
    from memclf.vision import ImageCollection

    if size < 20:
        raise ValueError(f"size must be at least 20 pixels, got {size}: the patch has a tenth of them")
    numbers = indices(n, seed)
    return ImageCollection(
        [Drawn(colour_patch, size, seed, index) for index in numbers],
        np.array([COLOURS[index % 3] for index in numbers], dtype="U5"),
        keys=[f"patch-{index:05d}" for index in numbers],
    )


def colour_patch(size: int, seed: int, index: int) -> Array:
    """One picture of the study."""
    half = size / 20
    return draw_patch(generator(seed, index).uniform(half, size - half, size=2), index % 3, size)


def draw_patch(centre: Array, channel: int, size: int, background: tuple[int, int, int] = (0, 0, 0)) -> Array:
    """Draw a square patch of pure colour around a centre (down, across)."""
    near = [np.abs(np.arange(size) - middle) < size / 20 for middle in centre]
    image = np.full((size, size, 3), background, dtype=np.uint8)
    image[np.ix_(*near)] = np.eye(3, dtype=np.uint8)[channel] * 255
    return image
