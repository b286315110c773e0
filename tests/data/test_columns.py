"""Whether a table has the columns and types of training."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from memclf.data import compare_columns, match_columns
from memclf.exceptions import DataError

TRAINED = SimpleNamespace(
    memories_=pd.DataFrame(
        {
            "age": [30, 70],
            "weight": [60.5, 80.0],
            "ward": ["A", "B"],
            "seen": pd.to_datetime(["2024-01-31", "2024-03-01"]),
        }
    )
)
FRAME = pd.DataFrame(
    {"seen": ["2024-02-01", "2024-02-02"], "ward": ["A", "C"], "id": [1, 2], "weight": [1, 2], "age": [4, 5]}
)


def test_match_columns__other_order_and_new_columns__come_as_in_training():
    found = match_columns(TRAINED, FRAME)
    assert list(found.columns) == ["age", "weight", "ward", "seen"]
    assert found.dtypes.to_dict() == TRAINED.memories_.dtypes.to_dict()
    assert found["ward"].tolist() == ["A", "C"]


def test_match_columns__gaps_and_fractions__widen_whole_numbers():
    found = match_columns(TRAINED, FRAME.assign(age=[4.5, None]))
    assert found["age"].tolist()[0] == 4.5
    assert found["age"].isna().tolist() == [False, True]


def test_match_columns__infinity__names_file_column_and_row():
    new = pd.DataFrame({"age": [30, 70, 50], "weight": [60.5, np.nan, -np.inf], "ward": "A", "seen": "2024-01-31"})
    with pytest.raises(
        DataError, match="'weight' of new.csv must hold finite numbers, as in training; row 2 holds -inf"
    ):
        match_columns(TRAINED, new, "new.csv")
    assert match_columns(TRAINED, new[:2])["weight"].isna().sum() == 1  # a gap is no infinity


def test_match_columns__numbers_where_training_had_words__are_words():
    found = match_columns(TRAINED, FRAME.assign(ward=[1.0, None]))
    assert found["ward"].tolist()[0] == "1"
    assert found["ward"].isna().tolist() == [False, True]


def test_match_columns__other_columns__names_the_missing_and_the_new():
    with pytest.raises(DataError, match="new.csv has other columns than the training data: missing columns") as caught:
        match_columns(TRAINED, FRAME.drop(columns=["age", "weight"]), "new.csv")
    assert "missing columns (2): 'age', 'weight'; new column: 'id'" in str(caught.value)
    assert compare_columns(TRAINED, ["age", "x"]) == (["weight", "ward", "seen"], ["x"])


@pytest.mark.parametrize(
    ("column", "wanted"), [("age", "numbers, as in training; row 1 holds 'old'"), ("seen", "dates .as 2024-03-31.")]
)
def test_match_columns__value_of_another_type__is_named_with_its_row(column, wanted):
    with pytest.raises(DataError, match=f"column '{column}' of the table must hold {wanted}"):
        match_columns(TRAINED, FRAME.assign(**{column: [None, "old"]}))


def test_match_columns__array_of_training__counts_the_columns():
    clf = SimpleNamespace(memories_=np.zeros((3, 2)))
    assert match_columns(clf, FRAME[["age", "weight"]]).shape == (2, 2)
    with pytest.raises(DataError, match="has 1 columns beside the label"):
        match_columns(clf, FRAME[["age"]])
