"""Memory classifiers on Dask collections in this process; on workers they are tested in `tests/cluster`."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from limits import lower_limits
from memclf import MemoryClassifier, search_curve
from memclf.answers import AutoAnswer, ProductAnswer
from memclf.cases.chunks import Chunks
from memclf.exceptions import LocalFitError
from memclf.similarity import CosineSimilarity, GowerSimilarity, Precomputed, RBFSimilarity

da = pytest.importorskip("dask.array")
bag = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

rng = np.random.default_rng(0)
X = rng.normal(size=(360, 2)) + rng.integers(0, 2, (360, 1)) * 8
y = np.where(X[:, 0] > X[:, 1], "above", "below")
noisy = np.where(rng.random(360) < 0.15, "below", y)  # so that no part is always right
D = da.from_array(X, chunks=((100, 7, 253), (1, 1)))


def classifier(estimator=None, **options):
    options = {"similarity": RBFSimilarity(0.1), "threshold": 0.5, "random_state": 0} | options
    return MemoryClassifier(estimator=estimator, **options)


def assert_same(chunked, one, answers, expected):
    np.testing.assert_array_equal(chunked.memory_indices_, one.memory_indices_)
    np.testing.assert_array_equal(chunked.labels_, one.labels_)
    np.testing.assert_array_equal(chunked.cluster_counts_, one.cluster_counts_)
    assert chunked.pool_.origins == one.pool_.origins
    np.testing.assert_array_equal(answers.compute(), expected)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"answer": "labels"},
        {"fallback": "global", "min_cluster_size": 40},
        {"start": "global", "estimator": RandomForestClassifier(3)},
        {"fallback": DecisionTreeClassifier(), "thresholds": "tight"},
    ],
)
def test_chunked__fit_and_predict__are_those_of_the_array(options):
    one, chunked = classifier(**options).fit(X, y), classifier(**options).fit(D, da.from_array(y, chunks=90))
    assert_same(chunked, one, chunked.predict(D), one.predict(X))


def test_chunked__very_many_cases__are_those_of_the_array(monkeypatch):
    lower_limits(monkeypatch)
    weights = rng.integers(0, 3, len(X)).astype(float)
    one, chunked = (classifier(LogisticRegression()).fit(data, y, weights) for data in (X, D))
    assert chunked.search_result_.way == "batches"
    assert_same(chunked, one, chunked.predict(D), one.predict(X))
    np.testing.assert_allclose(chunked.predict_proba(D).compute(), one.predict_proba(X), atol=1e-9)


def test_chunked__answers__are_dask_arrays_of_known_chunks():
    clf = classifier(answer="labels").fit(X, y)
    found, expected = clf.answers(D), clf.answers(X)
    assert found.labels.chunks == found.routes.memory.chunks == ((100, 7, 253),)
    np.testing.assert_array_equal(found.labels.compute(), expected.labels)
    np.testing.assert_allclose(found.probabilities.compute(), expected.probabilities)
    np.testing.assert_array_equal(clf.route(D).known.compute(), expected.routes.known)
    np.testing.assert_allclose(clf.similarities(D).compute(), clf.similarities(X))
    assert found.local is None


def test_chunked__data_frame_of_numbers_and_categories__is_that_of_the_table():
    table = pd.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 0, "u", "v"), "b": X[:, 1]})
    frame = dd.from_pandas(table, npartitions=3)
    tree = make_pipeline(pd_numbers(), DecisionTreeClassifier(random_state=0))
    one, chunked = (classifier(tree, similarity=GowerSimilarity()).fit(data, y) for data in (table, frame))
    assert list(chunked.feature_names_in_) == ["a", "kind", "b"]
    assert_same(chunked, one, chunked.predict(frame), one.predict(table))


def pd_numbers():
    from sklearn.compose import make_column_transformer

    return make_column_transformer(("passthrough", ["a", "b"]))


def test_chunked__bag_of_texts__is_that_of_the_list():
    words = [f"{['cat', 'dog'][i % 2]} {['rain', 'sun'][i // 50]} {i % 7}" for i in range(100)]
    kinds = np.arange(100) % 2
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    similarity, several = CosineSimilarity(features=TfidfVectorizer()), bag.from_sequence(words, npartitions=4)
    one, chunked = (
        classifier(pipeline, similarity=similarity, threshold=0.3).fit(data, kinds) for data in (words, several)
    )
    assert_same(chunked, one, chunked.predict(several), one.predict(words))


def test_chunked__describe__is_a_dask_array():
    similarity = RBFSimilarity(1.0, features=make_pipeline(RowSum())).fit(X)
    found = similarity.describe(D)
    assert found.chunks == ((100, 7, 253), (1,))
    np.testing.assert_allclose(found.compute(), similarity.describe(X))


def RowSum():
    from sklearn.preprocessing import FunctionTransformer

    return FunctionTransformer(lambda rows: rows.sum(axis=1, keepdims=True))


FOLDED = [
    {"unknown_rate": 0.1},
    {"answer": "product", "unknown_rate": 0.2, "fallback": "nearest"},
    {"answer": "auto", "unknown_rate": 0.1, "n_memories": 6, "cv": 2},
]


def assert_same_rules(chunked, one):
    np.testing.assert_array_equal(chunked.memory_indices_, one.memory_indices_)
    np.testing.assert_allclose(chunked.thresholds_, one.thresholds_, atol=1e-6)
    np.testing.assert_allclose(chunked.predict_proba(D).compute(), one.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(chunked.route(D).known.compute(), one.route(X).known)
    if one.distances_ is not None:
        np.testing.assert_allclose(chunked.distances_.far, one.distances_.far, atol=1e-6)
    if isinstance(one.answer_, ProductAnswer):
        np.testing.assert_allclose(chunked.answer_.calibration_.held, one.answer_.calibration_.held, atol=1e-6)
    if isinstance(one.answer_, AutoAnswer):
        assert chunked.answer_.believed_ == one.answer_.believed_
        assert chunked.answer_.scores_ == pytest.approx(one.answer_.scores_, abs=1e-6)


@pytest.mark.parametrize("options", FOLDED)
def test_chunked__what_is_learned_on_folds__is_that_of_the_array(options):
    one, chunked = classifier(**options).fit(X, noisy), classifier(**options).fit(D, noisy)
    assert_same_rules(chunked, one)


def test_chunked__folds_with_weights_and_groups__are_those_of_the_array():
    weight, groups = np.arange(len(X)) % 3 / 2.0, np.arange(len(X)) // 4
    one, chunked = (
        classifier(answer="product", unknown_rate=0.1).fit(data, noisy, weight, groups=groups) for data in (X, D)
    )
    assert_same_rules(chunked, one)


def test_chunked__folds_of_a_data_frame__are_those_of_the_table():
    table = pd.DataFrame(X, columns=["a", "b"])
    frame = dd.from_pandas(table, npartitions=3)
    one, chunked = (classifier(answer="auto", cv=2).fit(data, noisy) for data in (table, frame))
    np.testing.assert_allclose(chunked.predict_proba(frame).compute(), one.predict_proba(table), atol=1e-6)
    assert chunked.answer_.scores_ == pytest.approx(one.answer_.scores_, abs=1e-6)


class Brightness(TransformerMixin, BaseEstimator):
    """Measures the mean of a row, and as a detail its first number."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.asarray(X).mean(axis=1, keepdims=True)

    def inspect(self, X):
        return np.hstack([self.transform(X), np.asarray(X)[:, :1]])


