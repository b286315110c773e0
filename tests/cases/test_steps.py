"""A transformer that similarity and estimator both begin with sees each case once. Counting features prove it."""

import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler, TargetEncoder

import memclf
from counting import CountingFeatures, CountingScaler, count, digest, look, make_cases, note, rows_of
from memclf import Cases, MemoryClassifier
from memclf.answers import ProductAnswer
from memclf.cases.steps import fit_first_steps
from memclf.similarity import CombinedSimilarity, CosineSimilarity, RBFSimilarity

CALLS = ("predict", "predict_proba", "route", "answers", "similarities")
SETTINGS = {
    "local": {},
    "product": {"answer": "product", "cv": 3},
    "energy": {"answer": ProductAnswer(competence="energy")},
    "unknown rate": {"answer": "product", "unknown_rate": 0.2},
    "global fallback": {"fallback": "global"},
    "one memory": {"n_memories": 1},
    "workers": {"n_jobs": 2},
    "small clusters": {"min_cluster_size": 15},
}


@pytest.fixture
def log(tmp_path):
    return str(tmp_path / "log")


class LearningScaler(CountingFeatures):
    """Numbers of each case less the mean of the training cases."""

    def fit(self, X, y=None):
        self.mean_ = np.mean([look(case) for case in rows_of(X)], axis=0)
        return self

    def transform(self, X):
        return super().transform(X) - self.mean_


class OwnFitTransform(CountingFeatures):
    def fit_transform(self, X, y=None):
        return super().transform(X) + 1.0  # as transformers that hold out their own cases


def classifier(features, first, last=None, similarity=RBFSimilarity, **settings):
    estimator = make_pipeline(*(first if isinstance(first, list) else [first]), last or LogisticRegression())
    settings = {"threshold": 0.3, "n_memories": 4, "random_state": 0, **settings}
    return MemoryClassifier(similarity(features=features), estimator, **settings)


def mixed(kind, n, seed):
    """Cases in clusters of both classes, so that local classifiers are needed."""
    X, y = make_cases(kind, n, seed)
    return X, np.where(np.arange(n) % 5 == 0, 1 - y, y)


def once(X):
    return {digest(case): 1 for case in rows_of(X)}


def test_pipeline__auto__sees_each_text_once(log):
    (X, y), (new, _) = mixed("texts", 60, 0), mixed("texts", 12, 1)
    clf = classifier(CountingFeatures(log), CountingFeatures(log), answer="auto").fit(X, y)
    assert count(log) == once(X)
    clf.predict(new)
    assert count(log) == once(new)


@pytest.mark.filterwarnings("ignore:.*memory covers all", "ignore:more than unknown_rate")
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(
    "kind", ["texts", pytest.param("array", marks=pytest.mark.slow), pytest.param("frame", marks=pytest.mark.slow)]
)
def test_pipeline__begins_as_the_features_do__each_case_is_seen_once(kind, setting, log):
    (X, y), (new, _) = mixed(kind, 60, 0), mixed(kind, 12, 1)
    clf = classifier(CountingFeatures(log), CountingFeatures(log), **SETTINGS[setting]).fit(X, y)
    assert count(log) == once(X)
    assert any(isinstance(each, Pipeline) for each in clf.estimators_)
    for name in CALLS:
        getattr(clf, name)(new)
        assert count(log) == once(new)


def test_explain__evidence_of_a_shared_step__each_case_and_memory_is_seen_once(log):
    (X, y), (new, _) = mixed("texts", 60, 0), mixed("texts", 12, 1)
    clf = classifier(CountingFeatures(log), CountingFeatures(log), fallback="nearest").fit(X, y)
    count(log)
    shown = clf.explain(new)
    assert any(item.evidence for item in shown)
    seen = count(log)
    assert seen == {**once(new), **dict.fromkeys(set(seen) & set(once(clf.memories_)), 1)}


@pytest.mark.parametrize("answer", ["local", "product"])
@pytest.mark.parametrize("start", ["fresh", "global"])
def test_pipeline__shared_step__answers_as_with_a_step_of_its_own(answer, start, log):
    (X, y), (new, _) = mixed("texts", 90, 0), mixed("texts", 30, 1)
    settings = {"answer": answer, "start": start, "last": SGDClassifier(loss="log_loss")}
    shared = classifier(CountingFeatures(log), CountingFeatures(log), **settings).fit(X, y)
    own = classifier(CountingFeatures(log), CountingFeatures(log + "2"), **settings).fit(X, y)
    np.testing.assert_allclose(shared.predict_proba(new), own.predict_proba(new))
    assert [len(each) for each in shared.estimators_ if isinstance(each, Pipeline)] == [2] * sum(
        isinstance(each, Pipeline) for each in own.estimators_
    )


def test_pipeline__longer_features__the_first_steps_are_shared(log):
    (X, y), (new, _) = mixed("texts", 60, 0), mixed("texts", 12, 1)
    features = make_pipeline(CountingFeatures(log), MinMaxScaler())
    clf = classifier(features, [CountingFeatures(log), StandardScaler()], answer="product").fit(X, y)
    assert count(log) == once(X)
    clf.predict(new)
    assert count(log) == once(new)
    steps = {id(each[0]) for each in clf.estimators_ if isinstance(each, Pipeline)}
    assert steps == {id(clf.similarity_.features_[0])}


