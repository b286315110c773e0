import functools

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import memclf
from memclf import MemoryClassifier, MemorySelector
from memclf.similarity import (
    CosineSimilarity,
    FunctionSimilarity,
    GowerSimilarity,
    Precomputed,
    RBFSimilarity,
    TreeSimilarity,
)
from toolbox import near, same_word

X, y = load_iris(return_X_y=True)
seeds = st.integers(0, 1000)


def test_threshold__not_given__every_training_case_is_within_0_7_of_its_memory():
    fitted = MemoryClassifier(RBFSimilarity(0.5), GaussianNB(), random_state=0).fit(X, y)
    found = fitted.route(X).similarity
    assert found.min() >= 0.7 - 1e-9
    assert len(fitted.memory_indices_) > 1
    fewer = MemoryClassifier(RBFSimilarity(0.5), GaussianNB(), 0.4, random_state=0).fit(X, y)
    assert len(fewer.memory_indices_) < len(fitted.memory_indices_)
    assert fewer.route(X).similarity.min() < 0.7  # so 0.7 is no accident


def blobs(seed, n=90):
    points, _ = make_blobs(n, 2, centers=4, cluster_std=1.5, random_state=seed)
    return points, np.random.default_rng(seed).integers(0, 3, n)


def test_the_example_of_the_readme_has_all_that_it_names():
    clf = MemoryClassifier(RBFSimilarity(), RandomForestClassifier(20), threshold=0.6, random_state=0).fit(X, y)
    q = len(clf.memory_indices_)
    assert len(clf.memories_) == len(clf.thresholds_) == len(clf.estimators_) == q
    np.testing.assert_array_equal(clf.memories_, X[clf.memory_indices_])
    assert clf.labels_.shape == y.shape
    assert clf.cluster_counts_.sum() == len(y)
    assert clf.search_result_.coverage == 1
    assert clf.predict_proba(X).shape == (150, 3)
    assert clf.score(X, y) > 0.9


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from(["unknown", "nearest", "global"]), st.sampled_from(["common", "tight"]))
def test_predict_is_routing_followed_by_the_local_classifier_case_by_case(seed, fallback, thresholds):
    A, b = blobs(seed)
    clf = MemoryClassifier(
        RBFSimilarity(0.1), GaussianNB(), 0.6, fallback=fallback, thresholds=thresholds, random_state=seed
    ).fit(A, b)
    new = np.random.default_rng(seed + 1).normal(0, 8, (40, 2))
    ways, answers, chances = clf.route(new), clf.predict(new), clf.predict_proba(new)
    for i, way in enumerate(ways):
        case = new[[i]]
        if way.known or fallback == "nearest":
            local = clf.estimators_[way.nearest]
        elif fallback == "global":
            local = clf.global_
        else:
            assert answers[i] == -1
            assert not chances[i].any()
            continue
        assert answers[i] == local.predict(case)[0]
        np.testing.assert_allclose(chances[i][np.isin(clf.classes_, local.classes_)], local.predict_proba(case)[0])
        # Alone or among others: the same answer.
        assert clf.predict(case)[0] == answers[i]


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_renaming_the_classes_changes_nothing_but_the_names(seed):
    A, b = blobs(seed)
    names = np.array(["zebra", "ape", "mole"])
    numbers = MemoryClassifier(RBFSimilarity(0.1), GaussianNB(), 0.6, random_state=seed).fit(A, b)
    words = MemoryClassifier(RBFSimilarity(0.1), GaussianNB(), 0.6, random_state=seed).fit(A, names[b])
    new = np.random.default_rng(seed).normal(0, 6, (30, 2))
    np.testing.assert_array_equal(words.memory_indices_, numbers.memory_indices_)
    expected = np.where(numbers.predict(new) == -1, "unknown", names[numbers.predict(new)])
    np.testing.assert_array_equal(words.predict(new), expected)
    columns = [list(words.classes_).index(name) for name in names]
    np.testing.assert_allclose(words.predict_proba(new)[:, columns], numbers.predict_proba(new), atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_permuting_the_training_rows_gives_the_same_memories_and_answers(seed):
    A, b = blobs(seed)
    order = np.random.default_rng(seed).permutation(len(b))
    clf = MemoryClassifier(RBFSimilarity(0.1), GaussianNB(), 0.6, search=MemorySelector(cover="greedy"))
    first, second = clone(clf).fit(A, b), clone(clf).fit(A[order], b[order])
    np.testing.assert_array_equal(order[second.memory_indices_], first.memory_indices_)
    new = np.random.default_rng(seed).normal(0, 6, (30, 2))
    np.testing.assert_array_equal(first.predict(new), second.predict(new))


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_the_same_seed_gives_the_same_model_for_any_number_of_workers(n_jobs):
    A, b = blobs(0)
    clf = MemoryClassifier(RBFSimilarity(0.1), RandomForestClassifier(5), 0.6, random_state=3)
    alone, together = clone(clf).fit(A, b), clone(clf).set_params(n_jobs=n_jobs).fit(A, b)
    np.testing.assert_array_equal(alone.memory_indices_, together.memory_indices_)
    np.testing.assert_array_equal(alone.predict_proba(A), together.predict_proba(A))
    other = clone(clf).set_params(random_state=4).fit(A, b)
    assert not np.array_equal(alone.predict_proba(A), other.predict_proba(A))


def test_the_same_seed_gives_the_same_model_when_the_similarity_draws_too():
    similarity = TreeSimilarity(graded=True, tree=DecisionTreeClassifier(max_features=1, max_depth=3))
    models = [MemoryClassifier(similarity, GaussianNB(), 0.5, random_state=0).fit(X, y) for _ in range(3)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.memory_indices_, models[0].memory_indices_)


def test_every_training_case_is_known_when_coverage_is_enforced():
    A, b = blobs(1)
    for thresholds in ("common", "tight"):
        clf = MemoryClassifier(RBFSimilarity(0.1), threshold=0.7, thresholds=thresholds, random_state=0).fit(A, b)
        assert clf.route(A).known.all()
        np.testing.assert_array_equal(clf.route(A).memory, clf.labels_)


def test_far_away_is_unknown_and_the_fallback_decides_what_that_means():
    A, b = blobs(0)
    far = np.array([[500.0, 500.0]])
    settings_ = {"similarity": RBFSimilarity(0.1), "estimator": GaussianNB(), "threshold": 0.6}
    assert MemoryClassifier(**settings_).fit(A, b).predict(far) == [-1]
    assert MemoryClassifier(**settings_, unknown_label=-9).fit(A, b).predict(far) == [-9]
    whole = GaussianNB().fit(A, b)
    assert MemoryClassifier(**settings_, fallback="global").fit(A, b).predict(far) == whole.predict(far)
    forest = RandomForestClassifier(5, random_state=0)
    chosen = MemoryClassifier(**settings_, fallback=forest).fit(A, b)
    assert chosen.predict(far) == clone(forest).fit(A, b).predict(far)
    assert not hasattr(forest, "estimators_")
    assert chosen.predict_proba(far).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("labels", "unknown"),
    [
        (np.array([0, 1]), -1),
        (np.array([0, 1], dtype=np.uint8), -1),
        (np.array([0.0, 1.0]), -1),
        (np.array([False, True]), -1),
        (np.array(["a", "b"]), "unknown"),
        (np.array(["a", "b"], dtype=object), "unknown"),
    ],
    ids=lambda value: getattr(value, "dtype", value),
)
def test_unknown_fits_every_kind_of_label(labels, unknown):
    A = np.array([[0.0], [1.0], [5.0], [6.0]])
    clf = MemoryClassifier(RBFSimilarity(0.1), threshold=0.8).fit(A, labels[[0, 1, 0, 1]])
    answers = clf.predict([[0.0], [99.0]]).tolist()
    assert answers[1] == unknown
    assert answers[0] in labels.tolist()


