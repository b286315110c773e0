"""Size, redness and over-exposure of a lesion, from boxes, masks or nothing."""

import csv
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

from memclf.exceptions import ImageError
from memclf.similarity import TreeSimilarity
from memclf.vision import CORRUPTIONS, ImageCollection, corrupt
from memclf.vision.features import LesionFeatures

SKIN, RED, PALE = (200, 150, 120), (230, 90, 80), (170, 130, 110)
METHODS = ["hellinger", "correlation", "chi2", "intersection", "kl"]
ACNE = Path(__file__).parents[3] / ".." / "shared" / "data" / "acne"


def crop(colour=RED, box=(30, 35, 60, 55), size=(90, 100), noise=12.0, seed=0):
    """Skin with a lesion that fills its box, and what a CSV file would say about it."""
    rng = np.random.default_rng(seed)
    image = np.full((*size, 3), SKIN, dtype=np.float64)
    image[box[1] : box[3], box[0] : box[2]] = colour
    image += rng.normal(0, noise, image.shape)
    return image.clip(0, 255).astype(np.uint8), dict(zip(("x0", "y0", "x1", "y1"), map(str, box), strict=True))


def row(image, info=None, **parameters):
    return LesionFeatures(**parameters).transform(ImageCollection([image], info=None if info is None else [info]))[0]


# ---------------------------------------------------------------------------------------------- redness


