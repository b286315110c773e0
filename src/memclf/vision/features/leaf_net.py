"""Networks that classify pixels as background, leaf or symptom, without torch.

Two small networks, whose coefficients are plain arrays: a first look that finds the leaf in a picture of 64 x 32,
after which colours can be measured against it; and a network of separable convolutions on four scales.
"""

from __future__ import annotations

from importlib.resources import files

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.cases.containers import chunks
from memclf.vision.features.leaf_light import CHANNELS, first_look, planes, remove_dirt, to_work_size, two_colours
from memclf.vision.features.taught import Coefficients
from memclf.vision.features.workspace import buffer
from memclf.vision.files import Pixels

COLUMNS = 1024  # of a product at a time: BLAS is nearly twice as fast on so few, and sums in the same order

_shipped: Coefficients = {}


def load_shipped() -> Coefficients:
    """The coefficients that come with the package, taught by outlines of 300 coffee leaves."""
    if not _shipped:
        with (
            files("memclf.vision.features").joinpath("data/leaf_colours.npz").open("rb") as file,
            np.load(file) as kept,
        ):
            _shipped.update({name: kept[name].astype(np.float32) for name in kept.files})
    return dict(_shipped)


def judge(image: Pixels, coefficients: Coefficients) -> Array:
    """Probabilities of background, leaf and symptom.

    3 x height x width, at the size of `to_work_size`.
    """
    x = to_work_size(image)
    return chances(look(x, coefficients, buffer("seen", CHANNELS, *x.shape[:2])), coefficients)


def look(x: Array, coefficients: Coefficients, room: Array | None = None) -> Array:
    """The input of the network for an image at work size, written into `room` if it is given.

    Colours are relative to what the first look takes for the leaf.
    """
    chance, small = _chance_of_leaf(x, coefficients)
    clean = remove_dirt(x, chance)
    if clean is not x:
        chance, small = _chance_of_leaf(clean, coefficients)
    return planes(clean, *two_colours(small, chance), chance, room)


def _chance_of_leaf(x: Array, coefficients: Coefficients) -> tuple[Array, Array]:
    """The first look: the chance of leaf in a picture of 64 x 32, and that picture."""
    seen, small = first_look(x)
    for k in (0, 1, 2):
        seen = seen @ coefficients[f"look{k}.weight"].T + coefficients[f"look{k}.bias"]
        if k < 2:
            np.maximum(seen, 0, out=seen)
    return 1 / (1 + np.exp(-np.clip(seen[:, :, 0], -30, 30))), small


def chances(seen: Array, coefficients: Coefficients) -> Array:
    """The network, on picture elements of 2 x 2 pixels.

    Down to a sixteenth of the size and up again.
    """
    c = coefficients
    pixels = _unshuffle(seen)
    whole = _block(_mix(pixels, c, "stem"), c, "down1")
    half = _block(_halve(whole, "down2"), c, "down2")
    quarter = _block(_halve(half, "down3"), c, "down3")
    eighth = _block(_halve(quarter, "down4"), c, "down4")
    up = _block(_join(eighth, quarter, "up3"), c, "up3")
    up = _block(_join(up, half, "up2"), c, "up2")
    up = _block(_join(up, whole, "up1"), c, "up1")
    hidden = _mix(_join(up, pixels, "hidden"), c, "hidden")
    kinds = _sum_channels(hidden, c, "out").reshape(3, 4, *hidden.shape[1:])
    kinds -= np.maximum(np.maximum(kinds[0], kinds[1]), kinds[2])
    np.maximum(kinds, -30, out=kinds)  # numbers too small for a float's full precision are very slow
    np.exp(kinds, out=kinds)
    kinds /= kinds[0] + kinds[1] + kinds[2]
    return _shuffle(kinds)


def _sum_channels(x: Array, c: Coefficients, name: str) -> Array:
    """New channels, each a weighted sum of the given ones."""
    weight, pixels = c[f"{name}.weight"], x.reshape(len(x), -1)
    y = buffer(name, len(weight), pixels.shape[1])
    for part in chunks(pixels.shape[1], COLUMNS):
        np.matmul(weight, pixels[:, part], out=y[:, part])
    y += c[f"{name}.bias"][:, None]
    return y


def _mix(x: Array, c: Coefficients, name: str) -> Array:
    """`_sum_channels`, and what is negative becomes 0."""
    y = _sum_channels(x, c, name)
    cv2.threshold(y, 0, 0, cv2.THRESH_TOZERO, dst=y)
    return y.reshape(-1, *x.shape[1:])


def _block(x: Array, c: Coefficients, name: str) -> Array:
    """Each channel filtered with its own 3 x 3 kernel, then mixed."""
    filtered = buffer(f"{name} filtered", *x.shape)
    for channel, kernel, target in zip(x, c[f"{name}.kernels"], filtered, strict=True):
        cv2.filter2D(channel, -1, kernel, dst=target, borderType=cv2.BORDER_CONSTANT)
    return _mix(filtered, c, name)


def _halve(x: Array, name: str) -> Array:
    """Means of 2 x 2.

    The channels lie one below the other, and none reaches into the next since heights are even.
    """
    c, h, w = x.shape
    room = buffer(f"{name} halved", c * h // 2, w // 2)
    cv2.resize(x.reshape(c * h, w), (w // 2, c * h // 2), dst=room, interpolation=cv2.INTER_AREA)
    return room.reshape(c, h // 2, w // 2)


def _join(x: Array, beside: Array, name: str) -> Array:
    """The channels of both, with those of `x` brought to the size of the others."""
    room = buffer(f"{name} joined", len(x) + len(beside), *beside.shape[1:])
    if x.shape[1:] == beside.shape[1:]:
        room[: len(x)] = x
    else:
        for channel, target in zip(x, room, strict=False):
            cv2.resize(channel, target.shape[::-1], dst=target, interpolation=cv2.INTER_LINEAR)
    room[len(x) :] = beside
    return room


def _unshuffle(x: Array) -> Array:
    """Channels x height x width, with the four pixels of each 2 x 2 square as channels."""
    c, h, w = x.shape
    room = buffer("pixels", 4 * c, h // 2, w // 2)
    room.reshape(c, 2, 2, h // 2, w // 2)[:] = x.reshape(c, h // 2, 2, w // 2, 2).transpose(0, 2, 4, 1, 3)
    return room


def _shuffle(x: Array) -> Array:
    """Put four values per channel back in their places: the inverse of `_unshuffle`."""
    c, _, h, w = x.shape
    y = np.empty((c, 2 * h, 2 * w), dtype=x.dtype)
    for k in range(4):
        y[:, k // 2 :: 2, k % 2 :: 2] = x[:, k]
    return y
