import sys

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from explain.models import DRIFTED, FAR, NAMES, USUAL, X, fit_flowers, fit_parts
from memclf import MemoryClassifier
from memclf.answers import ProductAnswer
from memclf.exceptions import MissingExtraError
from memclf.similarity import RBFSimilarity


def test_the_picture_shows_similarities_thresholds_and_classes():
    figure = fit_flowers().explain(X[75:76])[0].plot()
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()][-1].startswith("memory ")
    assert [label.get_text() for label in right.get_yticklabels()] == list(NAMES)
    assert left.get_xlabel() == "similarity (red: threshold)"


def test_images_are_shown_beside_their_memory():
    rng = np.random.default_rng(0)
    bright = rng.integers(0, 2, 40)
    images = (rng.random((40, 8, 8)) * 0.2 + 0.7 * bright[:, None, None]).astype(np.float32)

    class Flat(GaussianNB):
        def fit(self, X, y):
            return super().fit(X.reshape(len(X), -1), y)

        def predict(self, X):
            return super().predict(X.reshape(len(X), -1))

        def predict_proba(self, X):
            return self.classes_[None, :] == self.predict(X)[:, None]

    clf = MemoryClassifier(RBFSimilarity(1.0, features=np.mean), Flat(), 0.9).fit(images, np.arange(40) % 2)
    figure = clf.explain(images[:1])[0].plot()
    assert len(figure.axes) == 4
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), images[0])


def test_picture__unknown_case__has_no_probabilities():
    figure = fit_flowers().explain(FAR)[0].plot()
    assert figure.get_suptitle() == "case 0: unknown"
    assert [text.get_text() for text in figure.axes[-1].get_legend().get_texts()] == ["share of the memory's cluster"]


def test_picture__given_figure__is_drawn_into():
    from matplotlib.figure import Figure

    figure = Figure()
    assert fit_flowers().explain(X[:1])[0].plot(figure) is figure
    assert len(figure.axes) == 2


def test_picture__without_matplotlib__says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r'pip install "memclf\[report\]"'):
        fit_flowers().explain(X[:1])[0].plot()


@pytest.mark.parametrize(
    ("answer", "cases", "source"),
    [
        ("local", USUAL, "LogisticRegression"),
        (ProductAnswer(competence=None), USUAL, "LogisticRegression and labels"),
        (ProductAnswer(), DRIFTED, "labels"),
    ],
    ids=["local", "product", "strange"],
)
def test_picture__says_where_the_probabilities_come_from(answer, cases, source):
    figure = fit_parts(answer=answer).explain(cases[:1])[0].plot()
    assert f"probability ({source})" in [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]
