"""Explanations of images: the picture shows what the expert feature saw, the words name the file."""

import base64
import io
import re
import sys

import numpy as np
import pytest
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from memclf import MemoryClassifier
from memclf.similarity import RBFSimilarity, TreeSimilarity
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


def read_pictures(html):
    found = re.findall(r"src='data:image/png;base64,([^']+)'", html)
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(each)))) for each in found]


@pytest.mark.parametrize("kind", [ImageCollection, np.asarray])
def test_notebook_card__an_image__shows_case_and_memory(clf, kind):
    said = clf.explain(kind(X[:2]))[1]
    for shown, row in zip(read_pictures(said._repr_html_()), (1, said.memory_row), strict=True):
        expected = Image.fromarray(PatchColour().overlay(X[row]))
        expected.thumbnail((360, 360))
        np.testing.assert_array_equal(shown, np.asarray(expected))
    assert f"<figcaption>memory {said.memory} (training case {said.memory_row})" in said._repr_html_()


def test_notebook_cards__many_images__the_first_have_pictures_and_the_rest_are_counted(clf):
    html = clf.explain(ImageCollection(X[:23]))._repr_html_()
    assert len(read_pictures(html)) == 2 * 20
    assert html.count("class='memclf'") == 23
    assert "The other 3 cases are shown without pictures." in html


def test_notebook_card__without_pillow__still_shows_the_words(clf, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    html = clf.explain(X[:1])._repr_html_()
    assert read_pictures(html) == []
    assert "class='memclf'" in html


@pytest.mark.parametrize(
    "cases",
    [np.arange(120.0).reshape(6, 5, 4), np.random.default_rng(0).random((6, 4, 4, 7)), np.arange(12.0).reshape(6, 2)],
    ids=["series", "bands", "rows"],
)
def test_notebook_card__cases_that_are_no_images__has_no_pictures(cases):
    flat = FunctionTransformer(flatten)
    local = make_pipeline(flat, LogisticRegression())
    clf = MemoryClassifier(RBFSimilarity(features=flat), local, n_memories=2, random_state=0).fit(cases, [0, 1] * 3)
    html = clf.explain(cases[:2])._repr_html_()
    assert read_pictures(html) == []
    assert html.count("class='memclf'") == 2


def flatten(cases):
    return np.reshape(cases, (len(cases), -1))
