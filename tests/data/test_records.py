"""Cases as JSON has them: what fits a fitted classifier, and what is said about the rest."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from memclf.data.records import Records
from memclf.exceptions import DataError

TABLE = pd.DataFrame(
    {
        "age": [31, 52],
        "weight": [71.5, 80.0],
        "smoker": ["no", "yes"],
        "insured": [True, False],
        "ward": pd.Categorical(["A", "B"], categories=["A", "B", "C"]),
        "seen": pd.to_datetime(["2024-03-31", "2024-04-01"]),
    }
)
CASE = {"age": 40, "weight": 70, "smoker": "no", "insured": True, "ward": "C", "seen": "2024-05-01T12:00:00"}


def reader(memories):
    return Records(SimpleNamespace(memories_=memories))


def joined(*cases, memories=TABLE):
    read = reader(memories)
    return read.take([read.check(case) for case in cases])


def test_table__good_cases__become_a_table_with_the_types_of_training():
    found = joined(CASE, {**CASE, "age": 41.0})
    assert found.dtypes.astype(str).tolist() == TABLE.dtypes.astype(str).tolist()
    assert found["age"].tolist() == [40, 41]
    assert found["seen"][0] == pd.Timestamp(2024, 5, 1, 12)


def test_table__gaps__are_gaps_wherever_training_could_have_them():
    found = joined({**CASE, **dict.fromkeys(["age", "weight", "smoker", "ward", "seen"])})
    assert found.drop(columns="insured").isna().all(axis=None)


@pytest.mark.parametrize("age", [None, 40.5, 10**30])
def test_table__gap_fraction_or_huge_number_among_whole_ones__makes_a_kind_of_its_own(age):
    read = reader(TABLE)
    usual, other = read.check(CASE), read.check({**CASE, "age": age})
    assert usual.kind != other.kind
    assert read.take([other])["age"].dtype == float


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("age", "40", "must hold a number, as in training; got '40'"),
        ("age", True, "must hold a number, as in training; got true"),
        ("weight", float("inf"), "must hold a number"),
        ("weight", 10**400, "got a very large number"),
        ("weight", [1, 2], "got a list of 2"),
        ("smoker", 1, "must hold a text, as in training; got 1"),
        ("smoker", {}, "got an object"),
        ("insured", 1, "must hold true or false, as in training; got 1"),
        ("insured", None, "must hold true or false, as in training; got null"),
        ("ward", "D", "must hold one of 'A', 'B', 'C', as in training; got 'D'"),
        ("seen", "yesterday", "must hold a date"),
        ("seen", "x" * 500, "xxx…"),
        ("seen", "99999-01-01", "must hold a date"),
    ],
)
def test_table__value_of_another_type__is_named_with_its_column(column, value, said):
    with pytest.raises(DataError) as caught:
        reader(TABLE).check({**CASE, column: value})
    assert str(caught.value).startswith(f"column {column!r} ")
    assert said in str(caught.value)
    assert len(str(caught.value)) < 200


def test_table__other_columns__are_named_as_missing_and_new():
    with pytest.raises(DataError, match=r"missing columns \(2\): 'age', 'ward'; new column: 'ages'"):
        reader(TABLE).check({**{k: v for k, v in CASE.items() if k not in ("age", "ward")}, "ages": 3})
    for case in (None, 3, "x", [1]):
        with pytest.raises(DataError, match="must be an object with a value for each of 'age'"):
            reader(TABLE).check(case)


def test_table__time_zones__are_those_of_training():
    here = pd.DataFrame({"at": pd.to_datetime(["2024-03-31"]).tz_localize("UTC")})
    assert joined({"at": "2024-03-31T12:00:00+02:00"}, memories=here)["at"][0] == pd.Timestamp("2024-03-31T10:00Z")
    assert joined({"at": "2024-03-31"}, memories=here)["at"].dtype == here["at"].dtype
    assert joined({**CASE, "seen": "2024-03-31T12:00:00+02:00"})["seen"][0] == pd.Timestamp("2024-03-31T10:00")


def test_table__column_of_mixed_values__takes_all_of_them():
    mixed = pd.DataFrame({"code": ["a", 1]}, dtype=object)
    assert joined({"code": "x"}, {"code": 2}, {"code": None}, memories=mixed)["code"].tolist()[:2] == ["x", 2]


def test_form__typed_words__become_the_values_of_json():
    words = {name: str(value) for name, value in CASE.items()}
    records = reader(TABLE)
    pd.testing.assert_frame_equal(records.take([records.check_form(words)]), joined(CASE))
    gap = records.take([records.check_form(words | {"weight": " ", "ward": ""})])
    assert gap[["weight", "ward"]].isna().all(axis=None)


@pytest.mark.parametrize(("column", "word"), [("age", "old"), ("insured", "perhaps"), ("ward", "D"), ("weight", "NaN")])
def test_form__word_that_does_not_fit__is_named_with_its_column(column, word):
    words = {name: str(value) for name, value in CASE.items()} | {column: word}
    with pytest.raises(DataError, match=column):
        reader(TABLE).check_form(words)


def test_array__rows__are_stacked_in_the_kind_of_training():
    assert joined([1, 2.5], [3, 4], memories=np.zeros((3, 2))).tolist() == [[1, 2.5], [3, 4]]
    assert joined([1, 0], memories=sp.csr_matrix(np.eye(2))).format == "csr"
    assert joined([[1, 2], [3, 4]], memories=np.zeros((5, 2, 2))).shape == (1, 2, 2)
    with pytest.raises(DataError, match="list of 2 x 2 numbers; got lists of different lengths"):
        reader(np.zeros((5, 2, 2))).check([[1], [2, 3]])


def test_texts__lists_of_them__are_taken_and_other_cases_refused():
    assert joined("a text", memories=["x", "y"]) == ["a text"]
    with pytest.raises(DataError, match="must be a text; got 3"):
        reader(["x"]).check(3)
    with pytest.raises(DataError, match="cases in a list, which cannot be sent as JSON"):
        reader([{"a": 1}])


def test_schema__of_a_case__says_what_is_taken():
    schema = reader(TABLE).schema
    assert schema["required"] == list(TABLE.columns)
    assert schema["properties"]["ward"] == {"enum": ["A", "B", "C", None]}
    assert reader(np.zeros((1, 2))).schema == {
        "type": "array",
        "items": {"type": "number"},
        "minItems": 2,
        "maxItems": 2,
    }
