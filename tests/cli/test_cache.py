import numpy as np
from typer.testing import CliRunner

from memclf.cases.store import Row, Store
from memclf.cli import app


def filled(folder, n=3):
    Store(folder).put([(bytes([k]), Row(np.arange(100.0), False)) for k in range(n)])
    return folder


def run(*words):
    return CliRunner().invoke(app, ["cache", *map(str, words)])


def test_cache__three_rows__are_counted_and_stay(tmp_path):
    shown = run(filled(tmp_path))
    assert shown.exit_code == 0
    assert "3 entries, 0.0 MB, last used 2" in shown.output
    assert Store(tmp_path).usage().entries == 3
    assert Store(tmp_path).usage().bytes >= 3 * 800


def test_cache__clear__rows_are_gone_and_the_file_is_small(tmp_path):
    before = Store(filled(tmp_path, 200)).file.stat().st_size
    shown = run(tmp_path, "--clear")
    assert "removed 200 entries" in shown.output
    assert Store(tmp_path).usage() == (0, 0, None)
    assert Store(tmp_path).get([b"\0"]) == [None]
    assert Store(tmp_path).file.stat().st_size < before / 2
    assert "removed 0 entries" in run(tmp_path, "--clear").output


def test_cache__folder_without_one__is_an_error_and_stays_empty(tmp_path):
    shown = run(tmp_path)
    assert shown.exit_code == 1
    assert "is no cache folder" in shown.output
    assert list(tmp_path.iterdir()) == []


def test_clear__rows_written_afterwards__are_found(tmp_path):
    store = Store(filled(tmp_path))
    store.clear()
    filled(tmp_path, 1)
    assert store.usage().entries == 1
    assert store.get([b"\0"])[0].value.tolist() == list(range(100))


def test_cache__no_folder__is_named(tmp_path):
    shown = run(tmp_path / "nothing")
    assert shown.exit_code == 1
    assert "there is no folder" in shown.output
