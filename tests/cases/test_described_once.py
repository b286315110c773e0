"""A case is described once in every call, whatever is set, for any kind of data. Counting features prove it."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from counting import (
    CountingBayes,
    CountingClassifier,
    CountingFeatures,
    CountingFunction,
    CountingMeasure,
    CountingMeasureWithSigns,
    CountingScaler,
    count,
    digest,
    look,
    make_cases,
    note,
    rows_of,
)
from memclf import Cases, MemoryClassifier, MemorySelector
from memclf.answers import AutoAnswer, ProductAnswer, answer_rule_for
from memclf.similarity import CombinedSimilarity, CosineSimilarity, RBFSimilarity
from memclf.vision import ImageClassifier, ImageCollection
from pictures import passes, squares, tiny

pytestmark = pytest.mark.no_cover  # many fits, of which tests of the parts run every line

KINDS = ("array", "frame", "sparse", "texts")
CALLS = ("predict", "predict_proba", "route", "answers", "explain", "similarities")
SETTINGS = {
    "local": {},
    "labels": {"answer": "labels"},
    "product": {"answer": "product"},
    "product without competence": {"answer": ProductAnswer(competence=None, balance=0.0)},
    "unknown rate": {"unknown_rate": 0.2},
    "product and unknown rate": {"answer": "product", "unknown_rate": 0.2},
    "global fallback": {"fallback": "global", "start": "global"},
    "nearest": {"fallback": "nearest", "rule": "check_then_argmax", "thresholds": "tight"},
    "own fallback": {"fallback": CountingClassifier("/dev/null")},
    "trust": {"min_trust": 0.5},
    "small clusters": {"min_cluster_size": 15, "n_memories": 3},
    "repeated folds": {"answer": "product", "cv": RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)},
}


@pytest.fixture
def log(tmp_path):
    return str(tmp_path / "log")


def classifier(similarity, kind="array", **settings):
    estimator = make_pipeline(CountVectorizer(analyzer="char"), MultinomialNB()) if kind == "texts" else None
    if kind == "texts" and not isinstance(settings.get("fallback", ""), str):
        settings["fallback"] = estimator
    return MemoryClassifier(similarity, estimator, **{"threshold": 0.3, "random_state": 0, **settings})


def assert_once(log, X):
    """Each case was shown exactly once, and no other."""
    assert count(log) == {digest(case): 1 for case in rows_of(X)}


@pytest.mark.filterwarnings(
    "ignore:min_trust=.* has no effect", "ignore:.*memory covers all", "ignore:more than unknown_rate"
)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_stateless_features__any_kind_any_setting__see_each_case_once(kind, setting, log):
    (X, y), (new, _) = make_cases(kind, 60, 0), make_cases(kind, 12, 1)
    clf = classifier(RBFSimilarity(features=CountingFeatures(log)), kind, **SETTINGS[setting]).fit(X, y)
    assert_once(log, X)
    for name in CALLS:
        getattr(clf, name)(new)
        assert_once(log, new)


@pytest.mark.parametrize("answer", ["auto", AutoAnswer(competence=None)], ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_auto__any_kind__sees_each_case_and_each_shifted_version_once(kind, answer, log):
    (X, y), (new, _) = make_cases(kind, 60, 0), make_cases(kind, 12, 1)
    clf = classifier(RBFSimilarity(features=CountingFeatures(log)), kind, answer=answer).fit(X, y)
    versions = 1 if kind == "texts" else 1 + answer_rule_for(answer).versions
    assert sum(count(log).values()) == versions * 60
    for name in CALLS:
        getattr(clf, name)(new)
        assert_once(log, new)


FEATURES = {
    "function": CountingFunction,
    "pipeline": lambda log: make_pipeline(CountingFeatures(log), StandardScaler()),
    "pipelines in a pipeline": lambda log: make_pipeline(
        make_pipeline(CountingFeatures(log), "passthrough"), StandardScaler()
    ),
}


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("kind", KINDS)
def test_functions_and_pipelines__with_folds__see_each_case_once(kind, features, log):
    (X, y), (new, _) = make_cases(kind, 60, 0), make_cases(kind, 12, 1)
    similarity = RBFSimilarity(features=FEATURES[features](log))
    clf = classifier(similarity, kind, answer="product", unknown_rate=0.2).fit(X, y)
    assert_once(log, X)
    for name in CALLS:
        getattr(clf, name)(new)
        assert_once(log, new)


SEEN = []


def look_and_note(case):
    SEEN.append(digest(case))
    return look(case)


def test_a_plain_function__with_folds__sees_each_case_once():
    X, y = make_cases("array", 60, 0)
    SEEN.clear()
    clf = classifier(RBFSimilarity(features=look_and_note), answer="product", unknown_rate=0.2).fit(X, y)
    assert sorted(SEEN) == sorted(digest(case) for case in X)
    SEEN.clear()
    clf.explain(X[:5])
    assert sorted(SEEN) == sorted(digest(case) for case in X[:5])


@pytest.mark.parametrize("kind", ["array", "texts"])
def test_fitted_features__with_folds__see_each_case_once_per_state(kind, log):
    X, y = make_cases(kind, 60, 0)
    classifier(RBFSimilarity(features=CountingScaler(log)), kind, answer="product", unknown_rate=0.2).fit(X, y)
    counted = count(log)
    assert set(counted.values()) == {1}
    states = {line.partition(" ")[2] for line in counted}
    assert len(states) == 1 + 3 + 10  # the whole, the folds of the answer rule, the folds of the thresholds


@pytest.mark.parametrize("settings", [{}, {"answer": "product"}, {"unknown_rate": 0.2}])
def test_combined_similarity__parts_with_the_same_features__share_them(settings, log):
    (X, y), (new, _) = make_cases("array", 60, 0), make_cases("array", 12, 1)
    parts = [RBFSimilarity(features=CountingFeatures(log)), CosineSimilarity(features=CountingFeatures(log))]
    clf = classifier(CombinedSimilarity(list(zip("ab", parts, strict=True)), how="mean"), **settings).fit(X, y)
    assert_once(log, X)
    for name in CALLS:
        getattr(clf, name)(new)
        assert_once(log, new)


def test_groups_and_weights__with_folds__change_nothing(log):
    X, y = make_cases("array", 60, 0)
    weight = np.where(np.arange(60) % 5 == 0, 0.0, 1.0)
    clf = classifier(RBFSimilarity(features=CountingFeatures(log)), answer="product", unknown_rate=0.2)
    clf.fit(X, y, sample_weight=weight, groups=np.arange(60) // 3)
    assert_once(log, X)


def test_workers__processes_describe__each_case_once(log):
    X, y = make_cases("array", 60, 0)
    clf = classifier(RBFSimilarity(features=CountingFeatures(log)), answer="product", n_jobs=2).fit(X, y)
    assert_once(log, X)
    clf.predict(X[:10])
    assert_once(log, X[:10])


def test_memory_selector__fit_and_predict__see_each_case_once(log):
    X, _ = make_cases("array", 60, 0)
    selector = MemorySelector(RBFSimilarity(features=CountingFeatures(log)), threshold=0.3, random_state=0).fit(X)
    assert_once(log, X)
    selector.predict(X[:10])
    assert_once(log, X[:10])


class OwnSimilarity:
    """A similarity of the user's own, of no class of memclf."""

    def __init__(self, log):
        self.log = log

    def fit(self, X, y=None):
        return self

    def describe(self, X):
        for case in X:
            note(self.log, digest(case))
        return np.asarray(X, dtype=float)

    def compare(self, A, B):
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))


