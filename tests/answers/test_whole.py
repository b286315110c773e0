"""The plain model with memories: the global classifier answers, and what is like no memory is unknown."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import GaussianNB

import memclf
from memclf import MemoryClassifier
from memclf.similarity import RBFSimilarity

X, BLOB = make_blobs(240, n_features=3, centers=6, cluster_std=2.0, random_state=0)
Y = np.array(["ash", "birch", "cedar"])[BLOB % 3]
NEW = np.concatenate([X[::4] + 0.5, np.full((3, 3), 99.0)])


class OnceFitted(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        assert len(X) == 240, "a classifier of some cases is not needed"
        return super().fit(X, y, sample_weight)


def fitted(estimator=None, **settings):
    settings = {"n_memories": 4, "random_state": 0, "answer": "global", **settings}
    return MemoryClassifier(RBFSimilarity(0.01), estimator, 0.3, **settings).fit(X, Y)


@pytest.mark.parametrize("settings", [{}, {"start": "global"}, {"min_cluster_size": 1}, {"unknown_rate": 0.1}])
def test_global_answer__any_setting__fits_one_classifier_on_everything(settings):
    clf = fitted(OnceFitted(), **settings)
    assert {id(each) for each in clf.estimators_} == {id(clf.global_)}


def test_global_answer__known_cases__are_answered_by_the_plain_model():
    clf, plain = fitted(GaussianNB()), GaussianNB().fit(X, Y)
    found = clf.answers(NEW)
    known = found.routes.known
    assert 0 < known.sum() < len(NEW)
    np.testing.assert_array_equal(found.labels[known], plain.predict(NEW[known]))
    np.testing.assert_allclose(found.probabilities[known], plain.predict_proba(NEW[known]))
    np.testing.assert_array_equal(found.labels[~known], "unknown")


def test_global_answer__explained__says_who_answers_and_shows_the_memory(tmp_path):
    clf = fitted(GaussianNB())
    item = clf.explain(X[:1])[0]
    assert item.answered_by == "global"
    assert "the global GaussianNB says so with probability" in item.sentence
    assert "too small" not in item.sentence
    assert np.array_equal(clf.memories_[item.memory], X[item.memory_row])
    memclf.save(clf, tmp_path / "model")
    loaded = memclf.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(NEW), clf.predict(NEW))
    assert str(loaded.explain(NEW)) == str(clf.explain(NEW))


def test_global_answer__edited__memories_change_and_the_plain_model_stays():
    clf = fitted(GaussianNB())
    fewer = clf.drop(0)
    assert len(fewer.memory_indices_) == 3
    np.testing.assert_allclose(fewer.global_.theta_, clf.global_.theta_)
    known = X[fewer.route(X).known]
    np.testing.assert_array_equal(fewer.predict(known), fewer.global_.predict(known))
