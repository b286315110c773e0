"""`memclf edit`: memories changed by hand on the command line."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import GaussianNB
from typer.testing import CliRunner

import memclf
from memclf import MemoryClassifier, MemorySelector
from memclf.cli import app
from memclf.similarity import RBFSimilarity

X, BLOB = make_blobs(90, centers=4, cluster_std=1.0, random_state=0)
Y = np.array(["low", "high"])[BLOB % 2]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edit")
    clf = MemoryClassifier(RBFSimilarity(gamma=0.1), GaussianNB(), 0.5, random_state=0).fit(X, Y)
    table = pd.DataFrame(X, columns=["width", "height"])
    table.assign(label=Y).to_csv(folder / "train.csv", index=False)
    table[::-1].assign(label=Y).to_csv(folder / "other.csv", index=False)
    memclf.save(clf, folder / "model")
    return folder


@pytest.fixture
def place(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "place")


def edit(*arguments):
    shown = CliRunner().invoke(app, ["edit", *map(str, arguments)])
    return shown.exit_code, " ".join(shown.output.split())


def test_edit__all_kinds_at_once__are_one_edit_that_is_logged_and_undone(place):
    model, data = place / "model", place / "train.csv"
    before = memclf.load(model)
    row = int(np.flatnonzero(before.labels_ == 0)[-1])
    options = ["--drop", 1, "--threshold", "2=0.8", "--pin", 0, "--add", row, "--note", "blurred", "--data", data]
    code, output = edit(model, *options)
    assert code == 0, output
    assert f"done: pin memory 0; threshold of memory 2: 0.8; add row {row}; drop memory 1" in output
    assert "training cases" in output
    after = memclf.load(model)
    kept = [k for k in range(len(before.memory_indices_)) if k != 1]
    assert after.memory_indices_.tolist() == [*before.memory_indices_[kept], row]
    assert after.thresholds_[1] == 0.8
    assert after.edits_.pinned == (int(before.memory_indices_[0]),)
    wanted = before.with_training(X, Y).pin(0).set_threshold(2, 0.8).add(row).drop(1)
    np.testing.assert_array_equal(after.predict(X), wanted.predict(X))
    entry = json.loads((model / "edits.jsonl").read_text())
    assert entry["note"] == "blurred"
    assert entry["fitted"] < len(after.memory_indices_)
    assert entry["answered_otherwise"] == int((before.predict(X) != after.predict(X)).sum())
    shown = " ".join(CliRunner(env={"COLUMNS": "200"}).invoke(app, ["inspect", str(model)]).output.split())
    lines = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["inspect", str(model)]).stdout.splitlines()
    memories = [line.split() for line in lines[lines.index("memories") + 3 :]]
    assert (memories[0][0], memories[0][-1]) == ("0", "pinned")
    assert (memories[1][3], memories[1][-1]) == ("0.800", "threshold")
    assert not set("┃│┏━") & set(shown)  # no frames, which break where lines are wrapped
    assert "blurred" in shown
    code, output = edit(model, "--undo", "--log")
    assert code == 0
    assert "undone: pin memory 0" in output
    np.testing.assert_array_equal(memclf.load(model).memory_indices_, before.memory_indices_)
    code, output = edit(model, "--undo")
    assert (code, "there is no edit of" in output) == (1, True)


def test_edit__pins_and_thresholds__need_no_data(place):
    clf = memclf.load(place / "model")
    code, output = edit(place / "model", "--pin", 1, "--threshold", "0=0.9")
    own, alike = clf.labels_ == 0, clf.search_result_.similarity
    assert code == 0
    assert 0 < (own & (alike < 0.9)).sum() < own.sum()
    assert f"threshold 100.0% to {np.mean(~own | (alike >= 0.9)):.1%}" in output
    code, output = edit(place / "model", "--drop", 1, "--data", place / "train.csv")
    assert (code, "memory 1 is pinned; unpin it first" in output) == (1, True)
    assert edit(place / "model", "--unpin", 1, "--drop", 1, "--data", place / "train.csv")[0] == 0


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "nothing to do; give --drop"),
        (["--undo", "--pin", 0], 2, "--undo takes the last edit back and does nothing else"),
        (["--threshold", "0"], 2, "--threshold takes the number of a memory and a threshold, as 2=0.8; got '0'"),
        (["--drop", 0], 1, "needs the training cases, which are neither pickled nor saved"),
        (["--drop", 99, "--data", "train.csv"], 1, "there is no memory 99"),
        (["--drop", 0, "--data", "other.csv"], 1, "not in their order; give them with --data"),
        (["--threshold", "0=7"], 1, "a threshold must be a number in (0, 1]"),
        (["--add", 400, "--data", "train.csv"], 1, "there is no training case 400"),
        (["--drop", 0, "--data", "none.csv"], 1, "there is no file or folder"),
    ],
)
def test_edit__bad_input__is_one_line_and_changes_nothing(saved, options, code, message):
    options = [saved / each if str(each).endswith(".csv") else each for each in options]
    before = sorted(path.name for path in (saved / "model").iterdir())
    found, output = edit(saved / "model", *options)
    assert (found, message in output) == (code, True), output
    assert sorted(path.name for path in (saved / "model").iterdir()) == before


def test_edit__a_selector_or_no_model__is_refused(tmp_path):
    memclf.save(MemorySelector(n_memories=2).fit(X), tmp_path / "selector")
    assert "an edit is about a memory classifier" in edit(tmp_path / "selector", "--pin", 0)[1]
    assert "is no model folder" in edit(tmp_path, "--pin", 0)[1]
