"""Counting, picking and stacking cases of every kind."""

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from cases.kinds import KINDS, ROWS, as_list
from memclf.cases import containers


@pytest.mark.parametrize("kind", KINDS)
def test_take__any_container__keeps_its_kind_and_order(kind):
    cases = KINDS[kind]
    picked = containers.take(cases, np.array([2, 0]))
    assert type(picked) is type(cases)
    assert containers.count(picked) == 2
    assert as_list(picked) == [as_list(cases)[2], as_list(cases)[0]]


@pytest.mark.parametrize("kind", ["array", "table", "sparse", "list"])
def test_take_columns__any_matrix__picks_columns(kind):
    np.testing.assert_array_equal(as_list(containers.take_columns(KINDS[kind], np.array([2, 0]))), ROWS[:, [2, 0]])


@pytest.mark.parametrize("one", ["a text", b"bytes", {"a": 1}], ids=repr)
def test_as_container__a_single_case__is_refused(one):
    with pytest.raises(TypeError, match=f"X must hold several cases, got one {type(one).__name__}; wrap a single case"):
        containers.as_container(one)


def test_as_container__what_cannot_be_indexed__becomes_an_array():
    class OnlyArray:
        def __array__(self, dtype=None, copy=None):
            return ROWS

    np.testing.assert_array_equal(containers.as_container(OnlyArray()), ROWS)
    coordinates = sp.coo_array(ROWS)
    assert containers.as_container(coordinates).format == "csr"
    assert containers.as_container(KINDS["texts"]) is KINDS["texts"]


def test_as_sequence__rows_of_a_table__are_dictionaries():
    found = containers.as_sequence(KINDS["table"])
    assert found[1] == {"a": 3.0, "b": 4.0, "c": 5.0}


def test_as_sequence__table_of_polars__rows_are_dictionaries_too():
    class Polars:
        columns, shape = ["a"], (2, 1)

        def to_dicts(self):
            return [{"a": 1}, {"a": 2}]

    assert containers.as_sequence(Polars()).tolist() == [{"a": 1}, {"a": 2}]


def test_as_sequence__other_containers__case_by_case():
    assert containers.as_sequence(ROWS) is ROWS
    assert containers.as_sequence(sp.coo_array(ROWS)).format == "csr"
    found = containers.as_sequence([[1, 2], [3]])
    assert found.dtype == object
    assert found.tolist() == [[1, 2], [3]]


@pytest.mark.parametrize("kind", ["array", "table", "sparse"])
def test_stack__parts__make_up_the_whole(kind):
    cases = KINDS[kind]
    parts = [containers.take(cases, np.array(rows)) for rows in ([0], [1, 2, 3])]
    whole = containers.stack(parts)
    assert type(whole) is type(cases)
    assert as_list(whole) == as_list(cases)


def test_chunks__cover_everything_in_order():
    assert list(containers.chunks(5, 2)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert len(list(containers.chunks(2, 0))) == 2
    assert list(containers.chunks(0, 3)) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [([1, 2, 3, 4], [1, 3]), ([1, 2], [1, 2]), ("four", "four"), ({"a": 1, "b": 2, "c": 3, "d": 4}, None), (7, 7)],
    ids=repr,
)
def test_take_if_per_case__other_values__are_kept_whole(value, expected):
    found = containers.take_if_per_case(value, np.array([0, 2]), 4)
    assert found == (value if expected is None else expected)


def test_check_columns__second_fit_without_columns__forgets_them():
    from sklearn.base import BaseEstimator

    model = BaseEstimator()
    containers.check_columns(model, KINDS["table"], reset=True)
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == list("abc")
    containers.check_columns(model, KINDS["texts"], reset=True)
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "feature_names_in_")
    containers.check_columns(model, KINDS["texts"])


@pytest.fixture
def mapped(tmp_path):
    """The name of a file of 32 MB, each number of which is the number of its row."""
    path = tmp_path / "cases.npy"
    np.save(path, np.repeat(np.arange(2**18, dtype=np.float32)[:, None], 32, axis=1))
    return path


def mapped_megabytes():
    """Pages of files that count as memory of this process; in a folder in memory (tmpfs) they are called otherwise."""
    lines = [line.split() for line in Path("/proc/self/status").read_text().splitlines()]
    found = [int(line[1]) / 1024 for line in lines if line and line[0] in ("RssFile:", "RssShmem:")]
    if not found:
        pytest.skip("this system does not say how many pages are in memory")
    return sum(found)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
@pytest.mark.parametrize("view", [slice(None), slice(1000, None)])
def test_release_pages__cases_that_were_read__are_no_longer_in_memory(mapped, view):
    cases = np.asarray(np.load(mapped, mmap_mode="r")[view])
    assert cases[:, 0].sum() > 0
    before = mapped_megabytes()
    containers.release_pages(cases, slice(0, len(cases)))
    assert mapped_megabytes() < before - 20
    np.testing.assert_array_equal(cases[::5000, 7], np.arange(2**18)[view][::5000])


@pytest.mark.parametrize("mode", ["c", "r+"])
def test_release_pages__map_that_was_changed__keeps_the_change(mapped, mode):
    cases = np.load(mapped, mmap_mode=mode)
    cases[5000] = -1
    containers.release_pages(cases, slice(0, len(cases)))
    assert (cases[5000] == -1).all()


@pytest.mark.parametrize("cases", [ROWS, ROWS.tolist(), sp.csr_matrix(ROWS)], ids=["array", "list", "sparse"])
def test_release_pages__no_memory_map__changes_nothing(cases):
    containers.release_pages(cases, slice(0, 2))
    assert containers.count(cases) == len(ROWS)


def test_take_ascending__memory_map__is_as_from_the_array(mapped):
    cases = np.load(mapped, mmap_mode="r")
    rows = np.arange(7, len(cases), 40)  # more than are picked at a time
    np.testing.assert_array_equal(containers.take_ascending(cases, rows), np.asarray(cases)[rows])
