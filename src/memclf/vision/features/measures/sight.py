"""One image as all measurements see it: without noise, relative to its own light.

Nothing here is learned. What is found is found once for each image, however many measurements ask:

noise       impulses and grain are removed as strongly as they are found to be, as `LeafColours` does;
light       the background is a colour and a slope, fitted to the border of the picture without the pixels that do not
            agree. Colours are divided by it, so that tint and strength of a lamp and light from one side cancel;
foreground  what stands out from the background in colour, or in colour and lightness, whichever is clearer.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.vision.features.base import ImageFeatures, Info, Mask
from memclf.vision.features.light import noise_of, remove_impulses, remove_noise
from memclf.vision.files import Pixels

PICTURE, FOREGROUND = "picture", "foreground"
WORK, FINE = 160 * 160, 256 * 256  # pixels at most: for colours and shapes, for texture and sharpness
TINY = 8  # pixels of a side, below which pixels are repeated
DARK = 0.03  # is added to every value, so that black has a logarithm
GAMMA = 2.2
STEEP = 0.7  # the most that the logarithm of light changes from the middle of the picture to its border
SMALLEST = 0.002  # share of the picture below which a piece of the foreground is dirt
OTHER = 8.0  # difference from the background from which it is something else, whatever its colour
FAINT = 2.0  # difference from the background, as in CIELAB, below which nothing stands out

# Red, green and blue to the three numbers of CIELAB; rows add up to 1, so that grey stays grey.
_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
_XYZ = (_XYZ / _XYZ.sum(axis=1, keepdims=True)).astype(np.float32)
_LAB = np.array([[0, 100, 0], [500, -500, 0], [0, 200, -200]], dtype=np.float32)


@runtime_checkable
class FindsRegions(Protocol):
    """Anything that finds regions in an image: masks by name."""

    def masks(self, image: Any) -> Mapping[str, Any]: ...


class Sight:
    """One image, prepared for measurements; every part is computed when it is first asked for.

    Parameters
    ----------
    image : array of height x width x 3, uint8
    info : mapping
        What the collection holds about the image, for features that find regions.
    """

    def __init__(self, image: Pixels, info: Info):
        self.image = image
        self.info = info
        self._regions: dict[int, Mapping[str, Any]] = {}

    @cached_property
    def _clean(self) -> Pixels:
        least = max(1, -(-TINY // min(self.image.shape[:2])))  # filters need some pixels to work on
        return remove_impulses(self.image if least == 1 else np.kron(self.image, np.ones((least, least, 1), np.uint8)))

    @cached_property
    def colours(self) -> Array:
        """The picture at work size from 0 to 1, without noise."""
        found = remove_noise(_shrink(self._clean, WORK).astype(np.float32) * np.float32(1 / 255))
        return np.maximum(found, np.float32(0))  # the filter swings below black at strong edges

    @cached_property
    def fine(self) -> Array:
        """The logarithm of brightness at fine size, with its noise."""
        grey = cv2.cvtColor(_shrink(self._clean, FINE), cv2.COLOR_RGB2GRAY).astype(np.float32) / 255
        return np.log(grey + np.float32(DARK))

    @cached_property
    def fine_noise(self) -> float:
        """The standard deviation of the noise of `fine`."""
        return noise_of(np.repeat(self.fine[:, :, None], 2, axis=2))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width at work size."""
        height, width = self.colours.shape[:2]
        return height, width

    @cached_property
    def tones(self) -> Array:
        """Logarithms of red, green and blue in units of the background: 0 is the background."""
        tones = np.log(self.colours + np.float32(DARK))
        height, width = self.shape
        rim = max(1, min(height, width) // 16)
        border = np.ones((height, width), dtype=bool)
        border[rim:-rim, rim:-rim] = False
        return tones - fit_plane(tones, border)

    @cached_property
    def lab(self) -> Array:
        """Lightness, redness and yellowness as in CIELAB, with the background as white."""
        return to_lab(self.tones)

    @cached_property
    def _standing_out(self) -> tuple[Mask, float]:
        """The foreground by colour alone, or by colour and lightness, whichever is clearer.

        Shadows and fog change lightness, so it counts half, and less where colour is as clear without it.
        """
        found = [_stand_out(self.lab, lightness) for lightness in (0.0, 0.5)]
        return max(found, key=lambda each: each[1])

    @property
    def clarity(self) -> float:
        """How clearly the foreground stands out, from 0 to 1."""
        return self._standing_out[1]

    def mask(self, of: str, regions: Any = None) -> Mask:
        """Where something is, at work size: the picture, the foreground, or a region by its name."""
        if regions is None or of in (PICTURE, FOREGROUND):
            if of == PICTURE:
                return np.ones(self.shape, dtype=bool)
            if of == FOREGROUND:
                return self._standing_out[0]
            raise ValueError(
                f"of must be {FOREGROUND!r}, {PICTURE!r}, or the name of a region together with regions=, a feature "
                f"that finds it; got {of!r} without regions"
            )
        found = self._find(regions)
        if of not in found:
            raise ValueError(f"{type(regions).__name__} finds no region {of!r}; {name_nearest(of, found)}")
        mask = np.asarray(found[of])
        if mask.shape != self.image.shape[:2]:
            raise ValueError(f"the mask of {of!r} has shape {mask.shape}, the image {self.image.shape[:2]}")
        return resize_mask(mask, self.shape)

    def _find(self, regions: Any) -> Mapping[str, Any]:
        if id(regions) not in self._regions:
            told = isinstance(regions, ImageFeatures)  # those may need what is known about the image
            self._regions[id(regions)] = regions.masks(self.image, self.info) if told else regions.masks(self.image)
        return self._regions[id(regions)]

    def surroundings(self, mask: Mask) -> Mask:
        """A ring around a mask; all else where there is no ring, everything where nothing else is."""
        side = min(self.shape)
        solid = mask.astype(np.uint8)
        near, far = (cv2.dilate(solid, disc(max(least, side // part))) > 0 for least, part in ((1, 60), (4, 10)))
        for ring in (far & ~near, ~mask):
            if np.count_nonzero(ring) >= 20:
                return np.asarray(ring)
        return np.ones(mask.shape, dtype=bool)


def _stand_out(lab: Array, lightness: float) -> tuple[Mask, float]:
    """Where colours are apart from the background, and how clearly."""
    apart = np.sqrt(lab[:, :, 1] ** 2 + lab[:, :, 2] ** 2 + (lightness * lab[:, :, 0]) ** 2)
    apart = cv2.GaussianBlur(apart, (0, 0), 1.5)
    top = float(np.quantile(apart, 0.99))
    nothing = np.zeros(apart.shape, dtype=bool)
    if top < FAINT:
        return nothing, 0.0
    scaled = np.clip(apart * (255 / top), 0, 255).astype(np.uint8)
    limit = cv2.threshold(scaled, 0, 1, cv2.THRESH_BINARY + cv2.THRESH_OTSU)[0] * top / 255
    mask = keep_large((apart > max(limit, FAINT)).astype(np.uint8), SMALLEST * apart.size)
    if not mask.any() or mask.all():
        return nothing, 0.0
    mask = _fill_spots(lab, mask)
    outside = apart[~mask]
    contrast = float(np.median(apart[mask])) - float(np.median(outside))
    return mask, contrast / (contrast + 4 * (robust_spread(outside) + FAINT / 2))


def _fill_spots(lab: Array, mask: Mask) -> Mask:
    """The mask with enclosed pieces that show something else than the background.

    A spot that is nearly black has no colour, and would be a hole in what it lies on. Through a hole one sees the
    background.
    """
    _, pieces, about, _ = cv2.connectedComponentsWithStats((~mask).astype(np.uint8), connectivity=4)
    left, top, width, height = about[:, :4].T
    enclosed = (left > 0) & (top > 0) & (left + width < mask.shape[1]) & (top + height < mask.shape[0])
    filled = mask.copy()
    for piece in np.flatnonzero(enclosed[1:]) + 1:
        inside = pieces == piece
        if np.linalg.norm(np.median(lab[inside], axis=0)) > OTHER:
            filled |= inside
    return filled


def to_lab(tones: Array) -> Array:
    """Lightness, redness and yellowness of colours whose logarithm is 0 where they are white.

    Lightness is 0 for white. Values beyond white go on, since a dark background is white here as well.
    """
    linear = np.exp(np.float32(GAMMA) * tones)
    lab = np.cbrt(linear @ _XYZ.T) @ _LAB.T
    lab[..., 0] -= 100
    return np.asarray(lab)


def fit_plane(values: Array, where: Mask) -> Array:
    """A plane for each channel, fitted where a mask says, without what does not agree with most.

    >>> rows, columns = np.indices((20, 30), dtype=np.float32)
    >>> values = (0.01 * rows)[:, :, None]
    >>> values[:5, :5] = 9
    >>> bool(np.abs(fit_plane(values, np.ones((20, 30), dtype=bool))[:, :, 0] - 0.01 * rows).max() < 0.01)
    True
    """
    height, width = values.shape[:2]
    down, across = np.linspace(-1, 1, height, dtype=np.float32), np.linspace(-1, 1, width, dtype=np.float32)
    rows, columns = np.nonzero(where)
    step = max(1, len(rows) // 2000)
    rows, columns = rows[::step], columns[::step]
    found = values[rows, columns]
    points = np.column_stack([np.ones(len(rows)), down[rows], across[columns]])
    planes = np.zeros((3, values.shape[2]))
    planes[0] = np.median(found, axis=0)
    for _ in range(6):
        off = np.linalg.norm(found - points @ planes, axis=1)
        agree = off <= max(2.5 * float(np.median(off)), 1e-4)
        chosen = points[agree]
        inner = chosen.T @ chosen + np.diag([1e-9, 0.02 * len(chosen), 0.02 * len(chosen)])
        planes = np.linalg.solve(inner, chosen.T @ found[agree])
        planes[1:] = np.clip(planes[1:], -STEEP, STEEP)
    level, slope, tilt = planes.astype(np.float32)
    return np.asarray(level + slope * down[:, None, None] + tilt * across[None, :, None])


def keep_large(mask: Array, least: float) -> Mask:
    """The pieces of a mask with at least so many pixels, without what is thinner than three."""
    opened = cv2.morphologyEx(mask, cv2.MORPH_OPEN, disc(1))
    _, pieces, about, _ = cv2.connectedComponentsWithStats(opened)
    large = about[:, cv2.CC_STAT_AREA] >= least
    large[0] = False
    return np.asarray(large[pieces])


def resize_mask(mask: Array, shape: tuple[int, int]) -> Mask:
    """The same mask at another height and width."""
    if mask.shape == shape:
        return mask.astype(bool)
    covered = cv2.resize(mask.astype(np.float32), shape[::-1], interpolation=cv2.INTER_AREA)
    return np.asarray(covered >= 0.5)


def disc(radius: int) -> Pixels:
    """A round structuring element."""
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1)), dtype=np.uint8)


def robust_spread(values: Array) -> float:
    """The standard deviation as the median absolute deviation tells it."""
    return 1.4826 * float(np.median(np.abs(values - np.median(values)))) if values.size else 0.0


def name_nearest(word: str, known: Any) -> str:
    """The nearest of the known words, and all of them, for messages.

    >>> name_nearest("foregruond", ["foreground", "picture"])
    "did you mean 'foreground'? There are 'foreground', 'picture'"
    """
    words = sorted(map(str, known))
    nearest = get_close_matches(word, words, 1, 0.5)
    listed = f"here are {', '.join(map(repr, words))}"
    return f"did you mean {nearest[0]!r}? T{listed}" if nearest else f"t{listed}"


def _shrink(image: Pixels, area: int) -> Pixels:
    height, width = image.shape[:2]
    scale = float(np.sqrt(area / (height * width)))
    if scale >= 1:
        return image
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
