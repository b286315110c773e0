import copy
import itertools
import shutil
from datetime import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import memclf
from memclf import MemoryClassifier, MemorySelector
from memclf.answers import RULES, LocalAnswer, ProductAnswer
from memclf.bounds.result import Assumption, Bound, MemoryTerm, Term
from memclf.exceptions import FittedPartsError, ModelFolderError
from memclf.local.competence import DETECTORS, Neighbours
from memclf.persist import classes
from memclf.similarity import REGISTRY as SIMILARITY_CLASSES
from memclf.similarity import (
    CombinedSimilarity,
    CosineSimilarity,
    FunctionSimilarity,
    GowerSimilarity,
    JudgedSimilarity,
    Precomputed,
    RBFSimilarity,
    TreeSimilarity,
)

SIMILARITIES = {
    "rbf": RBFSimilarity(),
    "rbf with features": RBFSimilarity(0.3, features=StandardScaler()),
    "cosine": CosineSimilarity(),
    "judged, from labels": JudgedSimilarity(StandardScaler()),
    "tree": TreeSimilarity(),
    "graded tree": TreeSimilarity(graded=True, tree=DecisionTreeClassifier(max_depth=4, random_state=0)),
    "gower on an array": GowerSimilarity(weights=[1.0, 2.0, 0.5]),
    "combined": CombinedSimilarity(
        [("near", RBFSimilarity(0.05)), ("angle", CosineSimilarity())], "mean", weights=[1, 2]
    ),
    "combined with a tree": CombinedSimilarity([("near", RBFSimilarity(0.05)), ("tree", TreeSimilarity())], "min"),
    "default": None,
}


@pytest.mark.parametrize("name", SIMILARITIES)
def test_every_similarity_answers_alike_after_loading(name, cases, queries, same_answers, tmp_path):
    X, y = cases
    clf = MemoryClassifier(SIMILARITIES[name], threshold=0.5, random_state=0).fit(X, y)
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    same_answers(clf, new, queries)
    assert repr(new) == repr(clf)
    assert type(new.similarity_) is type(clf.similarity_)


@pytest.mark.parametrize("name", [name for name, each in SIMILARITIES.items() if each is not None])
def test_a_similarity_alone_compares_alike_after_loading(name, cases, queries, tmp_path):
    X, y = cases
    similarity = SIMILARITIES[name].fit(X, y)
    new = memclf.load(memclf.save(similarity, tmp_path / "likeness"))
    old, read = (each.compare(each.describe(queries), each.describe(X)) for each in (similarity, new))
    np.testing.assert_array_equal(old, read, strict=True)
    assert "It says how alike two cases are: " in (tmp_path / "likeness" / "MODEL_CARD.md").read_text()


def test_precomputed_similarities_answer_alike_after_loading(cases, same_answers, tmp_path):
    X, y = cases
    similarity = RBFSimilarity(0.05).fit(X)
    S = similarity.compare(similarity.describe(X), similarity.describe(X))
    clf = MemoryClassifier(Precomputed(), DecisionTreeClassifier(random_state=0), n_memories=4).fit(S, y)
    same_answers(clf, memclf.load(memclf.save(clf, tmp_path / "model")), S)


@pytest.fixture
def table():
    """Numbers, whole numbers, categories, strings and truths, with gaps, under an index of names."""
    rng = np.random.default_rng(1)
    n = 80
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "count": rng.integers(0, 5, n),
            "grade": pd.Categorical(rng.choice(list("zyx"), n), categories=list("zyxw"), ordered=True),
            "colour": rng.choice(["red", "blue"], n),
            "new": rng.random(n) > 0.5,
            "maybe": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            7: rng.normal(size=n).astype(np.float32),
        },
        index=[f"row {i}" for i in range(n)],
    )
    gaps = {"number": None, "grade": None, "colour": None, "maybe": pd.NA}
    for position, (name, gap) in enumerate(gaps.items()):
        frame.loc[frame.index[position::9], name] = gap
    frame.columns = [str(name) for name in frame.columns]
    y = np.where(frame["count"] > 2, "many", "few")
    return frame, y


def test_a_table_with_categories_and_gaps_answers_alike_after_loading(table, same_answers, tmp_path):
    X, y = table
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["grade", "colour"]), ("passthrough", ["7"])
    )
    local = make_pipeline(columns, LogisticRegression())
    clf = MemoryClassifier(GowerSimilarity({"number": 2.0}), local, 0.7, n_memories=30, min_cluster_size=8).fit(X, y)
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    same_answers(clf, new, X)
    same_answers(clf, new, X.assign(colour="never seen"))
    assert clf.memories_.isna().to_numpy().any(axis=0).sum() == 4  # the gaps are among the memories
    pd.testing.assert_frame_equal(new.memories_, clf.memories_)
    assert new.feature_names_in_.tolist() == list(X.columns)
    with pytest.raises(ValueError, match="feature names"):
        new.predict(X.rename(columns={"new": "newer"}))