def test_pipeline__combined_similarity__its_features_are_shared(log):
    (X, y), (new, _) = mixed("texts", 60, 0), mixed("texts", 12, 1)

    def combined(features):
        parts = [("angle", CosineSimilarity(features=features)), ("near", RBFSimilarity(features=features))]
        return CombinedSimilarity(parts)

    clf = classifier(CountingFeatures(log), CountingFeatures(log), similarity=combined).fit(X, y)
    assert count(log) == once(X)
    clf.predict(new)
    assert count(log) == once(new)


# ------------------------------------------------------------------------------------------- what must not be shared


def test_pipeline__step_that_learns__is_fitted_to_the_cluster(log):
    X, y = mixed("array", 90, 0)
    clf = classifier(LearningScaler(log), LearningScaler(log), fallback="global").fit(X, y)
    for k, each in enumerate(clf.estimators_):
        if isinstance(each, Pipeline):
            np.testing.assert_allclose(each[0].mean_, X[clf.labels_ == k].mean(axis=0))
    assert clf.global_[0] is clf.similarity_.features_  # both have learned from everything


def test_pipeline__other_parameters__are_not_shared(log):
    X, y = mixed("array", 60, 0)
    clf = classifier(CountingFeatures(log), CountingFeatures(log, scale=2.0)).fit(X, y)
    own = next(each for each in clf.estimators_ if isinstance(each, Pipeline))
    np.testing.assert_allclose(own[0].transform(X[:3]), 2 * X[:3])


@pytest.mark.parametrize(
    ("features", "first"),
    [
        (OwnFitTransform("/dev/null"), OwnFitTransform("/dev/null")),
        (StandardScaler(), make_pipeline(StandardScaler())),
        (TargetEncoder(random_state=0), TargetEncoder(random_state=0)),
    ],
    ids=["own fit_transform", "inner pipeline", "target encoder"],
)
def test_fit_first_steps__own_fit_transform__is_left_to_the_pipeline(features, first):
    X, y = mixed("array", 60, 0)
    cases = Cases(X)
    RBFSimilarity(features=features).fit(cases, y)
    pipeline = make_pipeline(first, LogisticRegression())
    assert fit_first_steps(pipeline, cases, y)[:2] == ([], pipeline)


def test_pipeline__with_a_memory_of_its_own__is_left_to_itself(log, tmp_path):
    X, y = mixed("array", 60, 0)
    estimator = make_pipeline(CountingFeatures(log), LogisticRegression(), memory=str(tmp_path / "joblib"))
    clf = MemoryClassifier(RBFSimilarity(features=CountingFeatures(log)), estimator, n_memories=3, random_state=0)
    assert {each.memory for each in clf.fit(X, y).estimators_ if isinstance(each, Pipeline)} == {estimator.memory}


def test_pipeline__fit_parameters_for_its_steps__reach_them(log):
    class Told(CountingFeatures):
        def fit(self, X, y=None, word=""):
            note(self.log, word)
            return self

    X, y = mixed("array", 60, 0)
    classifier(Told(log), Told(log)).fit(X, y, told__word="here")
    assert count(log)["here"] > 1


def test_pipeline__sample_weight__goes_to_the_last_step(log):
    (X, y), (new, _) = mixed("array", 90, 0), mixed("array", 30, 1)
    weight = np.where(y == 0, 5.0, 1.0)
    shared = classifier(CountingFeatures(log), CountingFeatures(log)).fit(X, y, sample_weight=weight)
    own = classifier(CountingFeatures(log), CountingFeatures(log + "2")).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(shared.predict_proba(new), own.predict_proba(new))


def test_pipeline__vectorizer_on_both_sides__vocabularies_are_their_own():
    X, y = mixed("texts", 60, 0)
    clf = classifier(TfidfVectorizer(), TfidfVectorizer(), similarity=CosineSimilarity).fit(X, y)
    own = next(each for each in clf.estimators_ if isinstance(each, Pipeline))
    assert len(own[0].vocabulary_) < len(clf.similarity_.features_.vocabulary_)


def test_cases__kept_between_calls__changed_features_are_not_taken_from_the_cache(log):
    X, y = mixed("array", 60, 0)
    cases = Cases(X)
    clf = classifier(CountingFeatures(log), CountingFeatures(log), fallback="nearest").fit(cases, y)
    before = clf.predict_proba(cases)
    clf.similarity_.features_.scale = -1.0  # also of the estimators: it is one object
    assert not np.allclose(before, clf.predict_proba(cases))


# ---------------------------------------------------------------------------------------------------------- afterwards


@pytest.mark.parametrize("how", ["pickle", "folder"])
def test_pipeline__saved_and_loaded__still_shares(how, log, tmp_path):
    (X, y), (new, _) = mixed("array", 60, 0), mixed("array", 12, 1)
    clf = classifier(CountingFeatures(log), CountingFeatures(log), fallback="nearest").fit(X, y)
    if how == "pickle":
        loaded = pickle.loads(pickle.dumps(clf))
    else:
        memclf.save(clf, tmp_path / "model")
        loaded = memclf.load(tmp_path / "model", trusted=["counting.CountingFeatures"])
    count(log)
    np.testing.assert_array_equal(loaded.predict(new), clf.predict(new))
    assert count(log) == dict.fromkeys(once(new), 2)  # once by each of the two


def test_predict__nothing_shared__keeps_no_cache(log):
    X, y = mixed("array", 60, 0)
    clf = classifier(CountingFeatures(log), StandardScaler()).fit(X, y)
    assert not clf._cases(X).remembers


def test_counting_scaler__in_folds__still_learns_in_each(log):
    X, y = mixed("array", 60, 0)
    classifier(CountingScaler(log), CountingScaler(log), answer="product").fit(X, y)
    assert len({line.split(" ", 1)[1] for line in count(log)}) > 3
