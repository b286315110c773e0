"""Reading cases for a fitted classifier: which column holds the labels, and files with or without them."""

import pickle

import numpy as np
import pandas as pd
import pytest

from memclf import MemoryClassifier
from memclf.data import read_cases, read_unlabelled
from memclf.data.tables import TableFile
from memclf.exceptions import DataError

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"width": RNG.normal(size=40), "height": RNG.normal(size=40)})
Y = np.where(TABLE["width"] > 0, "wide", "narrow")


@pytest.fixture(scope="module")
def clf():
    return MemoryClassifier(threshold=0.3, random_state=0).fit(TABLE, Y)


def write(folder, **more):
    TABLE.assign(**more).to_csv(folder / "cases.csv", index=False)
    return folder / "cases.csv"


def test_read_cases__only_one_new_column_holds_classes__it_is_the_label(clf, tmp_path):
    X, y = read_cases(clf, write(tmp_path, plot=np.arange(40), shape=Y))
    assert y.tolist() == Y.tolist()
    assert list(X.columns) == ["width", "height"]


@pytest.mark.parametrize("more", [{"shape": Y, "form": Y}, {"shape": np.where(Y == "wide", "wide", "round")}])
def test_read_cases__no_column_or_two_could_be_the_label__asks_for_it(clf, tmp_path, more):
    with pytest.raises(DataError, match="say --target COLUMN"):
        read_cases(clf, write(tmp_path, **more))


@pytest.mark.parametrize("more", [{}, {"label": Y}])
def test_read_unlabelled__with_or_without_labels__gives_the_same_cases(clf, tmp_path, more):
    pd.testing.assert_frame_equal(read_unlabelled(clf, write(tmp_path, **more)), TABLE)


@pytest.mark.parametrize("more", [{}, {"y": Y}])
def test_read_unlabelled__classifier_of_an_array__leaves_labels_out(tmp_path, more):
    plain = MemoryClassifier(threshold=0.3, random_state=0).fit(TABLE.to_numpy(), Y)
    np.testing.assert_allclose(read_unlabelled(plain, write(tmp_path, **more)), TABLE.to_numpy())


def test_read_unlabelled__memories_of_different_sizes__are_not_stacked(tmp_path):
    from types import SimpleNamespace

    from memclf.vision import ImageCollection
    from memclf.vision.files import encode_png

    memories = ImageCollection([np.zeros((40, 40, 3), dtype=np.uint8), np.zeros((40, 60, 3), dtype=np.uint8)])
    (tmp_path / "new.png").write_bytes(encode_png(memories[1]))
    assert len(read_unlabelled(SimpleNamespace(memories_=memories), tmp_path)) == 1


@pytest.mark.parametrize("kind", [".parquet", ".arrow", ".csv"])
@pytest.mark.parametrize("start", [0, 7, 20])
def test_ranges__any_start__cover_the_rest_once_and_read_what_is_there(tmp_path, kind, start):
    frame = pd.DataFrame({"a": range(20), "b": list("abcdefghij") * 2})
    path = tmp_path / f"t{kind}"
    if kind == ".csv":
        frame.to_csv(path, index=False)
        assert TableFile(path).ranges(start, 3) is None
        return
    frame.to_parquet(path, row_group_size=8) if kind == ".parquet" else frame.to_feather(path, chunksize=8)
    table = pickle.loads(pickle.dumps(TableFile(path)))  # as it goes to workers
    ranges = table.ranges(start, 3)
    assert [row for first, stop in ranges for row in range(first, stop)] == list(range(start, 20))
    assert max((stop - first for first, stop in ranges), default=0) <= 3
    found = [table.read_range(*each) for each in ranges]
    if found:
        pd.testing.assert_frame_equal(pd.concat(found), frame[start:])
