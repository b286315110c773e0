"""Leaf colours as taught by outlines, on drawn leaves whose affected share is known."""

import cv2
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from memclf.exceptions import ImageError
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageCollection, corrupt
from memclf.vision.features import LeafColours, leaf_augment, views
from memclf.vision.features.leaf_augment import order_of_showing, prepare
from memclf.vision.features.leaf_light import dull_background, remove_dirt
from memclf.vision.features.leaf_net import chances, load_shipped
from memclf.vision.features.light import noise_of, remove_impulses, remove_noise, work_size

GREEN, BROWN = (72, 118, 42), (128, 72, 34)
PURPLE, WHITE_SPOT, BLACK = (120, 60, 150), (225, 190, 235), (20, 20, 25)


def drawn_leaf(spots=6, seed=0, leaf=GREEN, spot=BROWN, background=(222, 222, 218), size=(256, 512)):
    """A leaf with round spots on a plain background, softly edged as photographs are, and its labels."""
    rng = np.random.default_rng(seed)
    labels = np.zeros((256, 512), dtype=np.uint8)
    cv2.ellipse(labels, (256, 128), (200, 90), rng.uniform(-8, 8), 0, 360, 1, -1)
    for _ in range(spots):
        turn, far = rng.uniform(0, 2 * np.pi), 0.7 * np.sqrt(rng.random())
        centre = (int(256 + 200 * far * np.cos(turn)), int(128 + 90 * far * np.sin(turn)))
        cv2.circle(labels, centre, int(rng.uniform(7, 16)), 2, -1)
    image = np.array([background, leaf, spot], dtype=np.float32)[labels]
    image += 6 * cv2.GaussianBlur(rng.standard_normal((256, 512, 1)).astype(np.float32), (0, 0), 1.5)[..., None]
    image = np.clip(cv2.GaussianBlur(image, (0, 0), 1.2), 0, 255).astype(np.uint8)
    labels = cv2.resize(labels, size[::-1], interpolation=cv2.INTER_NEAREST)
    return cv2.resize(image, size[::-1], interpolation=cv2.INTER_AREA), labels


def share_of(labels):
    return np.count_nonzero(labels == 2) / np.count_nonzero(labels)


def overlap(a, b):
    return np.count_nonzero(a & b) / max(1, np.count_nonzero(a | b))


@pytest.mark.parametrize("seed", range(4))
def test_the_leaf_is_found_and_its_affected_share_measured(seed):
    image, labels = drawn_leaf(spots=3 * seed, seed=seed)
    masks = LeafColours().masks(image)
    assert overlap(masks["leaf"], labels > 0) > 0.95
    assert LeafColours().transform([image])[0, 0] == pytest.approx(share_of(labels), abs=0.012)


def test_masks_are_boolean_of_the_size_of_the_image_and_affected_lies_on_the_leaf():
    image, labels = drawn_leaf(size=(301, 433))
    masks = LeafColours().masks(image)
    assert set(masks) == {"leaf", "affected"}
    assert all(mask.shape == (301, 433) and mask.dtype == bool for mask in masks.values())
    assert not (masks["affected"] & ~masks["leaf"]).any()
    assert overlap(masks["affected"], labels == 2) > 0.6


def test_the_share_of_the_masks_is_the_share_among_the_numbers():
    image, _ = drawn_leaf(spots=9, seed=5)
    masks = LeafColours().masks(image)
    assert LeafColours().transform([image])[0, 0] == pytest.approx(
        masks["affected"].sum() / masks["leaf"].sum(), abs=0.005
    )


