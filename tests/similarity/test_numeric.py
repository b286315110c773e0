import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from memclf import MemoryClassifier
from memclf.similarity import CosineSimilarity, RankSimilarity, RBFSimilarity, TreeSimilarity
from memclf.vision import ImageCollection
from toolbox import length_and_first

tables = arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 5)), elements=st.floats(-1e3, 1e3, width=32))


@settings(max_examples=60, deadline=None)
@given(tables, st.floats(1e-4, 10))
def test_rbf_is_the_exponential_of_the_squared_distance(X, gamma):
    similarity = RBFSimilarity(gamma)
    Z = similarity.fit_describe(X)
    np.testing.assert_allclose(similarity.compare(Z, Z), np.exp(-gamma * cdist(X, X, "sqeuclidean")), atol=1e-6)
    assert (np.diag(similarity.compare(Z, Z)) > 1 - 1e-9).all()


def test_rbf_keeps_its_digits_far_from_the_origin():
    X = 1e6 + np.random.default_rng(0).normal(size=(20, 3))
    similarity = RBFSimilarity(1.0)
    Z = similarity.fit_describe(X)
    np.testing.assert_allclose(similarity.compare(Z, Z), np.exp(-cdist(X, X, "sqeuclidean")), atol=1e-8)


def test_one_outlier_does_not_spoil_the_others():
    X = np.vstack([np.random.default_rng(0).random((99, 2)) * 10, [[1e10, 1e10]]])
    similarity = RBFSimilarity(0.5)
    Z = similarity.fit_describe(X)
    np.testing.assert_allclose(similarity.compare(Z, Z), np.exp(-0.5 * cdist(X, X, "sqeuclidean")), atol=1e-12)


@pytest.mark.parametrize(("spread", "gamma"), [(1000.0, 1.0), (10.0, 100.0), (1.0, 0.3)])
def test_a_similarity_does_not_depend_on_the_batch(spread, gamma):
    X = np.random.default_rng(0).normal(0, spread, (300, 3))
    X[150:] = X[:150] + np.random.default_rng(1).normal(0, 0.1 / np.sqrt(gamma), (150, 3))
    similarity = RBFSimilarity(gamma)
    Z = similarity.fit_describe(X)
    whole = similarity.compare(Z[:20], Z)
    single = np.hstack([similarity.compare(Z[:20], Z[[i]]) for i in range(300)])
    np.testing.assert_allclose(whole, single, rtol=0, atol=1e-13)


def test_dense_training_and_sparse_questions_agree():
    X = np.random.default_rng(0).random((30, 4))
    similarity = RBFSimilarity(1.0)
    Z = similarity.fit_describe(X)
    S = similarity.describe(sp.csr_array(X))
    np.testing.assert_allclose(similarity.compare(Z, S), similarity.compare(Z, Z))


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e160])
def test_cases_too_near_or_too_far_for_a_scale_are_an_error(scale):
    with pytest.raises(ValueError, match="too large or too small"):
        RBFSimilarity().fit(np.arange(5.0)[:, None] * scale)


def test_a_weight_of_zero_is_absence_for_features_too():
    X, weights = np.array([[0.0], [1.0], [1000.0]]), [1, 1, 0]
    similarity = RBFSimilarity(1.0, features=StandardScaler()).fit(X, sample_weight=weights)
    assert similarity.features_.mean_ == [0.5]


def test_rbf_takes_its_scale_from_the_median_distance():
    X = np.random.default_rng(0).normal(size=(50, 3))
    distances = cdist(X, X, "sqeuclidean")[np.triu_indices(50, 1)]
    assert RBFSimilarity().fit(X).gamma_ == pytest.approx(1 / (2 * np.median(distances)))
    assert RBFSimilarity().fit(np.vstack([X, X, X[:7]])).gamma_ == pytest.approx(RBFSimilarity().fit(X).gamma_)


def test_one_distinct_case_has_a_scale_too():
    assert RBFSimilarity().fit([[1.0], [1.0]]).gamma_ == 1.0


