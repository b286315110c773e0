"""Regions taught by strokes on drawn leaves whose regions are known."""

import cv2
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import memclf
from drawn import REGIONS, drawn_leaf, strokes
from memclf import MemoryClassifier
from memclf.cli import app
from memclf.exceptions import ImageError
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageCollection, corrupt
from memclf.vision.features import TaughtRegions
from memclf.vision.features.region_masks import decide, leeway, paint_share, share_range
from memclf.vision.features.regions import check_regions


@pytest.fixture(scope="module")
def painted():
    """Pictures with strokes on them."""
    cases = [drawn_leaf(seed) for seed in range(4)]
    return [image for image, _ in cases], [strokes(outlines, seed) for seed, (_, outlines) in enumerate(cases)]


@pytest.fixture(scope="module")
def taught(painted):
    return TaughtRegions(REGIONS, showings=40).fit(*painted)


def overlap(a, b):
    return np.count_nonzero(a & b) / max(1, np.count_nonzero(a | b))


def affected(outlines):
    return np.count_nonzero(outlines == 3) / np.count_nonzero(outlines > 1)


# ------------------------------------------------------------------------------------------------------- strokes


@pytest.mark.parametrize("seed", [100, 101, 102])
def test_strokes_on_four_pictures_find_the_regions_of_another(taught, seed):
    image, outlines = drawn_leaf(seed)
    masks = taught.masks(image)
    assert list(masks) == ["background", "leaf", "symptom"]
    assert all(mask.dtype == bool and mask.shape == image.shape[:2] for mask in masks.values())
    assert overlap(masks["leaf"], outlines > 1) > 0.95
    assert overlap(masks["symptom"], outlines == 3) > 0.6
    assert not (masks["symptom"] & ~masks["leaf"]).any()
    assert_array_equal(masks["background"], ~masks["leaf"])


def test_transform__nested_regions__gives_shares_of_picture_and_of_parent(taught):
    image, outlines = drawn_leaf(103)
    assert taught.get_feature_names_out().tolist() == ["background_share", "leaf_share", "symptom_share"]
    background, leaf, symptom = taught.transform([image])[0]
    assert background + leaf == pytest.approx(1)
    assert leaf == pytest.approx(np.mean(outlines > 1), abs=0.02)
    assert symptom == pytest.approx(affected(outlines), abs=0.02)


def test_outlines_teach_a_second_perceptron_that_looks_around(monkeypatch):
    monkeypatch.setattr("memclf.vision.features.region_teach.LITTLE", 1000)
    cases = [drawn_leaf(seed) for seed in range(4)]
    outlined = TaughtRegions(REGIONS, showings=8).fit([image for image, _ in cases], [where for _, where in cases])
    assert "second0.weight" in outlined.coefficients_
    image, outlines = drawn_leaf(115)
    masks = outlined.masks(image)
    assert overlap(masks["leaf"], outlines > 1) > 0.97
    assert overlap(masks["symptom"], outlines == 3) > 0.8


def test_masks__list_of_regions__lie_beside_each_other(painted):
    taught = TaughtRegions(["background", "leaf", "symptom"], showings=4).fit(*painted)
    masks = taught.masks(drawn_leaf(104)[0])
    assert_array_equal(sum(mask.astype(int) for mask in masks.values()), 1)
    assert taught.transform([drawn_leaf(104)[0]]).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "change",
    [
        lambda image: image[:, ::-1],
        lambda image: image.transpose(1, 0, 2),
        lambda image: cv2.resize(image, None, fx=3, fy=3),
        lambda image: (image * 0.6).astype(np.uint8),
        lambda image: (image * [1.0, 0.92, 0.8]).astype(np.uint8),
        lambda image: corrupt(image, "fog", 2, key="leaf"),
        lambda image: corrupt(image, "contrast", 3, key="leaf"),
        lambda image: corrupt(image, "gaussian_noise", 2, key="leaf"),
    ],
    ids=["mirrored", "upright", "three times as large", "dim", "warm light", "fog", "contrast", "noise"],
)
def test_the_share_is_the_same_when_the_leaf_is(taught, change):
    image, outlines = drawn_leaf(105)
    assert taught.transform([np.ascontiguousarray(change(image))])[0, 2] == pytest.approx(affected(outlines), abs=0.04)


