"""Similarities and estimators by name, and by module:object of the user."""

import pytest

from memclf.exceptions import OptionError
from memclf.own.named import find_estimator, find_similarity
from memclf.similarity import CosineSimilarity, GowerSimilarity, RankSimilarity

MODULE = """
from sklearn.naive_bayes import GaussianNB

def alike(a, b):
    return 1.0 if a["ward"] == b["ward"] else 0.2

def make():
    return GaussianNB(var_smoothing=0.5)

class Inner:
    model = GaussianNB()
"""


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "memclf_test_lab.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)


def test_find__defaults__fit_the_kind():
    assert isinstance(find_similarity(None, "table"), GowerSimilarity)
    assert isinstance(find_similarity(None, "images"), RankSimilarity)
    assert type(find_estimator(None, "table", 3)[-1]).__name__ == "RandomForestClassifier"
    assert find_estimator(None, "table", 3)[-1].random_state == 3


def test_find__names__are_found_in_any_case():
    assert isinstance(find_similarity("Gower", "table"), GowerSimilarity)
    assert isinstance(find_similarity("CosineSimilarity", "table"), CosineSimilarity)
    assert find_similarity("cosine", "table").features is not None  # columns of words need an encoder
    assert type(find_estimator("logistic", "images", 0)[-1]).__name__ == "LogisticRegression"


def test_find__module_and_object__come_from_the_working_folder(own_module):
    assert find_similarity("memclf_test_lab:alike", "table")({"ward": 1}, {"ward": 1}) == 1.0
    assert find_estimator("memclf_test_lab:make", "table", 0).var_smoothing == 0.5
    assert find_estimator("memclf_test_lab:Inner.model", "table", 0).var_smoothing == 1e-9
    assert type(find_estimator("sklearn.naive_bayes:GaussianNB", "table", 0)).__name__ == "GaussianNB"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            "gowr",
            "must be one of rbf, rank, .*, tree, or module:object .*; got 'gowr'; did you mean gower",
        ),
        ("nowhere_at_all:alike", "module 'nowhere_at_all' cannot be imported"),
        ("memclf.similarity:alike", "module 'memclf.similarity' has no 'alike'"),
    ],
)
def test_find__unknown_similarity__is_an_error_of_the_option(asked, message):
    with pytest.raises(OptionError, match=message):
        find_similarity(asked, "table")


def test_find__network_for_a_table__is_an_error_of_the_option():
    with pytest.raises(OptionError, match="must be one of forest, boosting, logistic, or module:object"):
        find_estimator("network", "table", 0)
