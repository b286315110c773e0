"""Drawn pictures with a known truth: an ellipse on a plain background, with discs on it."""

import cv2
import numpy as np

BACKGROUND, BODY, SPOT = (190, 195, 200), (90, 140, 70), (130, 70, 40)
CENTRE, AXES, ANGLE = (130, 100), (90, 55), 20


def scene(spots=0, *, seed=0, body=BODY, axes=AXES, angle=ANGLE, radius=6, grain=8):
    """An ellipse with so many discs that do not touch; `grain` is the strength of a little noise."""
    rng = np.random.default_rng(seed)
    image = np.full((200, 260, 3), BACKGROUND, dtype=np.uint8)
    cv2.ellipse(image, CENTRE, axes, angle, 0, 360, body, -1, cv2.LINE_AA)
    turn, places = np.deg2rad(angle), []
    while len(places) < spots:
        around, out = rng.uniform(0, 2 * np.pi), 0.75 * np.sqrt(rng.uniform())
        x, y = axes[0] * out * np.cos(around), axes[1] * out * np.sin(around)
        place = (
            CENTRE[0] + x * np.cos(turn) - y * np.sin(turn),
            CENTRE[1] + x * np.sin(turn) + y * np.cos(turn),
        )
        if all(np.hypot(place[0] - each[0], place[1] - each[1]) > 3 * radius for each in places):
            places.append(place)
            cv2.circle(image, (round(place[0]), round(place[1])), radius, SPOT, -1, cv2.LINE_AA)
    return cv2.add(image, rng.integers(0, grain + 1, image.shape, dtype=np.uint8))


def lit(image, red=1.0, green=1.0, blue=1.0):
    """The picture under a lamp of another colour or strength."""
    return np.clip(image * np.array([red, green, blue]), 0, 255).astype(np.uint8)


def numbers(feature, image):
    """The numbers of one picture by name."""
    return dict(zip(feature.names, feature.transform([image])[0].tolist(), strict=True))
