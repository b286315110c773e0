"""Files of judgements: only ever appended, replaced as a whole, and read with clear errors."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from memclf.similarity import append_judgements, read_judgements

PAIRS = [(0, 1, 1.0), (4, 2, 0.25)]
TRIPLETS = [(0, 1, 2), (7, 5, 3)]


def test_judgements__appended_in_parts__come_back_in_order(tmp_path):
    file = tmp_path / "judged.csv"
    append_judgements(file, PAIRS[:1], TRIPLETS[:1])
    before = file.read_text()
    append_judgements(file, triplets=TRIPLETS[1:])
    append_judgements(file, [(4, 2, 0.25)])
    assert read_judgements(file) == (PAIRS, TRIPLETS)
    assert file.read_text().startswith(before)
    assert [each.name for each in tmp_path.iterdir()] == ["judged.csv"]


def test_append__file_without_a_last_newline__starts_a_new_line(tmp_path):
    file = tmp_path / "judged.csv"
    file.write_text("i,j,k,alike\n0,1,2,")
    append_judgements(file, [(1, 0, True)])
    assert read_judgements(file) == ([(1, 0, 1.0)], [(0, 1, 2)])


def test_append__interrupted__leaves_the_file_as_it_was(tmp_path, monkeypatch):
    file = tmp_path / "judged.csv"
    append_judgements(file, PAIRS)

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        append_judgements(file, triplets=TRIPLETS)
    assert read_judgements(file) == (PAIRS, [])
    assert [each.name for each in tmp_path.iterdir()] == ["judged.csv"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "begins with the columns .'a', 'b'.; a file of judgements has i, j, k, alike"),
        ("", "begins with the columns"),
        ("i,j,k,alike\n0,1,2,\n3,4,,\n", "line 3 of .* is no judgement: give i, j and alike"),
        ("i,j,k,alike\n0,x,2,\n", "line 2 of .* is no judgement"),
        ("i,j,k,alike\n0,1,2,1\n", "line 2 of .* is no judgement: give i, j and alike .0 to 1., or i, j and k"),
    ],
)
def test_read__wrong_file__error_names_the_line(tmp_path, text, message):
    file = tmp_path / "judged.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_judgements(file)


@pytest.mark.parametrize("pairs", [[(0, 1)], [(0, 1, "yes")], [(0, 0, True)], [(-1, 1, True)]])
def test_append_judgements__no_pair__is_refused_and_the_file_stays(tmp_path, pairs):
    file = tmp_path / "j.csv"
    append_judgements(file, pairs=[(0, 1, True)])
    before = file.read_text()
    with pytest.raises(ValueError, match="pairs"):
        append_judgements(file, pairs=pairs)
    assert file.read_text() == before


@pytest.mark.skipif(os.name == "nt", reason="Windows has no lock on folders")
def test_append__several_at_once__loses_no_judgement(tmp_path):
    file = tmp_path / "judged.csv"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: append_judgements(file, triplets=[(i, i + 1, i + 2)]), range(60)))
    assert sorted(i for i, _, _ in read_judgements(file)[1]) == list(range(60))
    assert [each.name for each in tmp_path.iterdir()] == ["judged.csv"]


def test_judgements__file_of_a_spreadsheet__is_read_and_continued(tmp_path):
    file = tmp_path / "judged.csv"
    file.write_text("i,j,k,alike\n0,1,2,\n", encoding="utf-8-sig")
    append_judgements(file, [(4, 2, 0.25)])
    assert read_judgements(file) == ([(4, 2, 0.25)], [(0, 1, 2)])


def test_append__empty_file__gets_its_columns(tmp_path):
    file = tmp_path / "judged.csv"
    file.touch()
    append_judgements(file, PAIRS)
    assert read_judgements(file) == (PAIRS, [])


def test_append__file_of_something_else__is_refused_and_stays(tmp_path):
    file = tmp_path / "leaves.csv"
    file.write_text("leaf,grade\n7,2\n")
    with pytest.raises(ValueError, match="begins with the columns .*; a file of judgements has i, j, k, alike"):
        append_judgements(file, PAIRS)
    assert file.read_text() == "leaf,grade\n7,2\n"


def test_append__answer_with_many_digits__keeps_them_all(tmp_path):
    file = tmp_path / "judged.csv"
    append_judgements(file, [(0, 1, 1 / 3), (2, 1, True)])
    assert read_judgements(file)[0] == [(0, 1, 1 / 3), (2, 1, 1.0)]
    assert file.read_text().endswith("2,1,,1\n")


def test_judgements__no_file_or_no_folder__says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file of judgements .*; append_judgements makes one"):
        read_judgements(tmp_path / "judged.csv")
    with pytest.raises(FileNotFoundError, match="there is no folder .* for the judgements; make it first"):
        append_judgements(tmp_path / "new" / "judged.csv", PAIRS)
