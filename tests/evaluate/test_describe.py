"""What contenders are, in words."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import memclf
from memclf import MemoryClassifier
from memclf.evaluate import controls_of
from memclf.evaluate.describe import describe_model, list_settings, list_versions
from memclf.similarity import RBFSimilarity

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.where(X[:, 0] > 0, "right", "left")


@pytest.fixture(scope="module")
def clf():
    estimator = make_pipeline(StandardScaler(), LogisticRegression(C=10))
    similarity = RBFSimilarity(gamma=0.5, features=StandardScaler())
    return MemoryClassifier(similarity, estimator, n_memories=4, start="global", random_state=3, n_jobs=1).fit(X, Y)


def test_describe_model__memory_classifier__names_its_parts_and_memories(clf):
    assert describe_model(clf) == (
        "MemoryClassifier(RBFSimilarity of StandardScaler, StandardScaler + LogisticRegression), "
        "4 memories of 60 training cases"
    )


def test_describe_model__default_parts__are_named_as_fitted():
    assert "RBFSimilarity, LogisticRegression)" in describe_model(
        MemoryClassifier(RBFSimilarity(), n_memories=2, random_state=0).fit(X, Y)
    )


def test_describe_model__every_control__has_a_description(clf):
    for control in controls_of(clf).values():
        assert describe_model(control)
        assert "\n" not in describe_model(control)


def test_list_settings__memory_classifier__only_what_is_not_a_default(clf):
    assert list_settings(clf) == {
        "similarity": "RBFSimilarity",
        "similarity__features": "StandardScaler",
        "similarity__gamma": "0.5",
        "estimator": "StandardScaler + LogisticRegression",
        "estimator__logisticregression__C": "10",
        "n_memories": "4",
        "start": "global",
        "random_state": "3",
    }


def test_list_settings__object_without_parameters__is_empty():
    assert list_settings(object()) == {}


def test_list_versions__packages_in_use__are_listed():
    found = list_versions()
    assert {"python", "numpy", "scikit-learn"} <= set(found)
    assert found["memclf"] == memclf.__version__
