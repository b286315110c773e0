"""What every expert feature has in common: numbers with names, masks, overlays, errors that name the image."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from memclf.exceptions import ImageError
from memclf.vision import ImageCollection
from memclf.vision.features import ImageFeatures, draw_masks
from memclf.vision.features.outline import COLOURS, DARK, outline_masks

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (70, 12, 20, 3), dtype=np.uint8)


class Brightness(ImageFeatures):
    """Mean and largest value; an offset is known per image."""

    names = ("mean", "top")

    def __init__(self, limit=128, n_jobs=None):
        self.limit = limit
        self.n_jobs = n_jobs

    def measure(self, image, info):
        return image.mean() + float(info.get("offset", 0)), image.max()

    def masks(self, image, info=None):
        return {"light": image.max(axis=2) > self.limit}


class Relative(Brightness):
    def relate(self, rows, info):
        return rows / rows.max(axis=0)


EXPECTED = np.column_stack([IMAGES.reshape(70, -1).mean(axis=1), IMAGES.reshape(70, -1).max(axis=1)])


def test_transform_gives_one_row_of_named_numbers_per_image_without_fitting():
    np.testing.assert_allclose(Brightness().transform(IMAGES), EXPECTED)
    assert Brightness().get_feature_names_out().tolist() == ["mean", "top"]


def test_rows_come_in_the_order_of_the_images_with_any_number_of_threads():
    np.testing.assert_array_equal(Brightness(n_jobs=3).transform(IMAGES), Brightness().transform(IMAGES))


def test_arrays_lists_and_files_are_all_images(tmp_path):
    from PIL import Image

    path = tmp_path / "a.png"
    Image.fromarray(IMAGES[0]).save(path)
    for images in (IMAGES[:1], [IMAGES[0]], [path], ImageCollection([path])):
        np.testing.assert_allclose(Brightness().transform(images), EXPECTED[:1])


def test_no_images_give_no_rows():
    assert Brightness().transform([]).shape == (0, 2)


def test_info_reaches_the_image_it_belongs_to():
    info = [{"offset": str(number)} for number in range(70)]
    images = ImageCollection(IMAGES, info=info)
    np.testing.assert_allclose(Brightness().transform(images)[:, 0], EXPECTED[:, 0] + np.arange(70))
    np.testing.assert_allclose(Brightness().transform(images[[69, 3]])[:, 0], EXPECTED[[69, 3], 0] + [69, 3])


def test_rows_can_be_related_to_each_other():
    np.testing.assert_allclose(Relative().transform(IMAGES), EXPECTED / EXPECTED.max(axis=0))


def test_features_follow_scikit_learn():
    features = clone(Brightness(limit=3)).set_params(limit=5)
    assert features.get_params() == {"limit": 5, "n_jobs": None}
    frame = features.set_output(transform="pandas").fit_transform(IMAGES)
    assert list(frame.columns) == ["mean", "top"]
    y = EXPECTED[:, 0] > np.median(EXPECTED[:, 0])
    pipeline = make_pipeline(Brightness(), LogisticRegression(C=1e6, max_iter=10000)).fit(IMAGES, y)
    assert pipeline.score(IMAGES, y) > 0.95


def test_a_feature_without_measure_says_so():
    class Nothing(ImageFeatures):
        names = ("a",)

    with pytest.raises(NotImplementedError, match=r"Nothing must define measure\(image, info\)"):
        Nothing().transform(IMAGES)


def test_a_feature_without_names_says_so():
    class Nameless(ImageFeatures):
        def measure(self, image, info):
            return [1.0]

    with pytest.raises(TypeError, match="Nameless has no names: give it one for each number that measure returns"):
        Nameless().transform(IMAGES)


def test_the_wrong_number_of_numbers_is_an_error_that_says_so():
    class Short(Brightness):
        def measure(self, image, info):
            return [1.0]

    with pytest.raises(
        ValueError, match=r"Short.measure must return one number per name \(2\), 2 in all; .* shape \(1,\)"
    ):
        Short().transform(IMAGES)


def test_errors_say_which_image_was_being_measured(tmp_path):
    info = [{}] * 40 + [{"offset": "much"}] + [{}] * 29
    with pytest.raises(ValueError, match="could not convert string to float: 'much'") as caught:
        Brightness().transform(ImageCollection(IMAGES, info=info))
    assert caught.value.__notes__ == ["while measuring image 40"]
    (tmp_path / "broken.png").write_text("no image")
    with pytest.raises(ValueError, match="broken.png is not an image") as caught:
        Brightness().transform([tmp_path / "broken.png"])
    assert caught.value.__notes__ == [f"while measuring image 0, {tmp_path / 'broken.png'}"]


def test_an_overlay_shows_the_image_with_a_line_of_legend_per_mask():
    image = np.zeros((500, 450, 3), dtype=np.uint8)
    image[100:200, 100:200] = 200
    shown = Brightness().overlay(image)
    assert shown.shape == (500 + 22 + 22 * len(Brightness().names), 450, 3)
    assert shown.dtype == np.uint8
    np.testing.assert_array_equal(shown[150, 150], [200, 200, 200])  # what lies inside a mask keeps its colour
    np.testing.assert_array_equal(shown[300, 300], [0, 0, 0])
    strong = np.abs(shown[97, 150].astype(int) - COLOURS[0]).max()
    assert strong == 0  # the line is around it, between dark edges
    assert (image[150, 150] == 200).all()  # the image itself is left alone


def test_an_overlay_of_a_path_says_how_to_read_it():
    with pytest.raises(ImageError, match=r"image is the path 'leaf.jpg', and pixels are wanted: .*read_image\(path\)"):
        Brightness().overlay("leaf.jpg")


def test_small_images_are_enlarged_and_narrow_ones_get_room_for_the_legend():
    assert draw_masks(np.zeros((20, 10, 3), dtype=np.uint8), {}).shape == (400, 200, 3)
    narrow = draw_masks(np.zeros((400, 8, 3), dtype=np.uint8), {"something": np.zeros((400, 8), dtype=bool)})
    assert narrow.shape[1] > 100
    assert (narrow[:400, 8:] == 255).all()


def test_every_mask_is_drawn_even_when_there_are_more_than_colours():
    masks = {f"part {k}": np.zeros((50, 50), dtype=bool) for k in range(9)}
    assert draw_masks(np.zeros((50, 50, 3), dtype=np.uint8), masks).shape[0] == 400 + 9 * 22


def test_a_mask_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"mask 'leaf' has shape \(3, 4\), the image \(5, 5\)"):
        draw_masks(np.zeros((5, 5, 3), dtype=np.uint8), {"leaf": np.zeros((3, 4), dtype=bool)})


def test_outline_masks__line__has_dark_edges_and_leaves_the_inside_alone():
    image = np.random.default_rng(0).integers(0, 256, (400, 400, 3), dtype=np.uint8)
    mask = np.zeros((400, 400), dtype=bool)
    mask[100:200, 100:200] = True
    shown = outline_masks(image, {"square": mask}, (400, 400))
    assert np.array_equal(shown[mask], image[mask])
    assert shown.shape == image.shape
    across = [tuple(shown[150, column].tolist()) for column in range(200, 205)]
    assert across[:4] == [DARK, COLOURS[0], COLOURS[0], DARK]
    assert np.array_equal(shown[150, 204], image[150, 204])