def test_transform__leaf_without_spots__has_next_to_no_affected_share():
    assert LeafColours().get_feature_names_out().tolist() == ["affected_share"]
    whole, spotted = LeafColours().transform([drawn_leaf(spots=0)[0], drawn_leaf(spots=8)[0]])[:, 0]
    assert whole < 0.003 < spotted


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("mirrored", lambda image: image[:, ::-1]),
        ("upside down", lambda image: image[::-1]),
        ("upright", lambda image: image.transpose(1, 0, 2)),
        ("twice as large", lambda image: cv2.resize(image, None, fx=2, fy=2)),
        ("half as large", lambda image: cv2.resize(image, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)),
        ("in dim light", lambda image: (image * 0.6).astype(np.uint8)),
        ("in warm light", lambda image: (image * [1.0, 0.92, 0.8]).astype(np.uint8)),
        ("cropped to the leaf", lambda image: image[36:220, 52:460]),
        ("with room around it", lambda image: cv2.copyMakeBorder(image, 40, 40, 80, 80, cv2.BORDER_REPLICATE)),
        ("as floats", lambda image: image / 255),
    ],
)
def test_the_share_is_the_same_when_the_leaf_is(name, change):
    image, labels = drawn_leaf(spots=7, seed=3)
    assert LeafColours().transform([change(image)])[0, 0] == pytest.approx(share_of(labels), abs=0.015)


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("gaussian_noise", 3),
        ("shot_noise", 3),
        ("impulse_noise", 5),
        ("speckle_noise", 3),
        ("defocus_blur", 3),
        ("contrast", 3),
        ("brightness", 3),
        ("saturate", 1),
        ("jpeg_compression", 3),
        ("pixelate", 5),
    ],
)
def test_corruptions_that_were_never_taught_hardly_move_the_share(name, severity):
    image, labels = drawn_leaf(spots=8, seed=2)
    share = LeafColours().transform([corrupt(image, name, severity, key="leaf")])[0, 0]
    assert share == pytest.approx(share_of(labels), abs=0.03)


def test_background_made_vivid_by_saturation__is_no_symptom():
    image, labels = drawn_leaf(background=(225, 221, 210))
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
    hsv[:, :, 1] = np.minimum(255, 20 * hsv[:, :, 1].astype(int))  # as the strongest saturate
    vivid = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)
    assert vivid[:8].min() < 100  # the background is
    assert LeafColours().transform([vivid])[0, 0] == pytest.approx(share_of(labels), abs=0.01)


def test_dull_background__vivid_border__turns_grey_and_what_is_darker_keeps_its_colour():
    x = np.full((64, 128, 3), (1.0, 0.8, 0.2), dtype=np.float32)
    x[16:48, 16:112] = 0.2, 0.5, 0.1
    dulled = dull_background(x)
    assert_allclose(np.ptp(dulled[:8], axis=2), 0, atol=1e-6)
    assert_allclose(dulled[32, 64], (0.2, 0.5, 0.1), atol=1e-6)


def test_dull_background__pale_border_or_bright_middle__nothing_changes():
    pale = np.full((64, 128, 3), (0.9, 0.88, 0.85), dtype=np.float32)
    lamp = np.full((64, 128, 3), (0.3, 0.2, 0.1), dtype=np.float32)
    lamp[8:-8, 8:-8] = 0.9, 0.8, 0.7
    for picture in (pale, lamp):
        assert_array_equal(dull_background(picture), picture)


def test_a_picture_without_a_leaf_has_defined_numbers():
    plain = np.full((100, 200, 3), 230, dtype=np.uint8)
    black = np.zeros((64, 64, 3), dtype=np.uint8)
    noise = np.random.default_rng(0).integers(0, 256, (80, 120, 3), dtype=np.uint8)
    rows = LeafColours().transform([plain, black, noise])
    assert np.isfinite(rows).all()
    assert ((rows[:, 0] >= 0) & (rows[:, 0] <= 1)).all()


def test_transform__nothing_is_leaf__share_and_masks_are_empty():
    model = LeafColours()
    model.coefficients_ = load_shipped()
    model.coefficients_["out.bias"] = np.repeat([50.0, 0.0, 0.0], 4).astype(np.float32)  # all background
    image, _ = drawn_leaf()
    assert model.transform([image]).tolist() == [[0.0]]
    assert not model.masks(image)["leaf"].any()