def test_redness_is_the_hellinger_distance_of_the_red_histograms_of_lesion_and_skin():
    image, info = crop((215, 120, 100), noise=20)
    masks = LesionFeatures().masks(image, info)
    histograms = [np.histogram(image[masks[name]][:, 0], bins=64, range=(0, 256))[0] for name in ("lesion", "skin")]
    lesion, skin = (histogram / histogram.sum() for histogram in histograms)
    expected = np.sqrt(1 - np.sqrt(lesion * skin).sum())
    assert 0.2 < expected < 0.9
    assert row(image, info)[1] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_every_comparison_is_as_defined_and_grows_with_redness(method):
    image, info = crop((205, 120, 100), noise=25)
    masks = LesionFeatures().masks(image, info)
    lesion, skin = (
        np.histogram(image[masks[name]][:, 0], bins=32, range=(0, 256))[0] / masks[name].sum()
        for name in ("lesion", "skin")
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = {
            "hellinger": np.sqrt(1 - np.sqrt(lesion * skin).sum()),
            "correlation": 1 - np.corrcoef(lesion, skin)[0, 1],
            "chi2": np.sum(np.where(lesion > 0, (lesion - skin) ** 2 / lesion, 0)),
            "intersection": 1 - np.minimum(lesion, skin).sum(),
            "kl": np.sum(np.where(lesion > 0, lesion * np.log(lesion / np.where(skin > 0, skin, 1e-10)), 0)),
        }[method]
    assert row(image, info, method=method, bins=32)[1] == pytest.approx(expected, abs=1e-4)
    shades = [row(crop((200 + more, 120, 100), noise=25)[0], info, method=method)[1] for more in (5, 15, 30)]
    assert shades[0] < shades[1] < shades[2]


@pytest.mark.parametrize("method", METHODS)
def test_a_lesion_less_red_than_the_skin_has_negative_redness(method):
    assert row(*crop(RED), method=method)[1] > 0.1
    assert row(*crop(PALE), method=method)[1] < -0.1


def test_a_lesion_like_the_skin_is_hardly_red():
    assert abs(row(*crop(SKIN, noise=0))[1]) == 0
    assert abs(row(*crop(SKIN), bins=8)[1]) < 0.1


def test_the_skin_has_about_the_area_of_the_lesion_and_lies_around_it():
    for box in [(30, 35, 60, 55), (0, 0, 20, 20), (70, 60, 100, 90), (40, 40, 43, 44), (0, 40, 100, 50)]:
        image, info = crop(box=box)
        masks = LesionFeatures().masks(image, info)
        assert masks["lesion"].sum() == (box[2] - box[0]) * (box[3] - box[1])
        assert not (masks["lesion"] & masks["skin"]).any()
        assert 0.7 < masks["skin"].sum() / masks["lesion"].sum() < 2
        # It touches the lesion: growing the lesion by a pixel lands on skin everywhere.
        grown = cv2.dilate(masks["lesion"].astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
        assert (masks["skin"] | masks["lesion"])[grown].all()


def test_a_lesion_that_fills_the_image_has_no_skin_to_be_compared_with():
    image, info = crop(box=(0, 0, 100, 90))
    assert not LesionFeatures().masks(image, info)["skin"].any()
    assert row(image, info)[1] == 0


# ---------------------------------------------------------------------------------------------- over-exposure


@pytest.mark.parametrize(("pixels", "answer"), [(0, 0), (5, 0), (6, 1), (200, 1)])
def test_one_per_cent_of_glare_makes_a_lesion_over_exposed(pixels, answer):
    image, info = crop()  # of 30 x 20 = 600 pixels
    for number in range(pixels):
        image[35 + number // 30, 30 + number % 30] = 255, 250, 245
    assert row(image, info)[2] == answer
    assert LesionFeatures().masks(image, info)["overexposed"].sum() == pixels


@pytest.mark.parametrize("colour", [(249, 249, 249), (255, 255, 200), (255, 90, 80)])
def test_what_is_dim_or_coloured_is_no_glare(colour):
    image, info = crop(colour, noise=0)
    assert row(image, info)[2] == 0


def test_glare_on_the_skin_does_not_count():
    image, info = crop()
    image[:30] = 255
    assert row(image, info)[2] == 0


# ---------------------------------------------------------------------------------------------- size


def collection(areas, faces=None, **more):
    """Crops with square lesions of these sides, on these faces."""
    images, about = [], []
    for number, side in enumerate(areas):
        image, info = crop(box=(10, 10, 10 + side, 10 + side), seed=number)
        images.append(image)
        about.append({**info, **({} if faces is None else {"face": faces[number]}), **more})
    return ImageCollection(images, info=about)


def test_size_is_relative_to_the_median_of_the_same_face_in_the_call():
    images = collection([10, 20, 40, 30], ["a", "a", "a", "b"])
    np.testing.assert_allclose(LesionFeatures().transform(images)[:, 0], [0.25, 1, 4, 1])


def test_a_given_median_goes_before_everything():
    for name in ("face_median_area", "face_median_box_area"):
        images = collection([10, 20], ["a", "a"], **{name: "200"})
        np.testing.assert_allclose(LesionFeatures().fit(images).transform(images)[:, 0], [0.5, 2])


def test_a_face_seen_in_fit_keeps_its_median():
    features = LesionFeatures().fit(collection([10, 20, 40, 50], ["a", "a", "a", "b"]))
    assert features.face_medians_ == {"a": 400, "b": 2500}
    assert features.median_ == (400 + 1600) / 2
    new = collection([40, 30, 60], ["a", "c", "c"])
    np.testing.assert_allclose(features.transform(new)[:, 0], [4, 900 / 2250, 3600 / 2250])


def test_without_faces_size_is_relative_to_what_was_seen_in_fit_or_to_each_other():
    images = collection([10, 20, 40])
    np.testing.assert_allclose(LesionFeatures().transform(images)[:, 0], [0.25, 1, 4])
    features = LesionFeatures().fit(images)
    np.testing.assert_allclose(features.transform(images[[2]])[:, 0], [4])
    np.testing.assert_allclose(LesionFeatures().transform(images[[2]])[:, 0], [1])


def test_a_given_area_goes_before_the_box():
    image, info = crop()
    assert row(image, {**info, "box_area": "900", "face_median_box_area": "450"})[0] == 2


def test_a_lesion_is_no_smaller_for_being_cut_off_by_the_edge():
    image, _ = crop()
    assert row(image, {"x0": -10, "y0": 0, "x1": 10, "y1": 20, "face_median_area": 100})[0] == 4


def test_fitting_on_boxes_does_not_look_at_the_images(tmp_path):
    image, info = crop()
    Image.fromarray(image).save(tmp_path / "a.png")
    images = ImageCollection([tmp_path / "a.png"], info=[info])
    (tmp_path / "a.png").unlink()
    assert LesionFeatures().fit(images).median_ == 600


def test_fitting_needs_images():
    with pytest.raises(ValueError, match="there are no images to learn the usual size of a lesion from"):
        LesionFeatures().fit([])


def test_the_number_of_threads_changes_nothing():
    images = collection([10, 20, 40, 30] * 20, ["a", "b"] * 40)
    np.testing.assert_array_equal(LesionFeatures(n_jobs=3).transform(images), LesionFeatures().transform(images))


# ---------------------------------------------------------------------------------------------- where the lesion is


def test_without_any_information_the_lesion_is_the_central_box():
    image, _ = crop(box=(25, 22, 75, 68))
    masks = LesionFeatures().masks(image)
    assert list(masks) == ["lesion", "skin", "overexposed"]
    assert all(mask.shape == (90, 100) and mask.dtype == bool for mask in masks.values())
    rows, columns = np.nonzero(masks["lesion"])
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (22, 67, 25, 74)
    size, redness, overexposed = row(image)
    assert (size, overexposed) == (1, 0)
    assert redness > 0.6


def disc(shape, centre, radius):
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    return (rows - centre[0]) ** 2 + (columns - centre[1]) ** 2 < radius**2


def test_a_mask_says_what_the_lesion_is_and_what_is_no_skin():
    image, _ = crop(SKIN)
    lesion, other = disc((90, 100), (45, 50), 12), disc((90, 100), (45, 68), 5)
    image[lesion | other] = RED
    for info in ({"mask": lesion | other}, {"mask": lesion | other, "x0": 38, "y0": 33, "x1": 63, "y1": 58}):
        masks = LesionFeatures().masks(image, info)
        np.testing.assert_array_equal(masks["lesion"], lesion)
        assert not (masks["skin"] & (lesion | other)).any()
    assert row(image, {"mask": lesion | other, "face_median_area": lesion.sum() / 2})[0] == 2


def test_without_a_box_the_piece_nearest_to_the_middle_is_the_lesion():
    left, right = disc((90, 100), (45, 20), 15), disc((90, 100), (45, 66), 6)
    masks = LesionFeatures().masks(np.zeros((90, 100, 3), dtype=np.uint8), {"mask": left | right})
    np.testing.assert_array_equal(masks["lesion"], right)


def test_masks_may_be_files(tmp_path):
    image, _ = crop()
    lesion = disc((90, 100), (45, 50), 12)
    Image.fromarray(lesion).save(tmp_path / "mask.png")
    Image.fromarray(lesion.astype(np.uint8)).save(tmp_path / "ones.png")
    for info, root in (
        ({"mask": str(tmp_path / "mask.png")}, None),
        ({"mask": tmp_path / "ones.png"}, None),
        ({"mask": "mask.png"}, tmp_path),
    ):
        np.testing.assert_array_equal(LesionFeatures(root=root).masks(image, info)["lesion"], lesion)


def test_boxes_are_cut_at_the_edge_of_the_image_and_take_whole_pixels():
    image, _ = crop()
    mask = LesionFeatures().masks(image, {"x0": -5, "y0": "80.5", "x1": 10.2, "y1": 200})["lesion"]
    rows, columns = np.nonzero(mask)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (80, 89, 0, 10)


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"x0": 1, "y0": 2, "x1": 3}, r"x0, y0, x1, y1 must be four numbers, got \[1, 2, 3, None\]"),
        ({"x0": "left", "y0": 2, "x1": 3, "y1": 4}, r"must be four numbers, got \['left', 2, 3, 4\]"),
        ({"x0": "nan", "y0": 2, "x1": 3, "y1": 4}, "must be four numbers"),
        ({"x0": 9, "y0": 2, "x1": 3, "y1": 4}, r"the box from \(9, 2\) to \(3, 4\) is empty"),
        ({"x0": 200, "y0": 2, "x1": 300, "y1": 4}, r"the box \(200, 2, 300, 4\) lies outside the image of 100 x 90"),
        ({"mask": np.ones((3, 3), dtype=bool)}, r"mask has shape \(3, 3\), the image has height 90 and width 100"),
        ({"mask": np.zeros((90, 100), dtype=bool)}, "mask shows no lesion"),
        ({"mask": np.eye(90, 100, dtype=bool), "x0": 50, "y0": 0, "x1": 60, "y1": 9}, "no lesion inside the box"),
        ({"mask": "nowhere.png"}, "nowhere.png cannot be read"),
        ({"area": "big"}, "area must be a positive number, got 'big'"),
        ({"face_median_area": 0}, "face_median_area must be a positive number, got 0"),
    ],
)
def test_information_that_makes_no_sense_is_an_error(info, message):
    with pytest.raises(ImageError, match=message):
        row(crop()[0], info)


