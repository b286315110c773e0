"""Pictures without noise, and colours relative to the light of their own picture.

Nothing here is learned. What `LeafColours` and `TaughtRegions` see of a picture begins with these steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.vision.features.workspace import buffer
from memclf.vision.files import Pixels

AREA = 256 * 128  # pixels to which images are resized
GRID = 16  # sides are multiples of this: pictures are halved four times
QUIET = 0.02  # noise (standard deviation, of 1) below which nothing is smoothed; clean photographs have 0.002 to 0.006
LOUD = 0.1  # noise beyond which smoothing once is not enough

OPPONENT = np.array([[1, -1, 0], [-0.5, -0.5, 1], [1 / 3, 1 / 3, 1 / 3]], dtype=np.float32)
_LAPLACE = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32)


def without_noise(image: Pixels) -> Array:
    """The image without noise, of about `AREA` pixels, as float32 from 0 to 1."""
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


def shrink(x: Array, size: tuple[int, int]) -> tuple[Array, Array]:
    """A small, soft picture for a first look, and the median colour of its corners."""
    small = cv2.GaussianBlur(cv2.resize(x, size, interpolation=cv2.INTER_AREA), (0, 0), 0.8)
    rows, columns = (np.r_[: side // 8, side - side // 8 : side] for side in small.shape[:2])
    return small, median_colour(small[np.ix_(rows, columns)])


def median_colour(pixels: Array) -> Array:
    """The median of each channel."""
    return np.asarray(np.median(pixels.reshape(-1, 3), axis=0), dtype=np.float32)


def tints_beside(small: Array, colour: Array) -> Array:
    """Tints of a small picture beside that of one colour.

    They are two opponent colours and their strength; the strength of most is the unit. Brightness is left out: shadows
    and fog change it.
    """
    tint = cv2.transform(small - colour, OPPONENT[:2])
    strength = cv2.magnitude(tint[:, :, 0], tint[:, :, 1])
    return np.dstack([tint, strength]) * np.float32(1 / (np.percentile(strength, 90) + 0.002))


def and_around(near: Array) -> list[Array]:
    """Numbers of each pixel, and their means around it."""
    return [near, cv2.blur(cv2.blur(near, (7, 7)), (7, 7))]


def turn_tints(tints: Sequence[Array], zero: Array, one: Array, room: Array | None = None) -> Array:
    """Tints as points in a plane with one tint at 0 and another at 1, and their directions.

    The tints are two planes, and four planes come out, in `room` if it is given. Adding grey (fog, frost) or scaling
    the contrast or the saturation of the whole picture does not move a pixel there. The direction, softened near 0, is
    a pixel's hue against that of `one`.
    """
    h, w = tints[0].shape
    turned = np.empty((4, h, w), dtype=np.float32) if room is None else room
    (a, b), (u, v) = zero, one - zero
    length = float(np.hypot(u, v))
    turn = np.array([[u, v, -u * a - v * b], [-v, u, v * a - u * b]]) / (max(length, 0.006) * max(length, 1e-6))
    pairs = cv2.merge(list(tints), dst=buffer("pairs of tints", h, w, 2))
    cv2.split(cv2.transform(pairs, turn, dst=buffer("turned tints", h, w, 2)), list(turned[:2]))
    soft = buffer("soft", h, w)
    cv2.magnitude(turned[0], turned[1], magnitude=soft)
    soft += np.float32(0.3)
    np.divide(1, soft, out=soft)
    np.multiply(turned[:2], soft, out=turned[2:])
    return turned