def test_grey_pictures_and_two_regions_are_learned_from_brightness():
    def dots(seed):
        rng = np.random.default_rng(seed)
        where = np.ones((96, 96), dtype=np.uint8)
        for x, y in rng.integers(10, 86, (6, 2)).tolist():
            cv2.circle(where, (x, y), 7, 2, -1)
        grey = np.array([0, 90, 190], dtype=np.float32)[where] + rng.normal(0, 4, where.shape)
        return cv2.GaussianBlur(grey, (0, 0), 0.8).clip(0, 255).astype(np.uint8), where

    cases = [dots(seed) for seed in range(3)]
    taught = TaughtRegions(["plate", "colony"], showings=20).fit(
        [np.dstack([image] * 3) for image, _ in cases],
        [strokes(where, seed, n=3) for seed, (_, where) in enumerate(cases)],
    )
    image, where = dots(100)
    assert overlap(taught.masks(image)["colony"], where == 2) > 0.7


@pytest.mark.parametrize("shape", [(32, 32), (20, 20, 3), (33, 31, 3), (40, 800, 3), (1, 1, 3)])
def test_small_grey_and_odd_pictures_are_judged_too(taught, shape):
    image = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    assert taught.masks(image)["leaf"].shape == shape[:2]
    assert np.isfinite(taught.inspect([image])).all()


def test_teaching_again_gives_the_same_numbers(painted):
    first, again = (TaughtRegions(REGIONS, showings=4).fit(*painted) for _ in range(2))
    image = drawn_leaf(106)[0]
    assert_allclose(again.transform([image]), first.transform([image]), atol=1e-3)


# ------------------------------------------------------------------------------------------- doubt and suggestions


def test_trust__pictures_like_those_painted__is_higher_than_for_noise(taught):
    usual = [drawn_leaf(seed)[0] for seed in (107, 108)]
    noise = np.random.default_rng(0).integers(0, 256, (128, 256, 3), dtype=np.uint8)
    trust = taught.trust([*usual, noise])
    assert (trust[:2] > 0.8).all()
    assert trust[2] < 0.3


@pytest.mark.parametrize("name", ["fog", "gaussian_noise"])
def test_trust__strong_corruption__is_clearly_lower(taught, name):
    image = drawn_leaf(107)[0]
    clean, worse = taught.trust([image, corrupt(image, name, 5, key="a")])
    assert worse < clean - 0.1


def test_leeway__adds_up_pixels_in_doubt_of_nested_regions():
    found = np.zeros((2, 10, 3))
    found[..., 0] = 1
    found[0] = (0, 1, 0)  # half of the picture is leaf,
    found[0, :2] = (0, 0.5, 0.5)  # a fifth of which may be symptom,
    found[1, :3] = (0.6, 0.4, 0)  # and three pixels of twenty may be leaf
    assert leeway(share_range(found, REGIONS), REGIONS) == pytest.approx(0.2 + 0.15)
    sure = found.round()
    assert leeway(share_range(sure, REGIONS), REGIONS) == 0


def test_paint__known_share__is_painted_without_what_is_in_doubt(taught):
    images, outlines = zip(*(drawn_leaf(seed) for seed in (111, 112)), strict=True)
    share = affected(outlines[0])
    sick, sound = taught.paint(images, "symptom", [(share, share), (0, 0)])
    assert sick.shape == outlines[0].shape
    found = np.count_nonzero(sick == 3) / np.count_nonzero(outlines[0] > 1)
    assert 0.4 * share < found <= 1.05 * share
    assert np.mean(outlines[0][sick == 3] == 3) > 0.9
    assert np.mean(outlines[0][sick == 1] == 1) > 0.98
    assert set(np.unique(sound)) <= {0, 1, 2}  # nothing shows a region that is known to be absent
    assert np.mean(sound[outlines[1] == 3] == 2) > 0.5


def test_paint_share__lower_and_upper_end__move_the_limit():
    chance = np.linspace(0.01, 0.99, 100)[None, :].repeat(10, axis=0)
    found = np.dstack([np.zeros_like(chance), 1 - chance, chance])
    wide, narrow = (paint_share(found, REGIONS, "symptom", *ends) for ends in ((0.8, 0.9), (0.05, 0.1)))
    assert 0.6 < np.mean(wide == 3) < 0.8
    assert 0.02 < np.mean(narrow == 3) <= 0.1
    assert (wide[:, 0] == 2).all()


