"""Rows of an object that gives slices alone, as datasets of h5py and zarr do."""

import numpy as np
import pytest

from memclf.cases import containers
from memclf.cases.sliced import SPAN, SlicedRows

X = np.random.default_rng(0).normal(size=(3 * SPAN + 5, 2)).astype(np.float32)


class Dataset:
    """As of h5py or zarr: it gives slices, and no iterator and no array."""

    def __init__(self, rows):
        self.rows, self.shape, self.ndim, self.dtype = rows, rows.shape, rows.ndim, rows.dtype
        self.read = []

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, part):
        assert isinstance(part, slice)
        assert part.step is None
        self.read.append(part.stop - part.start)
        return self.rows[part].copy()


@pytest.mark.parametrize(
    "index",
    [
        slice(3, 9),
        slice(None),
        slice(9, 3),
        slice(0, 3000, 7),
        np.array([5, 3000, 5, 0, len(X) - 1, -2]),
        np.zeros(0, dtype=np.intp),
        X[:, 0] > 1,
        [4, 2],
        7,
        -1,
    ],
    ids=str,
)
def test_sliced__any_index__gives_the_rows_of_the_array(index):
    rows = SlicedRows.of(Dataset(X))
    found = rows[index]
    assert found.dtype == X.dtype
    np.testing.assert_array_equal(found, X[index])


def test_sliced__some_rows__no_more_than_a_span_is_read_at_once():
    data = Dataset(X)
    rows = SlicedRows.of(data)
    data.read.clear()
    rows[np.array([0, 2, SPAN, len(X) - 1])]
    assert data.read == [3, 1, 1]
    rows[np.arange(len(X))[::-1]]
    assert max(data.read) == SPAN


def test_sliced__rows__count_as_numbers_and_become_an_array():
    rows = SlicedRows.of(Dataset(X))
    assert containers.is_rows_of_numbers(rows)
    assert containers.row_bytes(rows) == 16
    assert containers.count(rows) == len(X)
    np.testing.assert_array_equal(np.asarray(rows), X)
    assert np.asarray(rows, dtype=np.float64).dtype == np.float64
    np.testing.assert_array_equal(containers.take_slice(rows, slice(5, 8)), X[5:8])
    assert repr(rows) == f"SlicedRows(Dataset, {len(X)} rows, 2 columns)"
    assert SlicedRows.of(rows) is rows


class Foreign(Dataset):
    """Its slices are of its own kind."""

    def __getitem__(self, part):
        return Foreign(self.rows[part])


@pytest.mark.parametrize(
    "other",
    [X, [[1.0]], "text", Dataset(X[:, 0]), Dataset(X.astype(str)), Dataset(X.astype(complex)), Foreign(X)],
    ids=["array", "list", "text", "one dimension", "texts", "complex", "foreign"],
)
def test_sliced__anything_else__stays_as_it_is(other):
    assert SlicedRows.of(other) is other


def test_sliced__tables__stay_as_they_are():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"dtype": [1.0], "other": [2.0]})
    assert SlicedRows.of(table) is table
