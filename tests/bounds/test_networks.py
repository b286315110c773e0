"""Bounds of memory classifiers whose local classifiers are heads of a network."""

import numpy as np
import pytest

from memclf import MemoryClassifier
from memclf.bounds import generalization_bound
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageClassifier, ImageCollection
from memclf.vision.features import PatchColour
from pictures import squares, tiny


@pytest.fixture(scope="module")
def fitted():
    pixels, labels = squares(60, seed=1, wrong=0.2)  # so that clusters hold several classes
    images = ImageCollection(pixels)
    network = ImageClassifier(
        backbone=tiny, image_size=24, epochs=4, batch_size=8, lr=0.05, share_backbone=True, random_state=0
    )
    clf = MemoryClassifier(TreeSimilarity(features=PatchColour()), network, start="global", random_state=0)
    return clf.fit(images, labels), images, labels


def test_linear_head__of_a_network__gives_its_scores(fitted):
    clf, images, _ = fitted
    local = clf.estimators_[0]
    rows, weight, bias = local.linear_head(images)
    scores = rows @ weight.T + bias
    expected = local.decision_function(images)
    found = scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_bound__heads_of_a_network__are_judged_by_their_norm(fitted):
    clf, images, labels = fitted
    bound = generalization_bound(clf, images, labels)
    assert any("last layer of the network" in each.how for each in bound.memories)
    assert bound.vacuous  # a few dozen images promise nothing
    found = {each.name: each for each in bound.assumptions}
    assert found["similarity"].met is None
    assert "PatchColour" in found["similarity"].why


def test_held_out__with_a_training_image__is_not_valid(fitted):
    clf, images, labels = fitted
    others, their_labels = squares(30, seed=2)
    assert generalization_bound(clf, ImageCollection(others), their_labels, kind="held-out").valid
    memory = int(clf.memory_indices_[0])
    others[7], their_labels[7] = images[memory], labels[memory]
    found = generalization_bound(clf, ImageCollection(others), their_labels, kind="held-out")
    assert not found.valid
    assert found.assumptions[1].why.startswith("1 of the")
