"""Leaf-like pictures whose affected share is known."""

import csv
import pickle

import numpy as np
import pytest
from scipy.stats import spearmanr

from memclf.studies.generated import leaf_paintings, leaf_pictures, write_leaves
from memclf.studies.generated.leaves import LIMITS, SEVERITIES
from memclf.vision import ImageCollection
from memclf.vision.features import LeafColours

SMALL = {"height": 64, "width": 128}


def leaf_outlines(n, height=256, width=512):
    """True outlines of the pictures: 0 background, 1 leaf, 2 symptom."""
    return [painting - 1 for painting in leaf_paintings(n, height=height, width=width)]


def test_leaf_pictures__labels__are_severities_of_the_true_shares():
    leaves = leaf_pictures(500)
    shares = np.array([info["share"] for info in leaves.info])
    np.testing.assert_array_equal(np.searchsorted(LIMITS, shares, side="right"), leaves.labels)


def test_leaf_pictures__severities__are_as_frequent_as_in_real_data():
    wanted = np.array(SEVERITIES) / sum(SEVERITIES)
    for seed in (0, 3):
        found = np.bincount(leaf_pictures(350, seed=seed).labels, minlength=5) / 350
        assert np.abs(found - wanted).max() < 0.01


def test_leaf_pictures__affected_share__is_exact_to_the_pixel():
    for size in ({}, SMALL):
        leaves = leaf_pictures(40, **size)
        for outlines, info in zip(leaf_outlines(40, **size), leaves.info, strict=True):
            leaf = np.count_nonzero(outlines)
            assert abs(np.count_nonzero(outlines == 2) - info["share"] * leaf) <= 0.5 + 1e-9
            assert 0.25 < leaf / outlines.size < 0.8


def test_leaf_pictures__symptoms__differ_in_colour():
    for picture, outlines in zip(leaf_pictures(20), leaf_outlines(20), strict=True):
        colour = picture.astype(int)
        green = colour[:, :, 1] - colour[:, :, 2]
        assert np.median(green[outlines == 1]) > np.median(green[outlines == 0]) + 15
        if np.count_nonzero(outlines == 2) > 200:
            browner = colour[:, :, 0] - colour[:, :, 1]
            assert np.median(browner[outlines == 2]) > np.median(browner[outlines == 1]) + 15


def test_leaf_pictures__one_leaf__depends_on_seed_and_number_alone():
    few, many = leaf_pictures(3, **SMALL), leaf_pictures(9, **SMALL)
    for position in (2, 0, 1):
        np.testing.assert_array_equal(few[position], many[position])
        assert few.info[position] == many.info[position]
        assert few.key(position) == many.key(position) == f"leaf-{position:05d}"
    assert not np.array_equal(leaf_pictures(1, seed=1, **SMALL)[0], many[0])


def test_leaf_pictures__threads_and_pickling__same_pixels():
    leaves = leaf_pictures(12, **SMALL)
    once, threads, thawed = np.asarray(leaves), leaves.loaded(n_jobs=3), pickle.loads(pickle.dumps(leaves))
    np.testing.assert_array_equal(once, np.asarray(threads))
    np.testing.assert_array_equal(once, np.asarray(thawed))


def test_leaf_pictures__leaf_colours__measure_the_true_share():
    leaves = leaf_pictures(80)
    measured = LeafColours().transform(leaves)[:, 0]
    true = np.array([info["share"] for info in leaves.info])
    assert spearmanr(measured, true)[0] > 0.97
    assert np.abs(measured - true).mean() < 0.015


def test_write_leaves__folder__loads_with_the_same_labels(tmp_path):
    folder = write_leaves(tmp_path / "leaves", 12, 5, seed=2, **SMALL)
    loaded = ImageCollection.from_csv(folder / "dataset-full.csv", path="leaf/{id}.jpg", label="severity")
    drawn = leaf_pictures(17, seed=2, **SMALL)
    np.testing.assert_array_equal(loaded.labels, drawn.labels)
    assert np.abs(np.asarray(loaded).astype(int) - np.asarray(drawn)).mean() < 4  # JPEG keeps nearly everything
    with open(folder / "split.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["split"] for row in rows] == ["train"] * 12 + ["test"] * 5
    assert [row["id"] for row in rows] == [info["id"] for info in loaded.info]


def test_write_leaves__stresses__are_those_of_unhealthy_leaves(tmp_path):
    write_leaves(tmp_path, 20, 0, **SMALL)
    with open(tmp_path / "dataset-full.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["id", "predominant_stress", "miner", "rust", "phoma", "cercospora", "severity"]
    for row in rows:
        flags = [row[name] == "1" for name in ("miner", "rust", "phoma", "cercospora")]
        assert any(flags) == (row["severity"] != "0")
        assert row["predominant_stress"] == "0" if not any(flags) else flags[int(row["predominant_stress"]) - 1]


def test_leaf_pictures__too_small__is_refused():
    with pytest.raises(ValueError, match="at least 32 x 64 pixels, got height 16 and width 512"):
        leaf_pictures(2, height=16)
