"""Cases in chunks: what is looked at before anything is computed, and what is picked."""

import numpy as np
import pytest

from memclf import MemorySelector
from memclf.cases import Cases
from memclf.cases.chunks import Chunks, is_chunked, locate, map_parts
from memclf.cases.executors import Here, find_executor
from memclf.similarity import RBFSimilarity

da = pytest.importorskip("dask.array")
bag = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

X = np.random.default_rng(0).normal(size=(100, 3))


def test_chunks__array_in_uneven_chunks_of_rows_and_columns__gives_back_its_rows():
    chunks = Chunks(da.from_array(X, chunks=((1, 60, 39), (2, 1))))
    rows = np.array([99, 0, 61, 60, 2])
    assert (len(chunks), chunks.starts.tolist()) == (100, [0, 1, 61])
    np.testing.assert_array_equal(chunks.keep(rows), X[rows])


def test_chunks__some_rows__are_chunks_that_stay_where_they_are():
    chunks = Chunks(da.from_array(X, chunks=((1, 60, 39), (3,))))
    rows = np.array([2, 5, 60, 61, 99])
    some = chunks.take(rows)
    assert (len(some), some.numbers, some.lengths.tolist()) == (5, [1, 2], [3, 2])
    np.testing.assert_array_equal(some.keys, chunks.keys[rows])
    np.testing.assert_array_equal(some.keep(np.array([4, 0, 3])), X[rows[[4, 0, 3]]])
    np.testing.assert_array_equal(some.take(np.array([1, 4])).keep(np.arange(2)), X[rows[[1, 4]]])


def test_chunks__shifted__are_those_of_the_array():
    chunks = Chunks(da.from_array(X, chunks=(30, 3)))
    expected = Cases.of(X).shifted(7).data
    found = chunks.shifted(7)
    np.testing.assert_array_equal(found.keep(np.arange(100)), expected)
    np.testing.assert_array_equal(found.take(np.array([3, 95])).keep(np.arange(2)), expected[[3, 95]])


@pytest.mark.parametrize(("shape", "can"), [((100, 3), True), ((30, 1), True), ((30, 30), False), ((30, 4, 4), False)])
def test_chunks__can_shift__as_the_array(shape, can):
    data = np.random.default_rng(0).normal(size=shape)
    assert Chunks(da.from_array(data, chunks=(20, *shape[1:]))).can_shift == Cases.of(data).can_shift == can


def test_chunks__map_parts__calls_once_for_cases_and_once_per_chunk():
    chunks = Chunks(da.from_array(X, chunks=(30, 3)))
    assert map_parts(lambda power, cases: len(cases) ** power, 2, chunks) == [900, 900, 900, 100]
    assert map_parts(lambda power, cases: len(cases) ** power, 2, Cases.of(X)) == [10_000]


def test_chunks__groups_of_rows__each_is_brought_together():
    chunks = Chunks(da.from_array(X, chunks=(30, 3)))
    groups = [np.array([0, 29, 30]), np.array([95]), np.array([31, 99])]
    for rows, pile in zip(groups, chunks.piles(groups), strict=True):
        np.testing.assert_array_equal(np.concatenate(chunks.executor.get(pile)), X[rows])


def test_chunks__data_frame_with_empty_partitions__keeps_their_numbers_for_messages():
    table = pd.DataFrame(X, columns=list("abc"))
    parts = [table.iloc[:0], table.iloc[:40], table.iloc[:0], table.iloc[40:]]
    chunks = Chunks(dd.from_map(lambda i: parts[i], range(4), meta=table.iloc[:0]))
    assert (chunks.numbers, chunks.lengths.tolist()) == ([1, 3], [40, 60])
    pd.testing.assert_frame_equal(chunks.keep(np.array([39, 40])), table.iloc[[39, 40]])


def test_chunks__bag__holds_lists_of_cases():
    words = [f"word {i}" for i in range(10)]
    chunks = Chunks(bag.from_sequence(words, npartitions=3).map(str.upper))
    assert chunks.keep(np.array([9, 0])) == ["WORD 9", "WORD 0"]


def test_chunks__nothing_in_it__says_so():
    with pytest.raises(ValueError, match="X has no cases"):
        Chunks(da.zeros((0, 3)))


def test_chunks__nan_in_chunk_17__names_chunk_and_row():
    bad = X.copy()
    bad[17 * 5 + 3, 1] = np.nan
    with pytest.raises(ValueError, match=r"X contains nan in chunk 17, row 3 of the chunk \(row 88 of X\), column 1"):
        MemorySelector(RBFSimilarity(1.0)).fit(da.from_array(bad, chunks=(5, 3)))


def test_chunks__nan_in_a_data_frame__names_chunk_row_and_column():
    table = pd.DataFrame(X, columns=list("abc"))
    table.loc[88, ["b", "c"]] = np.nan
    table.loc[89, "a"] = np.inf
    frame = dd.from_pandas(table, npartitions=20)
    with pytest.raises(ValueError, match=r"contains nan in chunk 17, row 3 of the chunk \(row 88 of X\), column 'b'"):
        MemorySelector(RBFSimilarity(1.0)).fit(frame)


def test_chunks__table_with_other_columns__names_chunk_and_columns():
    table = pd.DataFrame(X, columns=list("abc"))
    parts = [table.iloc[:50], table.iloc[50:].rename(columns={"c": "other"})]
    other = dd.from_map(lambda i: parts[i], range(2), meta=table.iloc[:0], enforce_metadata=False)
    with pytest.raises(ValueError, match="chunk 1 of X has the columns 'a', 'b', 'other', but chunk 0 has .* 'c'. All"):
        Chunks(other)


def test_chunks__array_whose_chunk_has_fewer_columns__names_chunk_and_number():
    crooked = da.map_blocks(
        lambda part: part[:, : 3 - (part[0, 0] == X[50, 0])], da.from_array(X, chunks=(50, 3)), dtype=float
    )
    with pytest.raises(ValueError, match="chunk 1 of X has 2 columns, but chunk 0 has 3 columns"):
        Chunks(crooked)


def test_chunks__error_in_a_chunk__has_a_note_with_its_number():
    def fail(part):
        raise ZeroDivisionError("in the middle")

    chunks = Chunks(da.from_array(X, chunks=(50, 3)))
    with pytest.raises(ZeroDivisionError, match="in the middle") as caught:
        chunks.start(fail)
    assert caught.value.__notes__ == ["This happened in chunk 0 of X."]


def test_locate__ascending_rows__gives_positions_in_their_chunks():
    found = locate(np.array([0, 10, 20]), np.array([3, 20, 25]))
    assert [(i, positions.tolist()) for i, positions in found] == [(0, [3]), (2, [0, 5])]


def test_is_chunked__other_data__is_not():
    assert is_chunked(da.zeros(3))
    assert not any(map(is_chunked, (X, [1, 2], pd.DataFrame(X), "text", None)))


def test_executor__no_client__is_this_process():
    assert isinstance(find_executor(), Here)
