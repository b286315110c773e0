import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

from memclf import select_memories
from memclf.exceptions import SimilarityError
from memclf.similarity import CombinedSimilarity, CosineSimilarity, FunctionSimilarity, Precomputed, RBFSimilarity
from toolbox import near


def near_batched(A, B, scale=1.0):
    return np.exp(-np.abs(np.subtract.outer(A[:, 0], B[:, 0])) / scale)


def same_kind(a, b, *, matter=("colour",)):
    return float(all(a[key] == b[key] for key in matter))


def test_pairs_and_batches_agree():
    X = np.arange(6.0)[:, None]
    one = FunctionSimilarity(lambda a, b: near(a[0], b[0], 2.0)).fit(X)
    many = FunctionSimilarity(near_batched, batched=True, scale=2.0).fit(X)
    np.testing.assert_allclose(one.compare(X, X), many.compare(X, X))


def test_calls_spread_over_workers_change_nothing():
    X = np.linspace(0, 5, 80)
    alone, together = FunctionSimilarity(near).fit(X), FunctionSimilarity(near, n_jobs=2).fit(X)
    np.testing.assert_array_equal(alone.compare(X[:40], X), together.compare(X[:40], X))


def test_keyword_arguments_are_parameters():
    similarity = FunctionSimilarity(near)
    assert similarity.get_params()["scale"] == 1.0
    assert clone(similarity.set_params(scale=5.0)).get_params()["scale"] == 5.0
    assert similarity.fit([0.0, 5.0]).compare([0.0], [5.0]).item() == pytest.approx(np.exp(-1))
    assert "scale=5.0" in repr(similarity)
    similarity.set_params(batched=False)
    with pytest.raises(ValueError, match="Invalid parameter 'width'"):
        similarity.set_params(width=1)


def test_rows_of_a_table_reach_the_function_as_dictionaries():
    table = pd.DataFrame({"colour": ["red", "red", "blue"], "size": [1, 2, 2]})
    similarity = FunctionSimilarity(same_kind)
    Z = similarity.fit_describe(table)
    np.testing.assert_array_equal(similarity.compare(Z[:1], Z), [[1, 1, 0]])
    similarity.set_params(matter=("colour", "size"))
    np.testing.assert_array_equal(similarity.compare(Z[:1], Z), [[1, 0, 0]])


def test_features_reach_the_function_as_they_are():
    def longer(a, b):
        return min(a, b) / max(a, b)

    similarity = FunctionSimilarity(longer, features=len)
    Z = similarity.fit_describe(["a", "bb", "cccc"])
    np.testing.assert_allclose(similarity.compare(Z, Z)[0], [1, 0.5, 0.25])
    letters = FunctionSimilarity(lambda a, b: len(a & b) / len(a | b), features=set)
    Z = letters.fit_describe(["ab", "abcd", "b"])
    np.testing.assert_allclose(letters.compare(Z[:1], Z), [[1, 0.5, 0.5]])


def test_defaults_of_the_two_cases_are_no_parameters():
    similarity = FunctionSimilarity(lambda a, b=None, scale=2.0: 1.0 if a == b else 0.0)
    assert set(similarity.get_params()) & {"b", "scale"} == {"scale"}
    assert similarity.fit([1, 2]).compare([1], [1, 2]).tolist() == [[1.0, 0.0]]


def test_sparse_rows_reach_the_function():
    X = sp.csr_array(np.eye(4))
    similarity = FunctionSimilarity(lambda A, B: np.clip((A @ B.T).toarray(), 0, 1), batched=True).fit(X)
    np.testing.assert_array_equal(similarity.compare(X[:2], X), np.eye(4)[:2])


def test_wrong_functions_and_arguments_are_named():
    with pytest.raises(TypeError, match="function must be a function of two cases, got 'near'"):
        FunctionSimilarity("near").fit([1, 2])
    with pytest.raises(TypeError, match=r"near has no keyword arguments \['width'\]; it has \['scale'\]"):
        FunctionSimilarity(near, width=2).fit([1, 2])

    def greedy(a, b, batched=3):
        return 1.0

    with pytest.raises(ValueError, match=r"\['batched'\] have names that FunctionSimilarity uses itself"):
        FunctionSimilarity(greedy).fit([1, 2])


