"""What a user is told: messages say what was received, what was expected and what to do, before any work is done.

And where a fit succeeds but is not what the user expects, a warning says so once, with a remedy.
"""

import copy
import inspect
import re
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from memclf import MemoryClassifier, MemorySelector
from memclf.answers import ProductAnswer
from memclf.exceptions import LocalFitError, MemoriesWarning
from memclf.similarity import GowerSimilarity, RBFSimilarity
from memclf.vision import ImageCollection
from memclf.vision.features import PatchColour
from pictures import squares

X, BLOB = make_blobs(120, n_features=3, centers=4, random_state=0)
Y = BLOB % 2


# ----------------------------------------------------------------------------------------------------- the front door


def test_front_door__has_at_most_18_parameters_and_each_is_checked():
    parameters = [name for name in inspect.signature(MemoryClassifier.__init__).parameters if name != "self"]
    assert len(parameters) <= 18
    assert set(MemoryClassifier._parameter_constraints) == set(parameters)
    assert parameters[:3] == ["similarity", "estimator", "threshold"]
    given = inspect.signature(MemoryClassifier.__init__).parameters.values()
    assert all(each.kind is each.KEYWORD_ONLY for each in list(given)[4:])


def test_front_door__every_parameter__is_described():
    for name in inspect.signature(MemoryClassifier).parameters:
        assert f"    {name} : " in MemoryClassifier.__doc__


class Untouchable(RBFSimilarity):
    """Fails as soon as it sees a case."""

    def fit_describe(self, X, y=None, sample_weight=None):
        raise AssertionError("work was done before the parameters were checked")


WRONG = {
    "estimator, a name": ({"estimator": "lr"}, r"got 'lr'; give the classifier itself, as LogisticRegression\(\)"),
    "estimator, a list": (
        {"estimator": [GaussianNB()]},
        r"got \[GaussianNB\(\)\]; .*give a mapping {0: ..., 'default'",
    ),
    "estimator, a class": ({"estimator": GaussianNB}, r"give an instance, GaussianNB\(\)"),
    "estimator, a number": ({"estimator": 5}, "estimator must be a classifier with fit and predict, got 5"),
    "estimator, in a mapping": ({"estimator": {0: None}}, r"estimator\[0\] must be a classifier .*, got None"),
    "estimators and folds": (
        {"estimator": {"default": GaussianNB()}, "answer": "product"},
        "answer=ProductAnswer fits everything once more .* give one estimator for all memories",
    ),
    "fallback, a class": ({"fallback": GaussianNB}, r"fallback must be a classifier.*give an instance, GaussianNB\(\)"),
    "balance, a word": ({"answer": ProductAnswer(balance="x")}, "balance must be a number from 0 to 1, got 'x'"),
    "balance, too large": ({"answer": ProductAnswer(balance=2)}, "balance must be a number from 0 to 1, got 2"),
    "balance, a truth": ({"answer": ProductAnswer(balance=True)}, "balance must be a number from 0 to 1, got True"),
    "competence": (
        {"answer": ProductAnswer(competence="residual")},
        "competence must be None, one of 'mahalanobis', 'neighbours', 'energy', or a Detector; got 'residual'",
    ),
    "answer": ({"answer": "stacked"}, "'answer' parameter .* must be a str among .* Got 'stacked' instead"),
    "min_trust": ({"min_trust": None}, r"'min_trust' .* must be a float in the range \[0.0, 1.0\]. Got None instead"),
    "unknown_rate": ({"unknown_rate": "x"}, r"'unknown_rate' .* in the range \(0.0, 1.0\) or None. Got 'x' instead"),
    "unknown_rate twice": (
        {"unknown_rate": 0.1, "thresholds": "tight"},
        "unknown_rate asks for conformal thresholds, and thresholds='tight' for others; give one of the two",
    ),
    "search, a parameter of the classifier": (
        {"search": MemorySelector(threshold=0.5)},
        r"search=MemorySelector\(threshold=0.5\) has no effect: .*; give MemoryClassifier\(threshold=...\)",
    ),
    "search, a similarity": (
        {"search": MemorySelector(RBFSimilarity())},
        r"search=MemorySelector\(similarity=RBFSimilarity\(\)\) has no effect",
    ),
    "search, a name": ({"search": "greedy"}, "'search' .* must be an instance of .*MemorySelector.* Got 'greedy'"),
    "search, an option": ({"search": MemorySelector(cover="x")}, "cover must be one of 'auto', .*; got 'x'"),
    "cv, an iterator": ({"cv": iter([])}, r"cv is an iterator, .* only once; give a list: cv=list\(...\)"),
    "cv, a generator": ({"cv": KFold(3).split(X)}, "cv is an iterator"),
    "cv, a word": ({"cv": "three"}, "cv must be a whole number of at least 2, a splitter, or a list .*; got 'three'"),
}


