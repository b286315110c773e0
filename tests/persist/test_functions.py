"""What a user brings along: functions by import path and hash of their source, and types by name."""

import functools
import math
import operator
import os
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import memclf
from memclf import MemoryClassifier, MemorySelector
from memclf.answers import ProductAnswer
from memclf.exceptions import ModelFolderError, UntrustedTypeError
from memclf.similarity import FunctionSimilarity, RBFSimilarity

NEAR = """
def near(a, b, scale=2.0):
    return max(0.0, 1 - abs(a[0] - b[0]) / scale)

class Tools:
    @staticmethod
    def near(a, b):
        return near(a, b)

    def bound(self, a, b):
        return near(a, b)

    @classmethod
    def of_class(cls, a, b):
        return near(a, b)

def maker():
    def inner(a, b):
        return near(a, b)
    return inner
"""
MODEST = """
from sklearn.base import BaseEstimator, ClassifierMixin
import numpy as np

class Modest(ClassifierMixin, BaseEstimator):
    def __init__(self, favourite=0):
        self.favourite = favourite

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.favourite])
"""
X = np.array([[0.0], [0.5], [1.0], [5.0], [5.5], [6.0]])
y = np.array([0, 0, 1, 1, 0, 1])


@pytest.fixture
def lab(user_module):
    return user_module("lab_of_near", NEAR)


@pytest.fixture
def saved(lab, tmp_path):
    """A model whose similarity is a user's function."""
    clf = MemoryClassifier(FunctionSimilarity(lab.near, scale=3.0), threshold=0.3, n_memories=2).fit(X, y)
    return clf, memclf.save(clf, tmp_path / "model")


def test_a_function_is_stored_as_its_path_and_the_hash_of_its_source(saved, tamper):
    _, folder = saved
    (stored,) = tamper(folder).manifest["functions"]
    assert (stored["module"], stored["name"]) == ("lab_of_near", "near")
    assert len(stored["source_sha256"]) == 64
    assert "abs(a[0]" not in (folder / "manifest.json").read_text()


def test_a_function_is_refused_by_name_and_not_imported(saved, forget):
    _, folder = saved
    forget("lab_of_near")
    with pytest.raises(UntrustedTypeError, match="the function lab_of_near.near") as caught:
        memclf.load(folder)
    assert caught.value.names == ["lab_of_near.near"]
    assert "lab_of_near" not in sys.modules


@pytest.mark.parametrize("name", ["lab_of_near.near", "lab_of_near:near"])
def test_a_function_that_is_allowed_by_name_is_imported(name, saved, forget, same_answers):
    clf, folder = saved
    forget("lab_of_near")
    new = memclf.load(folder, trusted=[name])
    same_answers(clf, new, X)
    assert new.similarity_.get_params()["scale"] == 3.0
    assert "lab_of_near" in sys.modules


def test_allowing_another_function_of_the_module_is_not_enough(saved):
    _, folder = saved
    with pytest.raises(UntrustedTypeError, match="lab_of_near.near"):
        memclf.load(folder, trusted=["lab_of_near", "lab_of_near.maker", "near", "lab_of_near.near.near"])


def test_one_string_in_place_of_a_list_is_refused(folder):
    with pytest.raises(TypeError, match="trusted must be a list"):
        memclf.load(folder, trusted="lab_of_near.near")


def test_a_missing_module_is_named(saved, lab, forget, monkeypatch):
    _, folder = saved
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != os.path.dirname(lab.__file__)])
    forget("lab_of_near")
    with pytest.raises(ModelFolderError, match="lab_of_near.near, which cannot be imported here"):
        memclf.load(folder, trusted=["lab_of_near.near"])


def test_a_function_that_is_gone_from_its_module_is_named(saved, user_module):
    _, folder = saved
    user_module("lab_of_near", "somewhere_else = True")
    with pytest.raises(ModelFolderError, match="lab_of_near.near, which cannot be imported here"):
        memclf.load(folder, trusted=["lab_of_near.near"])


def test_a_module_that_fails_on_import_is_reported(saved, user_module):
    _, folder = saved
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        user_module("lab_of_near", "1 / 0")
    with pytest.raises(ModelFolderError, match="ZeroDivisionError"):
        memclf.load(folder, trusted=["lab_of_near.near"])