def test_chunked__auto_with_measurements__asks_the_same_forest():
    one, chunked = (
        classifier(answer="auto", similarity=RBFSimilarity(0.5, features=Brightness()), cv=2).fit(data, noisy[:150])
        for data in (X[:150], D[:150])
    )
    assert "measurements" in one.answer_.scores_
    assert chunked.answer_.scores_ == pytest.approx(one.answer_.scores_, abs=1e-6)


def test_chunked__folds__take_cases_to_this_process_only_as_memories(monkeypatch):
    kept = []
    keep = Chunks.keep
    monkeypatch.setattr(Chunks, "keep", lambda self, rows: kept.append(len(rows)) or keep(self, rows))
    clf = classifier(answer="product", unknown_rate=0.1).fit(D, noisy)
    assert max(kept) <= 2 * len(clf.memory_indices_)


def assert_same_curve(found, expected):
    assert len(found.points) == len(expected.points)
    for point, other in zip(found.points, expected.points, strict=True):
        assert vars(point) == pytest.approx(vars(other), abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"answer": "labels", "fallback": "nearest"}, {"answer": "product"}])
def test_chunked__number_of_memories_auto__is_that_of_the_array(options):
    one, chunked = (classifier(n_memories="auto", cv=2, **options).fit(data, noisy) for data in (X, D))
    assert_same(chunked, one, chunked.predict(D), one.predict(X))
    assert_same_curve(chunked.search_curve_, one.search_curve_)