@pytest.mark.parametrize("shape", [(32, 32), (32, 64), (20, 20, 3), (33, 31, 3), (40, 800, 3), (1, 1, 3)])
def test_small_grey_and_odd_pictures_are_judged_too(shape):
    image = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    masks = LeafColours().masks(image)
    assert masks["leaf"].shape == shape[:2]
    assert np.isfinite(LeafColours().transform([image])).all()


def test_threads_change_nothing():
    images = [drawn_leaf(spots=k, seed=k)[0] for k in range(6)]
    assert_array_equal(LeafColours(n_jobs=2).transform(images), LeafColours().transform(images))


# ------------------------------------------------------------------------------------------------------ teaching


def purple(seed, spots=8):
    """Leaves that the shipped coefficients have never seen: purple with pale spots on black."""
    return drawn_leaf(spots=spots, seed=seed, leaf=PURPLE, spot=WHITE_SPOT, background=BLACK)


@pytest.fixture(scope="module")
def taught():
    cases = [purple(seed) for seed in range(8)]
    return LeafColours(steps=40).fit([image for image, _ in cases], [labels for _, labels in cases])


def test_outlines_teach_a_kind_of_leaf_that_was_strange_before(taught):
    image, labels = purple(seed=100)
    before = overlap(LeafColours().masks(image)["affected"], labels == 2)
    masks = taught.masks(image)
    after = overlap(masks["affected"], labels == 2)
    assert after > max(0.7, before + 0.1)
    assert overlap(masks["leaf"], labels > 0) > 0.95
    assert taught.transform([image])[0, 0] == pytest.approx(share_of(labels), abs=0.02)


def test_the_network_that_is_evaluated_is_the_one_that_was_taught():
    """Two implementations: torch for teaching, numpy and OpenCV for judging."""
    torch = pytest.importorskip("torch")
    from memclf.vision.features.leaf_teach import Net

    generator = torch.Generator().manual_seed(0)
    seen = torch.randn(2, 6, 64, 96, generator=generator)
    net = Net()
    net(seen)  # so that the normalisation has something to take in
    net.eval()
    with torch.no_grad():
        expected = torch.softmax(net(seen), dim=1)[0].numpy()
    assert_allclose(chances(seen[0].numpy(), net.export()), expected, atol=1e-5)


def test_teaching_shows_heavily_affected_leaves_more_often():
    sound, heavy = (prepare(*drawn_leaf(spots=spots, seed=1)) for spots in (0, 40))
    assert sound.often == 1
    rng = np.random.default_rng(0)
    order = [k for _ in range(300) for k in order_of_showing([sound, heavy], rng)]
    assert order.count(0) == 300
    assert order.count(1) / 300 == pytest.approx(heavy.often, abs=0.1)
    assert heavy.often > 1.5


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.02), (0.2, 0.3)])
def test_paint__share_known_to_be_in_a_range__outlines_have_such_a_share(taught, low, high):
    images = [purple(seed)[0] for seed in (101, 102)]
    for image, outlines in zip(images, taught.paint(images, [(low, high)] * 2), strict=True):
        assert outlines.shape == image.shape[:2]
        share = np.mean(outlines[outlines > 0] == 2)
        assert low - 0.01 <= share <= high + 0.01  # in whole pixels, at the size of the image


def test_paint__share_in_its_range_already__outlines_are_the_masks(taught):
    image, _ = purple(seed=103)
    outlines = taught.paint([image], [(0, 1)])[0]
    masks = taught.masks(image)
    assert_array_equal(outlines > 0, masks["leaf"])
    assert_array_equal(outlines == 2, masks["affected"])


def test_paint__outlines__teach_as_those_of_the_expert_do():
    (image, outlines), (further, _) = purple(seed=0), purple(seed=1)
    first = LeafColours(steps=2).fit([image], [outlines])
    second = LeafColours(steps=2).fit([image, further], [outlines, *first.paint([further], [(0.05, 0.1)])])
    assert second.masks(image)["leaf"].shape == image.shape[:2]


