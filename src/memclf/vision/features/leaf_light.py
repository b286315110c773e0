"""Prepare a photograph of a leaf: make colours relative to light and leaf.

Nothing here is learned. Each step undoes something that changes from photograph to photograph, after noise is gone
(`light`):

light      the colour of the background counts as colourless, so that the tint of the lamp is gone; a background that
           is vivid, since saturation was turned up, loses its colour first;
the leaf   its own median colour is the unit, so that pale and dark leaves, faded and vivid pictures agree.
"""

from __future__ import annotations

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.vision.features.light import OPPONENT, and_around, shrink, tints_beside, turn_tints, without_noise
from memclf.vision.features.workspace import buffer
from memclf.vision.files import Pixels

LOOK = (64, 32)  # width and height of the first look
CHANNELS = 6
BRIGHTNESS = 4  # the channel that is brightness
GLANCE = 7
BORDER = 8  # pixels at work size
VIVID = 0.3  # saturation of the border from which it is no pale background; of 120 photographs none has above 0.15
DARKER = 0.85  # how bright the inner part is beside the border at most, where a leaf lies on a background
DEEP, PALE = 0.6, 0.9  # parts as bright as this, beside the border, keep all and none of their colour
SPECK = 7  # width of the largest specks of dirt, at work size
DIRTY = 0.02  # share of the background under dark specks from which the picture counts as dirty


def to_work_size(image: Pixels) -> Array:
    """The image without noise, and without colour where its background is vivid."""
    return dull_background(without_noise(image))


def dull_background(x: Array) -> Array:
    """Take the colour out of bright parts, if the border of the picture is vivid.

    A background is pale; where it is not, somebody turned the saturation up, and it may pass for a symptom. What is
    darker than the border, as the leaf and its spots are, keeps its colour.
    """
    border = _border(x)
    brightest, darkest = (_over_channels(pick, border) for pick in (np.maximum, np.minimum))
    bright = float(np.median(brightest))
    if bright == 0 or np.median(1 - darkest / np.maximum(brightest, 1e-3)) < VIVID:
        return x
    most = _over_channels(np.maximum, x)
    if np.median(most[BORDER:-BORDER, BORDER:-BORDER]) > DARKER * bright:
        return x
    kept = np.clip((PALE * bright - most) / ((PALE - DEEP) * bright), 0, 1)
    return np.asarray(most[:, :, None] - kept[:, :, None] * (most[:, :, None] - x))


def _border(x: Array) -> Array:
    """The pixels at the border, in any order."""
    inner = slice(BORDER, -BORDER)
    sides = (x[:BORDER], x[-BORDER:], x[inner, :BORDER], x[inner, -BORDER:])
    return np.concatenate([side.reshape(-1, 3) for side in sides])


def _over_channels(pick: np.ufunc, x: Array) -> Array:
    """The largest or smallest channel of each pixel; reductions along so short an axis are slow."""
    return np.asarray(pick(pick(x[..., 0], x[..., 1]), x[..., 2]))


def remove_dirt(x: Array, chance: Array) -> Array:
    """Fill in dark specks if there are many on the background.

    What lies on the background lies on the leaf too.

    Spots wider than a speck (`SPECK` pixels) stay, on the leaf as well. `chance` is the first look's, of leaf.
    """
    brightness = cv2.transform(x, OPPONENT[2:])
    speck = np.ones((SPECK, SPECK), dtype=np.uint8)
    depth = cv2.morphologyEx(brightness, cv2.MORPH_CLOSE, speck) - brightness
    likely = cv2.resize(chance, (x.shape[1], x.shape[0]), interpolation=cv2.INTER_LINEAR)
    background = cv2.erode((likely < 0.1).astype(np.uint8), speck)
    specks = (depth > 0.25 * brightness.max()) & (background > 0)
    if np.count_nonzero(specks) < DIRTY * np.count_nonzero(background) or not background.any():
        return x
    return cv2.morphologyEx(x, cv2.MORPH_CLOSE, speck)


def first_look(x: Array) -> tuple[Array, Array]:
    """A small picture, and `GLANCE` numbers for each pixel that separate leaf from background.

    Tints are relative to those in the corners, where a leaf hardly ever is. Brightness is left out: shadows and fog
    change it, and a leaf that stands out by it alone is rare.
    """
    small, corners = shrink(x, LOOK)
    return np.dstack([*and_around(tints_beside(small, corners)), _FROM_CENTRE]), small


def _from_centre() -> Array:
    y, x = (np.linspace(-1 + 1 / side, 1 - 1 / side, side, dtype=np.float32) for side in LOOK[::-1])
    return y[:, None] ** 2 + x[None, :] ** 2


_FROM_CENTRE = _from_centre()


def two_colours(small: Array, chance: Array) -> tuple[Array, Array]:
    """Median colours of the leaf and of the background, where the first look is surest."""
    pixels, chance = small.reshape(-1, 3), chance.ravel()
    fewest = len(chance) // 20
    ranked = np.partition(chance, (fewest, len(chance) - fewest))
    leaf = chance > min(0.8, float(ranked[-fewest]) - 1e-6)
    background = chance < max(0.2, float(ranked[fewest]) + 1e-6)
    return np.median(pixels[leaf], axis=0), np.median(pixels[background], axis=0)


def planes(x: Array, leaf: Array, background: Array, chance: Array, room: Array | None = None) -> Array:
    """The input of the network: `CHANNELS` x height x width, written into `room` if it is given.

    Tints and their directions, with the background at 0 and the leaf at 1; the brightness against its surroundings; and
    the first look's chance of leaf.
    """
    h, w = x.shape[:2]
    seen = np.empty((CHANNELS, h, w), dtype=np.float32) if room is None else room
    *tints, brightness = cv2.split(cv2.transform(x, OPPONENT), list(buffer("opponent", 3, h, w)))
    on_leaf, off_leaf = OPPONENT @ leaf, OPPONENT @ background
    turn_tints(tints, off_leaf[:2], on_leaf[:2], seen[:4])
    around = cv2.resize(brightness, (w // 4, h // 4), interpolation=cv2.INTER_AREA)
    around = cv2.resize(cv2.GaussianBlur(around, (0, 0), 4), (w, h), interpolation=cv2.INTER_LINEAR)
    apart = np.abs(off_leaf - on_leaf)
    contrast = np.float32(1 / (0.5 * apart[2] + 0.25 * (apart[0] + apart[1]) + 0.004))
    np.subtract(brightness, around, out=seen[4])
    seen[4] *= contrast
    cv2.resize(chance, (w, h), dst=seen[5], interpolation=cv2.INTER_LINEAR)
    return np.clip(seen, -4, 4, out=seen)
