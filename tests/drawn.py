"""Drawn leaves whose regions are known, for features that are taught by painting."""

import cv2
import numpy as np

REGIONS = {"background": None, "leaf": None, "symptom": "leaf"}


def drawn_leaf(seed, spots=8, size=(128, 256), colours=((222, 222, 218), (72, 118, 42), (128, 72, 34))):
    """A leaf with round spots, softly edged as photographs are, and its outlines: 1 background, 2 leaf, 3 symptom."""
    rng = np.random.default_rng(seed)
    outlines = np.ones((128, 256), dtype=np.uint8)
    cv2.ellipse(outlines, (128, 64), (100, 45), rng.uniform(-8, 8), 0, 360, 2, -1)
    for _ in range(spots):
        turn, far = rng.uniform(0, 2 * np.pi), 0.7 * np.sqrt(rng.random())
        centre = (int(128 + 100 * far * np.cos(turn)), int(64 + 45 * far * np.sin(turn)))
        cv2.circle(outlines, centre, int(rng.uniform(4, 8)), 3, -1)
    image = np.array([(0, 0, 0), *colours], dtype=np.float32)[outlines]
    image += 6 * cv2.GaussianBlur(rng.standard_normal((128, 256, 1)).astype(np.float32), (0, 0), 1)[..., None]
    image = np.clip(cv2.GaussianBlur(image, (0, 0), 0.8), 0, 255).astype(np.uint8)
    outlines = cv2.resize(outlines, size[::-1], interpolation=cv2.INTER_NEAREST)
    return cv2.resize(image, size[::-1], interpolation=cv2.INTER_AREA), outlines


def strokes(outlines, seed, n=2):
    """Short strokes inside each region."""
    rng = np.random.default_rng(seed)
    painting = np.zeros_like(outlines)
    for k in np.unique(outlines):
        inside = cv2.erode((outlines == k).astype(np.uint8), np.ones((3, 3)))
        places = np.argwhere(inside)
        for row, column in places[rng.integers(0, len(places), n)]:
            brush = cv2.line(np.zeros_like(outlines), (column - 10, row), (column + 10, row), 1, 3)
            painting[(brush > 0) & (inside > 0)] = k
    return painting