def test_paint__shares_that_make_no_sense__are_named(taught):
    image = drawn_leaf(111)[0]
    for region, shares, message in (
        ("spot", [(0, 1)], "there is no region 'spot'; they are"),
        ("leaf", [(0, 1)], "'symptom' lies in 'leaf'; give shares of a region in which no other lies"),
        ("symptom", [], "1 images came with 0 ranges of shares"),
        ("symptom", [0.1], r"shares\[0\] is 0.1; wanted are two numbers from 0 to 1, in order"),
        ("symptom", [(0.5, 0.1)], r"shares\[0\] is \(0.5, 0.1\); wanted are two numbers from 0 to 1, in order"),
    ):
        with pytest.raises(ValueError, match=message):
            taught.paint([image], region, shares)


def test_suggest__picture_with_something_new__is_named_first_and_where(taught):
    usual, odd = drawn_leaf(109)[0], drawn_leaf(110)[0]
    cv2.circle(odd, (200, 110), 14, (150, 60, 200), -1)
    places = taught.suggest([usual, odd], n=3)
    assert len(places) == 3
    assert places[0].image == 1
    assert np.hypot(places[0].row - 110, places[0].column - 200) < 30
    assert places[0].taken_for in REGIONS
    assert len(taught.suggest([usual], n=50)) <= 3


# ------------------------------------------------------------------------------------------------- as an estimator


@pytest.mark.parametrize("n", [0, -1, 2.5])
def test_suggest__number_of_places_that_cannot_be__is_an_error(taught, n):
    with pytest.raises(ValueError, match=f"n must be the number of places, 1 or more; got {n}"):
        taught.suggest([drawn_leaf(111)[0]], n=n)


def test_what_was_taught_survives_cloning_and_setting_parameters(taught):
    image = drawn_leaf(111)[0]
    copy = clone(taught).set_params(n_jobs=2)
    assert_array_equal(copy.transform([image]), taught.transform([image]))
    copy.coefficients_["first0.bias"] += 1
    assert not np.array_equal(copy.coefficients_["first0.bias"], taught.coefficients_["first0.bias"])


def test_class_labels_teach_nothing_and_take_nothing_away(taught):
    images = [drawn_leaf(seed)[0] for seed in (112, 113)]
    before = taught.transform(images)
    for labels in (None, [0, 1], ["a", "b"]):
        assert_array_equal(clone(taught).fit(images, labels).transform(images), before)


def test_saved_alone_and_inside_a_classifier__measures_as_before(taught, tmp_path):
    images = ImageCollection([drawn_leaf(seed, spots)[0] for seed, spots in enumerate([0] * 3 + [9] * 3)])
    y = [0] * 3 + [1] * 3
    memclf.save(taught, tmp_path / "regions")
    back = memclf.load(tmp_path / "regions")
    assert_array_equal(back.inspect(images), taught.inspect(images))
    assert "symptom_spots" in (tmp_path / "regions/MODEL_CARD.md").read_text()
    pixels = make_pipeline(clone(taught), LogisticRegression())
    clf = MemoryClassifier(TreeSimilarity(features=taught), pixels, random_state=0).fit(images, y)
    memclf.save(clf, tmp_path / "model")
    assert_array_equal(memclf.load(tmp_path / "model").predict_proba(images), clf.predict_proba(images))
    assert make_pipeline(taught, DecisionTreeClassifier()).fit(images, y).score(images, y) == 1


def test_overlay__shows_masks_and_shares(taught):
    image = drawn_leaf(114)[0]
    assert taught.overlay(image).shape[0] > 2 * image.shape[0]
    assert len(taught.inspect([image])[0]) == len(taught.names) + len(taught.details)


# ------------------------------------------------------------------------------------------------------- bad input


