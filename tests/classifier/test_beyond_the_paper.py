"""Beyond the paper: answers that learn on held-out cases, conformal thresholds, trust."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.metaestimators import available_if

import memclf
from memclf import MemoryClassifier, MemorySelector
from memclf.answers import ProductAnswer
from memclf.similarity import Precomputed, RankSimilarity, RBFSimilarity, TreeSimilarity
from memclf.vision import ImageClassifier, ImageCollection
from memclf.vision.features.base import ImageFeatures
from memclf.vision.perturbations import perturb
from pictures import passes, squares, tiny

X, y = load_wine(return_X_y=True)
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
PRODUCT = ProductAnswer(competence=None, balance=0.0)
PARTS = [
    {"answer": "product"},
    {"answer": PRODUCT},
    {"answer": ProductAnswer(competence="mahalanobis", balance=0.0)},
    {"answer": ProductAnswer(competence="neighbours", balance=0.0)},
    {"answer": ProductAnswer(competence="energy", balance=1.0)},
    {"answer": ProductAnswer(balance=0.0), "unknown_rate": 0.05, "threshold": 0.7},
    {"unknown_rate": 0.1, "threshold": 0.7},
]


def network(**settings):
    return ImageClassifier(tiny(), image_size=32, epochs=1, random_state=0, **settings)


def wine(**settings):
    return MemoryClassifier(TreeSimilarity(), LOGISTIC, min_cluster_size=10, random_state=0, **settings)


def shifted(n, seed, moved=0.0):
    """Ten pixels in which a straight line tells the class until all of them move; one number that survives."""
    rng = np.random.default_rng(seed)
    share = rng.random(n)
    noisy = share + rng.normal(0, 0.15, n)
    labels = np.digitize(noisy, [0.3, 0.7])
    pixels = labels[:, None] * np.linspace(1, 2, 10) + rng.normal(0, 2.5, (n, 10)) + moved
    return np.column_stack([share, pixels]), labels


def pixels_of(A):
    return A[:, 1:]


def shares_of(A):
    return A[:, :1]


def sturdy(**settings):
    return MemoryClassifier(
        RankSimilarity(features=FunctionTransformer(shares_of)),
        make_pipeline(FunctionTransformer(pixels_of), StandardScaler(), LogisticRegression(max_iter=1000)),
        n_memories=15,
        min_cluster_size=40,
        random_state=0,
        **settings,
    )


@pytest.mark.parametrize("settings", PARTS, ids=str)
def test_every_part_works_by_itself_saves_and_explains(settings, tmp_path):
    clf = wine(**settings).fit(X[::2], y[::2])
    P = clf.predict_proba(X[1::2])
    known = P.any(axis=1)
    np.testing.assert_allclose(P[known].sum(axis=1), 1)
    answers = clf.predict(X[1::2])
    np.testing.assert_array_equal(answers[known], clf.classes_[P[known].argmax(axis=1)])
    assert (answers[~known] == -1).all()
    assert np.mean(answers == y[1::2]) > 0.8
    told = clf.explain(X[1:8:2])
    assert ("rare classes weighed up" in str(told)) == bool(getattr(clf.answer_, "balance", 0.0))
    assert [each.answer for each in told] == answers[:4].tolist()
    memclf.save(clf, tmp_path / "model")
    again = memclf.load(tmp_path / "model")
    if isinstance(clf.answer_, ProductAnswer):
        detectors, before = again.answer_.detectors_, clf.answer_.detectors_
        assert len({id(each) for each in detectors}) == len({id(each) for each in before})
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert str(again.explain(X[1:8:2])) == str(told)


def test_nothing_is_learned_where_nothing_is_asked_for():
    clf = wine().fit(X, y)
    branch = clf.route(X).memory
    expected = [clf.estimators_[k].predict(X[[i]])[0] for i, k in enumerate(branch)]
    assert clf.predict(X).tolist() == expected


def test_the_same_seed_gives_the_same_classifier():
    one, two = (wine(answer="product").fit(X, y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_a_sturdy_description_holds_where_the_local_classifier_collapses():
    A, b = shifted(600, 0)
    C, d = shifted(600, 1, moved=8.0)
    clean, e = shifted(600, 2)
    paper, product = sturdy().fit(A, b), sturdy(answer=ProductAnswer(balance=0.0)).fit(A, b)
    stage1 = np.mean(product.label_distributions_[product.route(clean).memory].argmax(axis=1) == e)
    assert paper.score(C, d) < 0.6
    assert product.score(C, d) > 0.7
    assert product.score(clean, e) > stage1 + 0.02  # together they are more than the description alone
    assert product.score(clean, e) > paper.score(clean, e) - 0.05
    strange, usual = (product.answers(each).routes.strangeness for each in (C, clean))
    assert np.median(strange) > np.quantile(usual, 0.99)
    assert "the classifier counts for less, since the case is strange to it" in product.explain(C[:1])[0].sentence


@pytest.mark.parametrize("fallback", ["global", "unknown"])
def test_balance__no_memory_answers__weighs_the_fallback_and_leaves_unknown(fallback):
    rare = np.concatenate([np.flatnonzero(y != 2), np.flatnonzero(y == 2)[:10]])
    far = X + 100.0  # no memory is similar
    clf = MemoryClassifier(RBFSimilarity(1e-3), LOGISTIC, threshold=0.5, fallback=fallback, random_state=0)
    clf.set_params(answer=ProductAnswer(competence=None, balance=1.0)).fit(X[rare], y[rare])
    assert not clf.route(far).known.any()
    P = clf.predict_proba(far)
    if fallback == "unknown":
        assert not P.any()
        return
    said = clf.fallback_.predict_proba(far) / clf.frequencies_
    np.testing.assert_allclose(P, said / said.sum(axis=1, keepdims=True))


def test_balance_trades_common_classes_for_rare_ones():
    rng = np.random.default_rng(0)
    b = (rng.random(900) < 0.08).astype(int)
    A = np.column_stack([rng.normal(b, 1.0), rng.normal(b, 1.0)])
    recalls = []
    for balance in (0.0, 0.5, 1.0):
        clf = MemoryClassifier(
            n_memories=4, fallback="nearest", answer=ProductAnswer(None, balance), random_state=0
        ).fit(A, b)
        said = clf.predict(A)
        recalls.append([np.mean(said[b == c] == c) for c in (0, 1)])
    rare, common = np.array(recalls)[:, 1], np.array(recalls)[:, 0]
    assert rare[0] <= rare[1] < rare[2]
    assert common[0] >= common[1] > common[2]


def test_held_out_opinions_are_from_classifiers_that_have_not_seen_the_case():
    """A classifier that remembers everything is always right about what it has seen; its temperature tells."""
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(300, 2)), rng.integers(0, 3, 300)
    clf = MemoryClassifier(
        estimator=KNeighborsClassifier(1), n_memories=3, answer=PRODUCT, random_state=0, min_cluster_size=10
    ).fit(A, b)
    assert clf.answer_.weights_[0] < 0.1  # on the cases it was fitted to, it would be believed without end


def test_cases_of_no_weight_are_absent_from_folds_too():
    weights = np.ones(len(y))
    weights[::3] = 0
    kept = np.flatnonzero(weights)
    weighed = wine(answer="product").fit(X, y, sample_weight=weights)
    without = wine(answer="product").fit(X[kept], y[kept], sample_weight=np.ones(len(kept)))
    assert len(weighed.answer_.calibration_.held) == len(kept)
    np.testing.assert_allclose(weighed.answer_.weights_, without.answer_.weights_, atol=0.2)


def test_classifiers_without_probabilities_cannot_be_combined():
    clf = MemoryClassifier(TreeSimilarity(), LinearSVC(), min_cluster_size=30, random_state=0, answer="product")
    with pytest.raises(TypeError, match="needs classifiers that give probabilities"):
        clf.fit(X, y)


class Counting(LinearSVC):
    """Counts its fits; a linear support vector machine has no probabilities."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Counting.fits += 1
        return super().fit(X, y, sample_weight)