def test_a_similarity_of_the_users_own__with_folds__describes_each_case_once(log):
    X, y = make_cases("array", 60, 0)
    clf = classifier(OwnSimilarity(log), answer="product", unknown_rate=0.2).fit(X, y)
    assert_once(log, X)
    clf.explain(X[:5])
    assert_once(log, X[:5])


def test_cases__passed_to_several_calls__are_described_once_in_all(log):
    X, y = make_cases("array", 60, 0)
    cases = Cases(X)
    clf = classifier(RBFSimilarity(features=CountingFeatures(log))).fit(cases, y)
    clf.predict(cases)
    clf.explain(cases[:10])
    classifier(RBFSimilarity(2.0, features=CountingFeatures(log)), answer="product").fit(cases[:40], y[:40])
    assert_once(log, X)


# ------------------------------------------------------------------------------------------------ images


def noisy_squares():
    """Pictures with so much in them that every mild change shows."""
    pictures, labels = squares(36, size=36, wrong=0.3)
    noise = np.random.default_rng(0).integers(0, 60, pictures.shape)
    return np.clip(pictures + noise, 0, 255).astype(np.uint8), labels


def pixels_of(images):
    return np.array([image[::6, ::6].ravel() / 255 for image in images])


@pytest.mark.parametrize("feature", [CountingMeasure, CountingMeasureWithSigns])
@pytest.mark.parametrize("container", [ImageCollection, np.asarray, list])
@pytest.mark.parametrize("setting", ["local", "trust", "product", "repeated folds", "unknown rate"])
@pytest.mark.filterwarnings("ignore:min_trust=.* has no effect", "ignore:unknown_rate", "ignore:more than unknown_rate")
def test_image_features__any_container_any_setting__measure_each_image_once(feature, container, setting, log):
    pictures, labels = noisy_squares()
    estimator = make_pipeline(FunctionTransformer(pixels_of), LogisticRegression())
    settings = {"threshold": 0.8, "random_state": 0, **SETTINGS[setting]}
    clf = MemoryClassifier(RBFSimilarity(features=feature(log)), estimator, **settings).fit(container(pictures), labels)
    counted = count(log)
    assert set(counted.values()) == {1}
    changed = 2 * 36 if container is ImageCollection and clf.answer_.learns else 0  # two mildly changed versions
    assert len(counted) == 36 + changed
    for name in CALLS:
        getattr(clf, name)(container(pictures[:7]))
        assert sorted(count(log).values()) == [1] * 7


