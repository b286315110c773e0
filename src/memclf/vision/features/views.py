"""How teaching shows a picture: turned, moved, in another light, or changed strongly.

No noise of single pixels, blur, weather or compression: a feature that is to hold under corruptions must not have been
trained on them. The strong changes are those of `vision.shifts`, which are no corruptions.
"""

from __future__ import annotations

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.vision.files import Pixels
from memclf.vision.perturbations import PERTURBATIONS
from memclf.vision.shifts import SHIFTS, to_bytes

MOVING = ("smear", "ripple", "tiles")  # outlines would no longer fit
MILD = 0.25  # share of mild changes among the strong ones


def draw_place(box: tuple[int, int, int, int], size: tuple[int, int], rng: np.random.Generator) -> Array:
    """Draw the map from a part of a picture to a canvas: turned and moved a little.

    The part is left, top, width and height.
    """
    left, top, w, h = box
    canvas = np.array(size, dtype=float)
    onto = np.array([[canvas[0] / w, 0, -left * canvas[0] / w], [0, canvas[1] / h, -top * canvas[1] / h], [0, 0, 1]])
    stretch = np.exp(rng.uniform(-0.12, 0.12))
    larger = np.exp(rng.uniform(-0.25, 0.25))
    flips = rng.choice([-1.0, 1.0], 2)
    turn = cv2.getRotationMatrix2D((0.0, 0.0), rng.uniform(-15, 15), larger)[:, :2]
    turn = turn @ np.diag(flips * [stretch, 1 / stretch])
    centre = canvas / 2
    shift = centre - turn @ centre + rng.uniform(-0.06, 0.06, 2) * canvas
    return np.column_stack([turn, shift]) @ onto


def change_light(x: Array, rng: np.random.Generator) -> Array:
    """Draw another gamma, white balance and hue."""
    x = x ** np.float32(np.exp(rng.uniform(-0.35, 0.35)))
    angle = rng.uniform(-0.12, 0.12)
    along, across = (1 - np.cos(angle)) / 3, np.sin(angle) / np.sqrt(3)
    hue = np.full((3, 3), along) + np.cos(angle) * np.eye(3)  # a turn about the grey axis
    hue += across * np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    light = hue * np.exp(rng.uniform(-0.12, 0.12, 3))
    return np.clip(cv2.transform(x, light), 0, 1)


def cast_shadow(x: Array, rng: np.random.Generator) -> Array:
    """Darken a part of the picture: a polygon with an edge that is soft or sharp."""
    h, w = x.shape[:2]
    corners = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(3, 7)))
    far = max(h, w) * rng.uniform(0.1, 0.6) * rng.uniform(0.4, 1, (len(corners), 1))
    points = rng.uniform(0, 1, 2) * (w, h) + far * np.column_stack([np.cos(corners), np.sin(corners)])
    shadow = cv2.fillPoly(np.zeros((h, w), dtype=np.float32), [points.astype(np.int32)], 1.0)
    shadow = cv2.GaussianBlur(shadow, (0, 0), float(np.exp(rng.uniform(0, np.log(20)))))
    light = rng.uniform(0.4, 0.95) * np.exp(rng.uniform(-0.06, 0.06, 3))
    return x * (1 - shadow[:, :, None] * (1 - light).astype(np.float32))


def disturb(image: Pixels, rng: np.random.Generator) -> Pixels:
    """Draw a change of the picture.

    After it a person still recognises the picture, and everything is where it was.
    """
    if rng.random() < MILD:
        change = list(PERTURBATIONS.values())[int(rng.integers(len(PERTURBATIONS)))]
        return to_bytes(255 * change(image.astype(np.float32) / 255, rng, float(rng.uniform(0.2, 1))))
    kinds = [kind for name, kind in SHIFTS.items() if name not in MOVING]
    return to_bytes(kinds[int(rng.integers(len(kinds)))](np.ascontiguousarray(image), rng, float(rng.uniform())))