class CountingScaler(StandardScaler):
    """Counts its fits."""

    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        CountingScaler.fits += 1
        return super().fit(X, y, sample_weight)


WITHOUT_PROBABILITIES = {
    "classifier": {"estimator": Counting()},
    "fallback": {"estimator": LOGISTIC, "fallback": Counting()},
    "pipeline": {"estimator": make_pipeline(StandardScaler(), Counting())},
    "search": {"estimator": GridSearchCV(Counting(), {"C": [0.1, 1]})},
    "one against the rest": {"estimator": OneVsRestClassifier(Counting())},
    "hard votes": {"estimator": VotingClassifier([("a", LOGISTIC), ("b", Counting())])},
    "stack": {"estimator": StackingClassifier([("a", LOGISTIC)], Counting())},
    "pipeline in a search": {
        "estimator": GridSearchCV(make_pipeline(StandardScaler(), Counting()), {"counting__C": [0.1, 1]}),
    },
}


@pytest.mark.parametrize("name", WITHOUT_PROBABILITIES)
def test_a_missing_predict_proba_is_noticed_before_any_fit(name):
    Counting.fits = CountingScaler.fits = 0
    clf = MemoryClassifier(RBFSimilarity(features=CountingScaler()), answer=PRODUCT, **WITHOUT_PROBABILITIES[name])
    with pytest.raises(TypeError, match=r"give probabilities \(predict_proba\); the (estimator|fallback) .*Counting"):
        clf.fit(X, y)
    assert (Counting.fits, CountingScaler.fits) == (0, 0)


