"""Colour patches as the paper describes them."""

import numpy as np
import pytest

from memclf.studies.generated import colour_patches
from memclf.vision.features import PatchColour


def test_colour_patches__labels__are_colours_in_equal_numbers():
    assert np.unique(colour_patches(30, size=40).labels, return_counts=True)[1].tolist() == [10, 10, 10]


def test_colour_patches__patch__has_the_colour_of_its_label():
    for image, label in zip(colour_patches(12, size=60), colour_patches(12, size=60).labels, strict=True):
        channel = ["red", "green", "blue"].index(label)
        assert set(np.unique(image[:, :, channel])) == {0, 255}
        assert not np.delete(image, channel, axis=2).any()


def test_colour_patches__patch__is_a_square_inside_the_picture():
    for image in colour_patches(60, size=500):
        rows, columns = np.nonzero(image.max(axis=2))
        for places in (rows, columns):
            # Around a centre between two pixels 50 are nearer than 25; around a whole one, 49.
            assert places.max() - places.min() + 1 in (49, 50)
        assert len(rows) == (np.ptp(rows) + 1) * (np.ptp(columns) + 1)


def test_colour_patches__places__are_spread_over_the_picture():
    centres = np.array([np.argwhere(image.max(axis=2)).mean(axis=0) for image in colour_patches(300, size=100)])
    assert centres.min() < 8
    assert centres.max() > 91
    assert np.all(np.abs(centres.mean(axis=0) - 49.5) < 5)


def test_colour_patches__one_patch__depends_on_seed_and_number_alone():
    few, many = colour_patches(3, size=50), colour_patches(10, size=50)
    for position in (2, 0, 1):
        np.testing.assert_array_equal(few[position], many[position])
        assert few.key(position) == many.key(position) == f"patch-{position:05d}"
    assert not np.array_equal(colour_patches(1, size=50, seed=1)[0], many[0])


def test_colour_patches__pictures__are_drawn_on_demand():
    patches = colour_patches(3_000)  # 2 GB if they were not
    assert patches[2_999].shape == (500, 500, 3)
    assert patches[[5, 7]].loaded().labels.tolist() == ["blue", "green"]


def test_colour_patches__robust_feature__finds_every_colour():
    patches = colour_patches(9, size=100)
    assert PatchColour().transform(patches)[:, 0].tolist() == [0, 1, 2] * 3


def test_colour_patches__wrong_numbers__are_refused():
    with pytest.raises(ValueError, match="size must be at least 20 pixels, got 10"):
        colour_patches(3, size=10)
    with pytest.raises(ValueError, match="seed must be a whole number from 0, got -1"):
        colour_patches(3, seed=-1)
    with pytest.raises(ValueError, match="n must be a whole number from 0, got 2.5"):
        colour_patches(2.5)
