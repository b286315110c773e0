"""Strong changes of images, which are no corruptions: they show when a network fails.

An answer rule learns on them whom to believe. A person still recognises the picture. None is one of the corruptions
that robustness is measured with, and none calls their code: no brightening, no loss of contrast or of saturation, no
noise of single pixels, no blur, weather, pixelation or compression. Three have a distant relative among them: blotches
(noise, but of patches), smear (blur, but edges stay) and ripple (elastic distortion, but one regular wave).

Sizes are shares of the image, so that a change looks alike at any resolution.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from memclf._numbers import Array
from memclf.vision.draws import Key, generator, normal
from memclf.vision.files import Pixels

# (image, generator, strength from 0, medium, to 1, strong) -> changed image
Shift = Callable[[Pixels, np.random.Generator, float], Array]

LEVELS = np.arange(256, dtype=np.float32)
SMEARED = 256  # pixels of the longer side at which an image is smeared


def shift(image: Pixels, *, seed: int = 0, key: Key | None = None) -> Pixels:
    """Change one image strongly. Kind and strength are drawn from seed and key.

    >>> image = np.full((64, 64, 3), 128, dtype=np.uint8)
    >>> shift(image, key="leaf/900.jpg").shape
    (64, 64, 3)
    """
    rng = generator(seed, key, "shifted", 0, image)
    kind = list(SHIFTS.values())[int(rng.integers(len(SHIFTS)))]
    return to_bytes(kind(np.ascontiguousarray(image), rng, float(rng.uniform())))


# ------------------------------------------------------------------------------------------------------------- colours


def posterise(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Few shades: seven per channel, and down to three."""
    steps = 6 - round(4 * strength)
    return cv2.LUT(image, to_bytes(np.rint(LEVELS / 255 * steps) * (255 / steps)))