def test_lists_of_arbitrary_objects_when_the_similarity_is_a_function():
    words = ["leaf", "fleas", "stem", "stems", "root", "roots", "petal", "plates"]
    kind = ["plant", "animal", "plant", "plural", "plant", "plural", "plant", "thing"]

    class Letters(RandomForestClassifier):
        """A forest on counts of letters, so that words are enough."""

        def fit(self, X, y, sample_weight=None):
            return super().fit(self.count(X), y, sample_weight)

        def predict_proba(self, X):
            return super().predict_proba(self.count(X))

        @staticmethod
        def count(words):
            return [[word.count(letter) for letter in "aeflmoprst"] for word in words]

    clf = MemoryClassifier(same_word, Letters(10, bootstrap=False), threshold=0.6, random_state=0).fit(words, kind)
    assert clf.predict(words).tolist() == kind
    assert clf.predict(["xyz"]).tolist() == ["unknown"]
    assert clf.memories_ == [words[k] for k in clf.memory_indices_]


def test_it_works_in_pipelines_and_searches_over_the_similaritys_own_parameters():
    pipe = make_pipeline(StandardScaler(), MemoryClassifier(RBFSimilarity(), LogisticRegression(), random_state=0))
    grid = {
        "memoryclassifier__similarity__gamma": [0.05, 5.0],
        "memoryclassifier__threshold": [0.5, 0.9],
        "memoryclassifier__estimator__C": [1.0],
    }
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert len(set(search.cv_results_["mean_test_score"])) > 1


def test_keyword_arguments_of_a_users_function_can_be_searched():
    line, label = np.arange(60.0), np.arange(60) // 10 % 2
    clf = MemoryClassifier(FunctionSimilarity(near), GaussianNB(), 0.5, fallback="nearest", random_state=0)
    clf = clf.set_params(estimator=make_pipeline(_Column(), GaussianNB()))
    search = GridSearchCV(clf, {"similarity__scale": [2.0, 100.0]}, cv=KFold(3, shuffle=True, random_state=0)).fit(
        line, label
    )
    assert search.best_params_["similarity__scale"] == 2.0


