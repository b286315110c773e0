"""Numbers about regions whose shape, colour and place are known."""

import cv2
import numpy as np
import pytest

from memclf.vision.features.region_numbers import NUMBERS, describe_region, share

WHOLE = np.ones((100, 200), dtype=bool)


def described(mask, lab=None, whole=WHOLE):
    lab = np.zeros((*mask.shape, 3), dtype=np.float32) if lab is None else lab
    return dict(zip(NUMBERS, describe_region(mask, whole, lab), strict=True))


def box(top, left, height, width):
    mask = np.zeros(WHOLE.shape, dtype=bool)
    mask[top : top + height, left : left + width] = True
    return mask


def test_describe_region__two_boxes_and_a_speck__counts_sizes_and_place():
    mask = box(10, 20, 10, 40) | box(50, 100, 10, 10) | box(90, 190, 1, 2)
    found = described(mask)
    assert found["spots"] == 2
    assert found["largest_spot"] == pytest.approx(400 / 20000)
    assert found["median_spot"] == pytest.approx(250 / 20000)
    assert found["elongation"] == pytest.approx(4, rel=0.01)
    assert found["solidity"] == pytest.approx(1)
    assert share(mask, WHOLE) == pytest.approx(502 / 20000)
    place = described(box(40, 150, 20, 20))
    assert (place["x"], place["y"]) == (pytest.approx(0.8), pytest.approx(0.5))
    inside = described(box(40, 150, 20, 20), whole=box(40, 130, 40, 40))
    assert (inside["x"], inside["y"]) == (pytest.approx(0.75), pytest.approx(0.25))


def test_describe_region__disc_and_star__differ_in_solidity():
    disc = cv2.circle(np.zeros(WHOLE.shape, dtype=np.uint8), (100, 50), 30, 1, -1) > 0
    cross = box(45, 60, 10, 80) | box(10, 95, 80, 10)
    assert described(disc)["solidity"] > 0.98
    assert described(disc)["elongation"] == pytest.approx(1, abs=0.01)
    assert described(cross)["solidity"] < 0.5


def test_describe_region__known_colours__differences_spread_and_sharpness():
    mask = box(30, 60, 40, 60)
    lab = np.where(mask[:, :, None], np.float32([40, 20, -10]), np.float32([60, 0, 5]))
    found = described(mask, lab)
    assert [found[name] for name in ("lightness", "redness", "yellowness")] == pytest.approx([-20, 20, -15])
    assert found["colour_spread"] == pytest.approx(0)
    assert found["edge_sharpness"] > 0.45
    blurred = described(mask, cv2.GaussianBlur(lab, (0, 0), 3))
    assert blurred["edge_sharpness"] < 0.7 * found["edge_sharpness"]
    assert blurred["colour_spread"] > 1
    assert described(mask)["edge_sharpness"] == 0


def test_describe_region__absent_or_everywhere__has_defined_numbers():
    nothing = described(np.zeros(WHOLE.shape, dtype=bool))
    assert (nothing["spots"], nothing["largest_spot"], nothing["elongation"], nothing["x"]) == (0, 0, 1, 0.5)
    assert np.isfinite(list(described(WHOLE).values())).all()
    assert described(WHOLE)["solidity"] == pytest.approx(1)
