import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, StackingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from memclf import MemoryClassifier
from memclf.exceptions import LocalFitError
from memclf.local import assign
from memclf.similarity import RBFSimilarity


def three_groups(seed=0, sizes=(40, 30, 4)):
    """Three groups far apart on the first column; inside, the second column decides."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal([10 * k, 0], 0.5, (n, 2)) for k, n in enumerate(sizes)])
    y = (X[:, 1] > 0).astype(int)
    return X, y


def fit(X, y, **settings):
    settings = {"similarity": RBFSimilarity(0.02), "threshold": 0.6, "random_state": 0, **settings}
    return MemoryClassifier(**settings).fit(X, y)


def test_each_memory_has_a_classifier_trained_on_its_cluster_alone():
    X, y = three_groups()
    clf = fit(X, y, estimator=GaussianNB())
    assert np.bincount(clf.labels_).tolist() == [40, 30, 4]
    for k, local in enumerate(clf.estimators_):
        own = clf.labels_ == k
        np.testing.assert_allclose(local.theta_, GaussianNB().fit(X[own], y[own]).theta_)


def test_a_cluster_of_one_class_is_a_constant_and_trains_nothing():
    X, _ = three_groups()
    y = np.where(X[:, 0] < 5, "left", np.where(X[:, 1] > 0, "up", "down"))
    clf = fit(X, y, estimator=GaussianNB())
    assert clf.pool_.origins == ["constant", "fresh", "fresh"]
    new = np.array([[0.0, 3.0], [0.0, -3.0]])
    assert clf.predict(new).tolist() == ["left", "left"]
    np.testing.assert_array_equal(clf.predict_proba(new), [[0, 1, 0], [0, 1, 0]])


def test_classes_missing_from_a_cluster_get_probability_zero_in_their_own_column():
    X, _ = three_groups()
    y = np.where(X[:, 0] < 5, np.where(X[:, 1] > 0, "b", "d"), np.where(X[:, 1] > 0, "a", "c"))
    chances = fit(X, y, estimator=GaussianNB()).predict_proba([[0.0, 1.0], [10.0, 1.0]])
    assert chances[0, [0, 2]].tolist() == [0, 0]
    assert chances[1, [1, 3]].tolist() == [0, 0]
    np.testing.assert_allclose(chances.sum(axis=1), 1)


def test_a_small_cluster_is_merged_into_the_next_most_similar_memory():
    X, y = three_groups()
    clf = fit(X, y, estimator=GaussianNB(), min_cluster_size=10)
    assert clf.pool_.origins == ["fresh", "fresh", "merged"]
    assert clf.pool_.trained_with.tolist() == [0, 1, 1]
    assert clf.estimators_[2] is clf.estimators_[1]
    assert clf.estimators_[1].class_count_.sum() == 34
    assert clf.route([[20.0, 0.0]]).memory.tolist() == [2]


def test_clusters_that_are_too_small_together_become_the_global_classifier():
    X, y = three_groups(sizes=(3, 3, 3))
    clf = fit(X, y, min_cluster_size=50)
    assert all(local is clf.global_ for local in clf.estimators_)
    assert clf.pool_.origins == ["handed to global"] * 3


def test_merging_goes_on_until_clusters_are_large_enough():
    likeness = np.array([[1, 0.9, 0.1, 0.1], [0.9, 1, 0.2, 0.1], [0.1, 0.2, 1, 0.3], [0.1, 0.1, 0.3, 1]])
    sizes = [np.arange(n) for n in (3, 4, 2, 9)]
    assert assign(sizes, likeness, 5).tolist() == [1, 1, 3, 3]
    assert assign(sizes, likeness, 1).tolist() == [0, 1, 2, 3]
    assert assign(sizes, likeness, 19).tolist() == [-1, -1, -1, -1]


def test_memories_may_have_classifiers_of_distinct_types():
    X, y = three_groups(sizes=(40, 30, 20))
    kinds = {0: GaussianNB(), 1: DecisionTreeClassifier(), 2: LogisticRegression()}
    clf = fit(X, y, estimator=kinds, n_memories=3)
    assert [type(local) for local in clf.estimators_] == [type(kind) for kind in kinds.values()]
    mapped = fit(X, y, estimator={1: DecisionTreeClassifier(), "default": GaussianNB()})
    assert [type(local).__name__ for local in mapped.estimators_] == [
        "GaussianNB",
        "DecisionTreeClassifier",
        "GaussianNB",
    ]


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        ([GaussianNB()], TypeError, "for classifiers of different kinds give a mapping"),
        ({7: GaussianNB(), "default": GaussianNB()}, ValueError, r"names the memories \['7'\]"),
        ({0: GaussianNB()}, ValueError, r"gives nothing for the memories \[1, 2\]"),
        (GaussianNB, TypeError, "must be a classifier with fit and predict"),
        (LinearRegression(), TypeError, "must be a classifier, got the LinearRegression"),
    ],
)
def test_wrong_estimators_are_named(estimator, error, message):
    X, y = three_groups()
    with pytest.raises(error, match=message):
        fit(X, y, estimator=estimator)


class Fragile(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        if len(y) < 10:
            raise ZeroDivisionError("no data to speak of")
        return super().fit(X, y, sample_weight)


MESSAGE = r"Fragile failed on the cluster of memory 2 \(row 7\d .*4 cases, classes \{0: \d, 1: \d\}: ZeroDiv.*no data"


def test_an_estimator_that_fails_in_a_cluster_is_named_with_size_and_classes():
    X, y = three_groups()
    with pytest.raises(LocalFitError, match=MESSAGE) as caught:
        fit(X, y, estimator=Fragile())
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_weights_reach_the_local_classifiers_cut_to_their_clusters():
    X, y = three_groups(sizes=(40, 30, 20))
    weights = np.random.default_rng(0).random(len(y))
    clf = fit(X, y, estimator=GaussianNB(), n_memories=3)
    weighted = MemoryClassifier(RBFSimilarity(0.02), GaussianNB(), 0.6, n_memories=3, random_state=0)
    weighted.fit(X, y, sample_weight=weights)
    for k, local in enumerate(weighted.estimators_):
        own = weighted.labels_ == k
        np.testing.assert_allclose(local.theta_, GaussianNB().fit(X[own], y[own], weights[own]).theta_)
    assert not np.allclose(clf.estimators_[0].theta_, weighted.estimators_[0].theta_)


def test_weights_for_an_estimator_that_takes_none_are_an_error():
    X, y = three_groups()
    with pytest.raises(LocalFitError, match="KNeighborsClassifier does not take sample_weight"):
        MemoryClassifier(RBFSimilarity(0.02), KNeighborsClassifier(1), 0.6).fit(X, y, sample_weight=np.ones(len(y)))


class Remembering(GaussianNB):
    def fit(self, X, y, colour=None, speed=None):
        self.seen_ = colour, speed
        return super().fit(X, y)


def test_fit_parameters_go_through_and_those_of_one_entry_per_case_are_cut():
    X, y = three_groups()
    colour = np.arange(len(y))
    clf = MemoryClassifier(RBFSimilarity(0.02), Remembering(), 0.6).fit(X, y, colour=colour, speed="high")
    for k, local in enumerate(clf.estimators_):
        np.testing.assert_array_equal(local.seen_[0], colour[clf.labels_ == k])
        assert local.seen_[1] == "high"


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), SGDClassifier(max_iter=5, tol=None, random_state=0)),
        GaussianNB(),
        RandomForestClassifier(10, random_state=0),
        HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=3),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_local_classifiers_can_start_from_the_global_one(estimator):
    X, y = three_groups(sizes=(60, 50, 40))
    clf = fit(X, y, estimator=estimator, start="global")
    assert clf.pool_.origins == ["global"] * 3
    last = clf.estimators_[0][-1] if hasattr(estimator, "steps") else clf.estimators_[0]
    if isinstance(last, RandomForestClassifier):
        assert len(last.estimators_) == 2 * len(clf.global_.estimators_)
    if isinstance(last, GaussianNB):
        assert last.class_count_.sum() == 150 + 60
    assert clf.score(X, y) > 0.9


def test_only_memories_with_the_global_estimator_start_from_it():
    X, y = three_groups(sizes=(60, 50, 40))
    first, second, third = LogisticRegression(C=1.0), LogisticRegression(C=1e-6), GaussianNB()
    clf = fit(X, y, estimator={0: first, 1: second, 2: third}, n_memories=3, start="global")
    assert clf.pool_.origins == ["global", "fresh", "fresh"]
    assert [getattr(local, "C", None) for local in clf.estimators_] == [1.0, 1e-6, None]


def test_a_classifier_that_fails_only_when_asked_is_found_out_in_fit():
    X, y = three_groups()
    with pytest.raises(LocalFitError, match="KNeighborsClassifier failed on the cluster of memory 2.*n_neighbors"):
        fit(X, y, estimator=KNeighborsClassifier(5))


def test_what_cannot_be_continued_starts_fresh():
    X, y = three_groups()
    assert fit(X, y, estimator=DecisionTreeClassifier(), start="global").pool_.origins == ["fresh"] * 3


def test_a_cluster_that_lacks_a_class_goes_on_with_partial_fit_or_starts_fresh():
    X, _ = three_groups(sizes=(60, 50, 40))
    y = np.where(X[:, 0] < 5, 0, 1) + (X[:, 1] > 0)  # classes 0, 1 on the left and 1, 2 elsewhere
    assert fit(X, y, estimator=GaussianNB(), start="global").pool_.origins == ["global"] * 3
    assert fit(X, y, estimator=RandomForestClassifier(5), start="global").pool_.origins == ["fresh"] * 3


def test_a_stack_of_classifiers_is_a_classifier():
    X, y = three_groups(sizes=(40, 30, 20))
    stack = StackingClassifier([("nb", GaussianNB())], LogisticRegression(), cv=3)
    assert fit(X, y, estimator=stack).score(X, y) > 0.9


def test_without_probabilities_there_are_answers_but_no_predict_proba():
    X, y = three_groups(sizes=(40, 30, 20))
    clf = fit(X, y, estimator=LinearSVC())
    assert not hasattr(clf, "predict_proba")
    assert clf.score(X, y) > 0.9


# --------------------------------------------------------------------------------- what networks may do, without torch


class Network(GaussianNB):
    """Keeps the contracts of a network: it embeds, decides from embeddings, and its copies may share a backbone."""

    embedded = []
    train = "all"

    def __init__(self, share_backbone=False):
        super().__init__()
        self.share_backbone = share_backbone

    def fit(self, X, y):
        self.backbone_ = object()
        return super().fit(X, y)

    def continued(self, X, y, *, seed=None):
        local = Network(self.share_backbone).fit(X, y)
        local.backbone_ = self.backbone_ if self.share_backbone else local.backbone_
        local.seed_ = seed
        return local

    def embed(self, X):
        Network.embedded.append(len(X))
        return np.asarray(X) * 1.0

    def predict_embedded(self, E, X):
        return self.predict(E)

    def predict_proba_embedded(self, E, X):
        return self.predict_proba(E)


def test_network__knows_how_to_go_on__is_asked_to():
    X, y = three_groups(sizes=(60, 50, 40))
    clf = fit(X, y, estimator=Network(), start="global")
    assert clf.pool_.origins == ["global"] * 3
    assert len({local.seed_ for local in clf.estimators_}) == 3


@pytest.mark.parametrize("share", [True, False])
def test_network__shared_backbone__embeds_all_cases_together(share):
    X, y = three_groups(sizes=(60, 50, 40))
    clf = fit(X, y, estimator=Network(share), start="global")
    Network.embedded.clear()
    answers = clf.predict(X)
    assert Network.embedded == ([len(X)] if share else [])
    for k, local in enumerate(clf.estimators_):
        np.testing.assert_array_equal(answers[clf.labels_ == k], local.predict(X[clf.labels_ == k]))
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)


def test_network__shared_backbone_without_a_global_classifier__is_refused():
    X, y = three_groups()
    with pytest.raises(ValueError, match="share_backbone=True .* needs start='global'"):
        fit(X, y, estimator=make_pipeline(StandardScaler(), Network(True)))


def test_weights__in_a_pipeline__reach_its_last_step():
    X, y = three_groups(sizes=(40, 30, 20))
    weights = np.random.default_rng(0).random(len(y))
    pipe = make_pipeline(StandardScaler(), GaussianNB())
    clf = MemoryClassifier(RBFSimilarity(0.02), pipe, 0.6, n_memories=3, random_state=0).fit(X, y, weights)
    own = clf.labels_ == 0
    scaled = StandardScaler().fit_transform(X[own])
    np.testing.assert_allclose(clf.estimators_[0][-1].theta_, GaussianNB().fit(scaled, y[own], weights[own]).theta_)


def test_global_classifier__cases_without_weight__are_left_out():
    X, y = three_groups(sizes=(40, 30, 20))
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    clf = MemoryClassifier(RBFSimilarity(0.02), GaussianNB(), 0.6, fallback="global", random_state=0)
    clf.fit(X, y, sample_weight=weights)
    counted = weights > 0
    np.testing.assert_allclose(clf.global_.theta_, GaussianNB().fit(X[counted], y[counted]).theta_)