def test_dates_and_numbered_rows_keep_their_type(table, same_answers, tmp_path):
    X, y = table
    X = X[["count"]].assign(day=pd.date_range("2020-01-01", periods=len(X), freq="D")).reset_index(drop=True)
    clf = MemoryClassifier(GowerSimilarity(), DummyClassifier(), 0.6).fit(X, y)
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    same_answers(clf, new, X)
    pd.testing.assert_frame_equal(new.memories_, clf.memories_)


@pytest.mark.parametrize(
    "column",
    [
        pd.date_range("2020-01-01", periods=20, tz="Europe/Berlin"),
        pd.period_range("2020-01", periods=20, freq="M"),
        pd.interval_range(0, 20),
    ],
    ids=["time zone", "period", "interval"],
)
def test_a_column_that_cannot_be_kept_is_refused_in_saving_and_named(column, tmp_path):
    X = pd.DataFrame({"x": np.arange(20.0), "odd one": column})
    similarity = RBFSimilarity(features=make_column_transformer(("passthrough", ["x"])))
    selector = MemorySelector(similarity, n_memories=2).fit(X)
    with pytest.raises(ModelFolderError, match="odd one"):
        memclf.save(selector, tmp_path / "model")
    assert not (tmp_path / "model").exists()


CLASSIFIERS = {
    "forest": RandomForestClassifier(4),
    "extra trees": ExtraTreesClassifier(4),
    "tree": DecisionTreeClassifier(),
    "logistic": LogisticRegression(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "pipeline with forest": make_pipeline(StandardScaler(), RandomForestClassifier(3)),
    "histogram boosting": HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3),
    "boosting": GradientBoostingClassifier(n_estimators=3),
    "boosting from zero": GradientBoostingClassifier(n_estimators=3, init="zero"),
    "ada boost": AdaBoostClassifier(n_estimators=3),
    "bagging": BaggingClassifier(n_estimators=3),
    "voting": VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())], voting="soft"),
    "neighbours by brute force": KNeighborsClassifier(3, algorithm="brute"),
    "neighbours by k-d tree": KNeighborsClassifier(3, algorithm="kd_tree", leaf_size=4),
    "neighbours by ball tree": KNeighborsClassifier(3, algorithm="ball_tree", leaf_size=4, metric="manhattan"),
    "neighbours, weighted": KNeighborsClassifier(
        3, algorithm="ball_tree", p=3, metric_params={"w": np.array([1.0, 2, 3])}
    ),
    "neighbours in a radius": RadiusNeighborsClassifier(100.0),
    "support vectors": SVC(),
    "linear support vectors": LinearSVC(),
    "calibrated": CalibratedClassifierCV(GaussianNB(), cv=2),
    "naive Bayes": GaussianNB(),
    "stochastic gradient": SGDClassifier(loss="log_loss"),
    "perceptron": MLPClassifier(3, solver="lbfgs", max_iter=2000),
    "Gaussian process": GaussianProcessClassifier(),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_of_scikit_learn_loads_without_being_allowed(name, cases, queries, same_answers, tmp_path):
    X, y = cases
    clf = MemoryClassifier(RBFSimilarity(0.05), CLASSIFIERS[name], 0.5, n_memories=3, random_state=0).fit(X, y)
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    same_answers(clf, new, queries)
    assert {"constant", "fresh"} == set(new.pool_.origins)


@pytest.mark.parametrize(
    ("kind", "estimator"),
    [
        *itertools.product([sp.csr_matrix, sp.csr_array, sp.csc_matrix], [SVC(), KNeighborsClassifier(3)]),
        (sp.csr_matrix, LogisticRegression()),
        (sp.csr_array, RandomForestClassifier(3)),
        (sp.csc_array, MultinomialNB()),
    ],
)
def test_sparse_cases_answer_alike_after_loading(kind, estimator, cases, same_answers, tmp_path):
    X, y = cases
    X = kind(np.where(np.abs(X) < 2, 0.0, np.abs(X)))
    clf = MemoryClassifier(CosineSimilarity(), estimator, 0.5, n_memories=3, random_state=0).fit(X, y)
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    same_answers(clf, new, X)
    assert type(new.memories_) is type(clf.memories_)


