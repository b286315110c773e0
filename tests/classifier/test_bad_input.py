"""Bad input gets a clear error and nothing else."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from memclf import MemoryClassifier, MemorySelector
from memclf.exceptions import SimilarityError
from memclf.similarity import FunctionSimilarity, RBFSimilarity

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 0.0}, r"'threshold' parameter .* must be a float in the range \(0.0, 1.0\]. Got 0.0 instead"),
        ({"threshold": 1.01}, "Got 1.01 instead"),
        ({"threshold": None}, "Got None instead"),
        ({"rule": "nearest"}, "'rule' parameter .* must be a str among .* Got 'nearest' instead"),
        ({"fallback": "guess"}, "'fallback' parameter .* Got 'guess' instead"),
        ({"min_cluster_size": 0}, "'min_cluster_size' parameter .* Got 0 instead"),
        ({"start": "cold"}, "'start' parameter .* Got 'cold' instead"),
        ({"n_memories": 151}, "n_memories=151 is more than the number of cases, n_samples=150"),
        ({"search": MemorySelector(mode="literal")}, "mode must be one of 'corrected', 'clarans', 'paper'"),
        ({"answer": "sum"}, "'answer' parameter .* Got 'sum' instead"),
        ({"cv": 1}, "'cv' parameter .* Got 1 instead"),
        ({"min_trust": -0.1}, "'min_trust' parameter .* Got -0.1 instead"),
        ({"unknown_rate": 0}, "'unknown_rate' parameter .* Got 0 instead"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        MemoryClassifier(**settings).fit(X, y)


@pytest.mark.parametrize("similarity", [3, "rbf", RBFSimilarity])
def test_something_that_is_no_similarity_is_named(similarity):
    with pytest.raises(TypeError, match="similarity must be a similarity .* a function of two cases, or None; got"):
        MemoryClassifier(similarity).fit(X, y)


@pytest.mark.parametrize("one", ["brown spots", {"spots": 3}])
def test_a_single_case_without_a_list_around_it(one):
    clf = MemoryClassifier(lambda a, b: 1.0, GaussianNB(), 0.5).fit(X, y)
    with pytest.raises(TypeError, match="X must hold several cases, got one (str|dict); wrap a single case in a list"):
        clf.predict(one)


def test_a_fallback_must_be_a_classifier():
    with pytest.raises(TypeError, match="'fallback' parameter .* Got 3 instead"):
        MemoryClassifier(fallback=3).fit(X, y)


def test_empty_data():
    with pytest.raises(ValueError, match="0 sample"):
        MemoryClassifier().fit(np.empty((0, 2)), np.empty(0))
    with pytest.raises(ValueError, match="(?i)no cases|0 sample"):
        MemoryClassifier(lambda a, b: 1.0, GaussianNB()).fit([], [])


def test_one_sample_and_one_class():
    with pytest.raises(ValueError, match=r"one class only, 'a' \(n_samples=1\)"):
        MemoryClassifier().fit([[1.0]], ["a"])
    with pytest.raises(ValueError, match="a classifier needs at least two classes"):
        MemoryClassifier().fit(X, np.zeros(150))


def test_fit__weights_that_leave_one_class__is_refused_as_if_the_others_were_removed():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match=r"one class only, 0 \(n_samples=3 with a positive sample_weight\)"):
        MemoryClassifier().fit(X, y, sample_weight=1.0 - y)


@pytest.mark.parametrize("labels", [np.array(["unknown", "b"]), np.array(["a", "unknown"], dtype=object)])
def test_a_label_equal_to_the_unknown_label(labels):
    with pytest.raises(ValueError, match="is also the label that stands for unknown.*unknown_label="):
        MemoryClassifier().fit([[0.0], [1.0], [2.0], [3.0]], labels[[0, 1, 0, 1]])
    for way_out in ({"fallback": "nearest"}, {"unknown_label": "nothing"}):
        clf = MemoryClassifier(**way_out).fit([[0.0], [1.0], [2.0], [3.0]], labels[[0, 1, 0, 1]])
        assert set(clf.predict([[0.0], [3.0]]).tolist()) <= set(labels.tolist())


def test_other_columns_at_predict_time():
    clf = MemoryClassifier(threshold=0.3).fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but .* is expecting 4 features"):
        clf.predict(X[:, :3])
    table = pd.DataFrame(X, columns=list("abcd"))
    clf = MemoryClassifier(threshold=0.3).fit(table, y)
    for wrong in (table.rename(columns={"a": "z"}), table[list("bacd")]):
        with pytest.raises(ValueError, match="feature names"):
            clf.predict(wrong)


def test_labels_and_cases_must_be_of_equal_number():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MemoryClassifier().fit(X, y[:-1])


@pytest.mark.parametrize(("labels", "kinds"), [(["a", None], "NoneType, str"), (["a", 1], "int, str")])
def test_labels_of_several_kinds(labels, kinds):
    mixed = np.array(labels * 75, dtype=object)
    with pytest.raises(ValueError, match=f"labels in y must be of one kind, got a mixture of {kinds}"):
        MemoryClassifier().fit(X, mixed)


def test_numbers_are_no_classes():
    with pytest.raises(ValueError, match="Unknown label type"):
        MemoryClassifier().fit(X, np.linspace(0, 1, 150))


def test_nothing_works_before_fit():
    for method in ("predict", "predict_proba", "route", "explain", "similarities"):
        with pytest.raises(NotFittedError):
            getattr(MemoryClassifier(), method)(X)
    with pytest.raises(NotFittedError):
        MemorySelector().transform(X)


def test_a_new_case_that_breaks_the_similarity_is_named_as_new():
    def alike(a, b):
        return 2.0 if b[0] > 100 else 1.0

    clf = MemoryClassifier(FunctionSimilarity(alike), GaussianNB(), 0.5).fit(X, y)
    with pytest.raises(SimilarityError, match="the similarity of case .* and new case 1 is 2.0"):
        clf.predict([[1.0, 1, 1, 1], [200.0, 1, 1, 1]])
