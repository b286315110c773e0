"""The colour of a patch, the paper's way and the robust way."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from memclf import MemoryClassifier, select_memories
from memclf.similarity import FunctionSimilarity
from memclf.vision import CORRUPTIONS, ImageCollection, corrupt
from memclf.vision.features import PatchColour, near_colour, same_colour

METHODS = ["robust", "paper"]


def colour_patch(rng, channel, size=500, background=(0, 0, 0)):
    """An image of the paper's colour study, and where its patch is."""
    half = size / 20
    centre = rng.uniform(half, size - half, size=2)
    near = [np.abs(np.arange(size) - middle) < half for middle in centre]
    patch = np.outer(*near)
    image = np.full((size, size, 3), background, dtype=np.uint8)
    image[patch] = np.eye(3)[channel] * 255
    return image, patch


def study(n, **options):
    rng = np.random.default_rng(0)
    channels = np.arange(n) % 3
    return [colour_patch(rng, channel, **options)[0] for channel in channels], channels


# ---------------------------------------------------------------------------------------------- clean images


@pytest.mark.parametrize("method", METHODS)
def test_the_channel_of_every_clean_patch_is_found(method):
    images, channels = study(9, size=200)
    np.testing.assert_array_equal(PatchColour(method).transform(images), channels[:, None])


@pytest.mark.parametrize(
    ("method", "size", "floor"),
    # Smoothing gives the paper's segment a rim of its own, some pixels wide.
    [("robust", 60, 0.7), ("robust", 128, 0.8), ("robust", 500, 0.95), ("paper", 250, 0.55), ("paper", 500, 0.75)],
)
def test_the_mask_is_the_patch(method, size, floor):
    image, patch = colour_patch(np.random.default_rng(3), 2, size=size)
    masks = PatchColour(method).masks(image)
    assert list(masks) == ["patch"]
    mask = masks["patch"]
    assert mask.shape == image.shape[:2]
    assert mask.dtype == bool
    assert (mask & patch).sum() / (mask | patch).sum() > floor


@pytest.mark.parametrize("method", METHODS)
def test_turning_an_image_does_not_change_its_colour(method):
    image, _ = colour_patch(np.random.default_rng(5), 1, size=150)
    turned = [image, image[::-1], image[:, ::-1], np.rot90(image)]
    assert (PatchColour(method).transform(turned) == 1).all()


