"""`predict_file` and `memclf predict`: every format, interruptions, a full disk, bad input."""

import json
import resource
import shutil
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

import memclf
from memclf.cli import app
from memclf.data import cases as reading
from memclf.explain import answer_rows
from memclf.own import fit_data, part, predict_file

COLUMNS = ["answer", "probability", "memory", "similarity", "known", "reason"]


def run(*arguments):
    return CliRunner().invoke(app, ["predict", *map(str, arguments)])


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 25 rows and 4 images, so that small files have several."""
    monkeypatch.setattr(reading, "ROWS", 25)
    monkeypatch.setattr(reading, "IMAGES", 4)


@pytest.fixture(scope="session")
def answers(fitted):
    return [row.as_dict() for row in answer_rows(fitted.classifier, fitted.data.cases)]


@pytest.fixture(scope="session")
def images_model(pictures, tmp_path_factory):
    out = tmp_path_factory.mktemp("images") / "model"
    return fit_data(pictures, out, estimator="forest", answer="labels", folds=2).model


def read(path):
    if path.suffix == ".csv":
        return pd.read_csv(path)
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_json(path, lines=True)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_predict_file__any_format__holds_the_answers_of_the_classifier(
    fitted, table, answers, tmp_path, suffix, small_blocks
):
    out = tmp_path / f"answers{suffix}"
    found = predict_file(fitted.model, table, out)
    frame = read(out)
    assert list(frame.columns) == ["row", *COLUMNS]
    assert frame["row"].tolist() == list(range(120))
    for name in ("answer", "memory", "known", "reason"):
        assert frame[name].tolist() == [row[name] for row in answers]
    assert frame["similarity"].tolist() == pytest.approx([row["similarity"] for row in answers], rel=1e-5)
    assert (found.answers, found.unknown) == (120, sum(not row["known"] for row in answers))
    assert found.new_columns == ("outcome",)
    assert [each.name for each in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_predict_file__interrupted__goes_on_where_it_stopped(
    fitted, table, tmp_path, suffix, small_blocks, monkeypatch
):
    out, asked = tmp_path / f"answers{suffix}", []

    def interrupted(clf, X):
        asked.append(len(X))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return answer_rows(clf, X)

    monkeypatch.setattr("memclf.own.predict.answer_rows", interrupted)
    shown = run(fitted.model, table, "--out", out)
    assert (shown.exit_code, out.exists()) == (130, False)
    assert "the same command goes on from here" in shown.output
    with open(tmp_path / f"{out.name}.part", "ab") as file:
        file.write(b"half a li")  # as of a process that was killed while it wrote
    shown = run(fitted.model, table, "--out", out)
    assert shown.exit_code == 0, shown.output
    assert "120 answers, 50 of them by an earlier call" in shown.output
    assert asked == [25, 25, 25, 25, 25, 20]
    predict_file(fitted.model, table, tmp_path / f"whole{suffix}")
    assert read(out).equals(read(tmp_path / f"whole{suffix}"))


def test_predict_file__other_data_than_before__begins_anew(fitted, table, tmp_path, small_blocks, monkeypatch):
    out = tmp_path / "answers.csv"
    state = part.PartFile(out, "other work", ("row", *COLUMNS))
    state.append([dict(zip(("row", *COLUMNS), (0, "ill", 1.0, 0, 1.0, True, "other"), strict=True))], done=1)
    found = predict_file(fitted.model, table, out)
    assert (found.answers, found.before) == (120, 0)
    assert "other" not in out.read_text()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_predict__disk_is_full__one_line_and_nothing_under_the_final_name(
    fitted, table, tmp_path, suffix, small_blocks
):
    """A limit on the size of files stands for the end of the disk: writing fails in the same place."""
    out = tmp_path / f"answers{suffix}"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6000, limits[1]))
    try:
        shown = run(fitted.model, table, "--out", out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert shown.exit_code == 1
    assert "cannot be written: File too large." in shown.output
    assert "answers are kept in" in shown.output
    assert shown.output.count("\n") == 1
    assert not out.exists()
    assert run(fitted.model, table, "--out", out).exit_code == 0
    assert len(read(out)) == 120


def test_predict__folder_of_images__names_files_and_skips_broken_ones(images_model, pictures, tmp_path, small_blocks):
    folder = tmp_path / "new"
    shutil.copytree(pictures / "red", folder)
    (folder / "05.png").write_bytes(b"broken")
    out = tmp_path / "answers.jsonl"
    shown = run(images_model, folder, "--out", out)
    assert shown.exit_code == 1
    assert "1 of 4 images cannot be read" in shown.output
    shown = run(images_model, folder, "--out", out, "--skip-broken")
    assert shown.exit_code == 0, shown.output
    assert "skipped: " in shown.output
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["file"] for row in found] == [f"{k:02}.png" for k in range(1, 20, 2) if k != 5]
    assert sum(row["answer"] == "red" for row in found) > 5


def test_predict__other_columns_or_kinds__say_what_is_wrong(fitted, images_model, table, pictures, tmp_path):
    frame = pd.read_csv(table)
    frame.rename(columns={"age": "years"}).to_csv(tmp_path / "other.csv", index=False)
    frame.assign(age="old").to_csv(tmp_path / "words.csv", index=False)
    for model, data, message in (
        (fitted.model, tmp_path / "other.csv", "missing column: 'age'; new columns (2): 'years', 'outcome'"),
        (fitted.model, tmp_path / "words.csv", "column 'age' of"),
        (fitted.model, pictures, "this classifier takes a table"),
        (images_model, table, "say which one holds the paths"),
        (fitted.model, tmp_path / "nothing.csv", "there is no file or folder"),
        (tmp_path, table, "is no model folder"),
    ):
        shown = run(model, data, "--out", tmp_path / "answers.csv")
        assert shown.exit_code == 1
        assert message in " ".join(shown.output.split())
        assert shown.output.count("\n") == 1
        assert not (tmp_path / "answers.csv").exists()


def test_predict__bad_name_of_the_file__is_an_error_of_the_command_line(fitted, table, tmp_path):
    for out, message in (
        (tmp_path / "answers.txt", "must end in one of .csv"),
        (tmp_path / "nowhere/a.csv", "there is no folder"),
        (table, "is the data itself, which would be lost"),
    ):
        shown = run(fitted.model, table, "--out", out)
        assert (shown.exit_code, message in shown.output) == (2, True)


def test_predict__model_of_a_newer_version__says_so(fitted, table, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(fitted.model, model)
    manifest = json.loads((model / "manifest.json").read_text())
    manifest["format_version"] += 1
    (model / "manifest.json").write_text(json.dumps(manifest))
    shown = run(model, table, "--out", tmp_path / "answers.csv")
    assert shown.exit_code == 1
    assert "was saved by a newer memclf" in shown.output


def test_predict_file__answers__do_not_depend_on_the_blocks(fitted, table, answers, tmp_path):
    predict_file(fitted.model, table, tmp_path / "one.csv")
    assert read(tmp_path / "one.csv")["answer"].tolist() == [row["answer"] for row in answers]
    assert memclf.load(fitted.model).predict(fitted.data.cases).tolist() == [row["answer"] for row in answers]


def test_predict__similarity_of_the_user__is_imported_only_if_trusted(table, tmp_path, monkeypatch):
    code = "def alike(a, b):\n    return 1.0 if str(a['ward']) == str(b['ward']) else 0.1\n"
    (tmp_path / "memclf_test_wards.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    found = fit_data(
        table,
        "model",
        target="outcome",
        similarity="memclf_test_wards:alike",
        answer="labels",
        estimator="logistic",
        unknown_rate=None,
        folds=2,
    )
    monkeypatch.delitem(sys.modules, "memclf_test_wards")
    shown = run("model", table, "--out", "answers.csv")
    assert shown.exit_code == 1
    assert "here: --trusted memclf_test_wards.alike" in " ".join(shown.output.split())
    assert "memclf_test_wards" not in sys.modules
    shown = run("model", table, "--out", "answers.csv", "--trusted", "memclf_test_wards.alike")
    assert shown.exit_code == 0, shown.output
    assert read(tmp_path / "answers.csv")["answer"].tolist() == found.classifier.predict(found.data.cases).tolist()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_predict__id_column__names_the_cases(fitted, table, tmp_path, small_blocks, suffix):
    frame = pd.read_csv(table).assign(patient=[f"{k:04}" for k in range(120)])
    frame.to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / f"answers{suffix}"
    shown = run(fitted.model, tmp_path / "new.csv", "--out", out, "--id", "patient")
    assert shown.exit_code == 0, shown.output
    assert "patient" not in shown.stderr  # among the columns that are not looked at
    found = pd.read_csv(out, dtype={"patient": str}) if suffix == ".csv" else read(out)
    assert list(found.columns) == ["patient", *COLUMNS]
    assert found["patient"].tolist() == frame["patient"].tolist()


def test_predict__id_column_that_is_not_there__is_named(fitted, images_model, table, pictures, tmp_path):
    shown = run(fitted.model, table, "--out", tmp_path / "answers.csv", "--id", "agee")
    assert shown.exit_code == 1
    assert "has no column 'agee'; did you mean 'age'?" in shown.stderr
    shown = run(images_model, pictures, "--out", tmp_path / "answers.csv", "--id", "name")
    assert (shown.exit_code, "named by their files; leave out --id name" in shown.stderr) == (2, True)
