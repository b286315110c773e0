"""`fit_data` and `memclf fit`: from files to a model folder, a table and a sentence, and a page."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import memclf
from memclf.cli import app
from memclf.exceptions import DataError
from memclf.own import fit_data
from memclf.vision.features import ColourOf, Measurements, TaughtRegions, write_spec


def run(*arguments):
    return CliRunner().invoke(app, ["fit", *map(str, arguments)])


def test_fit_data__table__saves_a_model_that_answers_as_the_fitted_one(fitted, table):
    loaded = memclf.load(fitted.model)
    cases = fitted.data.cases
    assert (loaded.predict(cases) == fitted.classifier.predict(cases)).all()
    assert (
        fitted.comparison.results.cases.labels.tolist()
        == np.unique(fitted.data.target, return_inverse=True)[1].tolist()
    )


def test_fit_data__table_that_can_be_learned__beats_the_commonest_class(fitted):
    rows = {row["contender"]: row for row in fitted.comparison.rows}
    assert rows["baseline"]["accuracy"]["value"] > rows["majority"]["accuracy"]["value"] + 0.1
    assert fitted.comparison.differences["majority"]["accuracy"]["low"] > 0
    assert fitted.comparison.advice.use in ("memory", "plain")  # labels alone are its memory classifier


def test_fit_data__same_seed__gives_the_same_comparison(table, fitted):
    again = fit_data(table, target="outcome", answer="labels", estimator="logistic")
    assert again.model is None
    assert again.as_dict()["contenders"] == fitted.as_dict()["contenders"]


def test_fit_data__answer_global__the_plain_model_answers(table, tmp_path):
    found = fit_data(table, tmp_path / "model", target="outcome", answer="global", estimator="logistic")
    assert found.comparison.differences["baseline"]["accuracy"] == {"value": 0, "low": 0, "high": 0}
    assert found.comparison.advice.sentence.startswith("The plain model answers, in a memory classifier that shows")
    assert not found.comparison.advice.more


def test_fit__metric__is_what_auto_is_judged_by(table, tmp_path):
    options = ("--target", "outcome", "--estimator", "logistic", "--metric", "balanced_accuracy")
    shown = run(table, *options, "--out", tmp_path / "m")
    assert shown.exit_code == 0, shown.output
    assert "(balanced accuracy on held-out and shifted training cases" in " ".join(shown.output.split())
    assert memclf.load(tmp_path / "m").answer.metric == "balanced_accuracy"


def test_fit__groups_and_json__compare_all_four_contenders(table, tmp_path):
    frame = pd.read_csv(table)
    frame.assign(doctor=np.arange(len(frame)) // 6).to_parquet(tmp_path / "t.parquet")
    shown = run(
        tmp_path / "t.parquet",
        "--out",
        tmp_path / "m",
        "--target",
        "outcome",
        "--groups",
        "doctor",
        "--json",
        "--estimator",
        "logistic",
        "--unknown-rate",
        "0",
        "--answer",
        "local",
    )
    assert shown.exit_code == 0, shown.output
    found = json.loads(shown.stdout)
    assert [row["contender"] for row in found["contenders"]] == ["majority", "baseline", "stage1", "memory"]
    assert found["answered"] == 1.0
    assert found["use"] in ("memory", "plain", "stage1")
    assert (tmp_path / "m" / "manifest.json").is_file()
    assert "doctor" not in memclf.load(tmp_path / "m").memories_.columns


def test_fit__csv__prints_table_sentence_and_notes(table, tmp_path):
    frame = pd.read_csv(table)
    frame.insert(0, "id", [f"p{k}" for k in range(len(frame))])
    frame.to_csv(tmp_path / "t.csv", index=False)
    page = tmp_path / "page.html"
    shown = run(
        *(tmp_path / "t.csv", "--out", tmp_path / "m", "--target", "outcome", "--answer", "labels", "--report", page),
        "--keep-training",
    )
    assert shown.exit_code == 0, shown.output
    assert len(memclf.load(tmp_path / "m").training_.X) == len(frame)
    for said in (
        "Left out 'id'",
        "commonest class",
        "plain model",
        "memory classifier",
        "Use the ",
        f"model: {tmp_path}",
    ):
        assert said in shown.output
    html = page.read_text()
    assert "Use the " in html
    assert "Memory 0 · " in html
    assert "http://" not in html.replace("http://www.w3.org", "")


@pytest.mark.slow
def test_fit_data__folder_of_images__uses_measurements_and_the_bundled_network(pictures, tmp_path):
    found = fit_data(pictures, tmp_path / "m", answer="local", folds=2)
    assert found.data.kind == "images"
    rows = {row["contender"]: row for row in found.comparison.rows}
    assert list(rows) == ["majority", "baseline", "stage1", "memory"]
    assert rows["baseline"]["accuracy"]["value"] > 0.8
    assert rows["stage1"]["answered_accuracy"]["value"] > 0.8
    loaded = memclf.load(tmp_path / "m")
    assert (loaded.predict(found.data.cases) == found.classifier.predict(found.data.cases)).all()


def test_fit__spec_of_measurements__is_what_cases_are_compared_by(pictures, tmp_path):
    spec = tmp_path / "look.yaml"
    spec.write_text("measurements:\n  - measure: colour\n    of: picture\n")
    page = tmp_path / "page.html"
    options = ("--estimator", "logistic", "--answer", "labels", "--report", page)
    shown = run(pictures, "--out", tmp_path / "m", "--features", spec, *options)
    assert shown.exit_code == 0, shown.output
    clf = memclf.load(tmp_path / "m")
    assert page.read_text().count("data:image/png;base64") >= len(clf.memory_indices_)
    assert [type(each).__name__ for each in clf.similarity_.features.measurements] == ["ColourOf"]


def test_fit_data__second_fit_with_a_cache__measures_nothing_again(pictures, tmp_path, monkeypatch):
    looked, measure = [], Measurements.measure

    def count(self, image, info):
        looked.append(image)
        return measure(self, image, info)

    monkeypatch.setattr(Measurements, "measure", count)
    options = {"features": Measurements([ColourOf("picture")]), "estimator": "forest", "answer": "local", "folds": 2}
    first = fit_data(pictures, cache=tmp_path / "cache", **options)
    assert len(looked) == len(first.data.target)
    fit_data(pictures, cache=tmp_path / "cache", seed=1, **options)
    assert len(looked) == len(first.data.target)
    fit_data(pictures, **options)
    assert len(looked) == 2 * len(first.data.target)


def test_fit__cache_for_a_table__says_what_it_is_for(table, tmp_path):
    shown = run(table, "--out", tmp_path / "m", "--target", "outcome", "--cache", tmp_path / "c")
    assert shown.exit_code == 2
    assert "--cache keeps what is measured about images" in shown.output


def test_fit__spec_of_taught_regions__measures_those_of_the_folder(pictures, tmp_path):
    image, painting = np.full((48, 64, 3), 220, dtype=np.uint8), np.zeros((48, 64), dtype=np.uint8)
    image[12:36, 16:48] = (170, 80, 80)
    painting[2:8, 4:60], painting[16:32, 20:44] = 1, 2
    taught = TaughtRegions(["ground", "square"], showings=20).fit([image], [painting])
    memclf.save(taught, tmp_path / "taught")
    write_spec(Measurements([ColourOf("square", regions=taught)]), tmp_path / "look.yaml")
    options = ("--estimator", "logistic", "--answer", "labels", "--features", tmp_path / "look.yaml")
    shown = run(pictures, "--out", tmp_path / "m", *options, "--regions", tmp_path / "taught")
    assert shown.exit_code == 0, shown.output
    measured = memclf.load(tmp_path / "m").similarity_.features
    assert measured.names[0] == "square_lightness_low"
    np.testing.assert_array_equal(measured.measurements[0].regions.transform([image]), taught.transform([image]))


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--target", "nothing"), 1, "has no column 'nothing'"),
        ((), 1, "none of the columns label, class, target, y; say --target COLUMN"),
        (("--target", "outcome", "--answer", "guess"), 2, "--answer must be one of"),
        (
            ("--target", "outcome", "--metric", "f1"),
            2,
            "--metric must be one of accuracy, both",
        ),
        (("--target", "outcome", "--metric", "accuracy", "--answer", "labels"), 2, "but labels answers"),
        (("--target", "outcome", "--similarity", "gowr"), 2, "did you mean gower?"),
        (("--target", "outcome", "--features", "look.yaml"), 2, "--features names measurements of images, but"),
        (("--target", "outcome", "--regions", "taught"), 2, "--regions finds what a SPEC measures; give the SPEC too"),
        (("--target", "outcome", "--unknown-rate", "2"), 2, "unknown-rate"),
        (("--target", "outcome", "--report", "nowhere/page.html"), 1, "there is no folder"),
    ],
)
def test_fit__bad_options__one_line_and_the_right_exit_code(table, tmp_path, options, code, message):
    shown = run(table, "--out", tmp_path / "m", *options)
    assert shown.exit_code == code
    assert message in " ".join(shown.output.split())
    assert not (tmp_path / "m").exists()


def test_fit__folder_with_other_things__is_left_alone(table, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    shown = run(table, "--target", "outcome", "--out", tmp_path)
    assert shown.exit_code == 1
    assert "holds other things" in shown.output
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]


def test_fit__texts__say_what_to_install(tmp_path):
    texts = [f"a longer text about case number {k} and more" for k in range(30)]
    pd.DataFrame({"review": texts, "label": ["good", "bad"] * 15}).to_csv(tmp_path / "t.csv", index=False)
    shown = run(tmp_path / "t.csv", "--out", tmp_path / "m")
    assert shown.exit_code == 1
    assert "pip install sentence-transformers" in shown.output


def test_fit_data__fewer_groups_than_folds__says_what_to_do(table):
    with pytest.raises(DataError, match=r"the groups of .* are \d, and 5 held-out folds need at least 5"):
        fit_data(table, target="outcome", groups="ward", answer="labels", estimator="logistic")


def test_fit_data__class_with_one_case__is_noted(table, tmp_path):
    rows = pd.read_csv(table)
    rows.loc[0, "outcome"] = "unsure"
    rows.to_csv(tmp_path / "rows.csv", index=False)
    found = fit_data(tmp_path / "rows.csv", target="outcome", answer="labels", estimator="logistic")
    assert "Note: class 'unsure' has a single case" in "\n".join(found.data.notes)


def test_fit_data__who_answers__is_said_in_the_results(fitted):
    assert fitted.as_dict()["who"] == "the labels of the case's memory (stage 1 alone)"