def test_texts_answer_alike_after_loading(same_answers, tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["valve", "pump", "seal", "leaks", "hums", "sticks"], 3)) for _ in range(60)]
    y = ["broken" if "leaks" in text else "fine" for text in texts]
    clf = MemoryClassifier(
        CosineSimilarity(features=TfidfVectorizer()),
        make_pipeline(TfidfVectorizer(), LogisticRegression()),
        0.5,
        n_memories=3,
    ).fit(texts, y)
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    same_answers(clf, new, [*texts, "nothing of the kind"])
    assert new.memories_ == clf.memories_


FUNCTIONS = """
def shared(a, b, power=1.0):
    return (len(set(a) & set(b)) / len(set(a) | set(b))) ** power

def rows(A, B):
    import numpy as np
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=-1))

def size(case):
    return [float(len(case))]
"""
WORDS = ["ab", "abc", "abd", "xy", "xyz", "xz"] * 5


@pytest.mark.parametrize(
    "as_case",
    [
        str,
        list,
        tuple,
        lambda word: set(map(ord, word)),  # in an order that does not depend on the hashing of strings
        lambda word: frozenset(map(ord, word)),
        lambda word: {letter: {"deep": [1, None, 2.5, float("inf")]} for letter in word},
        str.encode,
        lambda word: [datetime(2020, 1, 1 + ord(letter) % 7) for letter in word],
        lambda word: [Decimal(ord(letter)) / 3 for letter in word],
    ],
    ids=["string", "list", "tuple", "set", "frozenset", "dictionary", "bytes", "dates", "decimals"],
)
def test_python_objects_as_cases_answer_alike_after_loading(as_case, user_module, same_answers, tmp_path):
    lab = user_module("lab_of_objects", FUNCTIONS)
    X, y = [as_case(word) for word in WORDS], ["a" if "ab" in word else "x" for word in WORDS]
    similarity = FunctionSimilarity(lab.shared, power=2.0)
    clf = MemoryClassifier(similarity, DecisionTreeClassifier(), 0.3, n_memories=2).fit(X, y)
    new = memclf.load(memclf.save(clf, tmp_path / "model"), trusted=["lab_of_objects.shared"])
    same_answers(clf, new, X)
    assert new.memories_ == clf.memories_
    assert new.similarity_.get_params()["power"] == 2.0


def test_batched_functions_and_feature_functions_answer_alike_after_loading(
    cases, queries, user_module, same_answers, tmp_path
):
    X, y = cases
    lab = user_module("lab_of_batches", FUNCTIONS)
    clf = MemoryClassifier(FunctionSimilarity(lab.rows, batched=True), threshold=0.1, n_memories=4).fit(X, y)
    new = memclf.load(memclf.save(clf, tmp_path / "batched"), trusted=[lab.rows])
    same_answers(clf, new, queries)
    clf = MemoryClassifier(RBFSimilarity(features=lab.size), DecisionTreeClassifier(), n_memories=2)
    clf.fit(WORDS, ["long" if len(word) > 2 else "short" for word in WORDS])
    same_answers(clf, memclf.load(memclf.save(clf, tmp_path / "features"), trusted=[lab.size]), WORDS)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -7]),
        np.array([-1, 1]),
        np.array([1, 2], dtype=np.uint8),
        np.array([False, True]),
        np.array([0.5, 1.5]).astype(int) + 2**40,
        np.array(["é | \n", "\\ud83d"]),
        np.array(["x", "yy"], dtype=object),
    ],
    ids=str,
)
def test_labels_keep_their_type(labels, cases, queries, same_answers, tmp_path):
    X, y = cases
    clf = MemoryClassifier(RBFSimilarity(0.05), threshold=0.5, n_memories=3).fit(X, labels[y])
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    same_answers(clf, new, queries)
    np.testing.assert_array_equal(new.classes_, clf.classes_, strict=True)
    assert type(new.unknown_label_) is type(clf.unknown_label_)


