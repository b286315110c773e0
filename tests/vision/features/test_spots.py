"""Numbers about the spots of a leaf, on masks whose spots are known."""

import numpy as np
import pytest

from memclf.vision.features import LeafColours
from memclf.vision.features.spots import SPOTS, describe_spots


def spotted():
    """A leaf of 40 x 50 pixels with a spot of 100 pixels inside and one of 2 at the rim."""
    leaf = np.zeros((60, 70), dtype=bool)
    leaf[10:50, 10:60] = True
    affected = np.zeros_like(leaf)
    affected[25:35, 30:40] = True
    affected[10:12, 12] = True
    symptom = np.where(affected, 0.9, 0.2) * leaf
    return np.stack([1.0 - leaf, leaf - symptom, symptom]), leaf, affected


def test_describe_spots__known_masks__counts_and_places_them():
    found = dict(zip(SPOTS, describe_spots(*spotted()), strict=True))
    assert found["spots"] == 2
    assert found["largest_spot"] == pytest.approx(100 / 2000)
    assert found["three_largest_spots"] == pytest.approx(102 / 2000)
    assert found["large_spots"] == 1
    assert found["share_in_small_spots"] == pytest.approx(2 / 2000)
    assert found["share_above_0.7"] == pytest.approx(102 / 2000)
    assert found["share_above_0.95"] == 0
    assert found["share_above_0.15"] == 1
    assert found["mean_chance"] == pytest.approx((102 * 0.9 + 1898 * 0.2) / 2000)
    assert found["share_inside"] == pytest.approx(100 / (32 * 42))
    assert found["share_at_rim"] == pytest.approx(2 / (2000 - 32 * 42))


def test_describe_spots__no_leaf__all_are_zero():
    nothing = np.zeros((20, 30), dtype=bool)
    chances = np.stack([np.ones(nothing.shape), np.zeros(nothing.shape), np.zeros(nothing.shape)])
    assert not describe_spots(chances, nothing, nothing).any()


def test_inspect__leaf__gives_the_share_and_the_spots():
    leaf = LeafColours()
    assert leaf.details == SPOTS
    assert leaf.inspect([np.full((64, 128, 3), 200, dtype=np.uint8)]).shape == (1, 1 + len(SPOTS))
    assert LeafColours("paper").details == ()
