"""Prepare a photograph of a leaf: remove noise, make colours relative to light and leaf.

Nothing here is learned. Each step undoes something that changes from photograph to photograph:

noise      impulses are replaced by medians, other noise is smoothed as strongly as it is found to be, and a clean
           photograph is left alone;
light      the colour of the background counts as colourless, so that the tint of the lamp is gone; a background that
           is vivid, since saturation was turned up, loses its colour first;
the leaf   its own median colour is the unit, so that pale and dark leaves, faded and vivid pictures agree.
"""

from __future__ import annotations

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.vision.files import Pixels

AREA = 256 * 128  # pixels to which images are resized
GRID = 16  # sides are multiples of this: the network halves them four times
LOOK = (64, 32)  # width and height of the first look
QUIET = 0.02  # noise (standard deviation, of 1) below which nothing is smoothed; clean photographs have 0.002 to 0.006
LOUD = 0.1  # noise beyond which smoothing once is not enough
CHANNELS = 6
BRIGHTNESS = 4  # the channel that is brightness
GLANCE = 7
BORDER = 8  # pixels at work size
VIVID = 0.3  # saturation of the border from which it is no pale background; of 120 photographs none has above 0.15
DARKER = 0.85  # how bright the inner part is beside the border at most, where a leaf lies on a background
DEEP, PALE = 0.6, 0.9  # parts as bright as this, beside the border, keep all and none of their colour
SPECK = 7  # width of the largest specks of dirt, at work size
DIRTY = 0.02  # share of the background under dark specks from which the picture counts as dirty

OPPONENT = np.array([[1, -1, 0], [-0.5, -0.5, 1], [1 / 3, 1 / 3, 1 / 3]], dtype=np.float32)
_LAPLACE = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32)


def to_work_size(image: Pixels) -> Array:
    """The image without noise, of about `AREA` pixels, as float32 from 0 to 1."""
    return dull_background(without_noise(image))


def without_noise(image: Pixels) -> Array:
    """The same, whatever the colour of its border."""
    image = remove_impulses(image)
    size = work_size(*image.shape[:2])
    smaller = size[0] * size[1] < image.shape[0] * image.shape[1]
    x = cv2.resize(image, size, interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR)
    return remove_noise(x.astype(np.float32) * np.float32(1 / 255))


def work_size(height: int, width: int) -> tuple[int, int]:
    """Width and height of about `AREA` pixels, both multiples of `GRID`.

    The proportions are those of the image.
    """
    scale = float(np.sqrt(AREA / (height * width)))
    longest = AREA // (2 * GRID)  # of a mere strip of an image
    sides = [min(longest, max(2 * GRID, GRID * round(side * scale / GRID))) for side in (width, height)]
    return sides[0], sides[1]


def remove_impulses(image: Pixels) -> Pixels:
    """Single wild values (black or white in one channel) replaced by the median around them.

    Ordinary noise makes wild values too, but not all of them black or white; those are left to `remove_noise`.
    """
    wild = cv2.absdiff(image, cv2.medianBlur(image, 3)) > 40
    extreme = wild & ((image == 0) | (image == 255))
    found = np.count_nonzero(extreme)
    if found < 0.002 * image.size or found < 0.8 * np.count_nonzero(wild):
        return image
    return np.where(extreme, cv2.medianBlur(image, 5), image)


def noise_of(x: Array) -> float:
    """Standard deviation of the noise (Immerkær, 1996).

    The median size of what a line or a slope cannot explain.
    """
    rough = np.abs(cv2.filter2D(np.ascontiguousarray(x[:, :, 1]), -1, _LAPLACE)[1::2, 1::2])  # one channel will do
    return float(np.median(rough)) / (0.6745 * 6)


def remove_noise(x: Array) -> Array:
    """Smooth with a guided filter where the picture varies less than its noise.

    Edges beyond the noise stay.
    """
    noise = noise_of(x)
    if noise <= QUIET:
        return x
    for _ in range(2 if noise > LOUD else 1):
        x = cv2.ximgproc.guidedFilter(x, x, 3, 10 * noise**2)
    return x