def test_image_features_in_a_pipeline__with_folds__measure_each_image_once(log):
    pictures, labels = noisy_squares()
    estimator = make_pipeline(FunctionTransformer(pixels_of), LogisticRegression())
    similarity = RBFSimilarity(features=make_pipeline(CountingMeasure(log), StandardScaler()))
    clf = MemoryClassifier(similarity, estimator, threshold=0.3, unknown_rate=0.2, random_state=0)
    clf.fit(ImageCollection(pictures), labels)
    assert sorted(count(log).values()) == [1] * 36
    clf.explain(ImageCollection(pictures[:7]))
    assert sorted(count(log).values()) == [1] * 7


def test_explain__local_classifiers_with_image_features__measures_memories_once(log):
    pictures, labels = noisy_squares()
    estimator = make_pipeline(CountingMeasure(log), LogisticRegression())
    clf = MemoryClassifier(
        RBFSimilarity(features=CountingMeasure(log, scale=2.0)), estimator, n_memories=2, random_state=0
    )
    clf.fit(ImageCollection(pictures), labels)
    count(log)
    clf.explain(ImageCollection(pictures[:7]))
    assert max(count(log).values()) <= 3  # by the similarity, by the local classifiers, and as a memory


# ------------------------------------------------------------------------------------- local classifiers


@pytest.mark.parametrize(
    ("settings", "methods"),
    [
        ({}, ["predict", "predict_proba"]),
        ({"fallback": "nearest"}, ["predict", "predict_proba"]),
        ({"fallback": "global", "thresholds": 0.9}, ["predict", "predict_proba"]),
        ({"answer": "product"}, ["predict_proba"]),
        ({"answer": "product", "unknown_rate": 0.2}, ["predict_proba"]),
        ({"answer": ProductAnswer(competence="energy")}, ["predict_proba"]),
        ({"answer": ProductAnswer(competence="energy"), "unknown_rate": 0.2}, ["predict_proba"]),
    ],
)
@pytest.mark.parametrize("kind", [CountingClassifier, CountingBayes])
def test_explain__any_answer_rule__asks_each_classifier_once_per_method(settings, methods, kind, log):
    X, y = make_cases("array", 80, 0)
    clf = MemoryClassifier(RBFSimilarity(0.3), kind(log), 0.3, random_state=0, **settings).fit(X, y)
    count(log)
    clf.explain(X)
    counted = count(log)
    assert counted
    assert set(counted.values()) == {1}
    assert {line.split()[1] for line in counted} == set(methods)


@pytest.mark.parametrize("container", [ImageCollection, np.asarray])
@pytest.mark.parametrize("settings", [{}, {"answer": "product"}, {"answer": "product", "unknown_rate": 0.2}])
def test_networks__any_container__embed_each_image_at_most_once(container, settings):
    pictures, labels = squares(40, size=36, wrong=0.2)
    network = ImageClassifier(tiny, image_size=36, epochs=1, share_backbone=True, random_state=0)
    clf = MemoryClassifier(None, network, start="global", n_memories=3, fallback="nearest", random_state=0, **settings)
    clf.set_params(similarity=RBFSimilarity(features=FunctionTransformer(pixels_of))).fit(container(pictures), labels)
    embedded, handle = passes(clf.global_.backbone_)
    for name in ("predict", "predict_proba", "answers", "explain"):
        getattr(clf, name)(container(pictures[:12]))
        assert 0 < sum(embedded) <= 12  # clusters of one class need no embedding
        embedded.clear()
    handle.remove()