@pytest.mark.parametrize(("settings", "message"), WRONG.values(), ids=WRONG)
def test_wrong_parameter__is_named_with_what_to_do_before_any_work(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        MemoryClassifier(Untouchable(), **settings).fit(X, Y)


@pytest.mark.parametrize(
    "wrong",
    [None, "x", "conformal", ["a"], {3: "x"}, {3: None}, 0.0, 1.5, [0.5, -1.0], [[0.5], 0.5], True, {0.5}],
    ids=repr,
)
def test_thresholds__of_a_wrong_kind__are_named_before_any_work(wrong):
    expected = r"thresholds must be 'common', 'tight', a number in \(0, 1\], .* or a mapping .*; got "
    with pytest.raises(ValueError, match=expected):
        MemoryClassifier(Untouchable(), thresholds=wrong).fit(X, Y)


@pytest.mark.parametrize("wrong", [[[0.5]], [0.5], []], ids=repr)
def test_thresholds__of_a_wrong_number__are_named(wrong):
    with pytest.raises(ValueError, match=r"thresholds must be one number or one for each of the 2 memories; got \["):
        MemoryClassifier(n_memories=2, thresholds=wrong).fit(X, Y)


def test_thresholds__of_rows_that_are_no_memories__are_named():
    rows = MemoryClassifier(n_memories=2, random_state=0).fit(X, Y).memory_indices_
    other = next(row for row in range(len(X)) if row not in rows)
    with pytest.raises(ValueError, match=rf"given for rows \[{other}\], which are no memories; the memories are rows"):
        MemoryClassifier(n_memories=2, thresholds={other: 0.5}, random_state=0).fit(X, Y)


# ------------------------------------------------------------------------------------- fits that fail in a cluster


def first_column(A):
    return np.asarray(A, dtype=object)[:, :1].astype(float)


def fit_on_first_column(cases, estimator=None, labels=Y, **settings):
    """The similarity looks at the first column alone, so that what is wrong elsewhere reaches the classifiers."""
    similarity = RBFSimilarity(0.1, features=FunctionTransformer(first_column))
    return MemoryClassifier(similarity, estimator, 0.3, random_state=0, **settings).fit(cases, labels)


def broken(value, row=5):
    cases = X.copy()
    cases[:, 1] = np.where(np.arange(len(X)) % 7 == row, value, cases[:, 1])
    return cases


DATA = {
    "infinity": (broken(np.inf), "The cases hold infinite numbers. Replace these numbers"),
    "infinity in a table": (pd.DataFrame(broken(np.inf)), "The cases hold infinite numbers"),
    "gaps": (
        broken(np.nan),
        r"The cases hold gaps \(NaN\).*make_pipeline\(SimpleImputer\(\), LogisticRegression\(\)\)",
    ),
    "words in a table": (
        pd.DataFrame({"a": X[:, 0], "word": np.where(X[:, 1] > 0, "yes", "no")}),
        r"values that are not numbers.*make_column_transformer\(\(OneHotEncoder",
    ),
    "words in an array": (
        np.column_stack([X[:, 0].astype(object), np.where(X[:, 1] > 0, "yes", "no")]),
        "The cases hold values that are not numbers",
    ),
    "dates": (
        pd.DataFrame({"a": X[:, 0], "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(X)), "D")}),
        "The cases hold values that are not numbers",
    ),
}


@pytest.mark.parametrize(("cases", "message"), DATA.values(), ids=DATA)
def test_local_fit__fails_because_of_the_data__does_not_blame_small_clusters(cases, message):
    with pytest.raises(LocalFitError, match=message) as caught:
        fit_on_first_column(cases)
    assert "too small" not in str(caught.value)
    assert ".. " not in str(caught.value)


@pytest.mark.parametrize(("cases", "message"), DATA.values(), ids=DATA)
def test_global_fit__fails_because_of_the_data__gets_the_same_remedy(cases, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        fit_on_first_column(cases, fallback="global")
    note = "".join(caught.value.__notes__)
    assert note.startswith("LogisticRegression failed on all 120 cases. ")
    assert re.search(message, note)


def test_local_fit__texts__remedy_turns_texts_into_numbers():
    texts = [f"word{i % 3} leaf" for i in range(60)]
    with pytest.raises(LocalFitError, match=r"make_pipeline\(TfidfVectorizer\(\), LogisticRegression\(\)\)"):
        MemoryClassifier(lambda a, b: float(a == b), threshold=0.5).fit(texts, np.arange(60) // 3 % 2)


def test_local_fit__mixed_table_and_default_estimator__remedy_is_a_pipeline():
    table = pd.DataFrame({"a": X[:, 0], "smoker": np.where(X[:, 1] > 0, "yes", "no")})
    with pytest.raises(LocalFitError, match="The cases hold values that are not numbers.*OneHotEncoder"):
        MemoryClassifier(GowerSimilarity(), threshold=0.6).fit(table, Y)
    pipe = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    MemoryClassifier(GowerSimilarity(), pipe, threshold=0.6).fit(table, Y)


def test_local_fit__cluster_too_small__remedy_is_larger_clusters():
    with pytest.raises(LocalFitError, match="Expected n_neighbors.*If the cluster is too small for it, larger ones"):
        MemoryClassifier(RBFSimilarity(0.1), KNeighborsClassifier(100), 0.3).fit(X, Y)
    table = pd.DataFrame({"a": X[:, 0], "word": np.where(X[:, 1] > 0, "yes", "no")})
    pipe = make_pipeline(OneHotEncoder(handle_unknown="ignore"), KNeighborsClassifier(100))
    with pytest.raises(LocalFitError, match="too small"):
        MemoryClassifier(GowerSimilarity(), pipe, 0.6).fit(table, Y)


def test_local_fit__lists_of_unequal_length__are_no_reason_to_fail_in_the_message():
    cases = [[1.0] * (1 + i % 3) for i in range(60)]
    with pytest.raises(LocalFitError, match="LogisticRegression failed on the cluster of memory 0"):
        MemoryClassifier(lambda a, b: 1.0, threshold=0.5).fit(cases, np.arange(60) % 2)


@pytest.mark.parametrize("kind", ["collection", "array"])
def test_local_fit__images_and_an_estimator_of_rows__remedy_is_a_pipeline(kind):
    images, labels = squares(45, size=32)
    images = ImageCollection(images) if kind == "collection" else images
    with pytest.raises(LocalFitError, match=r"The cases are images.*make_pipeline\(PatchColour\(\), Logistic"):
        MemoryClassifier(RBFSimilarity(0.1, features=PatchColour()), threshold=0.2).fit(images, labels)


def test_global_fit__fails_for_another_reason__gets_no_note():
    with pytest.raises(ValueError, match="max_iter") as caught:
        MemoryClassifier(estimator=LogisticRegression(max_iter=-1), fallback="global").fit(X, Y)
    assert not hasattr(caught.value, "__notes__")


def test_local_fit__images_that_fail_otherwise__are_not_read_for_the_message():
    images, labels = squares(45, size=32)
    pipe = make_pipeline(PatchColour(), KNeighborsClassifier(100))
    with pytest.raises(LocalFitError, match="too small"):
        MemoryClassifier(RBFSimilarity(0.1, features=PatchColour()), pipe, 0.2).fit(ImageCollection(images), labels)


def test_local_fit__sparse_cases__infinities_are_found():
    rows = sp.csr_array(np.abs(broken(np.inf)))
    similarity = RBFSimilarity(0.1, features=FunctionTransformer(lambda A: A[:, [0]].toarray()))
    with pytest.raises(LocalFitError, match="infinite numbers"):
        MemoryClassifier(similarity, threshold=0.3, random_state=0).fit(rows, Y)


# ---------------------------------------------------------------------------- fits that are not what the user expects


def test_memories__nearly_every_case_became_one__is_said_with_a_remedy():
    cases = np.random.default_rng(0).normal(size=(100, 30))
    message = (
        r"\d+ of 100 distinct cases became memories: at threshold=0.99 .* so most new cases will be unknown. Lower"
    )
    with pytest.warns(MemoriesWarning, match=message) as said:
        MemoryClassifier(threshold=0.99).fit(cases, np.arange(100) % 2)
    assert len(said) == 1
    assert "or give unknown_rate=0.05" in str(said[0].message)


def test_memories__nearly_every_case_and_unknown_rate__other_words():
    cases = np.random.default_rng(0).normal(size=(100, 30))
    with pytest.warns(MemoriesWarning, match="each local classifier learns from one or two cases") as said:
        MemoryClassifier(threshold=0.99, unknown_rate=0.1).fit(cases, np.arange(100) % 2)
    assert "unknown_rate" not in str(said[0].message)


def test_memories__fits_on_folds__do_not_repeat_the_warning():
    cases = np.random.default_rng(0).normal(size=(200, 30))
    with pytest.warns(MemoriesWarning) as said:
        MemoryClassifier(threshold=0.99, unknown_rate=0.1, answer="product").fit(cases, np.arange(200) % 2)
    assert [each.category for each in said].count(MemoriesWarning) == 1


def test_memories__one_is_left__is_said_with_a_remedy():
    with pytest.warns(
        MemoriesWarning, match="one memory covers all 120 distinct cases, .* plain model.* Raise the"
    ) as said:
        MemoryClassifier(threshold=1e-6).fit(X, Y)
    assert len(said) == 1


@pytest.mark.parametrize(
    ("cases", "settings"),
    [(X, {"threshold": 0.3}), (X, {"n_memories": 1}), (X, {"n_memories": 100}), (X[:40], {"threshold": 0.999})],
    ids=["some memories", "one asked for", "many asked for", "few cases"],
)
def test_memories__as_expected__nothing_is_said(cases, settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MemoryClassifier(RBFSimilarity(0.1), **settings).fit(cases, Y[: len(cases)])


@pytest.mark.parametrize(("answer", "least"), [("local", 19), (ProductAnswer(), 39)], ids=["local", "product"])
def test_unknown_rate__too_few_cases__is_said_with_the_number_it_takes(answer, least):
    clf = MemoryClassifier(unknown_rate=0.05, n_memories=2, answer=answer, random_state=0)
    with pytest.warns(UserWarning, match=f"no case is unknown for being far .* Give at least {least} cases or a high"):
        clf.fit(X[:15], Y[:15])
    assert (clf.predict(X[:15] + 1000) != -1).all()


def test_unknown_rate__nothing_alike__is_said_with_a_remedy():
    cases = np.random.default_rng(0).normal(size=(200, 20))
    with pytest.warns(UserWarning, match="like no memory .similarity 0., so .* Give a similarity that falls off more"):
        MemoryClassifier(RBFSimilarity(5.0), unknown_rate=0.05, n_memories=20).fit(cases, np.arange(200) % 2)


def test_min_trust__without_effect__is_said_with_a_remedy():
    with pytest.warns(UserWarning, match=r"min_trust=0.5 has no effect: .* Give features with a method trust\(X\)"):
        MemoryClassifier(n_memories=2, min_trust=0.5).fit(X, Y)


def test_competence__nothing_to_look_at__is_said_with_a_remedy():
    table = pd.DataFrame({"a": X[:, 0], "word": np.where(X[:, 1] > 0, "yes", "no")})

    class TakesWords(GaussianNB):
        def fit(self, A, y):
            return super().fit(A[["a"]].to_numpy(), y)

        def predict(self, A):
            return super().predict(A[["a"]].to_numpy())

        def predict_proba(self, A):
            return super().predict_proba(A[["a"]].to_numpy())

    clf = MemoryClassifier(GowerSimilarity(), TakesWords(), n_memories=2, answer="product", random_state=0)
    with pytest.warns(UserWarning, match="competence='mahalanobis' finds nothing to look at.*a pipeline whose first"):
        clf.fit(table, Y)


# ---------------------------------------------------------------------------------------- fit changes no parameter

SETTINGS = {
    "defaults": {},
    "parts": {
        "similarity": RBFSimilarity(features=StandardScaler()),
        "estimator": make_pipeline(StandardScaler(), RandomForestClassifier(3)),
        "fallback": GaussianNB(),
        "search": MemorySelector(cover="random", n_restarts=2),
        "start": "global",
    },
    "mapping": {"estimator": {0: GaussianNB(), "default": LogisticRegression()}},
    "answer rule and list of folds": {
        "answer": ProductAnswer(),
        "cv": [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))],
    },
    "answer rule and splitter": {"answer": ProductAnswer("neighbours"), "cv": KFold(3), "unknown_rate": 0.2},
    "thresholds": {"thresholds": [0.5, 0.6, 0.7, 0.8], "n_memories": 4},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_fit__changes_no_parameter(settings):
    clf = MemoryClassifier(**{"threshold": 0.3, **settings}, random_state=0)
    objects, before = clf.get_params(deep=False), copy.deepcopy(clf.get_params(deep=True))
    clf.fit(X, Y).fit(X, Y)
    assert all(clf.get_params(deep=False)[name] is value for name, value in objects.items())
    after = clf.get_params(deep=True)
    assert set(after) == set(before)
    for name, value in before.items():
        assert joblib.hash(after[name]) == joblib.hash(value), name