def test_precomputed_asks_for_a_square_matrix_and_for_memories_first():
    with pytest.raises(ValueError, match="square matrix of all training cases, got 2 rows and 3 columns"):
        Precomputed().fit(np.ones((2, 3)))
    similarity = Precomputed().fit(np.eye(2))
    new = similarity.describe([[0.1, 0.2]])
    with pytest.raises(ValueError, match="A holds new cases"):
        similarity.compare(new, new)


A, B = RBFSimilarity(1.0), CosineSimilarity()
ROWS = np.random.default_rng(0).normal(size=(8, 3))


@pytest.mark.parametrize(
    ("how", "weights", "expected"),
    [
        ("product", None, lambda a, b: a * b),
        ("product", [2, 0.5], lambda a, b: a**2 * b**0.5),
        ("mean", None, lambda a, b: (a + b) / 2),
        ("mean", [3, 1], lambda a, b: (3 * a + b) / 4),
        ("min", None, np.minimum),
        ("max", None, np.maximum),
    ],
)
def test_combinations_are_what_they_say(how, weights, expected):
    both = CombinedSimilarity([("a", A), ("b", B)], how, weights=weights)
    Z = both.fit_describe(ROWS)
    parts = []
    for part in (clone(A), clone(B)):
        described = part.fit_describe(ROWS)
        parts.append(part.compare(described, described))
    np.testing.assert_allclose(both.compare(Z, Z), expected(*parts))
    assert both.lawful


def test_numbers_and_functions_can_be_combined():
    def same_sign(a, b):
        return float(np.sign(a[0]) == np.sign(b[0]))

    both = CombinedSimilarity([("near", A), ("sign", FunctionSimilarity(same_sign))], "min")
    Z = both.fit_describe(ROWS)
    sign = np.sign(ROWS[:, 0])
    near = clone(A).fit(ROWS)
    described = near.describe(ROWS)
    np.testing.assert_allclose(both.compare(Z, Z), near.compare(described, described) * (sign[:, None] == sign[None]))
    assert not both.lawful


def test_objects_and_numbers_can_be_combined():
    words = ["leaf", "stem", "leaf", "root"]
    both = CombinedSimilarity(
        [("length", RBFSimilarity(1.0, features=len)), ("same", FunctionSimilarity(lambda a, b: float(a == b)))], "mean"
    )
    Z = both.fit_describe(words)
    np.testing.assert_allclose(both.compare(Z[:1], Z), [[1, 0.5, 1, 0.5]])


def test_texts_and_numbers_can_be_combined():
    texts = ["rust on a leaf", "rust on the leaf", "a miner in the stem of it"]
    both = CombinedSimilarity(
        [("words", CosineSimilarity(features=TfidfVectorizer())), ("length", RBFSimilarity(0.01, features=len))], "mean"
    )
    Z = both.fit_describe(texts)
    assert sp.issparse(Z)
    parts = []
    for _, part in both.similarities:
        fresh = clone(part)
        described = fresh.fit_describe(texts)
        parts.append(fresh.compare(described, described))
    np.testing.assert_allclose(both.compare(Z, Z), np.mean(parts, axis=0), atol=1e-12)


def test_a_part_that_is_no_similarity_is_found_out():
    both = CombinedSimilarity(
        [("two", FunctionSimilarity(lambda a, b: 2.0)), ("half", FunctionSimilarity(lambda a, b: 0.5))]
    )
    with pytest.raises(SimilarityError, match="the similarity of case 0 and case 0 is 2.0"):
        select_memories([1, 2, 3], both, 0.5)


def test_parameters_of_the_parts_can_be_set():
    both = CombinedSimilarity([("a", A), ("b", B)])
    assert clone(both).set_params(a__gamma=7.0).get_params()["a"].gamma == 7.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([],), ValueError, "at least one"),
        (([("a", 3)],), TypeError, r"must be \(name, similarity\) pairs"),
        (([("a", A)], "sum"), ValueError, "how must be 'product', 'mean', 'min' or 'max', got 'sum'"),
    ],
)
def test_wrong_combinations_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        CombinedSimilarity(*arguments).fit(ROWS)


def test_wrong_weights_of_a_combination_are_named():
    with pytest.raises(ValueError, match="weights must be 2 numbers"):
        CombinedSimilarity([("a", A), ("b", B)], weights=[1, 2, 3]).fit(ROWS)
    with pytest.raises(ValueError, match="weights have no meaning for how='min'"):
        CombinedSimilarity([("a", A), ("b", B)], "min", weights=[1, 2]).fit(ROWS)