def palette(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Few colours: eight and down to three, which are means of similar pixels."""
    few = 8 - round(5 * strength)
    some = cv2.resize(image, (32, 32), interpolation=cv2.INTER_AREA).reshape(-1, 3).astype(np.float32)
    start = (some.sum(axis=1).argsort().argsort() * few // len(some)).astype(np.int32)  # by brightness: no draw
    stop = (cv2.TERM_CRITERIA_COUNT, 8, 0.0)
    _, _, colours = cv2.kmeans(some, few, start, stop, 1, cv2.KMEANS_USE_INITIAL_LABELS)
    nearest = ((colours**2).sum(axis=1) - 2 * _coarse_colours() @ colours.T).argmin(axis=1)
    red, green, blue = (image[:, :, channel].astype(np.uint16) >> 3 for channel in range(3))
    return to_bytes(colours)[nearest].take((red << 10) | (green << 5) | blue, axis=0)


@cache
def _coarse_colours() -> NDArray[np.float32]:
    """The middles of all colours of 5 bits a channel.

    Looking these up is faster than comparing pixels.
    """
    return (np.indices((32, 32, 32)).reshape(3, -1).T * 8 + 4).astype(np.float32)


def solarise(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Overexposed film: the brightest part of the image turns dark, the brightest pixel black."""
    some = image[::4, ::4]
    limit, most = float(np.quantile(some, 0.8 - 0.3 * strength)), float(some.max())
    beyond = limit * (most - LEVELS) / max(most - limit, 1)
    return cv2.LUT(image, to_bytes(np.where(limit >= LEVELS, LEVELS, beyond)))


def cast(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """A wrong white balance: every channel has another gain. None burns out."""
    gains = np.exp((0.5 + 0.5 * strength) * _direction(rng))
    return cv2.LUT(image, to_bytes(LEVELS[:, None] * (1.1 * gains / gains.max()))[None])


def hue(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Other colours: all turn about the grey axis, by 40 to 120 degrees."""
    angle = np.deg2rad(40 + 80 * strength) * rng.choice((-1, 1))
    along, across = (1 - np.cos(angle)) / 3, np.sin(angle) / np.sqrt(3)
    turn = np.cos(angle) * np.eye(3) + along + across * np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    return cv2.transform(image, turn)


def dusk(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Far too little light: a gamma of 1.8 to 2.8."""
    return cv2.LUT(image, to_bytes(255 * (LEVELS / 255) ** (1.8 + strength)))


def lamp(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Light from one place, in a colour of its own: bright there, deep shadow elsewhere."""
    height, width = image.shape[:2]
    (x, y), reach = rng.uniform(0, 1, 2), rng.uniform(0.3, 0.5)
    # a bell in two dimensions is the product of two in one
    across, down = (np.exp(-(((np.arange(n) / n - at) / reach) ** 2) / 2) for n, at in ((width, x), (height, y)))
    light = 0.35 - 0.25 * strength + 1.2 * np.outer(down, across)
    colour = np.exp(0.25 * _direction(rng))
    return image * cv2.merge([light * gain for gain in colour]).astype(np.float32)


# ----------------------------------------------------------------------------------------------------------- disguises


def blotches(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Patches of wrong colour, whose size is a thirtieth to a fifteenth of the image."""
    height, width = image.shape[:2]
    cells = rng.uniform(15, 30) / max(height, width)
    small = normal(rng, (max(2, round(height * cells)), max(2, round(width * cells)), 3))
    return image + (8 + 22 * strength) * cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)


def stripes(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Light through a blind: a wave of stripes across the image."""
    height, width = image.shape[:2]
    angle, turns, phase = rng.uniform(0, np.pi), rng.uniform(6, 20), rng.uniform(0, 2 * np.pi)
    along = np.cos(angle) * np.arange(width)[None, :] + np.sin(angle) * np.arange(height)[:, None]
    wave = np.sin(2 * np.pi * turns * along / max(height, width) + phase).astype(np.float32)
    return image + (25 + 35 * strength) * wave[:, :, None]


def blocks(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Pieces are missing: rectangles of one colour each hide a twentieth to a quarter."""
    height, width = image.shape[:2]
    changed = image.copy()
    for _ in range(round(2 + 6 * strength)):
        h, w = (max(1, round(side * rng.uniform(0.12, 0.25))) for side in (height, width))
        top, left = int(rng.integers(height - h + 1)), int(rng.integers(width - w + 1))
        changed[top : top + h, left : left + w] = rng.integers(0, 256, 3)
    return changed


def scratches(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Thin lines of random colours and lengths."""
    height, width = image.shape[:2]
    changed = image.copy()
    thick = max(1, round(max(height, width) / 150))
    for _ in range(round(6 + 30 * strength)):
        ends = (rng.uniform(-0.2, 1.2, (2, 2)) * (width, height)).astype(int)
        cv2.line(changed, ends[0].tolist(), ends[1].tolist(), rng.integers(0, 256, 3).tolist(), thick, cv2.LINE_AA)
    return changed


# -------------------------------------------------------------------------------------------------------------- places


def smear(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """A painting in oil: the median of each neighbourhood, of 3 to 6 % of the image."""
    height, width = image.shape[:2]
    smaller = min(1.0, SMEARED / max(height, width))  # a median over many pixels is slow
    reach = max(1, round(max(height, width) * smaller * (0.015 + 0.015 * strength)))
    small = cv2.resize(image, None, fx=smaller, fy=smaller, interpolation=cv2.INTER_AREA)
    return cv2.resize(cv2.medianBlur(small, 2 * reach + 1), (width, height))


def sharpen(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Edges far too sharp, with bright and dark seams."""
    soft = cv2.GaussianBlur(image, (0, 0), max(1.0, max(image.shape[:2]) / 150))
    gain = 3 + 5 * strength
    return cv2.addWeighted(image, 1 + gain, soft, -gain, 0)


def ripple(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Seen through moving water: a wave moves rows and columns."""
    far = (0.012 + 0.013 * strength) * max(image.shape[:2])
    turns, phase = rng.uniform(5, 9, 2), rng.uniform(0, 2 * np.pi, 2)
    (down, across), longer = np.indices(image.shape[:2], dtype=np.float32), max(image.shape[:2])
    right = far * np.sin(2 * np.pi * turns[0] * down / longer + phase[0])
    below = far * np.sin(2 * np.pi * turns[1] * across / longer + phase[1])
    return _fetch(image, across + right, down + below)


def tiles(image: Pixels, rng: np.random.Generator, strength: float) -> Array:
    """Loose tiles: each is moved a little from its place."""
    height, width = image.shape[:2]
    side = rng.uniform(0.06, 0.1) * max(height, width)
    grid = (int(np.ceil(height / side)), int(np.ceil(width / side)), 2)
    moves = (rng.uniform(-1, 1, grid) * side * (0.2 + 0.5 * strength)).astype(np.float32)
    down, across = np.indices((height, width), dtype=np.float32)
    right, below = np.moveaxis(moves[(down / side).astype(int), (across / side).astype(int)], -1, 0)
    return _fetch(image, across + right, down + below)


def _fetch(image: Pixels, across: Array, down: Array) -> Array:
    maps = across.astype(np.float32), down.astype(np.float32)
    return cv2.remap(image, *maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)


def _direction(rng: np.random.Generator) -> Array:
    """Three numbers about zero, of length 1: which channel gains and which loses."""
    angle = rng.uniform(0, 2 * np.pi)
    return np.sqrt(2 / 3) * np.cos(angle + 2 * np.pi / 3 * np.arange(3))


def to_bytes(values: Array) -> NDArray[np.uint8]:
    """Brightness as whole numbers from 0 to 255."""
    values = np.asarray(values)
    return values if values.dtype == np.uint8 else np.clip(np.rint(values), 0, 255).astype(np.uint8)


SHIFTS: dict[str, Shift] = {
    kind.__name__: kind
    for kind in (
        *(posterise, palette, solarise, cast, hue, dusk, lamp),
        *(blotches, stripes, blocks, scratches),
        *(smear, sharpen, ripple, tiles),
    )
}