SETTINGS = {
    "merged clusters": {"min_cluster_size": 25, "n_memories": 6},
    "all clusters too small": {"min_cluster_size": 91, "n_memories": 6},
    "global fallback": {"fallback": "global"},
    "nearest fallback": {"fallback": "nearest"},
    "own fallback": {"fallback": GaussianNB()},
    "global start": {"start": "global", "estimator": RandomForestClassifier(3)},
    "global start of a pipeline": {"start": "global", "estimator": make_pipeline(StandardScaler(), GaussianNB())},
    "tight thresholds": {"thresholds": "tight"},
    "list of thresholds": {"thresholds": [0.3, 0.4, 0.5]},
    "check then argmax": {"thresholds": "tight", "rule": "check_then_argmax"},
    "estimators by number": {"estimator": {0: GaussianNB(), "default": LogisticRegression()}},
    "infinite gamma of a parameter": {"estimator": LogisticRegression(C=np.inf)},
    "own unknown label": {"unknown_label": -99},
    "the paper's search": {"search": MemorySelector(mode="paper"), "n_memories": None},
    "the paper's search as meant": {"search": MemorySelector(mode="clarans"), "n_memories": None},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_survives(name, cases, queries, same_answers, tmp_path):
    X, y = cases
    settings = {"n_memories": 3, "random_state": 0, **SETTINGS[name]}
    clf = MemoryClassifier(RBFSimilarity(0.05), threshold=0.4).set_params(**settings).fit(X, y)
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    same_answers(clf, new, queries)
    assert repr(new.get_params()) == repr(clf.get_params())
    assert str(new.search_result_) == str(clf.search_result_)
    assert new.search_result_.history == clf.search_result_.history


def test_a_random_state_goes_on_where_it_was(cases, tmp_path):
    X, y = cases
    clf = MemoryClassifier(n_memories=3, random_state=np.random.RandomState(3)).fit(X, y)
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    assert new.random_state.randint(10**9) == clf.random_state.randint(10**9)


def identities(clf):
    """Which of the classifier's estimators are one and the same object."""
    everything = [*clf.estimators_, *clf.pool_.estimators, clf.global_, clf.fallback_]
    return [[a is b for a in everything] for b in everything]


@pytest.mark.parametrize("least", [25, 91], ids=["merged", "global"])
def test_memories_that_share_a_classifier_still_share_it(least, cases, tmp_path):
    X, y = cases
    clf = MemoryClassifier(
        RBFSimilarity(0.05), n_memories=6, min_cluster_size=least, fallback="global", random_state=0
    ).fit(X, y)
    assert len({id(each) for each in clf.estimators_}) < 6
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    assert identities(new) == identities(clf)


ANSWERS = {
    "by name": "product",
    "without competence": ProductAnswer(competence=None, balance=0.0),
    "neighbours": ProductAnswer(Neighbours(k=3, unit=True)),
    "energy": ProductAnswer("energy", balance=1.0),
    "the local classifier": LocalAnswer(),
}


@pytest.mark.parametrize("unknown_rate", [None, 0.2])
@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_rule_answers_alike_after_loading(name, unknown_rate, cases, queries, same_answers, tmp_path):
    X, y = cases
    clf = MemoryClassifier(
        RBFSimilarity(0.05),
        threshold=0.5,
        n_memories=6,
        min_cluster_size=25,
        answer=ANSWERS[name],
        unknown_rate=unknown_rate,
        random_state=0,
    ).fit(X, y)
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    same_answers(clf, new, queries)
    assert repr(new.answer_) == repr(clf.answer_)
    old_detectors, detectors = vars(clf.answer_).get("detectors_", []), vars(new.answer_).get("detectors_", [])
    assert [[a is b for a in detectors] for b in detectors] == [[a is b for a in old_detectors] for b in old_detectors]


def test_a_bound_comes_back(classifier, cases, tmp_path):
    bound = Bound(
        "compression",
        0.4,
        0.05,
        90,
        3,
        terms=(Term("errors", 0.1, "9 of 90"), Term("length", 0.3)),
        memories=(MemoryTerm(0, 30, 3, 0.1, "proved", "VC", 0.2), MemoryTerm(None, 1, 0, 0.0, "proved", "none", 0.0)),
        assumptions=(Assumption("order", "cases are independent", None),),
    )
    clf = copy.copy(classifier)
    clf.bound_ = bound
    assert memclf.load(memclf.save(clf, tmp_path / "model")).bound_ == bound


def test_a_selector_clusters_alike_after_loading(cases, queries, tmp_path):
    X, _ = cases
    selector = MemorySelector(RBFSimilarity(0.05), threshold=0.6, random_state=0).fit(X)
    new = memclf.load(memclf.save(selector, tmp_path / "model"))
    assert type(new) is MemorySelector
    np.testing.assert_array_equal(new.transform(queries), selector.transform(queries), strict=True)
    np.testing.assert_array_equal(new.predict(queries), selector.predict(queries), strict=True)
    np.testing.assert_array_equal(new.labels_, selector.labels_, strict=True)
    assert list(new.get_feature_names_out()) == list(selector.get_feature_names_out())


def test_a_memory_classifier_may_be_a_local_classifier(cases, tmp_path):
    X, y = cases
    inner = MemoryClassifier(RBFSimilarity(0.1), n_memories=2, fallback="nearest")
    clf = MemoryClassifier(RBFSimilarity(0.05), inner, 0.4, n_memories=3).fit(X, y)
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    np.testing.assert_array_equal(new.predict(X), clf.predict(X))
    assert sum(type(each) is MemoryClassifier for each in new.estimators_) == 2


def test_a_memory_classifier_that_memories_share_is_one_object_after_loading(cases, tmp_path):
    X, y = cases
    inner = MemoryClassifier(RBFSimilarity(0.1), n_memories=2, fallback="nearest")
    settings = {"n_memories": 6, "min_cluster_size": 25, "fallback": "global", "random_state": 0}
    clf = MemoryClassifier(RBFSimilarity(0.05), inner, 0.4, **settings).fit(X, y)
    assert len({id(each) for each in clf.estimators_}) < 6
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    assert identities(new) == identities(clf)
    assert new.estimators_ is new.pool_.estimators


def test_a_memory_classifier_inside_another_is_checked(cases, tmp_path):
    X, y = cases
    inner = MemoryClassifier(RBFSimilarity(0.1), n_memories=2, fallback="nearest")
    clf = MemoryClassifier(RBFSimilarity(0.05), inner, 0.4, n_memories=3, fallback="global").fit(X, y)
    clf.global_.memories_ = clf.global_.memories_[::-1]
    with pytest.raises(FittedPartsError, match="memories_ was changed after the fit"):
        memclf.save(clf, tmp_path / "model")


@pytest.mark.parametrize("registry", [SIMILARITY_CLASSES, DETECTORS, RULES], ids=["similarity", "detector", "answer"])
def test_every_class_of_a_registry_may_be_named_in_a_folder(registry):
    for kind in registry.values():
        assert classes.find_estimator_class(kind.__name__) is kind


def test_a_loaded_model_can_be_saved_moved_and_loaded_again(folder, classifier, queries, same_answers, tmp_path):
    again = memclf.save(memclf.load(folder), tmp_path / "again")
    moved = shutil.move(again, tmp_path / "moved")
    same_answers(classifier, memclf.load(moved), queries)


def test_a_loaded_model_can_be_fitted_again(folder, classifier, cases, queries, same_answers):
    X, y = cases
    labels = np.array(["good", "bad"])[y]
    same_answers(classifier, memclf.load(folder).fit(X, labels), queries)


@pytest.mark.parametrize("model", [MemoryClassifier(), MemorySelector(), JudgedSimilarity()], ids=repr)
def test_an_unfitted_model_is_refused(model, tmp_path):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        memclf.save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


class Heir(MemoryClassifier):
    """A user's subclass, which a folder could not name."""


class HeirOfSimilarity(RBFSimilarity):
    """A user's subclass of a similarity."""


class Foreigner(ClassifierMixin, BaseEstimator):
    """Bears the name of memclf's class and nothing else of it."""


Foreigner.__name__ = "MemoryClassifier"


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), HeirOfSimilarity(), Heir(), Foreigner(), "a path", None],
    ids=lambda each: str(type(each)),
)
def test_what_is_not_memclfs_own_is_refused(model, tmp_path):
    with pytest.raises(
        TypeError, match="save takes a MemoryClassifier, a MemorySelector, an ImageClassifier, or a similarity"
    ):
        memclf.save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_estimator_that_cannot_be_saved_is_named(cases, tmp_path):
    X, y = cases
    clf = MemoryClassifier(n_memories=2).fit(X, y)
    clf.estimators_[0].left_over = (number for number in range(3))
    with pytest.raises(ModelFolderError, match="LogisticRegression cannot be saved without pickle"):
        memclf.save(clf, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_cases_too_large_for_a_manifest_are_refused_in_saving(user_module, tmp_path, monkeypatch):
    from memclf.persist import manifest

    lab = user_module("lab_of_large_cases", FUNCTIONS)
    selector = MemorySelector(lab.shared, 0.3, n_memories=2).fit(["ab" * 30_000, "xy" * 30_000] * 3)
    monkeypatch.setattr(manifest, "MAX_MANIFEST", 100_000)
    with pytest.raises(ModelFolderError, match="manifest.json would have .* more than 100000"):
        memclf.save(selector, tmp_path / "model")
    assert not (tmp_path / "model").exists()
