"""Strong shifts: no corruptions, repeatable, strong, and remembered apart from the images."""

import ast
import inspect

import numpy as np
import pytest

from memclf.vision import CORRUPTIONS, ImageCollection, shifts
from memclf.vision.shifts import SHIFTS, shift

SHADES = np.random.default_rng(0).integers(30, 226, (6, 12, 16, 3), dtype=np.uint8).repeat(4, 1).repeat(4, 2)


def changed(name, image, strength, seed=0):
    return shifts.to_bytes(SHIFTS[name](image, np.random.default_rng(seed), strength))


def test_shifts__names__are_no_corruptions():
    assert not set(SHIFTS) & set(CORRUPTIONS)
    words = {word for name in CORRUPTIONS for word in name.split("_")}
    assert not [name for name in SHIFTS for word in words if word in name]


def test_shifts__code__calls_nothing_of_the_corruptions():
    imported = [node for node in ast.walk(ast.parse(inspect.getsource(shifts))) if isinstance(node, ast.ImportFrom)]
    own = {node.module for node in imported if node.module.startswith("memclf")}
    assert own == {"memclf._numbers", "memclf.vision.draws", "memclf.vision.files"}
    assert not [
        name for name, value in vars(shifts).items() if "corruptions" in (getattr(value, "__module__", "") or "")
    ]


@pytest.mark.parametrize(("strength", "least"), [(0.0, 1), (1.0, 4)])
@pytest.mark.parametrize("name", SHIFTS)
def test_shifts__every_kind__changes_an_image_clearly(name, strength, least):
    for number, image in enumerate(SHADES):
        before = image.copy()
        found = changed(name, image, strength, number)
        assert found.shape == image.shape
        assert np.abs(found.astype(int) - image).mean() > least
        np.testing.assert_array_equal(image, before)


@pytest.mark.parametrize("name", SHIFTS)
def test_shifts__plain_or_tiny_images__are_taken_too(name):
    for image in (np.zeros((40, 30, 3)), np.full((5, 90, 3), 255), np.full((1, 1, 3), 7)):
        assert changed(name, image.astype(np.uint8), 1.0).shape == image.shape


def test_shift__same_seed_and_key__gives_the_same_image():
    made = {shift(SHADES[0], seed=number, key="one").tobytes() for number in range(40)}
    assert len(made) > 30
    assert len(made | {shift(SHADES[0], seed=number, key="one").tobytes() for number in range(40)}) == len(made)


def test_shifted__any_order_batch_and_workers__gives_the_same_images():
    images = ImageCollection(SHADES)
    whole = np.asarray(images.shifted(seed=3))
    np.testing.assert_array_equal(np.asarray(images[[4, 1]].shifted(seed=3)), whole[[4, 1]])
    np.testing.assert_array_equal(np.asarray(images.shifted(seed=3)[::-1]), whole[::-1])
    np.testing.assert_array_equal(np.asarray(images.shifted(seed=3).loaded(n_jobs=2)), whole)
    assert not np.array_equal(np.asarray(images.shifted(seed=4)), whole)


def test_shifted__of_remembered_images__is_remembered_apart():
    asked = []

    def mean(some):
        asked.append(len(some))
        return np.array([[image.mean()] for image in some])

    images = ImageCollection(SHADES).remembered()
    plain = images.compute_once("mean", mean)
    first = images.shifted(seed=3).compute_once("mean", mean)
    np.testing.assert_array_equal(images[::2].shifted(seed=3).compute_once("mean", mean), first[::2])
    np.testing.assert_array_equal(images.compute_once("mean", mean), plain)
    assert asked == [6, 6]
    assert not np.array_equal(first, plain)
    assert not np.array_equal(images.perturbed(seed=3).compute_once("mean", mean), first)