class _Column(StandardScaler):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(np.reshape(X, (-1, 1)), y)

    def transform(self, X, copy=None):
        return super().transform(np.reshape(X, (-1, 1)))


def test_cross_validation_cuts_both_sides_of_a_precomputed_matrix():
    S = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    scores = cross_val_score(MemoryClassifier(Precomputed(), GaussianNB(), 0.4, fallback="nearest"), S, y, cv=3)
    assert scores.min() > 0.8


def test_tables_in_and_tables_out():
    table, kind = load_wine(return_X_y=True, as_frame=True)
    train, test, a, b = train_test_split(table, kind, random_state=0)
    clf = MemoryClassifier(
        RBFSimilarity(features=StandardScaler()), make_pipeline(StandardScaler(), LogisticRegression()), 0.5
    ).fit(train, a)
    assert clf.score(test, b) > 0.85
    assert list(clf.feature_names_in_) == list(table.columns)
    assert isinstance(clf.memories_, pd.DataFrame)
    selector = MemorySelector(RBFSimilarity(features=StandardScaler()), 0.5).set_output(transform="pandas").fit(train)
    out = selector.transform(test)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == [f"memoryselector{k}" for k in range(len(selector.memory_indices_))]
    assert list(out.index) == list(test.index)
    nearest = out.to_numpy()[np.arange(len(test)), selector.predict(test)]
    np.testing.assert_allclose(nearest, out.to_numpy().max(axis=1), rtol=1e-9)


def test_mixed_tables_with_gaps():
    rng = np.random.default_rng(0)
    kind = rng.choice(["leaf", "stem"], 80)
    size = np.where(kind == "leaf", rng.normal(5, 1, 80), rng.normal(20, 3, 80))
    table = pd.DataFrame({"kind": kind, "size": np.where(rng.random(80) < 0.2, np.nan, size)})
    sick = np.where(kind == "leaf", size > 5, size < 20)
    from sklearn.ensemble import HistGradientBoostingClassifier

    estimator = HistGradientBoostingClassifier(categorical_features=["kind"], min_samples_leaf=2)
    table["kind"] = table["kind"].astype("category")
    clf = MemoryClassifier(GowerSimilarity({"kind": 3}), estimator, 0.7).fit(table, sick)
    assert clf.score(table, sick) > 0.8


def test_the_papers_way_one_memory_per_predicted_class():
    clf = MemoryClassifier(TreeSimilarity(), GaussianNB(), 0.5).fit(X, y)
    assert len(clf.memory_indices_) == 3
    assert clf.route(X).known.all()
    says = clf.similarity_.tree_.predict
    np.testing.assert_array_equal(says(X[clf.memory_indices_])[clf.labels_], says(X))


def test_cosine_on_sparse_rows():
    import scipy.sparse as sp

    S = sp.csr_array(np.abs(X))
    clf = MemoryClassifier(CosineSimilarity(), LogisticRegression(max_iter=1000), 0.99).fit(S, y)
    assert clf.score(S, y) > 0.9


def test_metadata_routing():
    import sklearn

    weights = np.random.default_rng(0).random(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        clf = MemoryClassifier(RBFSimilarity(0.5), GaussianNB().set_fit_request(sample_weight=True), 0.5)
        routed = clf.fit(X, y, sample_weight=weights)
    plain = MemoryClassifier(RBFSimilarity(0.5), GaussianNB(), 0.5).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(routed.predict_proba(X), plain.predict_proba(X))
    with sklearn.config_context(enable_metadata_routing=True):
        last = LogisticRegression().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        MemoryClassifier(RBFSimilarity(0.5), make_pipeline(scaler, last), 0.5).fit(X, y, sample_weight=weights)


def test_everything_public_is_named():
    assert {"MemoryClassifier", "MemorySelector", "load", "save", "select_memories"} <= set(memclf.__all__)
    assert all(hasattr(memclf, name) for name in memclf.__all__)
    with pytest.raises(AttributeError, match="no attribute 'forget'"):
        memclf.forget  # noqa: B018


def test_progress_is_shown_when_verbose(capsys):
    MemoryClassifier(RBFSimilarity(features=StandardScaler()), GaussianNB(), 0.5, verbose=1).fit(X, y)
    shown = capsys.readouterr().err
    assert "describing" in shown
    assert "searching memories" in shown
    assert "fitting local classifiers" in shown


def test_a_decision_boundary_can_be_drawn_where_answers_are_unknown():
    matplotlib.use("Agg")
    points, labels = blobs(0)
    clf = MemoryClassifier(RBFSimilarity(2.0), threshold=0.9, random_state=0).fit(points, labels)
    draw = functools.partial(DecisionBoundaryDisplay.from_estimator, X=points, grid_resolution=20)
    with pytest.raises(ValueError, match="unseen labels"):  # of scikit-learn; docs/unknown.md says what to do
        draw(clf, response_method="predict")
    for response in ("auto", "predict_proba"):
        draw(clf, response_method=response)
    draw(clf.set_params(fallback="nearest").fit(points, labels), response_method="predict")
    plt.close("all")
