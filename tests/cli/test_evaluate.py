"""`memclf evaluate`: a saved model beside its controls."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, recall_score

from memclf.vision import ImageCollection


@pytest.fixture(scope="module")
def found(run, seeds):
    shown = run("evaluate", seeds.model, seeds.new, "--target", "kind", "--json")
    assert shown.exit_code == 0, shown.output
    return json.loads(shown.stdout)


def test_evaluate__accuracies__are_those_of_the_answers(found, seeds):
    new = seeds.tables["new"]
    said = seeds.clf.predict(new.drop(columns="kind"))
    clean = {each["model"]: each["clean"] for each in found["models"]}
    assert clean["memory"]["accuracy"]["value"] == pytest.approx(accuracy_score(new["kind"], said))
    recalls = recall_score(new["kind"], said, average=None, labels=seeds.clf.classes_, zero_division=0)
    assert clean["memory"]["balanced_accuracy"]["value"] == pytest.approx(recalls.mean())
    assert clean["memory"]["coverage"] == pytest.approx(np.mean(said != "unknown"))
    commonest = seeds.tables["train"]["kind"].value_counts().idxmax()
    assert clean["majority"]["accuracy"]["value"] == pytest.approx(np.mean(new["kind"] == commonest))
    assert "stage1" in clean


def test_evaluate__confusion__counts_answers_with_a_row_for_unknown(found, seeds):
    new = seeds.tables["new"]
    said = seeds.clf.predict(new.drop(columns="kind"))
    table = pd.DataFrame(found["confusion"]["counts"], found["confusion"]["answers"], [*seeds.clf.classes_])
    assert table.index[-1] == "unknown"
    for answer in table.index:
        for truth in table.columns:
            assert table.loc[answer, truth] == np.sum((said == answer) & (new["kind"] == truth))
    assert sum(each["cases"] for each in found["memories"]) == len(new)
    assert sum(each["right"] for each in found["memories"]) == np.sum(said == new["kind"])


def test_evaluate__risk_coverage__ends_at_the_error_among_the_answered(found, seeds):
    new = seeds.tables["new"]
    said = seeds.clf.predict(new.drop(columns="kind"))
    answered = said != "unknown"
    last = found["risk_coverage"]["points"][-1]
    if answered.all():
        assert last["coverage"] == pytest.approx(1.0)
        assert last["risk"] == pytest.approx(np.mean((said != new["kind"])[answered]))
    assert 0 <= found["risk_coverage"]["area"] <= 1


def test_evaluate__terminal__fits_80_columns_and_ends_with_a_verdict(run, seeds):
    shown = run("evaluate", seeds.model, seeds.new, "--target", "kind")
    assert shown.exit_code == 0, shown.output
    assert max(map(len, shown.output.splitlines())) <= 80
    assert "unknown" in shown.output
    assert "Use " in shown.output
    assert "Beware" not in shown.output


def test_evaluate__training_cases__are_noticed(run, seeds):
    shown = run("evaluate", seeds.model, seeds.train, "--target", "kind")
    assert "Beware: every memory is among these cases" in " ".join(shown.output.split())


def test_evaluate__corruption__is_measured_as_the_library_corrupts(run, patches, tmp_path):
    asked = ("--corruption", "gaussian_noise", "--severity", "5", "--report", tmp_path / "page.html", "--json")
    shown = run("evaluate", patches.model, patches.new, *asked)
    assert shown.exit_code == 0, shown.output
    found = json.loads(shown.stdout)
    images = ImageCollection.from_folder(patches.new)
    wanted = np.mean(patches.clf.predict(images.corrupted("gaussian_noise", 5)) == images.labels)
    rows = {(row["model"], row["corruption"]): row for row in found["conditions"]}
    assert rows["memory", "gaussian_noise"]["accuracy"] == pytest.approx(wanted)
    assert {"baseline", "majority", "stage1"} <= {row["model"] for row in found["conditions"]}
    assert "Gaussian noise" in shown.stderr
    page = (tmp_path / "page.html").read_text()
    assert "Gaussian noise" in page
    assert "data:image" in page


def test_evaluate__corruptions_of_a_table__are_refused(run, seeds):
    shown = run("evaluate", seeds.model, seeds.new, "--target", "kind", "--corruptions")
    assert shown.exit_code == 1
    assert "corruptions are for images" in shown.stderr


def test_evaluate__severity_without_corruption__is_an_error_of_the_command_line(run, seeds):
    shown = run("evaluate", seeds.model, seeds.new, "--severity", "3")
    assert shown.exit_code == 2
    assert "--corruption" in shown.stderr


def test_evaluate__unknown_corruption__is_named(run, patches):
    shown = run("evaluate", patches.model, patches.new, "--corruption", "rain")
    assert shown.exit_code == 1
    assert "rain" in shown.stderr


def test_evaluate__words__are_those_of_fit(run, seeds):
    shown = run("evaluate", seeds.model, seeds.new, "--target", "kind")
    assert shown.exit_code == 0, shown.output
    assert "aseline" not in shown.output
    assert "clean test set" not in shown.output
    assert "Commonest class" in shown.output


def test_evaluate__groups__are_resampled_together(run, seeds, tmp_path):
    seeds.tables["new"].assign(field=np.arange(60) // 12).to_csv(tmp_path / "new.csv", index=False)
    words = ("evaluate", seeds.model, tmp_path / "new.csv", "--target", "kind", "--json")
    found = [json.loads(run(*words, *more).stdout)["models"] for more in ((), ("--groups", "field"))]
    alone, together = (next(each["clean"] for each in models if each["model"] == "memory") for models in found)
    assert alone["accuracy"]["value"] == together["accuracy"]["value"]
    assert alone["accuracy"] != together["accuracy"]  # the interval is another one
    shown = run(*words, "--groups", "feild")
    assert shown.exit_code == 1
    assert "has no column 'feild'; did you mean 'field'?" in shown.stderr