def test_empty_cells_of_a_csv_file_count_as_not_known(tmp_path):
    image, _ = crop()
    Image.fromarray(image).save(tmp_path / "a.png")
    columns = ["file", "label", "face", "x0", "y0", "x1", "y1", "mask", "box_area", "face_median_box_area"]
    with open(tmp_path / "list.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([columns, ["a.png", "papule", *[""] * 8]])
    images = ImageCollection(tmp_path / "list.csv")
    np.testing.assert_allclose(LesionFeatures().fit(images).transform(images), [row(image)])


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (5, 400)])
def test_images_of_any_size_give_finite_numbers(size):
    image = np.full((*size, 3), 255, dtype=np.uint8)
    assert np.isfinite(row(image)).all()
    assert LesionFeatures().masks(image)["lesion"].any()
    assert LesionFeatures().overlay(image).dtype == np.uint8


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match="'method' parameter of LesionFeatures must be a str among .*. Got 'emd'"):
        row(crop()[0], method="emd")
    with pytest.raises(ValueError, match="'bins' parameter of LesionFeatures must be an int in the range .*. Got 0"):
        row(crop()[0], bins=0)


# ---------------------------------------------------------------------------------------------- in use


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_corrupted_images_give_finite_numbers_and_the_size_stays(corruption):
    image, info = crop(noise=5)
    clean, seen = row(image, info), row(corrupt(image, corruption, 5), info)
    assert np.isfinite(seen).all()
    assert seen[0] == clean[0]