def dull_background(x: Array) -> Array:
    """Take the colour out of bright parts, if the border of the picture is vivid.

    A background is pale; where it is not, somebody turned the saturation up, and it may pass for a symptom. What is
    darker than the border, as the leaf and its spots are, keeps its colour.
    """
    border = np.ones(x.shape[:2], dtype=bool)
    border[BORDER:-BORDER, BORDER:-BORDER] = False
    brightest, darkest = (_over_channels(pick, x[border]) for pick in (np.maximum, np.minimum))
    bright = float(np.median(brightest))
    if bright == 0 or np.median(1 - darkest / np.maximum(brightest, 1e-3)) < VIVID:
        return x
    most = _over_channels(np.maximum, x)
    if np.median(most[~border]) > DARKER * bright:
        return x
    kept = np.clip((PALE * bright - most) / ((PALE - DEEP) * bright), 0, 1)
    return np.asarray(most[:, :, None] - kept[:, :, None] * (most[:, :, None] - x))


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
    small = cv2.GaussianBlur(cv2.resize(x, LOOK, interpolation=cv2.INTER_AREA), (0, 0), 0.8)
    h, w = LOOK[1] // 8, LOOK[0] // 8
    corners = [small[rows, columns] for rows in (slice(h), slice(-h, None)) for columns in (slice(w), slice(-w, None))]
    apart = small - np.median(np.concatenate(corners).reshape(-1, 3), axis=0).astype(np.float32)
    tint = cv2.transform(apart, OPPONENT[:2])
    strength = cv2.magnitude(tint[:, :, 0], tint[:, :, 1])
    unit = np.float32(1 / (np.percentile(strength, 90) + 0.002))
    near = np.dstack([tint, strength]) * unit
    return np.dstack([near, cv2.blur(cv2.blur(near, (7, 7)), (7, 7)), _FROM_CENTRE]), small


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


def planes(x: Array, leaf: Array, background: Array, chance: Array) -> Array:
    """The input of the network: `CHANNELS` x height x width.

    The tint of a pixel (two opponent colours) is a point in a plane. The plane is shifted, turned and scaled so that
    the background is 0 and the leaf 1. Adding grey (fog, frost) or scaling the contrast or the saturation of the
    whole picture does not move a pixel there. Beside the point itself there is its direction, softened near 0, which
    is its hue against the leaf's; the brightness against its surroundings; and the first look's chance of leaf.
    """
    h, w = x.shape[:2]
    opponent = cv2.transform(x, OPPONENT)
    on_leaf, off_leaf = OPPONENT @ leaf, OPPONENT @ background
    u, v = on_leaf[:2] - off_leaf[:2]
    a, b = off_leaf[:2]
    length = float(np.hypot(u, v))
    turn = np.array([[u, v, -u * a - v * b], [-v, u, v * a - u * b]]) / (max(length, 0.006) * max(length, 1e-6))
    real, imaginary = cv2.split(cv2.transform(np.ascontiguousarray(opponent[:, :, :2]), turn))
    soft = 1 / (cv2.magnitude(real, imaginary) + np.float32(0.3))
    brightness = np.ascontiguousarray(opponent[:, :, 2])
    around = cv2.resize(brightness, (w // 4, h // 4), interpolation=cv2.INTER_AREA)
    around = cv2.resize(cv2.GaussianBlur(around, (0, 0), 4), (w, h), interpolation=cv2.INTER_LINEAR)
    apart = np.abs(off_leaf - on_leaf)
    contrast = np.float32(1 / (0.5 * apart[2] + 0.25 * (apart[0] + apart[1]) + 0.004))
    likely = cv2.resize(chance, (w, h), interpolation=cv2.INTER_LINEAR)
    seen = np.stack([real, imaginary, real * soft, imaginary * soft, (brightness - around) * contrast, likely])
    return np.clip(seen, -4, 4, out=seen)
