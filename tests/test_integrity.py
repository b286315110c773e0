"""The fitted parts of a model are one consistent whole: what was overwritten is noticed by explain and save."""

import copy
import io
import pickle
from dataclasses import dataclass, replace

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import memclf
from memclf import MemoryClassifier, MemorySelector, integrity
from memclf.answers import ProductAnswer
from memclf.exceptions import FittedPartsError
from memclf.similarity import CosineSimilarity, FunctionSimilarity, GowerSimilarity, RBFSimilarity
from memclf.vision import ImageCollection

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(centre, 0.5, (20, 2)) for centre in (0, 4, 8)])
y = np.tile([0, 1], 30)


@dataclass(eq=False)
class Part:
    """A case that is no plain data."""

    size: float


def near(a, b):
    return max(0.0, 1 - abs(a - b) / 3)


def near_parts(a, b):
    return near(a.size, b.size)


class Sizes(TransformerMixin, BaseEstimator):
    """The numbers that a local classifier learns from."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.array([[getattr(case, "size", case)] for case in X])


class MeanColour(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.array([image.reshape(-1, 3).mean(axis=0) for image in X])


def local():
    return make_pipeline(Sizes(), LogisticRegression())


def rows():
    return MemoryClassifier(RBFSimilarity(0.1), n_memories=3, random_state=0).fit(X, y)


def sparse():
    return MemoryClassifier(CosineSimilarity(), n_memories=3, random_state=0).fit(sp.csr_matrix(np.abs(X)), y)


def table():
    frame = pd.DataFrame({"x": X[:, 0], "kind": pd.Categorical(np.where(X[:, 1] > 2, "a", "b")), "gap": np.nan})
    frame.loc[::7, "x"] = np.nan
    return MemoryClassifier(GowerSimilarity(), DummyClassifier(), n_memories=3, random_state=0).fit(frame, y)


def numbers():
    return MemoryClassifier(FunctionSimilarity(near), local(), n_memories=3, random_state=0).fit(X[:, 0].tolist(), y)


def objects():
    cases = [Part(size) for size in X[:, 0].tolist()]
    return MemoryClassifier(FunctionSimilarity(near_parts), local(), n_memories=3, random_state=0).fit(cases, y)


def images():
    shades = np.linspace(0, 255, 60).astype(np.uint8)
    pictures = ImageCollection([np.full((8, 8, 3), (shade, 255 - shade, 0), np.uint8) for shade in shades])
    similarity = RBFSimilarity(features=MeanColour())
    return MemoryClassifier(similarity, DummyClassifier(), n_memories=3, random_state=0).fit(pictures, y)


def selector():
    return MemorySelector(RBFSimilarity(0.1), n_memories=3, random_state=0).fit(X)


CASES = {"rows": rows, "sparse": sparse, "table": table, "numbers": numbers, "objects": objects, "images": images}


def turned(cases):
    return (
        cases.iloc[::-1] if hasattr(cases, "iloc") else cases[np.arange(3)[::-1]] if sp.issparse(cases) else cases[::-1]
    )


@pytest.mark.parametrize("kind", CASES)
def test_memories_in_another_order_are_neither_explained_nor_saved(kind, tmp_path):
    clf = CASES[kind]()
    some = clf.memories_
    clf.explain(some)
    clf.memories_ = turned(clf.memories_)
    with pytest.raises(FittedPartsError, match="memories_ was changed after the fit.*Fit the model again"):
        clf.explain(some)
    if kind != "objects":  # a model folder cannot hold them
        with pytest.raises(FittedPartsError, match="memories_ was changed"):
            memclf.save(clf, tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("kind", ["rows", "table", "numbers", "objects"])
def test_a_memory_that_was_overwritten_in_place_is_noticed(kind):
    clf = CASES[kind]()
    some = copy.deepcopy(clf.memories_)
    if kind == "table":
        clf.memories_.iloc[0, 0] = 99.0
    else:
        clf.memories_[0] = clf.memories_[1]
    with pytest.raises(FittedPartsError, match="memories_ was changed"):
        clf.explain(some)


def test_a_selector_with_other_memories_is_not_saved(tmp_path):
    model = selector()
    model.memories_ = model.memories_[::-1]
    with pytest.raises(FittedPartsError, match="of this MemorySelector do not belong together: memories_ was changed"):
        memclf.save(model, tmp_path / "model")


OTHERS = {
    "descriptions_": lambda clf: clf.descriptions_[::-1],
    "memory_indices_": lambda clf: clf.memory_indices_[::-1],
    "labels_": lambda clf: clf.labels_[::-1],
    "thresholds_": lambda clf: clf.thresholds_[:2],
    "measurements_": lambda clf: np.zeros((2, 1)),
    "frequencies_": lambda clf: clf.frequencies_[:1],
    "answer_": lambda clf: ProductAnswer(),
    "cluster_counts_": lambda clf: clf.cluster_counts_ + 1,
    "label_distributions_": lambda clf: clf.label_distributions_[:2],
    "classes_": lambda clf: clf.classes_[::-1],
    "memories_": lambda clf: None,
}


def test_memories_that_are_other_objects_are_noticed():
    clf = objects()
    some = clf.memories_
    clf.memories_ = [Part(99.0) for _ in some]
    with pytest.raises(FittedPartsError, match="memories_ was changed"):
        clf.explain(some)


def test_estimators_in_another_order_are_noticed():
    clf = rows()
    clf.pool_ = replace(clf.pool_, estimators=clf.estimators_[::-1])
    with pytest.raises(FittedPartsError, match="estimators_ was changed after the fit"):
        clf.explain(X[:2])


def test_a_part_of_the_answer_rule_for_other_memories_is_named():
    clf = MemoryClassifier(RBFSimilarity(0.1), n_memories=3, answer="product", random_state=0).fit(X, y)
    clf.answer_.detectors_ = clf.answer_.detectors_[:2]
    with pytest.raises(FittedPartsError, match="answer_.detectors_ does not belong to the other parts"):
        clf.explain(X[:2])


@pytest.mark.parametrize("name", OTHERS)
def test_every_part_that_does_not_belong_to_the_others_is_named(name, tmp_path):
    clf = rows()
    setattr(clf, name, OTHERS[name](clf))
    with pytest.raises(FittedPartsError, match=name):
        clf.explain(X[:2])
    with pytest.raises(FittedPartsError, match=name):
        memclf.save(clf, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def through_joblib(clf):
    stream = io.BytesIO()
    joblib.dump(clf, stream)
    stream.seek(0)
    return joblib.load(stream)


COPIES = {
    "pickle": lambda clf: pickle.loads(pickle.dumps(clf)),
    "joblib": through_joblib,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("kind", CASES)
def test_copies_of_a_model_explain_and_notice_alike(kind, how):
    clf = COPIES[how](CASES[kind]())
    some = clf.memories_
    assert len(clf.explain(some)) == 3
    clf.memories_ = turned(clf.memories_)
    with pytest.raises(FittedPartsError, match="memories_ was changed"):
        clf.explain(some)


def test_a_loaded_model_explains_saves_and_notices(tmp_path):
    clf = memclf.load(memclf.save(rows(), tmp_path / "model"))
    clf.explain(X[:2])
    memclf.save(clf, tmp_path / "again")
    clf.memories_ = clf.memories_[::-1]
    with pytest.raises(FittedPartsError, match="memories_ was changed"):
        clf.explain(X[:2])


def test_a_second_fit_and_a_clone_start_anew():
    clf = rows()
    clf.memories_ = clf.memories_[::-1]
    assert len(clone(clf).fit(X, y).explain(X[:2])) == 2
    assert len(clf.fit(X[:40], y[:40]).explain(X[:2])) == 2


def test_the_same_sparse_memories_in_another_layout_are_the_same():
    clf = sparse()
    memories = clf.memories_
    memories.indices = memories.indices.reshape(3, 2)[:, ::-1].ravel()
    memories.data = memories.data.reshape(3, 2)[:, ::-1].ravel()
    memories.has_sorted_indices = False
    assert len(clf.explain(clf.memories_)) == 3


class Looking(TransformerMixin, BaseEstimator):
    """Counts the cases that it describes."""

    seen = 0

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        Looking.seen += len(X)
        return X


def test_explaining_and_saving_describe_no_memory_again():
    clf = MemoryClassifier(RBFSimilarity(0.1, features=Looking()), n_memories=3, random_state=0).fit(X, y)
    Looking.seen = 0
    clf.explain(X[:5])
    assert Looking.seen == 5
    integrity.check(clf)
    assert Looking.seen == 5


def test_thresholds_may_be_set_by_hand(tmp_path):
    clf = rows()
    clf.thresholds_ = np.full(3, 0.4)
    assert clf.explain(X[:1])[0].threshold == pytest.approx(0.4)
    assert memclf.load(memclf.save(clf, tmp_path / "model")).thresholds_.tolist() == [0.4] * 3
