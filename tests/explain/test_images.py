"""Explanations of images: the picture shows what the expert feature saw, the words name the file."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from memclf import MemoryClassifier
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageCollection
from memclf.vision.features import PatchColour
from pictures import squares

X, Y = squares(45, size=48)


@pytest.fixture(scope="module")
def clf():
    tree = TreeSimilarity(features=PatchColour())
    images = ImageCollection(X, keys=[f"square{i}.png" for i in range(len(X))])
    return MemoryClassifier(similarity=tree, estimator=make_pipeline(PatchColour(), LogisticRegression())).fit(
        images, Y
    )


def test_the_sentence_names_the_remembered_image(clf):
    said = clf.explain(ImageCollection(X[:1]))[0]
    assert f"(training case {said.memory_row}, square{said.memory_row}.png)" in said.sentence


@pytest.mark.parametrize("kind", [ImageCollection, np.asarray])
def test_the_picture_shows_case_and_memory_with_what_the_feature_saw(clf, kind):
    said = clf.explain(kind(X[:2]))[1]
    figure = said.plot()
    shown = [panel.images[0].get_array() for panel in figure.axes if panel.images]
    np.testing.assert_array_equal(shown[0], PatchColour().overlay(X[1]))
    np.testing.assert_array_equal(shown[1], PatchColour().overlay(X[said.memory_row]))