def test_a_changed_function_is_refused_until_it_is_handed_over(saved, user_module):
    _, folder = saved
    changed = user_module("lab_of_near", NEAR.replace("1 - abs", "0.99 - abs"))
    with pytest.raises(ModelFolderError, match="lab_of_near.near has changed since the model was saved"):
        memclf.load(folder, trusted=["lab_of_near.near"])
    for ways in ({"functions": {"lab_of_near.near": changed.near}}, {"trusted": [changed.near]}):
        new = memclf.load(folder, **ways)
        assert new.similarity_.function is changed.near
        assert new.route(X).similarity.max() == pytest.approx(0.99)


def test_moving_a_function_within_its_file_is_no_change(saved, user_module, same_answers):
    clf, folder = saved
    user_module("lab_of_near", "import math\n\n\nUNIT = math.pi\n" + NEAR)
    same_answers(clf, memclf.load(folder, trusted=["lab_of_near.near"]), X)


def test_a_function_of_another_name_may_stand_in(saved, user_module, same_answers):
    clf, folder = saved
    other = user_module("lab_of_others", NEAR)
    new = memclf.load(folder, functions={"lab_of_near:near": other.near})
    same_answers(clf, new, X)
    assert new.similarity_.function is other.near


def lambdas(lab):
    return lambda a, b: lab.near(a, b)


