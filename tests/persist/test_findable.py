"""What could never be loaded is refused when it is saved, and the folder stays as it was."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import memclf
from memclf import MemoryClassifier, MemorySelector
from memclf.answers import ProductAnswer
from memclf.exceptions import ModelFolderError, UntrustedTypeError
from memclf.local.competence import Mahalanobis
from memclf.similarity import CombinedSimilarity, RBFSimilarity

SHIFTS = """
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

def shift(A):
    return A + 1

class Shift(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X + 1

class Tools:
    class Shift(Shift):
        pass

    @staticmethod
    def shift(A):
        return A + 2

    @classmethod
    def of_class(cls, A):
        return A + 3

    def bound(self, A):
        return A + 4

class Heir(Tools):
    pass
"""


def inner_classifier():
    class Inner(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    return Inner()


def inner_transformer():
    class Inner(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.fitted_ = True
            return self

        def transform(self, X):
            return X

    return Inner()


def inner_splitter():
    class Inner(KFold):
        pass

    return Inner(3)


def inner_detector():
    class Inner(Mahalanobis):
        pass

    return Inner()


def inner_function():
    def inner(A):
        return A + 1

    return FunctionTransformer(inner)


def plus_one():
    return FunctionTransformer(lambda A: A + 1)


def near(features):
    return RBFSimilarity(0.05, features=features)


LOCAL = {
    "lambda in the estimator": (
        lambda: {"estimator": make_pipeline(plus_one(), LogisticRegression())},
        r"model.estimator.steps\[0\]\[1\].func is .*test_findable.<lambda>, which cannot be found again by name",
    ),
    "lambda in a search": (
        lambda: {"estimator": GridSearchCV(make_pipeline(plus_one(), LogisticRegression()), {}, cv=2)},
        r"model.estimator.estimator.steps\[0\]\[1\].func is .*<lambda>",
    ),
    "function of a function": (
        lambda: {"estimator": make_pipeline(inner_function(), LogisticRegression())},
        r"model.estimator.steps\[0\]\[1\].func is .*test_findable.inner,",
    ),
    "features": (lambda: {"similarity": near(plus_one())}, r"model.similarity.features.func is .*<lambda>"),
    "features of a class of a function": (
        lambda: {"similarity": near(inner_transformer())},
        r"model.similarity.features is of the type .*test_findable.Inner",
    ),
    "part of a similarity": (
        lambda: {"similarity": CombinedSimilarity([("a", near(plus_one())), ("b", near(None))])},
        r"model.similarity.similarities.*features.func is .*<lambda>",
    ),
    "estimator of a class of a function": (
        lambda: {"estimator": inner_classifier()},
        r"model.estimator is of the type .*test_findable.Inner",
    ),
    "estimators by number": (
        lambda: {"estimator": {0: inner_classifier(), "default": LogisticRegression()}},
        r"model.estimator\[0\] is of the type .*Inner",
    ),
    "fallback": (lambda: {"fallback": inner_classifier()}, r"model.fallback is of the type .*Inner"),
    "cv": (lambda: {"cv": inner_splitter()}, r"model.cv is of the type .*Inner"),
    "detector": (
        lambda: {"answer": ProductAnswer(inner_detector())},
        r"model.answer.competence is of the type .*Inner",
    ),
}


@pytest.mark.parametrize("name", LOCAL)
def test_what_has_no_name_of_its_own_is_refused_and_the_folder_stays(name, cases, classifier, tmp_path):
    make, message = LOCAL[name]
    clf = MemoryClassifier(**{"similarity": RBFSimilarity(0.05), "n_memories": 2, **make()}).fit(*cases)
    with pytest.raises(ModelFolderError, match=message) as caught:
        memclf.save(clf, tmp_path / "new")
    assert "at the top level of a module that can be imported" in str(caught.value)
    assert not (tmp_path / "new").exists()
    old = memclf.save(classifier, tmp_path / "old")
    before = {path: path.read_bytes() for path in old.rglob("*") if path.is_file()}
    with pytest.raises(ModelFolderError, match="cannot be found again by name"):
        memclf.save(clf, old)
    assert {path: path.read_bytes() for path in old.rglob("*") if path.is_file()} == before


def test_a_selector_with_a_lambda_is_refused(cases, tmp_path):
    selector = MemorySelector(near(plus_one()), n_memories=2).fit(cases[0])
    with pytest.raises(ModelFolderError, match=r"model.similarity.features.func is .*<lambda>"):
        memclf.save(selector, tmp_path / "model")


@pytest.fixture
def lab(user_module):
    return user_module("lab_of_shifts", SHIFTS)


def with_features(features, X):
    return MemorySelector(near(features), n_memories=2).fit(X)


def test_named_functions_and_classes_of_a_module_load(lab, cases, queries, tmp_path):
    for number, features in enumerate(
        [FunctionTransformer(lab.shift), lab.Shift(), FunctionTransformer(lab.Tools().bound)]
    ):
        selector = with_features(features, cases[0])
        folder = memclf.save(selector, tmp_path / str(number))
        with pytest.raises(UntrustedTypeError, match="lab_of_shifts") as caught:
            memclf.load(folder)
        new = memclf.load(folder, trusted=caught.value.names)
        np.testing.assert_array_equal(new.transform(queries), selector.transform(queries))


@pytest.mark.parametrize(
    ("pick", "message"),
    [
        (lambda lab: FunctionTransformer(lab.Tools.shift), "func is lab_of_shifts.shift"),  # means another function
        (lambda lab: FunctionTransformer(lab.Tools.of_class), "the method of_class of lab_of_shifts.Tools"),
        (lambda lab: lab.Tools.Shift(), "is of the type lab_of_shifts.Shift"),  # means another class
    ],
    ids=["static method", "class method", "class of a class"],
)
def test_a_name_that_means_another_object_is_refused(pick, message, lab, cases, tmp_path):
    with pytest.raises(ModelFolderError, match=f"{message}, which cannot be found again by name"):
        memclf.save(with_features(pick(lab), cases[0]), tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("what", ["function", "class"])
def test_a_name_that_was_given_to_another_object_since_is_refused(what, lab, cases, user_module, tmp_path):
    selector = with_features(FunctionTransformer(lab.shift) if what == "function" else lab.Shift(), cases[0])
    user_module("lab_of_shifts", SHIFTS)  # as when the cell of a notebook runs once more
    with pytest.raises(ModelFolderError, match="cannot be found again by name"):
        memclf.save(selector, tmp_path / "model")


SCRIPT = """
import sys
import memclf
import numpy as np
from memclf import MemoryClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

def shift(A):
    return A + 1

X = np.arange(20.0)[:, None]
clf = MemoryClassifier(estimator=make_pipeline(FunctionTransformer(shift), LogisticRegression()), n_memories=2)
clf.fit(X, np.arange(20) % 2)
folder = memclf.save(clf, sys.argv[1])
assert (memclf.load(folder, trusted=["__main__.shift"]).predict(X) == clf.predict(X)).all()
print("loaded")
"""


def test_a_top_level_function_of_a_script_loads_there(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, tmp_path / "script.py", tmp_path / "model"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "loaded\n", done.stderr


def test_the_model_card_names_all_that_must_be_allowed(lab, cases, tmp_path):
    estimator = make_pipeline(FunctionTransformer(lab.shift), LogisticRegression())
    clf = MemoryClassifier(near(lab.Shift()), estimator, n_memories=2).fit(*cases)
    folder = memclf.save(clf, tmp_path / "model")
    assert "trusted=['lab_of_shifts.Shift', 'lab_of_shifts.shift']" in (folder / "MODEL_CARD.md").read_text()
