import numpy as np
import pytest

from memclf import MemoryClassifier
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageClassifier, ImageCollection
from memclf.vision.features.base import ImageFeatures
from pictures import passes, squares, tiny


class Brightness(ImageFeatures):
    names = ("red", "green", "blue")

    def __init__(self, scale=1.0):
        self.scale = scale
        self.looks = 0

    def measure(self, image, info):
        self.looks += 1
        return image.mean(axis=(0, 1)) * self.scale


@pytest.fixture
def images():
    return ImageCollection(squares(30, size=36)[0])


def test_nothing_is_computed_twice_for_the_same_image(images):
    asked = []

    def compute(some):
        asked.append(len(some))
        return np.array([[image.mean()] for image in some])

    plain = images.noted("mean", compute)
    remembering = images.remembering()
    assert np.array_equal(remembering[5:15].noted("mean", compute), plain[5:15])
    assert np.array_equal(remembering[[14, 3, 14, 20]].noted("mean", compute), plain[[14, 3, 14, 20]])
    assert np.array_equal(remembering.noted("mean", compute), plain)
    assert np.array_equal(remembering[::-1].noted("mean", compute), plain[::-1])
    assert asked == [30, 10, 2, 18]
    remembering.noted("another", compute)
    assert asked[-1] == 30


def test_a_corrupted_version_remembers_nothing_of_the_clean_one(images):
    remembering = images.remembering()
    means = remembering.noted("mean", lambda some: np.array([image.mean() for image in some]))
    bright = remembering.corrupted("brightness", 5, preset="cifar-32")
    assert not bright.remembers
    assert (bright.noted("mean", lambda some: np.array([image.mean() for image in some])) > means).all()


def test_features_that_measure_the_same_share_what_they_saw(images):
    remembering = images.remembering()
    first, second, other = Brightness(), Brightness(), Brightness(2.0)
    rows = first.transform(remembering)
    first.looks = 0
    assert np.array_equal(second.transform(remembering[[4, 2]]), rows[[4, 2]])
    assert second.looks == 0
    assert np.array_equal(other.transform(remembering), 2 * rows)
    assert other.looks == 30


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
    remembering = test.remembering()
    assert np.array_equal(clf.global_.predict(remembering), alone)
    assert np.array_equal(clf.predict(remembering), expected)
    assert np.array_equal(clf.predict(remembering[::2]), expected[::2])
    handle.remove()
    assert sum(seen) == 20


def test_a_network_with_other_weights_sees_for_itself():
    pixels, labels = squares(24)
    images = ImageCollection(pixels).remembering()
    nets = [
        ImageClassifier(tiny, image_size=24, epochs=1, random_state=seed, pretrained=None).fit(pixels, labels)
        for seed in (0, 1)
    ]
    for net in nets:
        assert np.array_equal(net.predict_proba(images), net.predict_proba(pixels))


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

    remembering = images.remembering()
    assert np.array_equal(2 * made(1).transform(remembering), made(2).transform(remembering))