def test_fit__paintings_that_do_not_fit__names_image_and_remedy():
    image, outlines = drawn_leaf(0)
    regions = TaughtRegions(["background", "leaf", "symptom"])
    with pytest.raises(ValueError, match="2 images came with 1 paintings; wanted is one for each image"):
        regions.fit([image, image], [outlines])
    with pytest.raises(ImageError, match=r"painting of image 1 has shape \(10, 10\), the image has \(128, 256\)"):
        regions.fit([image, image], [outlines, outlines[:10, :10]])
    with pytest.raises(ImageError, match="painting of image 0 is a colour image, and nothing says which colour is wh"):
        regions.fit([image], [image])
    with pytest.raises(ImageError, match="painting of image 0 holds 7; wanted are 0 .* 1 to 3 for the regions backg"):
        regions.fit([image], [np.where(outlines == 3, 7, outlines)])
    with pytest.raises(ValueError, match=r"nothing was painted as 'symptom'; paint at least one stroke.*3 symptom"):
        regions.fit([image], [np.minimum(outlines, 2)])
    with pytest.raises(ValueError, match="there are no paintings"):
        regions.fit([image], None)
    with pytest.raises(ValueError, match="there are no paintings to learn from: call TaughtRegions.fit"):
        regions.fit([image], ["healthy"])
    with pytest.raises(ValueError, match="names of files; read them first"):
        regions.fit([image], ["painting.png"])


def test_masks__before_teaching__says_what_to_do():
    regions = TaughtRegions(["background", "leaf"])
    with pytest.raises(ValueError, match=r"was not taught: call fit\(images, paintings\) first"):
        regions.masks(drawn_leaf(0)[0])
    assert regions.get_feature_names_out().tolist() == ["background_share", "leaf_share"]


@pytest.mark.parametrize(
    ("regions", "error", "message"),
    [
        (["leaf"], ValueError, r"at least two regions.*paint the rest as another"),
        (["leaf", "leaf"], ValueError, "different names"),
        ("leaf", TypeError, "regions must be names"),
        ([1, 2], TypeError, "regions must be names"),
        ({"leaf": None, "symptom": "leave"}, ValueError, "'symptom' is said to lie in 'leave', which is no region"),
        ({"a": "b", "b": "a", "c": None}, ValueError, "cannot go round"),
    ],
)
def test_check_regions__what_cannot_be__is_explained(regions, error, message):
    with pytest.raises(error, match=message):
        check_regions(regions)
    with pytest.raises(error, match=message):
        TaughtRegions(regions).fit([], [])


def test_decide__nested__a_region_has_what_those_in_it_have_together():
    found = np.array([[[0.4, 0.35, 0.25], [0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]])
    masks = decide(found, REGIONS)
    assert masks["leaf"].tolist() == [[True, False, True]]
    assert masks["symptom"].tolist() == [[False, False, True]]
    assert decide(found, dict.fromkeys(REGIONS))["background"].tolist() == [[True, True, False]]


def test_fit__two_lines_one_pixel_wide__are_enough_to_tell_leaf_from_background():
    image = np.full((128, 256, 3), 225, dtype=np.uint8)
    image = cv2.ellipse(image, (128, 64), (100, 45), 0, 0, 360, (70, 120, 40), -1)
    painting = np.zeros((128, 256), dtype=np.uint8)
    painting[5, 20:60], painting[64, 120:160] = 1, 2
    taught = TaughtRegions(["background", "leaf"], showings=20).fit([image], [painting])
    truth = np.any(image != 225, axis=2)
    found = taught.masks(image)["leaf"]
    assert np.count_nonzero(found & truth) > 0.9 * np.count_nonzero(found | truth)


def test_trust__blank_pictures__have_none():
    image, painting = np.full((64, 96, 3), 220, dtype=np.uint8), np.zeros((64, 96), dtype=np.uint8)
    image[16:48, 24:72] = (70, 120, 40)
    painting[4:10, 10:80], painting[24:40, 32:64] = 1, 2
    taught = TaughtRegions(["background", "leaf"], showings=20).fit([image], [painting])
    assert taught.trust([image])[0] > 0.5
    assert_array_equal(taught.trust([np.full_like(image, grey) for grey in (0, 90, 255)]), 0)


def test_inspect__saved_regions__shows_their_numbers(tmp_path):
    image, painting = np.full((64, 96, 3), 220, dtype=np.uint8), np.zeros((64, 96), dtype=np.uint8)
    image[16:48, 24:72] = (70, 120, 40)
    painting[4:10, 10:80], painting[24:40, 32:64] = 1, 2
    memclf.save(TaughtRegions(["background", "leaf"], showings=20).fit([image], [painting]), tmp_path / "regions")
    shown = CliRunner().invoke(app, ["inspect", str(tmp_path / "regions")])
    assert shown.exit_code == 0, shown.output
    assert "background_share" in shown.output