@pytest.mark.parametrize("gamma", [0, -1.0, float("nan"), "wide"])
def test_a_wrong_scale_is_named(gamma):
    with pytest.raises(ValueError, match="gamma must be a positive number or None"):
        RBFSimilarity(gamma).fit([[0.0], [1.0]])


@pytest.mark.parametrize("kind", [RBFSimilarity, CosineSimilarity])
def test_sparse_and_dense_rows_compare_alike(kind):
    X = sp.random(30, 8, density=0.4, random_state=np.random.default_rng(0), format="csr")
    dense, sparse = kind(), kind()
    Z, S = dense.fit_describe(X.toarray()), sparse.fit_describe(X)
    assert sp.issparse(S)
    np.testing.assert_allclose(dense.compare(Z[:3], Z), sparse.compare(S[:3], S), atol=1e-9)


def test_texts_reach_the_comparison_through_a_vectorizer():
    texts = ["rust on the leaf", "rust on a leaf", "a miner in the stem"]
    similarity = CosineSimilarity(features=TfidfVectorizer())
    Z = similarity.fit_describe(texts)
    S = similarity.compare(Z, Z)
    assert S[0, 1] > S[0, 2]
    np.testing.assert_allclose(np.diag(S), 1)


def test_opposite_rows_have_no_cosine_similarity():
    similarity = CosineSimilarity().fit([[1.0], [-1.0]])
    Z = similarity.describe([[1.0], [-1.0], [0.0], [0.0]])
    np.testing.assert_allclose(similarity.compare(Z, Z), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1e-150, 1.0, 1e154, 1e200, 1e307])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_cosine__any_scale__is_free_of_it(kind, scale):
    X = np.array([[8.0, 0.0], [8.0, 8.0], [0.0, 0.0], [-8.0, 0.0]])
    similarity = CosineSimilarity().fit(X)
    Z = similarity.describe(kind(X * scale))
    root = np.sqrt(0.5)
    np.testing.assert_allclose(similarity.compare(Z, Z), [[1, root, 0, 0], [root, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def test_a_transformer_is_fitted_on_the_training_cases_and_not_changed():
    scaler = StandardScaler()
    similarity = RBFSimilarity(1.0, features=scaler).fit([[0.0], [10.0]])
    assert not hasattr(scaler, "mean_")
    np.testing.assert_allclose(similarity.describe([[5.0]]), [[0.0]], atol=1e-12)


def test_a_function_of_one_case_may_be_the_features():
    similarity = RBFSimilarity(1.0, features=len)
    Z = similarity.fit_describe(["aa", "bb", "cccc"])
    np.testing.assert_allclose(similarity.compare(Z, Z)[0], [1, 1, np.exp(-4)])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_describing_in_parallel_changes_nothing(n_jobs):
    words = ["ab" * (i % 7 + 1) for i in range(100)]
    alone = RBFSimilarity(features=length_and_first).fit_describe(words)
    together = RBFSimilarity(features=length_and_first, n_jobs=n_jobs).fit_describe(words)
    np.testing.assert_array_equal(alone, together)


def test_a_progress_bar_is_shown_when_verbose(capsys):
    RBFSimilarity(features=length_and_first, verbose=1).fit(["a", "bb", "ccc"])
    assert "describing" in capsys.readouterr().err


def test_features_that_are_no_numbers_are_named():
    with pytest.raises(ValueError, match=r"features returned NaN or infinity \(first: case 1\)"):
        RBFSimilarity(features=float).fit(["1.0", "nan", "2.0"])
    with pytest.raises(ValueError, match="rows of different lengths: \\[1, 2\\]"):
        RBFSimilarity(features=lambda word: list(map(float, word))).fit(["1", "12"])
    with pytest.raises(TypeError, match="features must be a transformer or a function of one case, got 3"):
        RBFSimilarity(features=3).fit([[1.0], [2.0]])


MIXED = pd.DataFrame({"age": [20, 40, 60], "itches": ["no", "yes", "no"], "sown": pd.to_datetime(["2026-01-01"] * 3)})


@pytest.mark.parametrize("kind", [RBFSimilarity, CosineSimilarity, RankSimilarity, TreeSimilarity])
def test_numeric__mixed_table__error_names_columns_and_gower(kind):
    with pytest.raises(ValueError, match=r"'itches' \('no'\), 'sown' \(.*2026-01-01.*GowerSimilarity") as caught:
        kind().fit(MIXED, [0, 1, 0])
    assert caught.value.args[0].startswith(f"{kind.__name__} needs numbers")


@pytest.mark.parametrize("rows", [[[1, "no"], [2, "yes"]], np.array([[1, "no"], [2, "yes"]], dtype=object)])
def test_numeric__rows_with_text__error_names_positions_and_gower(rows):
    with pytest.raises(ValueError, match=r"hold other values: 1 \('no'\)\. Use GowerSimilarity"):
        RBFSimilarity().fit(rows)


IMAGES = np.zeros((3, 8, 8, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ("cases", "received", "remedy"),
    [
        (["a text", "another", "third"], r"texts \(first: 'a text'\)", r"CosineSimilarity\(features=TfidfVectorizer"),
        (np.array(["a text", "b", "c"]), r"texts \(first: 'a text'\)", r"CosineSimilarity\(features=TfidfVectorizer"),
        (IMAGES, r"an array of shape \(3, 8, 8, 3\)", "an expert feature.*ImageFeatures"),
        (list(IMAGES), r"arrays \(first: of shape \(8, 8, 3\)\)", "an expert feature.*ImageFeatures"),
        (ImageCollection(IMAGES), "ImageCollection", "an expert feature.*ImageFeatures"),
        ([{1}, {2}, {3}], "type set", "a function of two cases as similarity"),
    ],
    ids=["texts", "array of texts", "images", "list of images", "collection", "sets"],
)
def test_default_similarity__no_rows_of_numbers__error_says_what_to_give(cases, received, remedy):
    said = f"^RBFSimilarity, the default similarity, compares rows of numbers, but X is .*{received}.*{remedy}"
    with pytest.raises(ValueError, match=said):
        MemoryClassifier().fit(cases, [0, 1, 0])
    with pytest.raises(ValueError, match=f"^CosineSimilarity compares rows of numbers.*{received}"):
        CosineSimilarity().fit(cases)


def test_numeric__many_text_columns__error_names_the_first_five():
    table = pd.DataFrame({f"c{i}": ["a", "b"] for i in range(8)})
    with pytest.raises(ValueError, match=r"'c4' \('a'\) and 3 more\. Use"):
        RBFSimilarity().fit(table)


def test_numeric__numbers_as_text__are_numbers():
    similarity = RBFSimilarity(1.0).fit(pd.DataFrame({"n": ["1.5", "2.5"]}))
    assert similarity.describe(pd.DataFrame({"n": ["1.5"]})).shape == (1, 1)


def test_numeric__other_columns_later__error_is_about_the_names():
    similarity = RBFSimilarity().fit(MIXED[["age"]])
    with pytest.raises(ValueError, match="feature names should match"):
        similarity.describe(MIXED)


def test_features__that_return_text__error_names_columns_and_gower():
    with pytest.raises(ValueError, match=r"features returned.*'itches' \('no'\).*GowerSimilarity"):
        RBFSimilarity(features=FunctionTransformer()).fit(MIXED[["age", "itches"]])
    with pytest.raises(ValueError, match=r"features returned.*0 \('no'\)"):
        RBFSimilarity(features=str).fit(["no", "yes"])


def test_features__function_of_a_batch__error_names_function_transformer():
    def lengths(texts):
        return [[len(text)] for text in texts]

    with pytest.raises(ValueError, match=r"different lengths: \[3, 5\].*one case.*FunctionTransformer"):
        RBFSimilarity(features=lengths).fit(["one", "three"])
    assert RBFSimilarity(features=FunctionTransformer(lengths)).fit_describe(["one", "three"]).shape == (2, 1)