def test_paint__wrong_ranges_or_the_papers_way__are_refused(taught):
    image, _ = purple(seed=0)
    with pytest.raises(ValueError, match="1 images came with 2 ranges of shares; wanted is one for each image"):
        taught.paint([image], [(0, 1), (0, 1)])
    with pytest.raises(ValueError, match=r"shares\[0\] is \(0.3, 0.1\); wanted are two numbers from 0 to 1, in order"):
        taught.paint([image], [(0.3, 0.1)])
    with pytest.raises(ValueError, match='method="paper" has fixed thresholds; only method="taught" paints'):
        LeafColours("paper").paint([image], [(0, 1)])


def test_disturb__many_draws__every_change_but_those_that_move_things(monkeypatch):
    image, seen = purple(seed=0)[0], []
    for changes in (views.SHIFTS, views.PERTURBATIONS):
        for name, change in changes.items():
            monkeypatch.setitem(
                changes, name, lambda *given, name=name, change=change: seen.append(name) or change(*given)
            )
    rng = np.random.default_rng(0)
    changed = [views.disturb(image, rng) for _ in range(400)]
    assert set(seen) == set(views.SHIFTS) - set(views.MOVING) | set(views.PERTURBATIONS)
    assert {(each.shape, each.dtype.name) for each in changed} == {(image.shape, "uint8")}


def test_draw_view__disturbed__pixels_change_and_outlines_do_not(monkeypatch):
    case = leaf_augment.prepare(*purple(seed=0))
    shown = {}
    for share in (0.0, 1.0):
        monkeypatch.setattr(leaf_augment, "DISTURBED", share)
        monkeypatch.setattr(leaf_augment, "disturb", lambda image, rng: 255 - image)
        shown[share] = leaf_augment.draw_view(case, np.random.default_rng(0))
    assert np.abs(shown[0.0][0] - shown[1.0][0]).mean() > 0.1
    assert_array_equal(shown[0.0][1], shown[1.0][1])


def test_teaching_leaves_the_random_numbers_and_threads_of_torch_alone():
    torch = pytest.importorskip("torch")
    image, labels = purple(seed=0)
    torch.manual_seed(5)
    expected, threads = torch.rand(3), torch.get_num_threads()
    torch.manual_seed(5)
    LeafColours(steps=1).fit([image], [labels])
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads


def test_teaching_again_gives_the_same_coefficients():
    cases = [purple(seed) for seed in range(2)]
    given = [image for image, _ in cases], [labels for _, labels in cases]
    first, second = (LeafColours(steps=2).fit(*given).coefficients_ for _ in range(2))
    assert first.keys() == second.keys() == load_shipped().keys()
    for name, part in first.items():
        assert_allclose(second[name], part, err_msg=name)
        assert part.dtype == np.float32
        assert part.shape == load_shipped()[name].shape


def test_what_was_taught_survives_cloning_and_setting_parameters(taught):
    image, _ = purple(seed=101)
    copy = clone(taught).set_params(n_jobs=2)
    assert_array_equal(copy.transform([image]), taught.transform([image]))
    copy.coefficients_["out.bias"] += 1
    assert not np.array_equal(copy.coefficients_["out.bias"], taught.coefficients_["out.bias"])


@pytest.mark.parametrize("labels", [None, [0, 1], ["a", "b"], np.array([0.5, 1.5])])
def test_class_labels_teach_nothing_and_take_nothing_away(taught, labels):
    images = [purple(seed)[0] for seed in (102, 103)]
    before = taught.transform(images)
    assert_array_equal(clone(taught).fit(images, labels).transform(images), before)
    assert_array_equal(LeafColours().fit(images, labels).transform(images), LeafColours().transform(images))


