"""Regions taught by strokes on real coffee leaves, against an expert's outlines of others."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from scipy.stats import spearmanr

from drawn import REGIONS
from memclf.vision.features import TaughtRegions, read_paintings

DATA = Path(__file__).parents[3] / ".." / "shared" / "data" / "leaf_masks"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="the coffee leaves are not in ../shared/data"),
]


def long_strokes(outlines, rng):
    """Three strokes in each region, 60 pixels long and 5 wide, cut off where the region ends."""
    painting = np.zeros(outlines.shape, dtype=np.uint8)
    for k in np.unique(outlines):
        places = np.argwhere(outlines == k)
        for row, column in places[rng.integers(0, len(places), 3)].tolist():
            reach = 30 * np.array([np.cos(turn := rng.uniform(0, np.pi)), np.sin(turn)])
            ends = [tuple(int(v) for v in (column, row) + way * reach) for way in (-1, 1)]
            brush = cv2.line(np.zeros_like(painting), *ends, 1, 5)
            painting[(brush > 0) & (outlines == k)] = k
    return painting


def test_strokes_on_ten_leaves_measure_the_affected_share_of_others():
    """The floors lie well below what benchmarks/TAUGHT_REGIONS.md has, since ten leaves vary."""
    images, outlines = read_paintings(DATA, list(REGIONS))
    rng = np.random.default_rng(0)
    ten = rng.choice([i for i, where in enumerate(outlines) if np.mean(where == 3) > 0.005], 10, replace=False)
    taught = TaughtRegions(REGIONS).fit(images[ten], [long_strokes(outlines[i], rng) for i in ten])
    others = [i for i in range(0, len(outlines), 4) if i not in ten]
    both, shares = np.zeros((2, 2)), []
    for i in others:
        masks = taught.masks(images[i])
        pairs = ((masks["leaf"], outlines[i] > 1), (masks["symptom"], outlines[i] == 3))
        both += [(np.count_nonzero(a & b), np.count_nonzero(a | b)) for a, b in pairs]
        shares.append([np.count_nonzero(pairs[1][k]) / np.count_nonzero(pairs[0][k]) for k in (0, 1)])
    leaf, symptom = both[:, 0] / both[:, 1]
    assert leaf > 0.95
    assert symptom > 0.45
    assert spearmanr(*np.transpose(shares))[0] > 0.75