def test_a_missing_predict_proba_is_noticed_in_a_second_fit():
    clf = wine().fit(X, y).set_params(estimator=Counting(), answer="product")
    Counting.fits = 0
    with pytest.raises(TypeError, match="the estimator Counting"):
        clf.fit(X, y)
    assert Counting.fits == 0


class Late(ClassifierMixin, BaseEstimator):
    """Has `predict_proba` only when it is fitted."""

    def fit(self, X, y):
        self.inside_ = LogisticRegression(max_iter=5000).fit(X, y)
        self.classes_ = self.inside_.classes_
        return self

    def predict(self, X):
        return self.inside_.predict(X)

    @available_if(lambda self: hasattr(self, "inside_"))
    def predict_proba(self, X):
        return self.inside_.predict_proba(X)


TELLS_LATER = {
    "a user's own": Late(),
    "stack": StackingClassifier([("a", LinearSVC())], cv=2),
    "search for the classifier": GridSearchCV(
        make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc": [LogisticRegression()]}, cv=2
    ),
    "search for its setting": GridSearchCV(SGDClassifier(random_state=0), {"loss": ["log_loss"]}, cv=2),
    "search over a distribution": RandomizedSearchCV(
        SGDClassifier(loss="log_loss", random_state=0), {"alpha": uniform(0.01, 0.1)}, n_iter=2, cv=2, random_state=0
    ),
}


@pytest.mark.parametrize("name", TELLS_LATER)
def test_a_classifier_that_has_predict_proba_only_after_the_fit_is_welcome(name):
    clf = MemoryClassifier(TreeSimilarity(), TELLS_LATER[name], min_cluster_size=60, answer=PRODUCT, random_state=0)
    assert clf.fit(X, y).predict_proba(X[:3]).shape == (3, 3)


@pytest.mark.parametrize(
    "estimator",
    [
        RandomizedSearchCV(LinearSVC(), {"C": uniform(0.1, 1)}, n_iter=2, cv=2, random_state=0),
    ],
    ids=["search"],
)
def test_a_predict_proba_that_is_missing_after_the_fit_is_still_noticed(estimator):
    clf = MemoryClassifier(TreeSimilarity(), estimator, min_cluster_size=60, answer=PRODUCT, random_state=0)
    with pytest.raises(TypeError, match="give probabilities .*; those that were fitted do not"):
        clf.fit(X, y)


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(ValueError, match="unknown_rate asks for conformal thresholds, and thresholds='tight' for oth"):
        wine(unknown_rate=0.1, thresholds="tight").fit(X, y)
    with pytest.raises(ValueError, match="give one estimator for all memories"):
        MemoryClassifier(TreeSimilarity(), {"default": LOGISTIC}, answer="product").fit(X, y)
    with pytest.warns(UserWarning, match="min_trust=.* has no effect"):
        wine(min_trust=0.5).fit(X, y)


