"""Reading cases to learn from: every kind of file, and everything that can be wrong with them."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from memclf.cases.executors import name_worker
from memclf.data import read_training
from memclf.exceptions import ClusterError, DataError, ImageError, MemclfError
from memclf.vision import files, images

TABLE = pd.DataFrame(
    {
        "number": range(40),
        "name": [f"case {k}" for k in range(40)],
        "same": 1,
        "age": [20.0, None, 30.0, 40.0] * 10,
        "smokes": [True, False] * 20,
        "seen": pd.date_range("2024-01-01", periods=40),
        "ward": ["A", "B", None, "A"] * 10,
        "target": ["ill", "well"] * 20,
    }
)


@pytest.fixture(params=[".csv", ".parquet", ".feather", ".arrow"])
def table(request, tmp_path):
    path = tmp_path / f"table{request.param}"
    if request.param == ".csv":
        TABLE.to_csv(path, index=False)
    elif request.param == ".parquet":
        TABLE.to_parquet(path, row_group_size=7)
    else:
        TABLE.to_feather(path, chunksize=7)
    return path


@pytest.fixture
def pictures(tmp_path):
    """A folder with two classes of three images each, and a CSV file that lists them."""
    rows = ["shot,kind,plant"]
    for kind, colour in (("red", (200, 0, 0)), ("blue", (0, 0, 200))):
        (tmp_path / "images" / kind).mkdir(parents=True)
        for k in range(3):
            Image.new("RGB", (16, 16), colour).save(tmp_path / "images" / kind / f"{k}.png")
            rows.append(f"images/{kind}/{k}.png,{kind},{k}")
    (tmp_path / "list.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_read_training__table_of_any_format__gives_the_same_columns(table):
    found = read_training(table)
    assert (found.kind, list(found.cases.columns)) == ("table", ["age", "smokes", "seen", "ward"])
    assert found.cases["smokes"].tolist() == [1.0, 0.0] * 20
    assert found.cases["seen"].dtype.kind == "M"
    assert found.target.tolist() == ["ill", "well"] * 20
    assert " ".join(found.notes) == (
        "Left out 'same': the same in every row. Left out 'number': the rows are numbered there, which says nothing "
        "about new ones. Left out 'name': nearly every row has another text there, which names the case."
    )


def test_read_training__groups__are_no_description(table):
    found = read_training(table, groups="ward")
    assert "ward" not in found.cases.columns
    assert found.groups.tolist()[:2] == ["A", "B"]


def test_read_training__numbers_as_target__are_whole_numbers(tmp_path):
    TABLE.assign(target=[1.0, 2.0] * 20).to_parquet(tmp_path / "t.parquet")
    assert read_training(tmp_path / "t.parquet").target.tolist() == [1, 2] * 20


def test_read_training__folder_and_list_of_images__give_the_same(pictures):
    folder, listed = read_training(pictures / "images"), read_training(pictures / "list.csv", "kind", "plant")
    assert folder.kind == listed.kind == "images"
    assert sorted(folder.target) == sorted(listed.target) == ["blue"] * 3 + ["red"] * 3
    assert listed.groups.tolist() == ["0", "1", "2"] * 2


def test_read_training__files_that_do_not_exist__are_all_named(pictures):
    (pictures / "images/red/0.png").unlink()
    (pictures / "images/blue/2.png").unlink()
    with pytest.raises(MemclfError, match=r"2 of 6 files do not exist: .*red/0.png, .*blue/2.png"):
        read_training(pictures / "list.csv", "kind")


def test_read_training__broken_images__are_named_or_skipped(pictures):
    (pictures / "images/red/0.png").write_bytes(b"nothing")
    (pictures / "images/red/1.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"2 of 6 images cannot be read: .*0.png .*1.png is empty. --skip-broken"):
        read_training(pictures / "images")
    found = read_training(pictures / "images", skip_broken=True)
    assert len(found.cases) == len(found.target) == 4
    assert [re.search(r"\d.png", each).group() for each in found.broken] == ["0.png", "1.png"]


def test_read_training__broken_images_on_workers__are_those_of_this_process(pictures, workers):
    (pictures / "images/red/0.png").write_bytes(b"nothing")
    (pictures / "images/red/1.png").write_bytes(b"")
    here = read_training(pictures / "images", skip_broken=True)
    with workers.as_current():
        there = read_training(pictures / "images", skip_broken=True)
    assert there.broken == here.broken
    assert there.cases.paths == here.cases.paths


def test_read_training__image_that_a_worker_does_not_see__is_no_broken_image(pictures, workers, monkeypatch):
    read = files.read_image

    def read_here(path, **limits):
        if name_worker() is not None and Path(path).name == "1.png":
            raise ImageError(f"{path} cannot be read: No such file or directory")
        return read(path, **limits)

    monkeypatch.setattr(images, "read_image", read_here)
    told = r"1.png cannot be read: No such file.* on the worker inproc://\S+ and not in this process. Every worker must"
    with workers.as_current(), pytest.raises(ClusterError, match=told):
        read_training(pictures / "images", skip_broken=True)


def test_read_training__one_column_of_long_texts__is_texts(tmp_path):
    texts = [f"a longer text about case number {k} and more" for k in range(30)]
    frame = pd.DataFrame({"review": texts, "label": ["good", "bad"] * 15})
    frame.to_csv(tmp_path / "texts.csv", index=False)
    found = read_training(tmp_path / "texts.csv")
    assert (found.kind, found.cases[0]) == ("texts", texts[0])


def test_read_training__loose_images__says_that_classes_are_missing(pictures):
    with pytest.raises(DataError, match="has no labels: one subfolder per class"):
        read_training(pictures / "images" / "red")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,target\n", "has columns ('a', 'target') and no rows"),
        ("a,b\n1,2\n", "none of the columns label, class, target, y; say --target COLUMN; it has 'a', 'b'"),
        ("a;target\n1;2\n", "columns must be separated by commas"),
        ("a,target\n1,x\n2,x\n", "'target' of FILE is always 'x'; a classifier needs two or more classes"),
        ("a,target\n1,x\n2,\n3,\n", "2 of 3 rows of FILE have no 'target' (rows 1, 2, counted from 0)"),
        ("a,target\n1,1.5\n2,2.5\n3,3.5\n", "has 3 different values in 3 rows; memclf learns classes"),
        ("a,target\n1,x\n1,y\n1,x\n1,y\n", "has no column beside 'target' that says something about a case"),
        ('a,target\n1,"x\n', "cannot be read as a table"),
    ],
)
def test_read_training__bad_table__says_what_is_wrong(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=re.escape(message.replace("FILE", str(path)))):
        read_training(path)


def test_read_training__bad_names__say_what_there_is(table, tmp_path):
    with pytest.raises(DataError, match="no column 'outcome'; it has 'number', 'name'"):
        read_training(table, "outcome")
    with pytest.raises(DataError, match="'farm' is no column of"):
        read_training(table, groups="farm")
    with pytest.raises(DataError, match="there is no file or folder"):
        read_training(tmp_path / "nothing.csv")
    (tmp_path / "a.xlsx").write_text("")
    with pytest.raises(DataError, match="neither a folder with one subfolder of images per class nor a table"):
        read_training(tmp_path / "a.xlsx")


def test_read_training__broken_parquet__is_named(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DataError, match="t.parquet cannot be read as a table"):
        read_training(tmp_path / "t.parquet")


def test_read_training__nested_values__are_refused(tmp_path):
    frame = pd.DataFrame({"a": [[1, 2], [3]] * 3, "label": ["x", "y"] * 3})
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="column 'a' of .* holds values of the type ndarray"):
        read_training(tmp_path / "t.parquet")


def test_blocks__any_start__give_the_rows_from_there(table):
    from memclf.data.tables import TableFile

    frames = list(TableFile(table).blocks(9, start=13, words=["ward"]))
    assert np.concatenate([frame.index for frame in frames]).tolist() == list(range(13, 40))
    assert max(map(len, frames)) <= 9
    assert [age for frame in frames for age in frame["number"]] == list(range(13, 40))
