"""Which descriptions are distinct, and in which order they come."""

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memclf.cases import distinct

matrices = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 3)),
    elements=st.sampled_from([0.0, -0.0, 1.0, 0.5, np.nan]),
)


def check(descriptions, equal):
    """`first` holds the first row of every group, and two rows are in one group exactly if they are equal."""
    first, group = distinct(descriptions)
    n = len(group)
    assert sorted(set(group.tolist())) == list(range(len(first)))
    for number, row in enumerate(first.tolist()):
        assert row == np.flatnonzero(group == number)[0]
    for i in range(n):
        for j in range(n):
            assert (group[i] == group[j]) == equal(i, j), (i, j)
    return first, group


@settings(max_examples=60, deadline=None)
@given(matrices)
def test_distinct__rows_of_numbers__equal_rows_fall_together(rows):
    def equal(i, j):
        return np.array_equal(rows[i], rows[j], equal_nan=True)

    check(rows, equal)
    rows = np.nan_to_num(rows)
    check(sp.csr_array(rows), equal)


@settings(max_examples=30, deadline=None)
@given(matrices, st.integers(0, 100))
def test_distinct__order_of_the_rows__does_not_change_the_order_of_the_groups(rows, seed):
    order = np.random.default_rng(seed).permutation(len(rows))
    np.testing.assert_array_equal(rows[distinct(rows)[0]], rows[order][distinct(rows[order])[0]])
    rows = np.nan_to_num(rows)
    one, other = distinct(sp.csr_array(rows))[0], distinct(sp.csr_array(rows[order]))[0]
    np.testing.assert_array_equal(rows[one], rows[order][other])


@pytest.mark.parametrize("kind", ["array", "sparse"])
def test_distinct__rows_that_share_a_key__are_told_apart(kind, monkeypatch):
    """Keys of 64 bits practically never collide, so the test makes them."""
    module = sys.modules["memclf.cases.distinct"]
    monkeypatch.setattr(module, "_mixed", lambda words: np.zeros(len(words), dtype=np.uint64))
    rows = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    first, group = distinct(rows if kind == "array" else sp.csr_array(rows))
    assert group[0] != group[1]
    if kind == "array":  # sparse ones are all kept then
        assert group[0] == group[2]
        assert len(first) == 2


def test_distinct__whole_numbers_beyond_floats__stay_apart():
    check(np.array([[2**60], [2**60 + 1], [2**60]]), lambda i, j: (i == 1) == (j == 1))


def test_distinct__texts():
    words = np.array(["b", "a", "b"])
    check(words, lambda i, j: words[i] == words[j])


def test_distinct__objects__equal_ones_of_equal_type_fall_together():
    items = [(1, "a"), [1, "a"], (1, "a"), {"k": [1]}, {"k": [1]}, 1, 1.0, True, np.array([1, 2]), np.array([1, 2])]
    same = [{0, 2}, {3, 4}, {8, 9}]
    array = np.empty(len(items), dtype=object)
    array[:] = items
    check(array, lambda i, j: i == j or any({i, j} == pair for pair in same))


@pytest.mark.parametrize(
    "cases",
    [np.array([{1}, {1}], dtype=object), pd.DataFrame({"a": [1, 1]}), [[1], [1]]],
    ids=["unhashable", "table", "list"],
)
def test_distinct__what_cannot_be_told_apart_safely__is_kept(cases):
    first, group = distinct(cases)
    assert first.tolist() == group.tolist() == [0, 1]