@pytest.mark.parametrize(
    "pick",
    [lambdas, lambda lab: lab.maker(), lambda lab: lab.Tools().bound, lambda lab: lab.Tools.of_class],
    ids=["lambda", "nested", "bound method", "class method"],
)
def test_a_function_that_could_not_be_found_again_is_refused_in_saving(pick, lab, tmp_path):
    clf = MemoryClassifier(pick(lab), threshold=0.3, n_memories=2).fit(X, y)
    with pytest.raises(ModelFolderError, match="cannot be found again by name"):
        memclf.save(clf, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_function_that_its_name_no_longer_means_is_refused_in_saving(lab, tmp_path, monkeypatch):
    clf = MemoryClassifier(lab.near, threshold=0.3, n_memories=2).fit(X, y)
    monkeypatch.setattr(lab, "near", lab.Tools.near)
    with pytest.raises(ModelFolderError, match="cannot be found again by name"):
        memclf.save(clf, tmp_path / "model")


def test_a_static_method_and_a_partial_are_found_again(lab, tmp_path, same_answers):
    for number, function in enumerate([lab.Tools.near, functools.partial(lab.near, scale=4.0)]):
        clf = MemoryClassifier(function, threshold=0.3, n_memories=2).fit(X, y)
        folder = memclf.save(clf, tmp_path / str(number))
        with pytest.raises(UntrustedTypeError, match="lab_of_near"):
            memclf.load(folder)
        new = memclf.load(folder, trusted=["lab_of_near.near", "lab_of_near.Tools.near"])
        same_answers(clf, new, X)


@pytest.mark.parametrize(
    ("function", "path"),
    [(math.sqrt, "math.sqrt"), (np.tanh, "numpy.tanh"), (abs, "builtins.abs"), (operator.neg, "_operator.neg")],
    ids=["math", "ufunc", "builtin", "operator"],
)
def test_functions_that_are_not_python_are_stored_by_path_alone(function, path, tmp_path, tamper):
    numbers = [1.0, 1.5, 2.0, 7.0, 7.5, 8.0]
    selector = MemorySelector(RBFSimilarity(features=function), n_memories=2).fit(numbers)
    folder = memclf.save(selector, tmp_path / "model")
    module, _, name = path.rpartition(".")
    assert tamper(folder).manifest["functions"] == [{"module": module, "name": name, "source_sha256": None}]
    with pytest.raises(UntrustedTypeError, match=path):
        memclf.load(folder)
    for trusted in ([path], [function]):
        new = memclf.load(folder, trusted=trusted)
        np.testing.assert_array_equal(new.transform(numbers), selector.transform(numbers))


@pytest.fixture
def modest(user_module):
    return user_module("lab_of_modest", MODEST).Modest


@pytest.fixture
def own_type(modest, cases, tmp_path):
    """A model whose local classifiers are of a user's own class."""
    clf = MemoryClassifier(RBFSimilarity(0.05), modest(), 0.5, n_memories=3, random_state=0).fit(*cases)
    return clf, memclf.save(clf, tmp_path / "model")


def test_a_users_type_is_refused_by_name_and_not_imported(own_type, forget):
    _, folder = own_type
    forget("lab_of_modest")
    with pytest.raises(UntrustedTypeError, match=r"estimators.skops .*trusted=\['lab_of_modest.Modest'\]") as caught:
        memclf.load(folder)
    assert caught.value.names == ["lab_of_modest.Modest"]
    assert "lab_of_modest" not in sys.modules


def test_a_users_type_loads_when_it_is_allowed(own_type, modest, queries, same_answers):
    clf, folder = own_type
    for trusted in (["lab_of_modest.Modest"], [modest], ("lab_of_modest:Modest",), {modest}):
        new = memclf.load(folder, trusted=trusted)
        same_answers(clf, new, queries)
        assert {type(each) for each in new.estimators_} >= {modest}


PARTS = """
import numpy as np
from memclf.answers import ProductAnswer
from memclf.local.competence import Mahalanobis
from memclf.similarity import Similarity

class OwnAnswer(ProductAnswer):
    pass

class OwnDetector(Mahalanobis):
    pass

class OwnSimilarity(Similarity):
    def compare(self, A, B):
        return np.exp(-0.05 * ((A[:, None] - B[None]) ** 2).sum(axis=-1))
"""


@pytest.mark.parametrize("part", ["OwnAnswer", "OwnDetector", "OwnSimilarity"])
def test_a_users_own_part_loads_when_it_is_allowed(part, user_module, cases, queries, same_answers, tmp_path):
    lab = user_module("lab_of_parts", PARTS)
    settings = {
        "OwnAnswer": lambda: {"answer": lab.OwnAnswer()},
        "OwnDetector": lambda: {"answer": ProductAnswer(lab.OwnDetector())},
        "OwnSimilarity": lambda: {"similarity": lab.OwnSimilarity()},
    }[part]()
    clf = MemoryClassifier(**{"similarity": RBFSimilarity(0.05), "n_memories": 3, "random_state": 0, **settings})
    folder = memclf.save(clf.fit(*cases), tmp_path / "model")
    with pytest.raises(UntrustedTypeError, match=f"lab_of_parts.{part}") as caught:
        memclf.load(folder)
    same_answers(clf, memclf.load(folder, trusted=caught.value.names), queries)


def test_allowing_one_type_allows_no_other(own_type):
    _, folder = own_type
    with pytest.raises(UntrustedTypeError, match="lab_of_modest.Modest"):
        memclf.load(folder, trusted=["lab_of_modest", "Modest", "lab_of_modest.Other", LogisticRegression])


def test_a_folder_cannot_add_to_what_is_allowed(own_type, tamper):
    _, folder = own_type
    manifest = tamper(folder).manifest
    for name in ("trusted", "allowed", "functions", "types"):
        manifest[name] = ["lab_of_modest.Modest"]
    manifest["model"]["trusted"] = ["lab_of_modest.Modest"]
    tamper(folder).write(manifest)
    with pytest.raises(UntrustedTypeError, match="lab_of_modest.Modest"):
        memclf.load(folder)


def test_a_folder_cannot_pass_a_function_off_as_another(saved, tamper):
    _, folder = saved
    wanted = {"module": "os", "name": "system", "source_sha256": None}
    tamper(folder).change("model", "params", "similarity", "params", "function", to={"$function": wanted})
    with pytest.raises(UntrustedTypeError, match="the function os.system"):
        memclf.load(folder, trusted=["lab_of_near.near"])


@pytest.mark.parametrize("stored", [None, "0" * 64])
def test_a_folder_with_another_hash_still_needs_the_callers_word(stored, saved, tamper):
    _, folder = saved
    wanted = {"module": "lab_of_near", "name": "near", "source_sha256": stored}
    tamper(folder).change("model", "params", "similarity", "params", "function", to={"$function": wanted})
    with pytest.raises(UntrustedTypeError, match="lab_of_near.near"):
        memclf.load(folder)
