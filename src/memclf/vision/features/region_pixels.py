"""Judge pixels by their colour relative to the picture's own light, at several scales.

Two regions that are in every picture and are large (background and leaf, table and dish) give the picture's own
measure of colour: the tint of the first counts as 0 and that of the second as 1, and so does brightness. The lamp's
tint, fog, and a change of contrast or saturation of the whole picture cancel out, as in `light`. Where only one
region is large, its colour is 0 and the spread of all colours is 1.

A perceptron judges each pixel by these colours on five scales. Where much was painted, a second one also judges it by
what the first found around it. A small one before them takes a first look, to find the two regions.
"""

from __future__ import annotations

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.vision.features.light import (
    OPPONENT,
    and_around,
    median_colour,
    shrink,
    tints_beside,
    turn_tints,
    without_noise,
)
from memclf.vision.features.perceptron import Layers, evaluate
from memclf.vision.features.taught import Coefficients
from memclf.vision.files import Pixels

PLANES = 5
BRIGHTNESS = 4  # the plane that is brightness
SCALES = 4  # halvings; the coarsest picture has a sixteenth of the width
SPREAD = 3  # halvings of the window in which the spread of colours is measured
DETAIL = 2  # and of that in which fine detail is
LOOK = 4  # the first look is at a picture of a quarter of the width
TINTS = 12  # numbers of the first look without brightness
LEAST = 20  # one pixel in so many at least shows a region that gives the measure of colour
SURE = 0.8


def judge(image: Pixels, coefficients: Coefficients) -> Array:
    """Chances of each region: height x width x regions, at the size of `work_size`."""
    return chances(look(without_noise(image), coefficients), coefficients)


def look(x: Array, coefficients: Coefficients, *, dim: bool = False) -> Array:
    """What each pixel of an image at work size is judged by: height x width x numbers.

    `dim`: without brightness, for teaching.
    """
    layers = layers_of(coefficients, "look")
    seen, small = first_look(x, grey=len(layers[0][0]) > TINTS)
    found = evaluate(layers, seen.reshape(-1, seen.shape[2]))
    relative = planes(x, median_colours(small, found, coefficients["anchors"]))
    if dim:
        relative[:, :, BRIGHTNESS] = 0
    return on_scales(relative)


def chances(seen: Array, coefficients: Coefficients) -> Array:
    """Chances of each region, from the numbers of `look`."""
    h, w = seen.shape[:2]
    rows = seen.reshape(h * w, -1)
    first = evaluate(layers_of(coefficients, "first"), rows)
    if not (second := layers_of(coefficients, "second")):
        return first.reshape(h, w, -1)
    around = surroundings(first.reshape(h, w, -1)).reshape(h * w, -1)
    return evaluate(second, np.hstack([rows, around])).reshape(h, w, -1)


def certainty(found: Array) -> float:
    """1 if every pixel is surely one region, 0 if all regions are equally likely everywhere."""
    return 1 - float(np.mean(entropy(found)))


def entropy(found: Array) -> Array:
    """The doubt of each pixel: 0 if one region is certain, 1 if all are equally likely."""
    return np.asarray(-(found * np.log(np.maximum(found, 1e-9))).sum(axis=2) / np.log(found.shape[2]))


def strange_share(seen: Array, coefficients: Coefficients) -> float:
    """The share of pixels whose colours are unlike those painted as any region."""
    return float(np.mean(strangeness(seen[::2, ::2], coefficients) > 1))


def strangeness(seen: Array, coefficients: Coefficients) -> Array:
    """How far the colour of each pixel is from those painted: above 1 it is unlike all of them."""
    colours = seen[:, :, PLANES : 2 * PLANES].reshape(-1, PLANES)
    far = [
        np.square((colours - mean) @ root).sum(axis=1)
        for mean, root in zip(coefficients["painted.mean"], coefficients["painted.root"], strict=True)
    ]
    return np.sqrt(np.min(far, axis=0)).reshape(seen.shape[:2])


