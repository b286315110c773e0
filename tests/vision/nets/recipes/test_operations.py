"""The operations of AugMix beside Pillow, which the authors' code calls."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image, ImageOps

from memclf.vision.nets.recipes.operations import EXCLUDED, OPERATIONS

IMAGES = arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 40), st.just(3)))
LEVELS = st.floats(0, 10, exclude_max=True)  # Pillow refuses to posterize at level 10


def by_pillow(name, image, level):
    picture, (height, width) = Image.fromarray(image), image.shape[:2]
    if name in ("autocontrast", "equalize"):
        return np.asarray(getattr(ImageOps, name)(picture))
    if name == "posterize":
        return np.asarray(ImageOps.posterize(picture, 4 - int(level * 4 / 10)))
    if name == "solarize":
        return np.asarray(ImageOps.solarize(picture, 256 - int(level * 256 / 10)))
    if name == "rotate":
        return np.asarray(picture.rotate(int(level * 30 / 10), resample=Image.Resampling.BILINEAR))
    matrix = {
        "shear_x": (1, level * 0.3 / 10, 0, 0, 1, 0),
        "shear_y": (1, 0, 0, level * 0.3 / 10, 1, 0),
        "translate_x": (1, 0, int(level * (width / 3) / 10), 0, 1, 0),
        "translate_y": (1, 0, 0, 0, 1, int(level * (height / 3) / 10)),
    }[name]
    moved = picture.transform((width, height), Image.Transform.AFFINE, matrix, resample=Image.Resampling.BILINEAR)
    return np.asarray(moved)


def test_there_are_nine_operations_and_none_that_overlaps_with_the_corruptions():
    assert len(OPERATIONS) == 9
    assert EXCLUDED == ("color", "contrast", "brightness", "sharpness")
    assert not set(EXCLUDED) & set(OPERATIONS)


@pytest.mark.parametrize("name", ["autocontrast", "equalize", "posterize", "solarize"])
@given(image=IMAGES, level=LEVELS)
def test_operations_on_values_give_the_very_pixels_of_pillow(name, image, level):
    np.testing.assert_array_equal(OPERATIONS[name](image, level), by_pillow(name, image, level))


@pytest.mark.parametrize("name", ["autocontrast", "equalize"])
def test_histogram_operations_agree_with_pillow_where_many_pixels_share_a_value(name, photograph):
    for image in (photograph, np.repeat(np.repeat(photograph, 9, axis=0), 9, axis=1), np.full_like(photograph, 7)):
        np.testing.assert_array_equal(OPERATIONS[name](image, 1.0), by_pillow(name, image, 1.0))


@pytest.mark.parametrize("name", ["translate_x", "translate_y"])
@pytest.mark.parametrize("level", [-9.7, -1.0, 0.0, 0.4, 2.9, 10.0])
def test_translations_give_the_very_pixels_of_pillow(name, level, photograph):
    np.testing.assert_array_equal(OPERATIONS[name](photograph, level), by_pillow(name, photograph, level))


@pytest.mark.parametrize("name", ["rotate", "shear_x", "shear_y"])
@pytest.mark.parametrize("level", [-8.5, -2.0, 0.7, 3.0, 10.0])
def test_turning_and_shearing_agree_with_pillow_up_to_rounding_away_from_the_rim(name, level, photograph):
    inside = by_pillow(name, np.full_like(photograph, 255), level).min(axis=2)
    inside = cv2.erode(inside, np.ones((5, 5), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=0) == 255
    assert inside.mean() > 0.2
    ours = OPERATIONS[name](photograph, level).astype(int)
    assert np.abs(ours - by_pillow(name, photograph, level))[inside].max() <= 2


@pytest.mark.parametrize("name", ["solarize", "rotate", "shear_x", "shear_y", "translate_x", "translate_y"])
def test_operations_with_a_level_do_nothing_at_level_zero(name, photograph):
    np.testing.assert_array_equal(OPERATIONS[name](photograph, 0.0), photograph)


@pytest.mark.parametrize(("level", "step"), [(0.0, 16), (2.4, 16), (2.6, 32), (5.1, 64), (7.6, 128), (10.0, 128)])
def test_posterize_keeps_four_bits_to_one(level, step, photograph):
    np.testing.assert_array_equal(OPERATIONS["posterize"](photograph, level), photograph // step * step)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_keeps_shape_and_type_and_never_writes_to_its_image(name, photograph):
    before = photograph.copy()
    photograph.setflags(write=False)
    for image in (photograph, photograph[:, ::-1], photograph[::2, 1:]):
        result = OPERATIONS[name](image, 2.5)
        assert result.dtype == np.uint8
        assert result.shape == image.shape
        np.testing.assert_array_equal(result, OPERATIONS[name](np.ascontiguousarray(image), 2.5))
    np.testing.assert_array_equal(photograph, before)


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.signed])
def test_the_sign_of_the_level_is_the_direction(name, photograph):
    axis = 0 if name.endswith("_y") else 1
    mirrored = np.flip(OPERATIONS[name](np.ascontiguousarray(np.flip(photograph, axis)), 4.0), axis)
    back = OPERATIONS[name](photograph, -4.0).astype(int)
    assert np.abs(mirrored - back).max() <= (2 if int(cv2.__version__.split(".")[0]) >= 5 else 8)  # 4: coarser steps
