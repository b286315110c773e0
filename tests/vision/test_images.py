"""Collections of images: what goes in, how they are picked from, and what comes out."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

from memclf import MemoryClassifier
from memclf.exceptions import ImageError
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageCollection, corrupt
from memclf.vision.features import PatchColour
from memclf.vision.images import as_images

RNG = np.random.default_rng(0)
NOISE = RNG.integers(0, 256, (5, 40, 32, 3), dtype=np.uint8)


def patches(n=30, side=40):
    """Grey noise with a patch of one colour each."""
    rng = np.random.default_rng(1)
    labels = np.arange(n) % 3
    images = rng.integers(0, 40, (n, side, side, 1), dtype=np.uint8).repeat(3, axis=3)
    for image, channel in zip(images, labels, strict=True):
        top, left = rng.integers(0, side - 12, 2)
        image[top : top + 12, left : left + 12] = np.eye(3, dtype=np.uint8)[channel] * 255
    return ImageCollection(images, labels)


# ---------------------------------------------------------------------------------------------- what goes in


def test_uint8_images_come_out_as_they_went_in():
    images = ImageCollection(NOISE)
    assert len(images) == 5
    assert images.shape == (5,)
    for image, given_image in zip(images, NOISE, strict=True):
        assert image.dtype == np.uint8
        np.testing.assert_array_equal(image, given_image)


def test_floats_from_0_to_1_are_rounded_to_bytes():
    image = ImageCollection(NOISE[:1] / 255.0)[0]
    np.testing.assert_array_equal(image, NOISE[0])
    np.testing.assert_array_equal(ImageCollection((NOISE[:1] / 255).astype(np.float32))[0], NOISE[0])


def test_truth_values_become_black_and_white():
    image = ImageCollection([np.eye(4, dtype=bool)])[0]
    np.testing.assert_array_equal(image[:, :, 0], np.eye(4) * 255)


@pytest.mark.parametrize("shape", [(2, 6, 5), (2, 6, 5, 1)], ids=["n x h x w", "n x h x w x 1"])
def test_grey_images_are_repeated_on_three_channels(shape):
    grey = RNG.integers(0, 256, shape, dtype=np.uint8)
    for image, given_image in zip(ImageCollection(grey), grey, strict=True):
        assert image.shape == (6, 5, 3)
        assert (image == given_image.reshape(6, 5, 1)).all()


def test_transparent_images_are_laid_on_white():
    image = np.zeros((1, 3, 4), dtype=np.uint8)
    image[0, :, 0] = 200
    image[0, :, 3] = 0, 255, 128
    shown = ImageCollection([image])[0]
    np.testing.assert_array_equal(shown[0, 0], [255, 255, 255])
    np.testing.assert_array_equal(shown[0, 1], [200, 0, 0])
    np.testing.assert_array_equal(shown[0, 2], [227, 127, 127])


def test_images_of_different_sizes_are_welcome_in_a_list():
    images = ImageCollection([np.zeros((4, 6), dtype=np.uint8), np.ones((8, 3, 3))])
    assert [image.shape for image in images] == [(4, 6, 3), (8, 3, 3)]
    with pytest.raises(ValueError, match="images of 2 different sizes do not make one array"):
        np.asarray(images)


def test_a_collection_becomes_an_array_when_sizes_agree():
    np.testing.assert_array_equal(np.asarray(ImageCollection(NOISE)), NOISE)
    assert np.asarray(ImageCollection(NOISE), dtype=np.float32).dtype == np.float32


def test_an_empty_list_is_an_empty_collection():
    images = ImageCollection([])
    assert len(images) == 0
    assert list(images) == []
    assert images.paths == []


def test_one_image_must_be_wrapped_in_a_list():
    with pytest.raises(ImageError, match=r"shape \(40, 32, 3\) is one image; wrap it in a list"):
        ImageCollection(NOISE[0])
    with pytest.raises(ImageError, match=r"got an array of shape \(40, 32\)"):
        ImageCollection(NOISE[0, :, :, 0])


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.full((4, 4, 3), 300), "image 0 holds int64 from 300 to 300; images are uint8 from 0 to 255"),
        (np.full((4, 4, 3), 1.5), "image 0 holds float64 from 1.5 to 1.5"),
        (np.full((4, 4, 3), np.nan), "image 0 holds float64 from nan to nan"),
        (np.zeros((4, 4, 3), dtype=complex), "image 0 holds complex128; images are uint8"),
        (np.full((4, 4), 200), "image 0 holds int64 from 200 to 200; .*: .astype\\(np.uint8\\) makes it one"),
        (np.full((4, 4), 900, np.uint16), "image 0 holds uint16 from 900 to 900; .*: divide it by the value of white"),
        (np.zeros((3, 8, 8), dtype=np.uint8), r"image 0 has shape \(3, 8, 8\).*np.moveaxis\(image, 0, -1\)"),
        (np.zeros((4, 4, 2), dtype=np.uint8), r"image 0 has shape \(4, 4, 2\)"),
        (np.zeros(4, dtype=np.uint8), r"image 0 has shape \(4,\)"),
        (np.zeros((0, 4, 3), dtype=np.uint8), r"image 0 has shape \(0, 4, 3\); an image has at least one pixel"),
    ],
)
def test_arrays_that_are_no_images_are_named(image, message):
    with pytest.raises(ImageError, match=message):
        ImageCollection([image])[0]


def test_things_that_are_neither_arrays_nor_paths_are_named():
    with pytest.raises(TypeError, match="image 1 is of type int; images are arrays or paths of files"):
        ImageCollection([NOISE[0], 3])


@pytest.mark.parametrize("wrong", [5, None, 1.5, {"a.png": 1}, {"a.png"}, b"a.png"], ids=str)
def test_image_collection__no_images__says_what_is_expected(wrong):
    with pytest.raises(
        TypeError, match="images must be an array, a list of arrays or of paths, a folder, or a CSV"
    ) as e:
        ImageCollection(wrong)
    assert type(wrong).__name__ in str(e.value)


def test_labels_info_and_keys_must_have_one_entry_per_image():
    for name, values in (("labels", [1, 2]), ("info", [{}]), ("keys", ["a"] * 6)):
        with pytest.raises(ValueError, match=f"{name} has {len(values)} entries for 5 images"):
            ImageCollection(NOISE, **{name: values})


def test_image_collection__info_without_dicts__names_the_image():
    with pytest.raises(TypeError, match="info holds one dict per image; that of image 1 is 'face'"):
        ImageCollection(NOISE[:2], info=[{}, "face"])


def test_a_collection_is_not_wrapped_twice():
    images = ImageCollection(NOISE)
    assert as_images(images) is images
    with pytest.raises(TypeError, match="images is an ImageCollection already"):
        ImageCollection(images)


# ---------------------------------------------------------------------------------------------- picking


def numbered(n=7):
    images = np.arange(n, dtype=np.uint8)[:, None, None].repeat(2, axis=1).repeat(2, axis=2)
    info = [{"number": number} for number in range(n)]
    return ImageCollection(images, [f"class {k}" for k in range(n)], info=info, keys=[f"key {k}" for k in range(n)])


def numbers(images):
    return [int(image[0, 0, 0]) for image in images]


@settings(deadline=None)
@given(st.one_of(st.slices(7), st.lists(st.integers(-7, 6)), st.lists(st.booleans(), min_size=7, max_size=7)))
def test_images_are_picked_like_the_entries_of_an_array(index):
    plain = index if isinstance(index, slice) else np.asarray(index, dtype=None if len(index) else int)
    expected = np.arange(7)[plain].tolist()
    picked = numbered()[index]
    assert numbers(picked) == expected
    assert picked.labels.tolist() == [f"class {k}" for k in expected]
    assert [about["number"] for about in picked.info] == expected
    assert [picked.key(position) for position in range(len(picked))] == [f"key {k}" for k in expected]


@pytest.mark.parametrize("index", [0, -1, np.int64(3), -7])
def test_a_whole_number_picks_one_image(index):
    assert numbered()[index][0, 0, 0] == range(7)[index]


@pytest.mark.parametrize("index", [7, -8, [0, 7], [True] * 6, (0, 1), "a", [0.5]])
def test_wrong_indices_are_refused(index):
    with pytest.raises((IndexError, TypeError, ValueError)):
        numbered()[index]


def test_a_single_truth_value_is_no_index():
    with pytest.raises((IndexError, TypeError), match="True"):
        numbered()[True]


def test_picking_leaves_the_collection_as_it_was():
    images = numbered()
    images[:3].labels[:] = "changed"
    picked = images[[1, 2]]
    picked.labels[:] = "changed"
    assert numbers(images) == list(range(7))
    assert images[[1, 2]].labels.tolist() == ["class 1", "class 2"]


def test_picking_twice_is_picking_once():
    assert numbers(numbered()[::2][[0, -1]][::-1]) == [6, 0]


# ---------------------------------------------------------------------------------------------- with scikit-learn


def test_train_test_split_takes_labels_and_keys_along():
    images = numbered()
    train, test, y_train, y_test = train_test_split(images, images.labels, test_size=3, random_state=0)
    assert isinstance(train, ImageCollection)
    assert (len(train), len(test)) == (4, 3)
    assert sorted(numbers(train) + numbers(test)) == list(range(7))
    assert train.labels.tolist() == y_train.tolist()
    assert [f"class {k}" for k in numbers(test)] == y_test.tolist()


def test_features_of_images_are_cross_validated_and_searched_like_any_other():
    images = patches()
    pipeline = make_pipeline(PatchColour(), LogisticRegression(C=100))
    assert cross_val_score(pipeline, images, images.labels, cv=3).min() == 1
    search = GridSearchCV(pipeline, {"patchcolour__block": [2, 4]}, cv=2).fit(images, images.labels)
    assert search.score(images, images.labels) == 1


def test_a_memory_classifier_takes_images_from_end_to_end():
    images = patches()
    train, test = images[:21], images[21:]
    clf = MemoryClassifier(
        TreeSimilarity(features=PatchColour()),
        make_pipeline(PatchColour(), LogisticRegression(C=100)),
        random_state=0,
    ).fit(train, train.labels)
    assert len(clf.memories_) == 3
    np.testing.assert_array_equal(clf.predict(test), test.labels)
    np.testing.assert_array_equal(clf.predict(test.corrupted("contrast", 3)), test.labels)


# ---------------------------------------------------------------------------------------------- corrupting, mapping


def test_a_corrupted_collection_is_what_corrupt_makes_of_each_image():
    images = ImageCollection(NOISE, keys=list("abcde"))
    noisy = images.corrupted("gaussian_noise", 3, seed=4)
    expected = [corrupt(image, "gaussian_noise", 3, seed=4, key=key) for image, key in zip(NOISE, "abcde", strict=True)]
    np.testing.assert_array_equal(np.asarray(noisy), expected)
    assert repr(noisy) == "ImageCollection(5 arrays, gaussian_noise 3)"
    assert repr(images) == "ImageCollection(5 arrays)"


def test_the_draw_belongs_to_the_image_and_not_to_its_place():
    for images in (ImageCollection(NOISE), ImageCollection(NOISE, keys=list("abcde"))):
        noisy = images.corrupted("gaussian_noise", 2)
        np.testing.assert_array_equal(np.asarray(noisy[::-1]), np.asarray(noisy)[::-1])
        np.testing.assert_array_equal(np.asarray(images[[3]].corrupted("gaussian_noise", 2))[0], noisy[3])


def test_corruptions_come_one_after_the_other():
    once = ImageCollection(NOISE, keys=list("abcde")).corrupted("contrast", 2)
    twice = once.corrupted("pixelate", 3)
    np.testing.assert_array_equal(twice[1], corrupt(once[1], "pixelate", 3))
    assert repr(twice) == "ImageCollection(5 arrays, contrast 2, pixelate 3)"


def test_a_wrong_corruption_is_refused_before_any_image_is_looked_at():
    with pytest.raises(ValueError, match="there is no corruption 'gaussian'"):
        ImageCollection(NOISE).corrupted("gaussian", 1)
    with pytest.raises(ValueError, match="severity must be 1, 2, 3, 4 or 5, got 6"):
        ImageCollection(NOISE).corrupted("fog", 6)


def test_loading_keeps_pixels_labels_and_keys_and_ends_the_corruption():
    images = ImageCollection(NOISE, list("abcde"), keys=list("vwxyz")).corrupted("shot_noise", 3)
    loaded = images.loaded(n_jobs=2)
    assert repr(loaded) == "ImageCollection(5 arrays, 5 classes)"
    np.testing.assert_array_equal(np.asarray(loaded), np.asarray(images))
    assert loaded.labels.tolist() == list("abcde")
    assert loaded.key(4) == "z"


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_loaded__with_workers__keeps_the_order(n_jobs):
    images = ImageCollection(np.arange(100, dtype=np.uint8)[:, None, None] * np.ones((1, 2, 2), dtype=np.uint8))
    assert numbers(images.loaded(n_jobs=n_jobs)) == list(range(100))


def test_corrupted__small_images__names_the_image_and_the_remedy(tmp_path):
    small = np.zeros((16, 40, 3), dtype=np.uint8)
    Image.fromarray(small).save(tmp_path / "small.png")
    for images, name in (
        (ImageCollection([small]), "image 0"),
        (ImageCollection([tmp_path / "small.png"]), "small.png"),
    ):
        with pytest.raises(ImageError, match=rf"{name}: .*at least 32 pixels.*\(16, 40, 3\).*at=\(height, width\)"):
            images.corrupted("fog", 3)[0]
        assert images.corrupted("fog", 3, at=64)[0].shape == (16, 40, 3)


@pytest.mark.parametrize("at", [16, (64,), "64", (64.5, 64), True])
def test_corrupted__wrong_size__is_refused_at_once(at):
    with pytest.raises(ValueError, match=r"at must be a number of pixels or \(height, width\), at least 32; got"):
        ImageCollection(NOISE).corrupted("fog", 3, at=at)


def test_collections_survive_pickling():
    images = numbered().corrupted("contrast", 1)[2:]
    again = pickle.loads(pickle.dumps(images))
    assert repr(again) == repr(images)
    assert again.labels.tolist() == images.labels.tolist()
    assert again.key(0) == "key 2"


def test_images__joined_and_wrapped__keep_pixels_names_and_labels():
    first, second = (
        ImageCollection(NOISE[:2], ["a", "b"], keys=["x", "y"]),
        ImageCollection(list(NOISE[2:4, :20]), ["c", "d"]),
    )
    both = first.joined(second)
    assert both.labels.tolist() == ["a", "b", "c", "d"]
    assert both.key(0) is None  # only some have names
    np.testing.assert_array_equal(both[3], NOISE[3, :20])
    assert first.joined(NOISE[4:]).labels is None
    changed = first.corrupted("brightness", 3)
    np.testing.assert_array_equal(changed.joined(second)[0], changed[0])
    np.testing.assert_array_equal(first.wrap(NOISE[4])[0], NOISE[4])


def test_images__classifier__is_edited_and_updated():
    images = patches()
    clf = MemoryClassifier(TreeSimilarity(features=PatchColour()), LogisticRegression(), 0.5, answer="labels")
    clf.fit(images, images.labels)
    assert len(clf.memory_indices_) == 3
    assert len(clf.drop(0).memory_indices_) == 2
    more = clf.update(patches(6), patches(6).labels)
    assert len(more.labels_) == 36
    np.testing.assert_array_equal(more.memory_indices_[:3], clf.memory_indices_)
