"""`memclf drift`: whether new cases are still like the training cases."""

import json

from memclf.evaluate.drift import measure_drift


def test_drift__cases_like_the_training__none_is_found(run, seeds):
    shown = run("drift", seeds.model, seeds.new)
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("No drift was found in 60 cases")
    assert max(map(len, shown.output.splitlines())) <= 80
    assert "cases that moved it" not in shown.output


def test_drift__moved_cases__are_found_and_listed(run, seeds):
    shown = run("drift", seeds.model, seeds.moved, "--json")
    found = json.loads(shown.stdout)
    wanted = measure_drift(seeds.clf, seeds.tables["moved"].drop(columns="kind"))
    assert found["moved"] is True
    assert found["sentence"] == wanted.sentence
    assert [each["row"] for each in found["cases"]] == [each.row for each in wanted.cases]
    assert found["cases"]
    assert "cases that moved it" in shown.stderr


def test_drift__reference__is_compared_with(run, seeds):
    found = json.loads(run("drift", seeds.model, seeds.moved, "--reference", seeds.moved, "--json").stdout)
    assert (found["moved"], found["reference"], found["n_reference"]) == (False, "given", 60)


def test_drift__model_without_held_out_cases__says_what_was_not_tested(run, patches):
    shown = run("drift", patches.model, patches.new)
    assert shown.exit_code == 0, shown.output
    assert "Distance and unknown were not tested" in " ".join(shown.output.split())
