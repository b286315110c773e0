import numpy as np
import pytest
import torch
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memclf import MemoryClassifier
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageClassifier, ImageCollection
from memclf.vision.features import ImageFeatures, LesionFeatures
from pictures import passes, squares, tiny

looks = []  # one entry per call of `measure`


@pytest.fixture(autouse=True)
def no_looks():
    looks.clear()


class Brightness(ImageFeatures):
    names = ("red", "green", "blue")

    def __init__(self, scale=1.0):
        self.scale = scale

    def measure(self, image, info):
        looks.append(self.scale)
        return image.mean(axis=(0, 1)) * self.scale


@pytest.fixture
def images():
    return ImageCollection(squares(30, size=36)[0])


def test_compute_once__images_picked_again__computes_only_missing_rows(images):
    asked = []

    def compute(some):
        asked.append(len(some))
        return np.array([[image.mean()] for image in some])

    plain = images.compute_once("mean", compute)
    remembered = images.remembered()
    assert np.array_equal(remembered[5:15].compute_once("mean", compute), plain[5:15])
    assert np.array_equal(remembered[[14, 3, 14, 20]].compute_once("mean", compute), plain[[14, 3, 14, 20]])
    assert np.array_equal(remembered.compute_once("mean", compute), plain)
    assert np.array_equal(remembered[::-1].compute_once("mean", compute), plain[::-1])
    assert asked == [30, 10, 2, 18]
    remembered.compute_once("another", compute)
    assert asked[-1] == 30


def test_corrupted__of_remembered_images__has_no_memory(images):
    remembered = images.remembered()
    means = remembered.compute_once("mean", lambda some: np.array([image.mean() for image in some]))
    bright = remembered.corrupted("brightness", 5, preset="cifar-32")
    assert not bright.has_memory
    assert (bright.compute_once("mean", lambda some: np.array([image.mean() for image in some])) > means).all()


def test_transform__two_equal_features__measure_each_image_once(images):
    remembered = images.remembered()
    first, second, other = Brightness(), Brightness(), Brightness(2.0)
    rows = first.transform(remembered)
    assert np.array_equal(second.transform(remembered[[4, 2]]), rows[[4, 2]])
    assert len(looks) == 30
    assert np.array_equal(other.transform(remembered), 2 * rows)
    assert len(looks) == 60


class Relative(Brightness):
    """Brightness relative to that of the training images, with a trust."""

    signs = ("light",)
    learned_to_relate = ("usual_",)

    def measure(self, image, info):
        return (*super().measure(image, info), image.mean())

    def fit(self, X, y=None):
        self.usual_ = self._measurements(X)[:, :3].mean(axis=0)
        return self

    def relate(self, rows, info):
        return rows - self.usual_

    def believe(self, signs):
        return np.clip(signs[:, 0] / 100, 0, 1)


def test_features__fit_transform_and_trust_of_remembered_images__measure_once(images):
    remembered = images.remembered()
    feature = Relative()
    rows, trust = feature.fit(remembered).transform(remembered), feature.trust(remembered)
    feature.transform(remembered[[3, 3, 1]])
    assert len(looks) == 30
    alone = Relative()
    np.testing.assert_array_equal(alone.fit(images).transform(images), rows)
    np.testing.assert_array_equal(alone.trust(images), trust)
    assert len(looks) == 30 + 90


def test_lesion_features__fit_and_transform_of_remembered_images__measure_once(monkeypatch):
    real = LesionFeatures.measure
    monkeypatch.setattr(LesionFeatures, "measure", lambda *args: looks.append(1) or real(*args))
    images = ImageCollection(squares(6, size=36)[0]).remembered()
    LesionFeatures().fit(images).transform(images)
    assert len(looks) == 6


