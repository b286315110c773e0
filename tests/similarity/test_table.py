import numpy as np
import pandas as pd
import pytest

from memclf import select_memories
from memclf.similarity import GowerSimilarity

TABLE = pd.DataFrame(
    {
        "age": [20.0, 40.0, 60.0, np.nan],
        "smoker": [True, False, True, True],
        "skin": pd.Categorical(["dark", "fair", "fair", None]),
        "name": ["a", "b", "a", "c"],
    }
)


def compare(similarity, table=TABLE):
    Z = similarity.fit_describe(table)
    return similarity.compare(Z, Z)


def test_numbers_categories_and_gaps_are_averaged_as_gower_says():
    S = compare(GowerSimilarity(missing="ignore"))
    assert S[0, 1] == pytest.approx((0.5 + 0 + 0 + 0) / 4)
    assert S[0, 2] == pytest.approx((0 + 1 + 0 + 1) / 4)
    assert S[0, 3] == pytest.approx((1 + 0) / 2)  # age and skin are missing in the last record
    np.testing.assert_allclose(np.diag(S), 1)
    np.testing.assert_allclose(S, S.T)


def test_weights_by_name_and_by_position():
    only_age = compare(GowerSimilarity({"smoker": 0, "skin": 0, "name": 0}))
    np.testing.assert_allclose(only_age[0, :3], [1, 0.5, 0])
    np.testing.assert_allclose(compare(GowerSimilarity([1, 0, 0, 0]))[:3, :3], only_age[:3, :3])


def test_records_without_a_column_in_common_are_unlike_if_gaps_are_ignored():
    assert compare(GowerSimilarity({"smoker": 0, "skin": 0, "name": 0}, missing="ignore"))[0, 3] == 0


@pytest.mark.parametrize(("missing", "value"), [("half", 0.5), ("unlike", 0.0)])
def test_a_gap_counts_as_asked(missing, value):
    S = compare(GowerSimilarity(missing=missing))
    assert S[0, 3] == pytest.approx((value + 1 + value + 0) / 4)
    np.testing.assert_allclose(np.diag(S), 1)


def test_records_with_gaps_do_not_become_the_memories():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"soil": rng.choice(["clay", "sand", "loam"], 300), "ph": rng.normal(6.5, 0.8, 300)})
    table.loc[:2, "soil"] = None
    similarity = GowerSimilarity()
    found = select_memories(similarity.fit_describe(table), similarity, 0.6)
    assert table.iloc[found.indices]["soil"].notna().all()


def test_dates_are_numbers():
    S = compare(GowerSimilarity(), pd.DataFrame({"sown": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-11"])}))
    np.testing.assert_allclose(S[0], [1, 0.9, 0])


def test_a_declared_category_is_one_even_if_it_looks_like_numbers():
    S = compare(GowerSimilarity(), pd.DataFrame({"code": pd.Categorical([10, 20, 90])}))
    np.testing.assert_array_equal(S, np.eye(3))


@pytest.mark.parametrize("dtype", ["string", "boolean"])
def test_gaps_of_pandas_own_types(dtype):
    values = ["a", "b", None] if dtype == "string" else [True, False, None]
    S = compare(GowerSimilarity(missing="unlike"), pd.DataFrame({"x": pd.array(values, dtype=dtype)}))
    np.testing.assert_array_equal(S, np.eye(3))


def test_a_category_never_seen_equals_none_that_was():
    similarity = GowerSimilarity({"age": 0, "smoker": 0, "skin": 0}).fit(TABLE)
    new = TABLE.iloc[:1].assign(name="z")
    assert similarity.compare(similarity.describe(TABLE), similarity.describe(new)).max() == 0


def test_a_number_outside_the_range_of_training_is_no_less_than_unlike():
    similarity = GowerSimilarity([1.0]).fit(np.array([[0.0], [1.0]]))
    assert similarity.compare(similarity.describe([[0.0]]), similarity.describe([[9.0]])).item() == 0


def test_a_constant_column_compares_by_equality():
    similarity = GowerSimilarity().fit(np.array([[5.0], [5.0]]))
    S = similarity.compare(similarity.describe([[5.0]]), similarity.describe([[5.0], [6.0]]))
    np.testing.assert_array_equal(S, [[1, 0]])


def test_numbers_may_be_treated_as_categories():
    S = compare(GowerSimilarity(categorical=["code"]), pd.DataFrame({"code": [1, 2, 9]}))
    np.testing.assert_array_equal(S, np.eye(3))


def test_integer_columns_of_pandas_with_gaps_are_numbers():
    S = compare(GowerSimilarity(), pd.DataFrame({"n": pd.array([0, 5, 10, None], dtype="Int64"), "k": list("aaaa")}))
    assert S[0, 1] == pytest.approx(0.75)
    assert S[0, 3] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("similarity", "message"),
    [
        (GowerSimilarity({"weight": 2}), r"weights names columns that X does not have: \['weight'\]"),
        (GowerSimilarity([1, 1]), r"one number per column \(4\), got shape \(2,\)"),
        (GowerSimilarity([0, 0, 0, 0]), "not all zero"),
        (GowerSimilarity([-1, 1, 1, 1]), "not negative"),
        (GowerSimilarity(missing="guess"), "missing must be one of 'half', 'ignore', 'unlike'"),
        (GowerSimilarity(categorical="skin"), "categorical must be 'auto' or a list of columns"),
        (GowerSimilarity(categorical=["hair"]), r"categorical names columns that X does not have: \['hair'\]"),
    ],
)
def test_wrong_settings_are_named(similarity, message):
    with pytest.raises(ValueError, match=message):
        similarity.fit(TABLE)


def test_other_columns_later_are_named():
    similarity = GowerSimilarity().fit(TABLE)
    with pytest.raises(ValueError, match="name"):
        similarity.describe(TABLE.drop(columns="name"))
    with pytest.raises(ValueError, match="column 'age' held numbers in training and now holds something else"):
        similarity.describe(TABLE.assign(age="old"))
