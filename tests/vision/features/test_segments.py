"""Segments of one colour, and their mean colours."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from memclf.exceptions import ImageError
from memclf.vision.features.segments import segment, segment_means


def squares():
    """A red, a green and a blue square on black, each 30 pixels wide."""
    image = np.zeros((60, 160, 3), dtype=np.uint8)
    for k in range(3):
        image[15:45, 10 + 50 * k : 40 + 50 * k, k] = 200
    return image


def test_each_flat_colour_is_one_segment_and_its_mean_is_that_colour():
    image = squares()
    labels = segment(image, 100, 0, 50)
    assert labels.dtype == np.int32
    assert labels.shape == image.shape[:2]
    means = segment_means(image, labels)
    assert {tuple(row) for row in means} == {(0, 0, 0), (200, 0, 0), (0, 200, 0), (0, 0, 200)}


def test_segments_are_numbered_without_gaps():
    image = np.random.default_rng(0).integers(0, 256, (50, 70, 3), dtype=np.uint8)
    labels = segment(image, 20, 0.8, 10)
    assert set(np.unique(labels)) == set(range(labels.max() + 1))
    assert len(segment_means(image, labels)) == labels.max() + 1


def test_no_segment_is_smaller_than_min_size():
    image = np.random.default_rng(1).integers(0, 256, (60, 60, 3), dtype=np.uint8)
    assert np.bincount(segment(image, 10, 0.5, 40).ravel()).min() >= 40


def test_a_larger_scale_gives_fewer_segments():
    image = np.random.default_rng(2).integers(0, 256, (80, 80, 3), dtype=np.uint8)
    counts = [segment(image, scale, 0.8, 5).max() for scale in (10, 100, 1000)]
    assert counts[0] > counts[1] > counts[2]


def test_the_segments_are_those_of_another_implementation():
    """scikit-image's, on flat colours with one grey speck that is too small to live."""
    felzenszwalb = pytest.importorskip("skimage.segmentation").felzenszwalb
    image = squares()
    image[2:5, 2:5] = 90
    ours, theirs = segment(image, 100, 0, 50), felzenszwalb(image, scale=100, sigma=0, min_size=50)
    pairs = np.unique(np.stack([ours.ravel(), theirs.ravel()]), axis=1)
    assert pairs.shape[1] == ours.max() + 1 == theirs.max() + 1


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (2, 2)])
def test_lines_and_points_have_segments_too(shape):
    labels = segment(np.full((*shape, 3), 7, dtype=np.uint8))
    assert labels.shape == shape
    assert labels.max() == 0


def test_means_are_those_of_the_pixels_of_each_segment():
    rng = np.random.default_rng(3)
    image, labels = rng.random((20, 30, 4)), rng.integers(0, 5, (20, 30)).astype(np.int32)
    expected = [image[labels == k].mean(axis=0) for k in range(5)]
    assert_allclose(segment_means(image, labels), expected)
    assert_allclose(segment_means(image[:, :, 0], labels)[:, 0], np.array(expected)[:, 0])


def test_settings_and_images_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="must not be negative, got -1, 0.8 and 50"):
        segment(squares(), -1)
    with pytest.raises(ImageError, match="uint8 of height x width x 3, got float64 of shape"):
        segment(squares() / 255)