def test_search_curve__chunks__is_that_of_the_array():
    assert_same_curve(*(search_curve(classifier(answer="labels", cv=2), data, noisy, [2, 5]) for data in (X, D)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"similarity": Precomputed(), "unknown_rate": 0.1}, "a fold of a matrix of similarities"),
    ],
)
def test_chunked__what_needs_the_cases_in_memory__is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        classifier(**options).fit(D, y)


def test_chunked__explain__asks_for_cases_in_memory():
    with pytest.raises(TypeError, match="this takes cases in memory, but X is a Dask collection"):
        classifier().fit(X, y).explain(D)


def test_chunked__nan_in_what_is_predicted__names_chunk_and_row():
    bad = X.copy()
    bad[105, 1] = np.nan
    later = classifier().fit(X, y).predict(da.from_array(bad, chunks=((100, 7, 253), 2)))
    with pytest.raises(ValueError, match="NaN") as caught:
        later.compute(scheduler="synchronous")
    assert caught.value.__notes__[-1] == "This happened in chunk 1 of X: its row 5 holds nan in column 1."


def test_chunked__nan_in_a_data_frame_that_is_predicted__names_chunk_row_and_column():
    frame = pd.DataFrame(X, columns=["a", "b"])
    clf = classifier().fit(frame, y)
    frame.loc[205, "b"] = np.nan
    later = clf.predict(dd.from_pandas(frame, npartitions=3))
    with pytest.raises(ValueError, match="NaN") as caught:
        later.compute(scheduler="synchronous")
    assert caught.value.__notes__[-1] == "This happened in chunk 1 of X: its row 85 holds nan in column 'b'."


def test_chunked__labels_of_another_length__are_refused():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier().fit(D, y[:-1])


def test_chunked__local_classifier_that_fails__names_its_memory():
    class Fails(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            raise RuntimeError("no")

    with pytest.raises(LocalFitError, match=r"failed on the cluster of memory \d+ \(row"):
        classifier(Fails()).fit(D, y)


def mean_colour(image):
    return image.mean(axis=(0, 1))


def test_chunked__bag_of_images__each_chunk_is_read_and_described_where_it_is():
    shades = np.random.default_rng(0).integers(0, 60, (24, 1, 1, 1)) + np.array(
        [[[[180, 40, 40]]], [[[40, 180, 40]]]] * 12
    )
    images = list(np.broadcast_to(shades, (24, 16, 16, 3)).astype(np.uint8))
    kinds = np.array(["red", "green"] * 12)
    several = bag.from_sequence(range(24), npartitions=4).map(images.__getitem__)
    clf = classifier(answer="labels", similarity=RBFSimilarity(features=mean_colour), n_memories=2)
    one = clf.fit(images, kinds).memory_indices_, clf.predict(images)
    chunked = clf.fit(several, kinds)
    np.testing.assert_array_equal(chunked.memory_indices_, one[0])
    np.testing.assert_array_equal(chunked.predict(several).compute(scheduler="synchronous"), one[1])
