"""Strong shifts of rows: keyed by content, and such that estimators still take them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from memclf.cases import Cases
from memclf.cases.shifts import list_kinds, perturb_rows, shift_rows

N = 120


def make_table():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(5, 2, (N, 4)), columns=list("abcd"))
    table["gappy"] = np.where(rng.random(N) < 0.2, np.nan, table["a"])
    table["small"] = rng.normal(size=N).astype(np.float32)
    table["count"] = rng.integers(3, 60, N).astype(np.int16)
    table["whole"] = pd.array(rng.integers(0, 40, N), dtype="Int64")
    table["flag"] = rng.random(N) < 0.4
    table["code"] = rng.choice([1, 2, 5], N)
    table["kind"] = pd.Categorical(rng.choice(list("xyz"), N), categories=list("wxyz"))
    table["number"] = pd.Categorical(rng.choice([3, 7], N))
    table["word"] = pd.Series(rng.choice(["one", "two", None], N), dtype=object)
    table["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, N), unit="D")
    table["same"] = 1.5
    return table


TABLE = make_table()
DATA = {
    "table": TABLE,
    "floats": TABLE[list("abcd")].abs().to_numpy(),
    "whole numbers": np.random.default_rng(1).integers(0, 200, (N, 7), dtype=np.uint8),
    "flags": np.random.default_rng(1).random((N, 7)) < 0.5,
    "sparse": sp.random(N, 50, 0.2, format="csr", random_state=0),
    "sparse array": sp.csr_array(np.random.default_rng(2).poisson(0.4, (N, 30))),
}


def dense(data):
    return (data.toarray() if sp.issparse(data) else np.asarray(data)).astype(str)


@pytest.mark.parametrize("kind", DATA)
def test_shift_rows__any_container__changes_about_a_third_in_a_copy(kind):
    data = DATA[kind]
    before, found = data.copy(), shift_rows(data, 0)
    assert type(found) is type(data)
    assert found.shape == data.shape
    np.testing.assert_array_equal(dense(data), dense(before))
    changed = dense(found) != dense(data)
    assert changed.any(axis=1).mean() > 0.6
    assert 0.05 < changed.mean() < 0.45


@pytest.mark.parametrize("kind", DATA)
def test_shift_rows__same_seed__does_not_depend_on_order(kind):
    data, order = DATA[kind], np.random.default_rng(3).permutation(N)
    found = Cases.of(shift_rows(data, 7)).take(order).data
    np.testing.assert_array_equal(dense(shift_rows(Cases.of(data).take(order).data, 7)), dense(found))
    assert (dense(shift_rows(data, 8)) != dense(shift_rows(data, 7))).any()


@pytest.mark.parametrize("kind", DATA)
def test_shift_rows__any_container__keeps_dtypes_and_range(kind):
    data, found = DATA[kind], shift_rows(DATA[kind], 0)
    if kind == "table":
        assert found.dtypes.equals(data.dtypes)
        assert found.index.equals(data.index)
        assert found.columns.equals(data.columns)
    else:
        assert found.dtype == data.dtype
        assert found.min() >= data.min()  # none is negative in these


def test_shift_rows__table__codes_and_categories_stay_in_their_set():
    for seed in range(5):
        found = shift_rows(TABLE, seed)
        for name in ("flag", "code", "kind", "number", "word", "day"):
            assert set(found[name].dropna()) <= set(TABLE[name].dropna()), name
        assert found["count"].between(TABLE["count"].min(), TABLE["count"].max()).all()
        assert (found["same"] == 1.5).all()


def test_shift_rows__gaps__appear_only_where_there_were_some():
    found, gaps = shift_rows(TABLE, 0).isna().sum(), TABLE.isna().sum()
    assert (found[gaps == 0] == 0).all()
    assert (found[["gappy", "word"]] > gaps[["gappy", "word"]]).all()
    rows = TABLE[["a", "gappy", "b"]].to_numpy()
    np.testing.assert_array_equal(np.isnan(shift_rows(rows, 0)).any(axis=0), [False, True, False])


def test_shift_rows__amounts__move_by_about_a_standard_deviation():
    rows = np.random.default_rng(0).normal(0, 3, (2000, 6))
    found = shift_rows(rows, 0)
    far = np.abs(found - rows)[found != rows] / 3
    assert 0.5 < np.median(far) < 1.5
    assert ((found != rows).sum(axis=1) <= 2).all()


def test_shift_rows__no_rows_or_one__are_taken():
    for rows in (np.empty((0, 3)), np.ones((1, 3)), TABLE[:0], TABLE[:1], sp.csr_array((3, 5))):
        np.testing.assert_array_equal(dense(shift_rows(rows, 0)), dense(rows))


@pytest.mark.parametrize(
    "data",
    [
        ["a", "b"],
        [{"a": 1}, {"a": 2}],
        np.eye(4),
        sp.csr_array(np.eye(4)),
        pd.DataFrame(np.eye(4)),
        np.zeros((5, 8, 8, 3), dtype=np.uint8),
        np.array([["a", "b", "c"]]),
        np.arange(5.0),
    ],
    ids=["texts", "objects", "square", "square sparse", "square table", "images", "words", "one dimension"],
)
def test_shifted__other_containers_and_square_matrices__cannot(data):
    cases = Cases.of(data)
    assert not cases.can_shift
    assert not cases.take(np.array([0])).can_shift
    with pytest.raises(TypeError, match="cannot be shifted.*can_shift"):
        cases.shifted(0)


def test_shifted__with_a_cache__describes_shifted_cases_apart_and_once():
    asked = []

    def describe(some):
        asked.append(len(some))
        return np.asarray(some.data, dtype=float).sum(axis=1, keepdims=True)

    cases = Cases.of(DATA["floats"]).remembering()
    assert cases.can_shift
    plain = cases.remember(("sum",), describe)
    shifted = cases.shifted(3)
    found = shifted.remember(("sum",), describe)
    np.testing.assert_array_equal(shifted.take(np.array([5, 2])).remember(("sum",), describe), found[[5, 2]])
    np.testing.assert_array_equal(cases.remember(("sum",), describe), plain)
    assert asked == [N, N]
    assert not np.array_equal(plain, found)


def test_shifted__with_a_folder__lasts(tmp_path):
    asked = []

    def describe(some):
        asked.append(len(some))
        return np.asarray(some.data).sum(axis=1, keepdims=True)

    first, again = (Cases(DATA["floats"], tmp_path).shifted(3).remember(("sum",), describe) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert asked == [N]


@pytest.mark.parametrize("kind", DATA)
def test_perturb_rows__any_container__moves_amounts_by_about_a_tenth(kind):
    data = DATA[kind]
    before, found = data.copy(), perturb_rows(data, 0)
    assert type(found) is type(data)
    assert found.shape == data.shape
    np.testing.assert_array_equal(dense(data), dense(before))
    assert (dense(found) != dense(data)).any() != (kind == "flags")  # there is nothing between yes and no
    np.testing.assert_array_equal(dense(perturb_rows(data, 0)), dense(found))


def test_perturb_rows__table__leaves_codes_and_makes_gaps_only_where_there_are_some():
    found = perturb_rows(TABLE, 3)
    for name in TABLE.columns:
        had = TABLE[name].isna().any()
        assert had or not found[name].isna().any(), name
        if TABLE[name].dtype.kind not in "iuf":
            both = TABLE[name].notna() & found[name].notna()
            assert (TABLE[name][both] == found[name][both]).all()


@pytest.mark.parametrize("kind", ["noise", "scale", "another"])
def test_shift_rows__one_kind__is_the_only_one(kind):
    rows = np.random.default_rng(0).normal(10, 1, (300, 3)).round(6)
    found = shift_rows(rows, 0, [kind])
    changed = found != rows
    assert 0.2 < changed.mean() < 0.4
    of_others = np.array([np.isin(found[:, j], rows[:, j]) for j in range(3)]).T
    assert (of_others[changed].mean() == 1) if kind == "another" else of_others[changed].mean() < 0.1


def test_list_kinds__gaps__are_possible_where_there_are_some():
    rows = np.random.default_rng(0).normal(size=(20, 2))
    assert "gap" not in list_kinds(rows)
    rows[0, 0] = np.nan
    assert "gap" in list_kinds(rows)
