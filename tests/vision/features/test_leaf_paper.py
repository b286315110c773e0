"""The paper's way of measuring leaf colours, on leaves whose values can be worked out by hand."""

import cv2
import numpy as np
import pytest
from numpy.testing import assert_allclose

from memclf.vision.features import LeafColours, leaf_paper
from memclf.vision.features.leaf_paper import BROWN, DISCOLOURED, GREEN, hull
from memclf.vision.features.segments import segment

WHITE, GREENISH, BROWNISH, YELLOW = (235, 235, 235), (60, 130, 40), (130, 70, 30), (170, 160, 40)


def square_leaf(green=GREENISH):
    """256 x 512; a green square of 200 x 200 with a brown patch of 40 x 50 and a yellow one of 30 x 40 inside."""
    image = np.full((256, 512, 3), WHITE, dtype=np.uint8)
    image[20:220, 100:300] = green
    image[60:100, 150:200] = BROWNISH
    image[140:170, 220:260] = YELLOW
    return image


LEAF, BROWN_AREA, YELLOW_AREA = 200 * 200, 40 * 50, 30 * 40


def test_the_bands_of_colour_do_not_overlap_and_have_the_stated_limits():
    hsv = np.array([[35, 40, 30], [34.9, 40, 60], [20, 50, 20], [20.1, 40, 60], [4.9, 50, 20], [86, 255, 255]])
    assert GREEN.has(hsv).tolist() == [True, False, False, False, False, False]
    assert DISCOLOURED.has(hsv).tolist() == [False, True, False, True, False, False]
    assert BROWN.has(hsv).tolist() == [False, False, True, False, False, False]


def test_corrected_shares_are_parts_of_the_hull():
    F_d, F_b = LeafColours("paper").transform([square_leaf()])[0]
    # Smoothing before segmenting moves the borders of a patch by a pixel or so.
    assert_allclose([F_d, F_b], [YELLOW_AREA / LEAF, BROWN_AREA / LEAF], rtol=0.15)


def test_literal_shares_are_in_relation_to_the_green():
    F_d, F_b = LeafColours("paper", literal=True).transform([square_leaf()])[0]
    green = LEAF - BROWN_AREA - YELLOW_AREA
    assert_allclose([F_d, F_b], [YELLOW_AREA / green, BROWN_AREA / green], rtol=0.15)


def test_literal_shares_beyond_one_are_cut_and_corrected_ones_are_not():
    image = np.full((256, 512, 3), WHITE, dtype=np.uint8)
    image[20:220, 100:300] = GREENISH
    image[40:200, 120:280] = BROWNISH
    literal = LeafColours("paper", literal=True).transform([image])[0, 1]
    corrected = LeafColours("paper").transform([image])[0, 1]
    assert literal == 1.0
    assert_allclose(corrected, 160 * 160 / LEAF, rtol=0.05)


@pytest.mark.parametrize("literal", [False, True])
def test_without_green_the_leaf_is_the_whole_image_and_both_shares_are_one(literal):
    image = np.full((256, 512, 3), WHITE, dtype=np.uint8)
    image[50:200, 100:300] = BROWNISH
    leaf = LeafColours("paper", literal=literal)
    assert leaf.transform([image]).tolist() == [[1.0, 1.0]]
    assert leaf.masks(image)["leaf"].all()


def test_brown_outside_the_hull_does_not_count():
    image = square_leaf()
    before = LeafColours("paper").transform([image])
    image[200:250, 400:500] = BROWNISH
    assert_allclose(LeafColours("paper").transform([image]), before)


def test_masks_have_the_size_of_the_image_and_affected_is_brown_or_discoloured():
    image = cv2.resize(square_leaf(), (700, 333), interpolation=cv2.INTER_NEAREST)
    masks = LeafColours("paper").masks(image)
    assert set(masks) == {"leaf", "affected", "green", "brown", "discoloured"}
    assert all(mask.shape == (333, 700) and mask.dtype == bool for mask in masks.values())
    assert (masks["affected"] == (masks["brown"] | masks["discoloured"])).all()
    assert not (masks["affected"] & ~masks["leaf"]).any()


def test_upright_images_are_judged_upright(monkeypatch):
    seen = []

    def watched(image, *settings):
        seen.append(image.shape[:2])
        return segment(image, *settings)

    monkeypatch.setattr(leaf_paper, "segment", watched)
    image = square_leaf()
    lying = LeafColours("paper").masks(image)
    upright = LeafColours("paper").masks(np.ascontiguousarray(image.transpose(1, 0, 2)))
    assert seen == [(256, 512), (512, 256)]
    # Smoothing mixes colours along the borders, and whose the mixed pixels are hangs on rounding.
    border = cv2.morphologyEx(image, cv2.MORPH_GRADIENT, np.ones((7, 7), dtype=np.uint8)).any(axis=2)
    for name, mask in lying.items():
        assert not ((mask != upright[name].T) & ~border).any(), name
    assert lying["brown"][~border].sum() > 1000


def test_the_hull_of_two_points_of_a_diagonal_is_the_line_between_them():
    mask = np.zeros((5, 5), dtype=bool)
    mask[0, 0] = mask[4, 4] = True
    assert (hull(mask) == np.eye(5, dtype=bool)).all()


def test_names_are_those_of_the_paper():
    assert LeafColours("paper").get_feature_names_out().tolist() == ["F_d", "F_b"]


def test_the_paper_learns_nothing_from_outlines():
    with pytest.raises(ValueError, match='only method="taught" learns from outlines'):
        LeafColours("paper").fit([square_leaf()], [np.zeros((256, 512), dtype=int)])


def test_an_unknown_method_is_named():
    with pytest.raises(ValueError, match="'method' parameter of LeafColours must be a str among .*. Got 'hsv'"):
        LeafColours("hsv").transform([square_leaf()])
