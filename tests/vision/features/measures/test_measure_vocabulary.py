"""Each ready measurement on drawn pictures with a known truth, clean and changed."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from sklearn.base import clone

from memclf.vision import corrupt
from memclf.vision.features import ColourOf, CountOf, ImageFeatures, PlaceOf, ShapeOf, ShareOf, SharpnessOf, TextureOf
from memclf.vision.features.measures import REGISTRY
from memclf.vision.features.measures.shape import perimeter
from memclf.vision.features.measures.sight import Sight, fit_plane
from scenes import AXES, lit, numbers, scene

RNG = np.random.default_rng(0)
GRAIN = RNG.integers(0, 256, (128, 128, 3), dtype=np.uint8)
LAMPS = [(1.2, 1.0, 0.8), (0.8, 1.0, 1.15), (0.6, 0.6, 0.6)]


class Halves(ImageFeatures):
    """Regions that are known: the left half, nothing, and one of the wrong size."""

    names = ("nothing",)

    def measure(self, image, info):
        return [0.0]

    def masks(self, image, info=None):
        left = np.zeros(image.shape[:2], dtype=bool)
        left[:, : image.shape[1] // 2] = True
        return {"left": left, "empty": np.zeros_like(left), "crooked": left[1:]}


# ------------------------------------------------------------------------------------------------------------- colour


@pytest.mark.parametrize("lamp", LAMPS)
def test_colour_of__lamp_of_another_tint__hardly_changes(lamp):
    was, now = (numbers(ColourOf(), image) for image in (scene(3), lit(scene(3), *lamp)))
    for name in was:
        assert abs(was[name] - now[name]) < (0.03 if "hue" in name else 1.5), name


def test_colour_of__another_body__changes_much_more_than_under_another_lamp():
    green, red = (numbers(ColourOf(), scene(body=body)) for body in ((90, 140, 70), (150, 80, 70)))
    assert red["foreground_redness_middle"] - green["foreground_redness_middle"] > 30
    assert green["foreground_hue_red"] < -0.4
    assert red["foreground_hue_red"] > 0.4


@pytest.mark.parametrize("name", ["fog", "contrast", "gaussian_noise", "defocus_blur", "jpeg_compression"])
def test_colour_of__corruption__keeps_the_direction_of_the_hue(name):
    was, now = (numbers(ColourOf(), image) for image in (scene(3), corrupt(scene(3), name, 3, key="a")))
    for part in ("foreground_hue_red", "foreground_hue_yellow"):
        assert abs(was[part] - now[part]) < 0.2


def test_colour_of__quantiles__are_in_order():
    row = numbers(ColourOf(), scene(8))
    for axis in ("lightness", "redness", "yellowness"):
        low, middle, high = (row[f"foreground_{axis}_{level}"] for level in ("low", "middle", "high"))
        assert low <= middle <= high
    assert row["foreground_redness_high"] - row["foreground_redness_middle"] > 3  # the spots are redder


def test_colour_of__two_hues__have_a_spread_and_one_has_none():
    both = np.full((100, 100, 3), 200, dtype=np.uint8)
    both[30:70, 20:50], both[30:70, 50:80] = (200, 80, 80), (80, 190, 80)
    one = both.copy()
    one[30:70, 50:80] = (200, 80, 80)
    assert numbers(ColourOf(), both)["foreground_hue_spread"] > 0.3
    assert numbers(ColourOf(), one)["foreground_hue_spread"] < 0.1


# -------------------------------------------------------------------------------------------------------------- shape


@pytest.mark.parametrize("axes", [AXES, (60, 60), (85, 25)])
@pytest.mark.parametrize("angle", [0, 35, 90])
def test_shape_of__ellipse__has_the_numbers_of_an_ellipse(axes, angle):
    row = numbers(ShapeOf(), scene(axes=axes, angle=angle))
    assert row["foreground_area"] == pytest.approx(np.pi * axes[0] * axes[1] / (200 * 260), rel=0.06)
    assert row["foreground_elongation"] == pytest.approx(1 - axes[1] / axes[0], abs=0.04)
    assert row["foreground_solidity"] > 0.96
    a, b = axes
    around = np.pi * (3 * (a + b) - np.sqrt((3 * a + b) * (a + 3 * b)))  # Ramanujan
    assert row["foreground_roundness"] == pytest.approx(4 * np.pi * (np.pi * a * b) / around**2, abs=0.06)
    assert row["foreground_holes"] == 0


def test_shape_of__ring_and_cross__have_a_hole_and_a_low_solidity():
    image = np.full((160, 160, 3), 210, dtype=np.uint8)
    ring, cross = image.copy(), image.copy()
    cv2.circle(ring, (80, 80), 50, (60, 60, 140), -1)
    cv2.circle(ring, (80, 80), 20, (210, 210, 210), -1)
    cross[70:90, 20:140] = cross[20:140, 70:90] = (60, 60, 140)
    row = numbers(ShapeOf(), ring)
    assert row["foreground_holes"] == 1
    assert row["foreground_hole_share"] == pytest.approx(20**2 / 50**2, rel=0.2)
    assert row["foreground_solidity"] > 0.95
    row = numbers(ShapeOf(), cross)
    assert row["foreground_solidity"] < 0.7
    assert row["foreground_roundness"] < 0.5
    assert row["foreground_holes"] == 0


def test_shape_of__picture__is_refused():
    with pytest.raises(ValueError, match='the picture has no shape of its own: give ShapeOf "foreground"'):
        ShapeOf("picture").transform([scene()])


def test_perimeter__disc__is_two_pi_r():
    disc = np.hypot(*np.indices((121, 121)) - 60) <= 50
    assert perimeter(disc) == pytest.approx(2 * np.pi * 50, rel=0.02)


# -------------------------------------------------------------------------------------------------------------- count


@pytest.mark.parametrize("corruption", [None, "gaussian_noise", "shot_noise", "contrast"])
@pytest.mark.parametrize("n", [0, 1, 4, 9])
def test_count_of__discs__are_all_found_under_noise(n, corruption):
    count = CountOf("foreground", kind="red")
    for seed in range(2):
        image = scene(n, seed=seed)
        image = image if corruption is None else corrupt(image, corruption, 3, key=str(seed))
        assert numbers(count, image)["foreground_red_blobs"] == n


def test_count_of__discs_that_touch__are_told_apart():
    image = np.full((150, 150, 3), 200, dtype=np.uint8)
    for x in (50, 69):
        cv2.circle(image, (x, 75), 10, (60, 60, 60), -1, cv2.LINE_AA)
    row = numbers(CountOf("picture", kind="dark"), image)
    assert row["picture_dark_blobs"] == 2
    assert row["picture_dark_largest"] == pytest.approx(np.pi * 100 / 150**2, rel=0.25)


def test_count_of__black_spot_on_the_foreground__is_no_hole_and_is_counted():
    image = np.full((100, 120, 3), 200, dtype=np.uint8)
    image = cv2.ellipse(image, (60, 50), (45, 35), 0, 0, 360, (90, 140, 60), -1)
    spot = cv2.circle(image.copy(), (60, 50), 9, (12, 12, 12), -1)  # has no colour, as the background has none
    hole = cv2.circle(image.copy(), (60, 50), 9, (200, 200, 200), -1)
    assert CountOf("foreground").transform([spot, hole])[:, 0].tolist() == [1, 0]
    holes = [numbers(ShapeOf("foreground"), each)["foreground_holes"] for each in (spot, hole)]
    assert holes[0] == 0 < holes[1]


def test_count_of__dark_spots_beside_glare__are_found():
    rng = np.random.default_rng(0)
    image = np.full((120, 160, 3), 120.0) + rng.normal(0, 2, (120, 160, 1))
    image[:, 100:] += np.linspace(0, 60, 60)[None, :, None] * (rng.random((120, 60, 1)) < 0.8)
    image = cv2.GaussianBlur(image, (0, 0), 2)
    for x, y in ((30, 30), (50, 90)):
        cv2.circle(image, (x, y), 8, (70, 70, 70), -1)
    assert CountOf("picture").transform([image.astype(np.uint8)])[0, 0] == 2


def test_count_of__kind__sees_only_blobs_of_that_kind():
    image = np.full((150, 150, 3), 150, dtype=np.uint8)
    cv2.circle(image, (40, 40), 10, (220, 120, 120), -1)
    cv2.circle(image, (110, 40), 10, (120, 200, 120), -1)
    cv2.circle(image, (75, 110), 10, (230, 230, 230), -1)
    found = {kind: numbers(CountOf(kind=kind), image)[f"picture_{kind}_blobs"] for kind in ("red", "green", "dark")}
    assert found == {"red": 1, "green": 1, "dark": 0}


# -------------------------------------------------------------------------------------------------------------- place


@pytest.mark.parametrize(("x", "y"), [(30, 40), (200, 150), (128, 96)])
@pytest.mark.parametrize(("part", "colour"), [("brightest", (250, 250, 250)), ("reddest", (220, 90, 90))])
def test_place_of__patch__has_its_coordinates(x, y, part, colour):
    image = np.full((192, 256, 3), 120, dtype=np.uint8)
    cv2.circle(image, (x, y), 16, colour, -1)
    for changed in (image, lit(image, 1.15, 1.0, 0.85), corrupt(image, "gaussian_noise", 2, key="a")):
        row = numbers(PlaceOf(part=part), changed)
        assert row[f"picture_{part}_x"] == pytest.approx(2 * x / 255 - 1, abs=0.1)
        assert row[f"picture_{part}_y"] == pytest.approx(2 * y / 191 - 1, abs=0.1)


def test_place_of__plain_picture__stays_in_the_middle():
    row = numbers(PlaceOf(part="most_saturated"), np.full((90, 120, 3), 128, dtype=np.uint8))
    assert row["picture_most_saturated_from_centre"] < 0.05
    assert row["picture_most_saturated_difference"] < 0.5


# ---------------------------------------------------------------------------------------------------------- sharpness


def test_sharpness_of__more_blur__falls_each_time_whatever_the_contrast():
    for image in (scene(8), lit(scene(8), 0.6, 0.6, 0.6), scene(8) // 3 + 120):
        found = [SharpnessOf().transform([cv2.GaussianBlur(image, (0, 0), s)])[0, 0] for s in (0.6, 1.5, 3, 6)]
        assert found == sorted(found, reverse=True)
        assert found[0] > 2 * found[-1]


def test_sharpness_of__noise__is_not_taken_for_sharp_edges():
    soft = cv2.GaussianBlur(scene(8), (0, 0), 4)
    noisy = corrupt(soft, "gaussian_noise", 1, key="a")
    assert (
        abs(numbers(SharpnessOf(), soft)["picture_sharpness"] - numbers(SharpnessOf(), noisy)["picture_sharpness"])
        < 0.2
    )


# ------------------------------------------------------------------------------------------------------------ texture


def test_texture_of__turned_picture__keeps_its_patterns_and_energies():
    texture = TextureOf("picture")
    image = cv2.GaussianBlur(GRAIN, (0, 0), 1.5)
    rows = texture.transform([np.ascontiguousarray(np.rot90(image, k)) for k in range(4)])
    np.testing.assert_allclose(rows, np.tile(rows[0], (4, 1)), atol=0.02)


def test_texture_of__directed__tells_stripes_that_lie_from_stripes_that_stand():
    wave = np.tile((128 + 50 * np.sin(np.arange(128) / 2)).astype(np.uint8)[:, None, None], (1, 128, 3))
    texture = TextureOf("picture", directed=True)
    lying, standing = (numbers(texture, each) for each in (wave, np.ascontiguousarray(wave.transpose(1, 0, 2))))
    assert lying["picture_down_fine"] > 0.45 > 0.05 > lying["picture_across_fine"]
    assert standing["picture_across_fine"] > 0.45
    for row in (lying, standing):
        assert row["picture_aligned_fine"] > 0.9


def test_texture_of__noise__is_taken_off():
    smooth = np.full((128, 128, 3), 128, dtype=np.uint8)
    noisy = corrupt(smooth, "gaussian_noise", 3, key="a")
    grainy = cv2.GaussianBlur(GRAIN, (0, 0), 2)
    quiet, loud, rough = (numbers(TextureOf("picture"), each) for each in (smooth, noisy, grainy))
    assert loud["picture_roughness"] - quiet["picture_roughness"] < 0.3 * (
        rough["picture_roughness"] - quiet["picture_roughness"]
    )


def test_texture_of__scale_of_the_grain__is_found():
    fine, broad = (cv2.GaussianBlur(GRAIN, (0, 0), width) for width in (0.7, 6))
    fine, broad = (
        numbers(TextureOf("picture"), cv2.normalize(x, None, 60, 200, cv2.NORM_MINMAX)) for x in (fine, broad)
    )
    assert fine["picture_roughness_fine"] > broad["picture_roughness_fine"] + 0.2
    assert broad["picture_roughness_broad"] > fine["picture_roughness_broad"] + 0.2


# -------------------------------------------------------------------------------------------------------- what all have


@pytest.mark.parametrize("word", REGISTRY)
def test_measurement__registry__says_what_it_is_and_follows_scikit_learn(word):
    kind = REGISTRY[word]
    assert kind.word == word
    assert kind.label
    assert kind.sentence.endswith(".")
    made = kind(**kind.options())
    assert clone(made).get_params() == made.get_params()
    assert len(set(made.names)) == len(made.names) == made.transform([scene(2)]).shape[1]
    assert all(name.startswith(f"{made.of}_") for name in made.names)
    assert made.overlay(scene(2)).dtype == np.uint8


def test_registry__docs__list_every_measurement_with_its_sentence():
    page = (Path(__file__).parents[4] / "docs" / "measure.md").read_text()
    for word, kind in REGISTRY.items():
        assert f"| `{kind.__name__}` | `{word}` | {kind.sentence} |" in page


@pytest.mark.parametrize("word", REGISTRY)
@pytest.mark.parametrize("size", [(1, 1), (3, 50), (64, 2), (700, 40)])
def test_measurement__picture_of_any_size__gives_finite_numbers(word, size):
    made = REGISTRY[word]("foreground")
    for image in (np.zeros((*size, 3), np.uint8), RNG.integers(0, 256, (*size, 3), dtype=np.uint8)):
        assert np.isfinite(made.transform([image])).all()
        assert all(mask.shape == size for mask in made.masks(image).values())


@pytest.mark.parametrize("word", REGISTRY)
def test_measurement__region__is_measured_alone(word):
    image = scene(4)
    other = image.copy()
    other[:, 150:] = (20, 20, 200)
    made = REGISTRY[word]("left", regions=Halves())
    assert made.names[0].startswith("left_")
    assert "left" in made.masks(image)
    np.testing.assert_array_equal(REGISTRY[word]("empty", regions=Halves()).transform([image]) * 0, 0)
    if word == "shape":
        np.testing.assert_allclose(made.transform([image]), made.transform([other]), atol=1e-9)
        assert made.transform([image])[0, 0] == pytest.approx(0.5, abs=0.01)


def test_measurement__region_that_is_not_there__names_the_nearest():
    with pytest.raises(ValueError, match="Halves finds no region 'lefft'; did you mean 'left'\\? There are 'crooked',"):
        ColourOf("lefft", regions=Halves()).transform([scene()])
    with pytest.raises(ValueError, match="of must be 'foreground', 'picture', or the name of a region together with"):
        ColourOf("leaf").transform([scene()])
    with pytest.raises(ValueError, match=r"the mask of 'crooked' has shape \(199, 260\), the image \(200, 260\)"):
        ColourOf("crooked", regions=Halves()).transform([scene()])
    with pytest.raises(TypeError, match=r"regions must be a feature with masks\(image\), as TaughtRegions"):
        ColourOf("left", regions=[1]).transform([scene()])


def test_measurement__clone__shares_the_regions_and_copies_the_rest():
    made = CountOf("left", regions=Halves(), kind="red")
    copy = clone(made)
    assert copy.regions is made.regions
    assert copy is not made
    assert copy.kind == "red"


def test_measurement__foreground__is_trusted_as_far_as_it_stands_out():
    clear, faint = scene(), np.full((100, 100, 3), 128, dtype=np.uint8)
    trust = ColourOf().trust([clear, faint])
    assert trust[0] > 0.8
    assert trust[1] == 0
    assert ColourOf("picture").trust([clear]) is None


def test_foreground__light_from_one_side__is_found_all_the_same():
    slope = np.linspace(0.6, 1.3, 260)[None, :, None]
    masks = [
        Sight(image, {}).mask("foreground") for image in (scene(), np.clip(scene() * slope, 0, 255).astype(np.uint8))
    ]
    both = np.count_nonzero(masks[0] & masks[1]) / np.count_nonzero(masks[0] | masks[1])
    assert both > 0.9


def test_fit_plane__outliers__do_not_count():
    rows, columns = np.indices((40, 60))
    truth = 0.3 * rows / 39 - 0.2 * columns / 59
    values = truth + RNG.normal(0, 0.005, truth.shape)
    values[:15, :20] = 3
    found = fit_plane(values[:, :, None].astype(np.float32), np.ones(truth.shape, dtype=bool))[:, :, 0]
    assert np.abs(found - truth).max() < 0.03


def test_sight__hard_noisy_edges__no_colour_is_below_black():
    """The filter against noise swings below black there, and a negative number has no logarithm."""
    rng = np.random.default_rng(71)
    blocks = np.kron(rng.random((16, 16, 3)) < 0.5, np.ones((6, 6, 1)))
    image = np.clip(220 * blocks + rng.normal(0, 15, blocks.shape), 0, 255).astype(np.uint8)
    sight = Sight(image, {})
    assert sight.colours.min() >= 0
    assert np.isfinite(sight.tones).all()


# -------------------------------------------------------------------------------------------------------------- share


def test_share_of__region_within_the_foreground__is_its_part_of_it():
    half = numbers(ShareOf("left", regions=Halves()), scene())
    within = numbers(ShareOf("left", regions=Halves(), within="foreground"), scene())
    assert half == {"left_share_of_picture": pytest.approx(0.5, abs=0.01)}
    assert within == {"left_share_of_foreground": pytest.approx(0.5, abs=0.1)}
    assert numbers(ShareOf("left", regions=Halves(), within="empty"), scene()) == {"left_share_of_empty": 0}


def test_share_of__within_itself_or_an_unknown_region__is_an_error():
    with pytest.raises(ValueError, match="in itself is always 1"):
        ShareOf("foreground", within="foreground").transform([scene()])
    with pytest.raises(ValueError, match="got 'leaf' without regions"):
        ShareOf("foreground", within="leaf").transform([scene()])