def test_a_class_without_weight_is_never_answered():
    A, b = np.vstack([X, X[:6]]), np.append(y, np.full(6, 9))
    weights = np.append(np.ones(len(X)), np.zeros(6))
    for answer in ("local", "product", ProductAnswer(competence=None, balance=1.0)):
        clf = wine(answer=answer, fallback=LOGISTIC).fit(A, b, sample_weight=weights)
        far = np.vstack([X, 100 * X])
        P = clf.predict_proba(far)
        np.testing.assert_allclose(P.sum(axis=1), 1)
        assert not P[:, 3].any()
        assert 9 not in clf.predict(far)


def test_weights_count_in_what_memories_say():
    weights = np.where(y == 1, 5, 1)
    weighed = wine(answer=PRODUCT).fit(X, y, sample_weight=weights)
    repeated = wine(answer=PRODUCT).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighed.frequencies_, repeated.frequencies_)
    np.testing.assert_allclose(weighed.label_distributions_, repeated.label_distributions_, atol=0.02)
    assert weighed.cluster_counts_.sum() == len(y)


def test_thresholds_of_single_memories_do_not_trouble_the_folds():
    plain = wine().fit(X, y)
    rows = {int(plain.memory_indices_[0]): 0.6}
    assert wine(thresholds=rows, answer=PRODUCT).fit(X, y).thresholds_[0] == 0.6
    q = len(plain.memory_indices_)
    assert wine(thresholds=[0.5] * q, answer="product").fit(X, y).thresholds_.tolist() == [0.5] * q
    many = MemoryClassifier(n_memories=150, estimator=LOGISTIC, answer=PRODUCT, min_cluster_size=40, random_state=0)
    assert many.fit(X, y).score(X, y) > 0.8


def test_metadata_is_routed_once():
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        estimator = LogisticRegression(max_iter=5000).set_fit_request(sample_weight="importance")
        clf = MemoryClassifier(TreeSimilarity(), estimator, answer=PRODUCT, min_cluster_size=40, random_state=0)
        assert clf.fit(X, y, importance=np.ones(len(y))).score(X, y) > 0.8


def test_tables_keep_their_names_in_folds(recwarn):
    import pandas as pd

    table = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    labels = np.array(["a", "b", "c"])[y]
    wine(answer=ProductAnswer(competence="neighbours")).fit(table, labels)
    assert not [w for w in recwarn if "feature names" in str(w.message)]