def test_perturbed__of_remembered_images__is_remembered_apart(images):
    remembered = images.remembered()
    calls = []

    def mean(some):
        calls.append(len(some))
        return np.array([image.mean() for image in some])

    first = remembered.perturbed(seed=3).compute_once("mean", mean)
    np.testing.assert_array_equal(remembered[::2].perturbed(seed=3).compute_once("mean", mean), first[::2])
    assert calls == [30]
    assert not remembered.perturbed(seed=3).loaded().has_memory  # it would keep all images alive
    assert not np.array_equal(remembered.perturbed(seed=4).compute_once("mean", mean), first)
    assert not np.array_equal(remembered.compute_once("mean", mean), first)


def test_perturbed__without_memory__draws_by_key(images):
    changed = images.perturbed(seed=3)
    assert not changed.has_memory
    np.testing.assert_array_equal(changed[7], images[[7]].perturbed(seed=3)[0])
    assert not np.array_equal(changed[7], images.perturbed(seed=4)[7])


def test_classifiers_with_one_backbone_pass_images_through_it_once():
    pixels, labels = squares(48)
    network = ImageClassifier(
        tiny, image_size=24, epochs=3, share_backbone=True, random_state=0, pretrained=None, lr=0.05
    )
    clf = MemoryClassifier(
        TreeSimilarity(features=Brightness()), network, start="global", min_cluster_size=1, random_state=0
    ).fit(ImageCollection(pixels), np.roll(labels, 1))
    test = ImageCollection(squares(20, seed=1)[0])
    expected, alone = clf.predict(test), clf.global_.predict(test)
    seen, handle = passes(clf.global_.backbone_)
    remembered = test.remembered()
    assert np.array_equal(clf.global_.predict(remembered), alone)
    assert np.array_equal(clf.predict(remembered), expected)
    assert np.array_equal(clf.predict(remembered[::2]), expected[::2])
    handle.remove()
    assert sum(seen) == 20


def test_a_network_with_other_weights_sees_for_itself():
    pixels, labels = squares(24)
    images = ImageCollection(pixels).remembered()
    nets = [
        ImageClassifier(tiny, image_size=24, epochs=1, random_state=seed, pretrained=None).fit(pixels, labels)
        for seed in (0, 1)
    ]
    for net in nets:
        assert np.array_equal(net.predict_proba(images), net.predict_proba(pixels))


def test_embed__weights_changed_in_place__computes_again():
    pixels, labels = squares(24)
    images = ImageCollection(pixels).remembered()
    net = ImageClassifier(tiny, image_size=24, epochs=1, random_state=0, pretrained=None).fit(pixels, labels)
    before, digest = net.embed(images), net.network_.backbone_digest()
    with torch.no_grad():
        next(net.backbone_.parameters()).mul_(2)
    assert net.network_.backbone_digest() != digest
    assert not np.array_equal(net.embed(images), before)


def test_corruptions_may_act_at_another_size():
    rng = np.random.default_rng(0)
    images = ImageCollection(rng.integers(0, 255, (2, 96, 64, 3), dtype=np.uint8))
    own = images.corrupted("gaussian_blur", 3)
    large = images.corrupted("gaussian_blur", 3, at=(384, 256))
    assert large[0].shape == (96, 64, 3)
    # A blur of as many pixels means less of a larger picture.
    assert large[0].std() > 2 * own[0].std()


def test_features_of_two_classes_with_the_same_name_do_not_mix(images):
    def made(factor):
        class Scaled(ImageFeatures):
            names = ("mean",)

            def measure(self, image, info):
                return [image.mean() * factor]

        return Scaled()

    remembered = images.remembered()
    assert np.array_equal(2 * made(1).transform(remembered), made(2).transform(remembered))


def test_a_pipeline_shares_what_its_first_step_measured_elsewhere(images):
    """scikit-learn 1.9 notes its callbacks on a step while a pipeline fits it; they change no number."""
    remembered = images.remembered()
    Brightness().fit_transform(remembered)
    make_pipeline(Brightness(), StandardScaler()).fit_transform(remembered)
    assert len(looks) == 30