def test_a_similarity_and_a_pipeline_keep_what_was_taught(taught):
    images = [purple(seed, spots)[0] for seed, spots in enumerate([0, 0, 0, 0, 0, 9, 9, 9, 9, 9])]
    y = [0] * 5 + [1] * 5
    similarity = TreeSimilarity(features=taught).fit(ImageCollection(images), y)
    assert_array_equal(similarity.features_.coefficients_["out.bias"], taught.coefficients_["out.bias"])
    assert make_pipeline(taught, DecisionTreeClassifier()).fit(images, y).score(images, y) == 1.0


def test_outlines_may_come_as_label_images():
    image, labels = purple(seed=0)
    collection = ImageCollection([labels, labels])
    by_images = LeafColours(steps=1).fit([image, image], collection)
    by_arrays = LeafColours(steps=1).fit([image, image], np.stack([labels, labels]))
    assert_allclose(by_images.coefficients_["out.bias"], by_arrays.coefficients_["out.bias"])


def test_outlines_that_do_not_fit_are_named():
    image, labels = drawn_leaf()
    with pytest.raises(ValueError, match="1 images came with 2 paintings"):
        LeafColours().fit([image], [labels, labels])
    with pytest.raises(ImageError, match=r"painting of image 1 has shape \(10, 10\), the image has \(256, 512\)"):
        LeafColours().fit([image, image], [labels, labels[:10, :10]])
    with pytest.raises(
        ImageError, match="painting of image 0 holds 255; wanted are 0 to 2 for the regions background, leaf"
    ):
        LeafColours().fit([image], [np.where(labels == 2, 255, labels)])
    with pytest.raises(ValueError, match="nothing was painted as 'symptom'.*0 background, 1 leaf, 2 symptom"):
        LeafColours().fit([image], [np.minimum(labels, 1)])


# ---------------------------------------------------------------------------------------------- noise, light, size


@pytest.mark.parametrize("noise", [0.02, 0.05, 0.1])
def test_noise_is_measured_and_taken_out(noise):
    clean = drawn_leaf()[0][::2, ::2].astype(np.float32) / 255
    noisy = clean + np.random.default_rng(0).normal(0, noise, clean.shape).astype(np.float32)
    assert noise_of(noisy) == pytest.approx(noise, rel=0.15)
    left = remove_noise(noisy) - clean
    assert left.std() < 0.5 * noise


def test_a_clean_photograph_is_left_alone():
    image = drawn_leaf()[0]
    x = image[::2, ::2].astype(np.float32) / 255
    assert remove_noise(x) is x
    assert remove_impulses(image) is image


def test_impulses_are_replaced_by_what_surrounds_them():
    image, _ = drawn_leaf()
    rng = np.random.default_rng(0)
    wild = np.where(rng.random(image.shape) < 0.1, rng.choice([0, 255], image.shape), image).astype(np.uint8)
    off = np.abs(remove_impulses(wild).astype(int) - image)
    assert np.mean(off > 40) < 0.002


def test_dark_specks_are_filled_in_only_when_they_lie_on_the_background_too():
    image, labels = drawn_leaf(spots=4)
    x = cv2.resize(image, (256, 128), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    chance = cv2.resize((labels > 0).astype(np.float32), (64, 32), interpolation=cv2.INTER_AREA)
    specks = cv2.dilate((np.random.default_rng(0).random((128, 256)) < 0.006).astype(np.uint8), np.ones((3, 3)))
    everywhere, on_leaf = x.copy(), x.copy()
    everywhere[specks > 0] = on_leaf[(specks > 0) & (labels[::2, ::2] > 0)] = (0.2, 0.15, 0.08)
    assert remove_dirt(x, chance) is x
    assert remove_dirt(on_leaf, chance) is on_leaf
    assert np.abs(remove_dirt(everywhere, chance) - x).mean() < 0.3 * np.abs(everywhere - x).mean()


@pytest.mark.parametrize(
    ("size", "expected"), [((256, 512), (256, 128)), ((1000, 1000), (176, 176)), ((1, 900), (1024, 32))]
)
def test_work_sizes_keep_proportions_and_are_multiples_of_sixteen(size, expected):
    assert work_size(*size) == expected