@pytest.mark.parametrize("shape", [(200, 80), (80, 200), (33, 47), (5, 5), (1, 1), (1, 300)])
@pytest.mark.parametrize("method", METHODS)
def test_images_of_any_shape_have_a_colour(method, shape):
    image = np.zeros((*shape, 3), dtype=np.uint8)
    image[: max(1, shape[0] // 4), : max(1, shape[1] // 4)] = 0, 0, 255
    features = PatchColour(method, min_size=2)
    assert features.transform([image]).shape == (1, 1)
    assert features.masks(image)["patch"].shape == shape
    if min(shape) > 30:
        assert features.transform([image])[0, 0] == 2


def test_an_image_without_colour_stands_out_nowhere():
    grey = np.random.default_rng(0).integers(0, 256, (50, 50), dtype=np.uint8)
    np.testing.assert_array_equal(PatchColour(graded=True).transform([grey]), [[0, 0, 0, 0]])
    assert not PatchColour().masks(grey)["patch"].any()


# ---------------------------------------------------------------------------------------------- corrupted ones


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_the_robust_way_is_right_under_every_corruption_at_its_heaviest(corruption):
    images, channels = study(3, size=224)
    seen = [corrupt(image, corruption, 5, key=str(number)) for number, image in enumerate(images)]
    np.testing.assert_array_equal(PatchColour().transform(seen)[:, 0], channels)


@pytest.mark.parametrize("corruption", ["gaussian_noise", "impulse_noise"])
def test_single_pixels_decide_nothing_in_small_images_either(corruption):
    images, channels = study(9, size=64)
    seen = [corrupt(image, corruption, 5, key=str(number)) for number, image in enumerate(images)]
    np.testing.assert_array_equal(PatchColour().transform(seen)[:, 0], channels)


@pytest.mark.parametrize("background", [(110, 110, 110), (235, 235, 235), (200, 150, 120), (40, 60, 120)])
@pytest.mark.parametrize("corruption", ["gaussian_noise", "fog", "saturate", "contrast", "snow"])
def test_the_robust_way_does_not_mind_the_background(background, corruption):
    images, channels = study(3, size=224, background=background)
    seen = [*images, *(corrupt(image, corruption, 5, key=str(number)) for number, image in enumerate(images))]
    np.testing.assert_array_equal(PatchColour().transform(seen)[:, 0], [*channels, *channels])


def test_a_mask_is_still_the_patch_in_heavy_noise():
    image, patch = colour_patch(np.random.default_rng(1), 0)
    mask = PatchColour().masks(corrupt(image, "gaussian_noise", 5))["patch"]
    assert (mask & patch).sum() / (mask | patch).sum() > 0.8


def test_how_far_a_colour_stands_out_follows_the_contrast_but_its_direction_does_not():
    images, _ = study(3, size=224)
    features = PatchColour(graded=True)
    clean = features.transform(images)
    pale = features.transform([corrupt(image, "contrast", 3) for image in images])
    np.testing.assert_allclose(clean[:, 1:], np.eye(3), atol=1e-6)
    np.testing.assert_allclose(pale[:, 1:], 0.2 * np.eye(3), atol=0.01)
    np.testing.assert_allclose(near_colour(clean, pale), np.eye(3), atol=0.05)
    np.testing.assert_array_equal(same_colour(clean, pale), np.eye(3))


# ---------------------------------------------------------------------------------------------- the paper's way


def striped(*colours, heights):
    """Stripes of these colours and heights, one above the other, 60 wide."""
    return np.vstack(
        [np.full((height, 60, 3), colour, dtype=np.uint8) for colour, height in zip(colours, heights, strict=True)]
    )


PLAIN = {"sigma": 0.0, "min_size": 20}  # without smoothing, segments are exactly the stripes


def test_the_brightest_of_the_largest_segments_is_the_patch():
    image = striped((100, 0, 0), (0, 0, 200), (0, 90, 0), heights=(40, 20, 30))
    features = PatchColour("paper", graded=True, **PLAIN)
    np.testing.assert_allclose(features.transform([image]), [[2, 0, 0, 200 / 255]])
    np.testing.assert_array_equal(features.masks(image)["patch"].sum(axis=1) > 0, np.repeat([0, 1, 0], [40, 20, 30]))


def test_only_the_largest_segments_are_looked_at():
    image = striped((100, 0, 0), (0, 0, 200), (0, 90, 0), heights=(40, 20, 30))
    assert PatchColour("paper", n_segments=2, **PLAIN).transform([image])[0, 0] == 0


def test_segments_of_equal_intensity_are_told_apart_by_how_far_they_stand_out():
    image = striped((200, 200, 200), (0, 200, 50), (200, 150, 150), heights=(30, 30, 30))
    assert PatchColour("paper", **PLAIN).transform([image])[0, 0] == 1


def test_patch_colour__equal_segments__takes_the_largest_then_the_first():
    colours = (0, 200, 0), (0, 0, 0), (200, 0, 0), (0, 0, 0), (0, 0, 200)
    images = [striped(*colours, heights=heights) for heights in ((20, 20, 21, 20, 20), (20, 20, 20, 20, 20))]
    np.testing.assert_array_equal(PatchColour("paper", **PLAIN).transform(images), [[0], [1]])


def test_patch_colour__paper_method__bright_background():
    image = striped((230, 235, 230), (220, 0, 0), heights=(80, 20))
    assert PatchColour("paper", **PLAIN).transform([image])[0, 0] == 1
    assert PatchColour("paper", score="standing_out", **PLAIN).transform([image])[0, 0] == 0
    assert PatchColour().transform([image])[0, 0] == 0


# ---------------------------------------------------------------------------------------------- as a similarity


def test_patches_are_routed_by_their_colour_even_when_corrupted():
    images, channels = study(30, size=100)
    collection = ImageCollection(images, channels)
    similarity = FunctionSimilarity(same_colour, batched=True, features=PatchColour())
    clf = MemoryClassifier(similarity, DummyClassifier(), threshold=1.0, random_state=0).fit(collection, channels)
    assert sorted(channels[clf.memory_indices_]) == [0, 1, 2]
    for condition in (("fog", 3), ("contrast", 5), ("jpeg_compression", 3)):
        np.testing.assert_array_equal(clf.predict(collection.corrupted(*condition)), channels)


def test_a_graded_similarity_of_colours_needs_one_memory_per_colour():
    images, channels = study(12, size=100)
    similarity = FunctionSimilarity(near_colour, batched=True, features=PatchColour(graded=True))
    Z = similarity.fit_describe(ImageCollection(images).corrupted("gaussian_noise", 2))
    result = select_memories(Z, similarity, 0.9)
    assert sorted(channels[result.indices]) == [0, 1, 2]


def test_images_without_colour_are_alike_among_themselves_only():
    rows = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0.5, 0]])
    np.testing.assert_array_equal(near_colour(rows, rows), [[1, 1, 0], [1, 1, 0], [0, 0, 1]])


# ---------------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "felzenszwalb"}, "'method' parameter of PatchColour must be a str among .*. Got 'felzenszwalb'"),
        ({"score": "loud"}, "'score' parameter of PatchColour must be a str among .*. Got 'loud'"),
        ({"n_segments": 0}, r"'n_segments' parameter of PatchColour must be an int in the range \[1, inf\). Got 0"),
        ({"block": "x"}, r"'block' parameter of PatchColour must be an int in the range \[1, inf\) or None. Got 'x'"),
        ({"scale": "x"}, "'scale' parameter of PatchColour must be a float in the range"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    image = np.zeros((20, 20, 3), dtype=np.uint8)
    with pytest.raises(ValueError, match=message):
        PatchColour(**parameters).transform([image])
    with pytest.raises(ValueError, match=message):
        PatchColour(**parameters).masks(image)


def test_the_names_tell_what_is_returned():
    assert PatchColour().get_feature_names_out().tolist() == ["channel"]
    assert clone(PatchColour(graded=True)).get_feature_names_out().tolist() == ["channel", "red", "green", "blue"]