def test_classes_of_lesions_are_told_apart_by_a_tree_on_the_features():
    rng = np.random.default_rng(0)
    images, about, labels = [], [], []
    for number in range(90):
        kind = number % 3
        side = int([10, 18, 26][kind] + rng.integers(-2, 3))
        colour = [SKIN, (225, 90, 80), (180, 90, 90)][kind]
        image, info = crop(colour, (40, 40, 40 + side, 40 + side), noise=8, seed=number)
        images.append(image)
        about.append({**info, "face": f"face {number // 30}"})
        labels.append(["comedone", "papule", "nodule"][kind])
    images = ImageCollection(images, labels, info=about)
    similarity = TreeSimilarity(features=LesionFeatures()).fit(images, images.labels)
    assert similarity.tree_.score(clone(similarity.features_).fit(images).transform(images), labels) > 0.95


@pytest.mark.slow
def test_real_lesions_are_classified_better_than_by_chance():
    if not (ACNE / "lesions.csv").exists():
        pytest.skip(f"{ACNE} is absent")
    train, test = (
        ImageCollection.from_csv(ACNE / "lesions.csv", where={"split": split}) for split in ("train", "test")
    )
    similarity = TreeSimilarity(features=LesionFeatures()).fit(train, train.labels)
    answers = similarity.tree_.predict(similarity.features_.transform(test))
    assert np.mean(answers == test.labels) > 0.42  # the largest class is 38 % of the test
    assert balanced_accuracy_score(test.labels, answers) > 0.42  # and a constant answer reaches 33 %


def test_inspect__pale_centre_and_long_form__are_told_by_the_details():
    skin = np.full((90, 90, 3), (200, 150, 120), dtype=np.uint8)
    skin[30:60, 20:70] = 220, 90, 80
    pale = skin.copy()
    pale[40:50, 40:50] = 235, 225, 200
    info = [{"x0": 20, "y0": 30, "x1": 70, "y1": 60, "face_median_area": 1500}] * 2
    rows = LesionFeatures().inspect(ImageCollection([skin, pale], info=info))
    found = dict(zip((*LesionFeatures.names, *LesionFeatures.details), rows.T, strict=True))
    assert found["lightness_centre"][1] > found["lightness_centre"][0] + 0.1
    assert found["elongation"] == pytest.approx(np.log(50 / 30))
    assert found["redness_middle"][0] == pytest.approx(np.log(224 / 204) - np.log(94 / 154), rel=1e-3)


def test_inspect__lesion_fills_the_image__details_are_numbers():
    image = np.random.default_rng(0).integers(0, 255, (20, 20, 3), dtype=np.uint8)
    rows = LesionFeatures().inspect(
        ImageCollection([image], info=[{"x0": 0, "y0": 0, "x1": 20, "y1": 20, "face_median_area": 400}])
    )
    assert np.isfinite(rows).all()
