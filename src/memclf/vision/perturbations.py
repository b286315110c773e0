"""Mild perturbations, which are no corruptions, to calibrate answers on held-out images.

None of them is one of the corruptions that robustness is measured with, nor a stronger or weaker version of one:
no noise, blur, weather or compression, no change of brightness, contrast or saturation of the whole image. What an
image shows stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.vision.draws import Key, generator
from memclf.vision.files import Pixels

# (image from 0 to 1, generator, strength from 0 to 1) -> changed image
Change = Callable[[Array, np.random.Generator, float], Array]


def perturb(image: Pixels, *, seed: int = 0, key: Key | None = None) -> Pixels:
    """Change one image a little. Kind, strength and place are drawn from seed and key.

    >>> image = np.full((64, 64, 3), 128, dtype=np.uint8)
    >>> perturb(image, key="leaf/900.jpg").shape
    (64, 64, 3)
    """
    rng = generator(seed, key, "perturbed", 0, image)
    change = list(PERTURBATIONS.values())[int(rng.integers(len(PERTURBATIONS)))]
    changed = change(image.astype(np.float32) / 255, rng, float(rng.uniform(0.2, 1.0)))
    return np.asarray(np.clip(np.rint(changed * 255), 0, 255), dtype=np.uint8)


def tint(x: Array, rng: np.random.Generator, strength: float) -> Array:
    """Light of another colour: the channels are weighed differently, their mean weight is 1."""
    gains = 1 + 0.25 * strength * rng.uniform(-1, 1, 3)
    return x * (gains / gains.mean()).astype(np.float32)


def shade(x: Array, rng: np.random.Generator, strength: float) -> Array:
    """Light from one side: brighter there, darker on the other."""
    height, width = x.shape[:2]
    angle = rng.uniform(0, 2 * np.pi)
    across = np.cos(angle) * np.linspace(-1, 1, width)[None, :] + np.sin(angle) * np.linspace(-1, 1, height)[:, None]
    return x * (1 + 0.6 * strength * across / np.sqrt(2)).astype(np.float32)[:, :, None]


def stripes(x: Array, rng: np.random.Generator, strength: float) -> Array:
    """The stripes of a screen or of lamps that flicker: a wave across the picture."""
    height, width = x.shape[:2]
    angle, turns, phase = rng.uniform(0, np.pi), rng.uniform(8, 60), rng.uniform(0, 2 * np.pi)
    along = np.cos(angle) * np.arange(width)[None, :] + np.sin(angle) * np.arange(height)[:, None]
    wave = np.sin(2 * np.pi * turns * along / max(height, width) + phase)
    return x + (0.12 * strength * wave).astype(np.float32)[:, :, None]


def steps(x: Array, rng: np.random.Generator, strength: float) -> Array:
    """Fewer shades: 24 per channel, and down to 8."""
    shades = np.float32(round(24 - 16 * strength) - 1)
    return np.rint(x * shades) / shades


def fringes(x: Array, rng: np.random.Generator, strength: float) -> Array:
    """Colours that do not meet, as through a poor lens: red and blue are moved apart."""
    height, width = x.shape[:2]
    angle, far = rng.uniform(0, 2 * np.pi), 0.01 * strength * min(height, width) + 1
    dx, dy = round(far * np.cos(angle)), round(far * np.sin(angle))
    moved = x.copy()
    for channel, sign in ((0, 1), (2, -1)):
        shift = np.array([[1, 0, sign * dx], [0, 1, sign * dy]], dtype=np.float32)
        plane = np.ascontiguousarray(x[:, :, channel])
        moved[:, :, channel] = cv2.warpAffine(plane, shift, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return moved


def ghost(x: Array, rng: np.random.Generator, strength: float) -> Array:
    """A reflection: the picture itself, mirrored, shines through."""
    mirrored = (x[:, ::-1], x[::-1], x[::-1, ::-1])[int(rng.integers(3))]
    return x + np.float32(0.3 * strength) * (mirrored - x)


def holes(x: Array, rng: np.random.Generator, strength: float) -> Array:
    """Small pieces are missing, of one colour each."""
    height, width = x.shape[:2]
    x = x.copy()
    for _ in range(round(2 + 8 * strength)):
        h, w = (max(1, round(side * rng.uniform(0.01, 0.04))) for side in (height, width))
        top, left = int(rng.integers(height - h + 1)), int(rng.integers(width - w + 1))
        x[top : top + h, left : left + w] = rng.uniform(0, 1, 3)
    return x


PERTURBATIONS: dict[str, Change] = {
    change.__name__: change for change in (tint, shade, stripes, steps, fringes, ghost, holes)
}