def layers_of(coefficients: Coefficients, name: str) -> Layers:
    """The layers of one perceptron."""
    count = sum(key.startswith(name) and key.endswith(".weight") for key in coefficients)
    return [(coefficients[f"{name}{k}.weight"], coefficients[f"{name}{k}.bias"]) for k in range(count)]


def name_layers(layers: Layers, name: str) -> Coefficients:
    """The layers as arrays with names, for `layers_of`."""
    named: Coefficients = {}
    for k, (weight, bias) in enumerate(layers):
        named |= {f"{name}{k}.weight": weight, f"{name}{k}.bias": bias}
    return named


def first_look(x: Array, grey: bool) -> tuple[Array, Array]:
    """Numbers for each pixel of a small picture that tell large regions apart, and that picture.

    Tints are relative to the corners, and to the whole picture. Brightness is left out unless pictures are `grey`:
    shadows and fog change it.
    """
    small, corners = shrink(x, (x.shape[1] // LOOK, x.shape[0] // LOOK))
    numbers = []
    for colour in (corners, median_colour(small)):
        near = tints_beside(small, colour)
        if grey:
            light = cv2.transform(small - colour, OPPONENT[2:])
            near = np.dstack([near, light / np.float32(np.percentile(np.abs(light), 90) + 0.01)])
        numbers += and_around(near)
    return np.dstack(numbers), small


def median_colours(small: Array, found: Array, anchors: Array) -> list[Array]:
    """The median colours of some regions, where the first look is surest of them."""
    pixels = small.reshape(-1, 3)
    fewest = len(pixels) // LEAST + 1
    colours = []
    for chance in found.T[anchors]:
        least = float(np.partition(chance, -fewest)[-fewest])
        colours.append(np.median(pixels[chance >= min(SURE, least)], axis=0))
    return colours


def planes(x: Array, colours: list[Array]) -> Array:
    """Relative colours: height x width x `PLANES`.

    Tints and their directions, with the first colour at 0 and the second at 1; and brightness. Without a second
    colour, the spread of all colours is 1.
    """
    opponent = cv2.transform(x, OPPONENT)
    zero = OPPONENT @ colours[0]
    if len(colours) > 1:
        one = OPPONENT @ colours[1]
    else:
        spread = np.percentile(np.abs(opponent - zero.astype(np.float32)).reshape(-1, 3), 90, axis=0)
        one = zero + np.array([spread[:2].max(), 0, spread[2]])
    rise = one[2] - zero[2]
    rise = np.copysign(max(abs(rise), 0.02), rise)
    brightness = (opponent[:, :, 2] - np.float32(zero[2])) * np.float32(1 / rise)
    seen = np.dstack([*turn_tints(cv2.split(opponent)[:2], zero[:2], one[:2]), brightness])
    return np.clip(seen, -4, 4, out=seen)


def on_scales(seen: Array) -> Array:
    """The planes, also smoothed over 2, 4, 8 and 16 pixels, their spread and fine detail around."""
    h, w, count = seen.shape
    room = np.empty((h, w, (SCALES + 3) * count), dtype=np.float32)
    room[:, :, :count] = seen
    small, square = seen, seen * seen
    for k in range(1, SCALES + 1):
        small = cv2.pyrDown(small)
        room[:, :, k * count : (k + 1) * count] = _enlarge(small, w, h)
        if k <= SPREAD:
            square = cv2.pyrDown(square)
        if k == SPREAD:
            spread = np.sqrt(np.maximum(square - small * small, 0))
            room[:, :, -2 * count : -count] = _enlarge(spread, w, h)
    detail = cv2.absdiff(seen, room[:, :, count : 2 * count])
    for _ in range(DETAIL):
        detail = cv2.pyrDown(detail)
    room[:, :, -count:] = _enlarge(detail, w, h)
    return room


def surroundings(found: Array) -> Array:
    """The chances of each region around each pixel, within 2, 4, 8 and 16 pixels."""
    h, w = found.shape[:2]
    parts, small = [], found
    for _ in range(SCALES):
        small = cv2.pyrDown(small)
        parts.append(_enlarge(small, w, h))
    return np.concatenate(parts, axis=2)


def _enlarge(small: Array, width: int, height: int) -> Array:
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
