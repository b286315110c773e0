import sys

import numpy as np
import pytest

from memclf import MemorySelector
from memclf.cases import Cases, ParquetRows
from memclf.exceptions import MissingExtraError
from memclf.memory import blocks, describing, search
from memclf.similarity import FunctionSimilarity, RBFSimilarity

pytest.importorskip("pyarrow", reason="Parquet files need pyarrow (extra scale)")


@pytest.fixture
def written(tmp_path):
    """Rows of numbers, and a file of them in row groups of 100."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    X = np.random.default_rng(0).normal(size=(730, 3))
    X[:, 1] = np.round(X[:, 1])
    path = tmp_path / "cases.parquet"
    table = pa.table({"a": X[:, 0], "b": X[:, 1].astype(int), "c": X[:, 2]})
    parquet.write_table(table, path, row_group_size=100)
    return X, path


def test_parquet__rows__are_those_of_the_array(written):
    X, path = written
    rows = ParquetRows(path)
    assert (len(rows), rows.shape, rows.ndim) == (730, (730, 3), 2)
    some = np.array([729, 0, 100, 99, 100])
    for index in (slice(90, 210), some, X[:, 0] > 0, slice(None)):
        np.testing.assert_array_equal(rows[index], X[index])
    np.testing.assert_array_equal(rows[5], X[5])
    np.testing.assert_array_equal(np.asarray(rows), X)
    np.testing.assert_array_equal(ParquetRows(path, columns=["c", "a"])[:7], X[:7, [2, 0]])


@pytest.mark.parametrize("kind", [str, "path", ParquetRows])
def test_parquet__search__gives_what_the_array_gives(written, kind, monkeypatch):
    X, path = written
    for module in (search, describing):
        monkeypatch.setattr(module, "EXACT_CASES", 300)
    monkeypatch.setattr(blocks, "ROWS", 256)
    monkeypatch.setattr(blocks, "SAMPLE", 250)
    X_file = path if kind == "path" else kind(path)
    for q in (5, None):
        array, file = (MemorySelector(RBFSimilarity(), 0.6, q, random_state=0).fit(data) for data in (X, X_file))
        assert file.search_result_.way == "batches"
        np.testing.assert_array_equal(file.memory_indices_, array.memory_indices_)
        np.testing.assert_array_equal(file.labels_, array.labels_)
        np.testing.assert_array_equal(file.memories_, X[file.memory_indices_])
        np.testing.assert_array_equal(file.predict(X_file), file.labels_)


@pytest.mark.parametrize("similarity", [RBFSimilarity(), FunctionSimilarity(lambda a, b: 1 / (1 + abs(a[0] - b[0])))])
def test_parquet__few_rows__are_read_as_an_array(written, similarity):
    X, path = written
    array, file = (
        MemorySelector(similarity, 0.4, 4, random_state=0).fit(data) for data in (X[:200], ParquetRows(path)[:200])
    )
    np.testing.assert_array_equal(file.memory_indices_, array.memory_indices_)
    whole = MemorySelector(similarity, 0.4, 4, random_state=0).fit(path)
    assert whole.search_result_.way == "exact"
    assert len(whole.labels_) == 730
    assert len(Cases(path)) == 730


def test_parquet__text_columns__are_named_with_what_to_do(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table({"a": [1.0], "town": ["Rome"], "day": ["x"]}), tmp_path / "mixed.parquet")
    with pytest.raises(
        ValueError, match=r"mixed.parquet holds columns that are no numbers: 'town' \(.*string\), 'day'"
    ):
        MemorySelector().fit(tmp_path / "mixed.parquet")
    with pytest.raises(ValueError, match="has no columns \\['b'\\]; it has \\['a', 'town', 'day'\\]"):
        ParquetRows(tmp_path / "mixed.parquet", columns=["b"])
    assert ParquetRows(tmp_path / "mixed.parquet", columns=["a"]).shape == (1, 1)


def test_parquet__gap__is_nan(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table({"a": [1.0, None], "b": [None, 4]}), tmp_path / "gaps.parquet")
    np.testing.assert_array_equal(ParquetRows(tmp_path / "gaps.parquet")[:], [[1, np.nan], [np.nan, 4]])


def test_parquet__rows__can_be_sent_to_workers(written):
    import pickle

    X, path = written
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ParquetRows(path)))[:3], X[:3])


def test_parquet__without_pyarrow__the_extra_is_named(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'memclf\[scale\]'"):
        ParquetRows(written[1])