class Plain:
    """What the contract of a similarity asks for, and no more."""

    def fit(self, X, y=None):
        self.centre = np.mean(X, axis=0)
        self.spread = np.std(X, axis=0)
        return self

    def describe(self, X):
        return (np.asarray(X) - self.centre) / self.spread

    def compare(self, A, B):
        return np.exp(-0.05 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("settings", [{}, *PARTS], ids=str)
def test_any_object_that_keeps_the_contract_is_a_similarity(settings):
    clf = MemoryClassifier(Plain(), LOGISTIC, min_cluster_size=10, random_state=0, **{"threshold": 0.5, **settings})
    assert clf.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.8


def test_an_object_that_knows_nothing_of_trust_is_not_asked():
    clf = MemoryClassifier(Plain(), LOGISTIC, 0.5, min_cluster_size=10, min_trust=0.5, random_state=0)
    with pytest.warns(UserWarning, match="min_trust=.* has no effect"):
        clf.fit(X, y)
    assert clf.route(X).trusted.all()


@pytest.mark.parametrize("as_table", [False, True], ids=["array", "table"])
@pytest.mark.parametrize("settings", PARTS, ids=str)
def test_a_matrix_is_cut_both_ways_in_folds(settings, as_table):
    """Every fold sees the similarities to its own training cases, so thresholds are the same as from the cases."""
    import pandas as pd

    Z = StandardScaler().fit_transform(X)
    S = RBFSimilarity(0.05).fit(Z).compare(Z, Z)
    train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    known, new = S[np.ix_(train, train)], S[np.ix_(test, train)]
    names = [f"case {row}" for row in train]
    known, new = (pd.DataFrame(each, columns=names) if as_table else each for each in (known, new))
    clf = MemoryClassifier(
        Precomputed(), LOGISTIC, min_cluster_size=10, random_state=0, **{"threshold": 0.5, **settings}
    )
    assert clf.fit(known, y[train]).score(new, y[test]) > 0.8
    if clf.unknown_rate is not None:
        # A cover is full of ties, which hang on the last bit; three memories are found again from any start.
        same = MemoryClassifier(RBFSimilarity(0.05), LOGISTIC, min_cluster_size=10, random_state=0, **settings)
        for each, cases in ((clf, known), (same, Z[train])):
            each.set_params(n_memories=3, search=MemorySelector(n_restarts=5)).fit(cases, y[train])
        np.testing.assert_array_equal(clf.memory_indices_, same.memory_indices_)
        np.testing.assert_allclose(clf.thresholds_, same.thresholds_, rtol=1e-9)
        assert len(np.unique(same.thresholds_)) == 3


class Redness(ImageFeatures):
    """Knows that it means nothing in the dark."""

    names = ("red",)
    signs = ("light",)

    def measure(self, image, info):
        return image[:, :, 0].mean() - image[:, :, 2].mean(), image.mean()

    def believe(self, signs):
        return np.clip(signs[:, 0] / 4, 0, 1)


def test_a_feature_that_distrusts_itself_sends_cases_to_no_memory():
    pictures, labels = squares(40, size=36)
    dark = (np.asarray(pictures[:4]) // 40).astype(np.uint8)
    clf = MemoryClassifier(
        TreeSimilarity(features=Redness()), network(), start="global", min_trust=0.5, random_state=0
    ).fit(ImageCollection(pictures), labels)
    mixed = ImageCollection(np.concatenate([np.asarray(pictures[:4]), dark]))
    ways = clf.route(mixed)
    assert ways.trusted.tolist() == [True] * 4 + [False] * 4
    assert (ways.memory[4:] == -1).all()
    assert [str(each) for each in clf.predict(mixed)[4:]] == ["unknown"] * 4 or (clf.predict(mixed)[4:] == -1).all()
    assert "the features do not trust their own description" in clf.explain(mixed)[5].sentence
    asked = clf.set_params(min_trust=0.0)
    assert asked.route(mixed).trusted.all()
    assert Redness().transform(mixed).shape == (8, 1)
    assert Redness().trust(mixed).shape == (8,)


# ----------------------------------------------------------------------------------------------- perturbations


def test_learning_never_corrupts(monkeypatch):
    def forbidden(*args, **kwargs):
        raise AssertionError("a corruption was used for learning")

    monkeypatch.setattr("memclf.vision.changes.corrupt", forbidden)
    looked = []
    monkeypatch.setattr("memclf.vision.changes.perturb", lambda *a, **k: (looked.append(1), perturb(*a, **k))[1])
    pictures, labels = squares(36, size=36)
    clf = MemoryClassifier(
        TreeSimilarity(features=Redness()),
        network(),
        start="global",
        answer="product",
        random_state=0,
    ).fit(ImageCollection(pictures), labels)
    assert clf.answer_.weights_.any()
    assert len(looked) >= 2 * 36  # every held-out picture in two perturbed versions


def test_networks_look_at_an_image_once_for_answer_and_competence():
    pictures, labels = squares(40, size=36)
    clf = MemoryClassifier(
        TreeSimilarity(features=Redness()),
        network(share_backbone=True),
        start="global",
        answer="product",
        random_state=0,
    ).fit(ImageCollection(pictures), labels)
    seen, handle = passes(clf.global_.backbone_)
    clf.predict(ImageCollection(pictures[:10]))
    handle.remove()
    assert sum(seen) == 10
