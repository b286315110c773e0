"""Results: which contenders and conditions count, means, gains, what is missing."""

import numpy as np
import pytest

from memclf.evaluate import Condition, ModelId, Results, Store, difference, open_store, summarise
from memclf.evaluate.store import CLEAN
from memclf.report import build, compare
from memclf.report.run import Run

LABELS = [0, 0, 0, 1] * 6
FOG = [("fog", severity) for severity in (1, 2, 3)]


def hits(share):
    """So many of the first cases right."""
    return np.arange(len(LABELS)) < round(share * len(LABELS))


def trained(model, recipe, shares, seed=0):
    """A contender with its shares of right cases: clean, then fog 1, 2, 3 as far as they are finished."""
    return {(model, recipe, "net", seed): dict(zip([("clean", 0), *FOG], map(hits, shares), strict=False))}


@pytest.fixture
def lagging(make_store, tmp_path):
    """Two finished contenders, and one recipe of which only the mildest condition is finished."""
    right = trained("baseline", "vanilla", [1, 0.75, 0.5, 0.25]) | trained("memory", "vanilla", [1, 1, 0.75, 0.5])
    right |= trained("baseline", "augmix", [1, 0.75]) | trained("memory", "augmix", [1, 1])
    (tmp_path / "run").mkdir()
    store = make_store(right, LABELS, path=tmp_path / "run" / "results.sqlite")
    yield store
    store.close()


def test_partial_run_has_one_mean_everywhere(lagging, tmp_path):
    """Terminal and summary.json read `summarise`; the report and the comparison have their tables."""
    folder = tmp_path / "run"
    summary = summarise(lagging)
    build(folder)
    compare([folder], tmp_path / "compared")
    expected = {"baseline": 50.0, "memory": 75.0}
    by = {each["model"]: each for each in summary["models"] if each["recipe"] == "vanilla"}
    report = (folder / "tables" / "contenders.csv").read_text().splitlines()
    compared = (tmp_path / "compared" / "tables" / "models.csv").read_text().splitlines()
    for model, name in (("baseline", "Baseline"), ("memory", "Memory classifier")):
        assert 100 * by[model]["mean"]["accuracy"]["value"] == pytest.approx(expected[model])
        mean = Run(folder).mean(ModelId(model, "vanilla", "net"))
        assert 100 * mean.value == pytest.approx(expected[model])
        for lines in (report, compared):
            (line,) = [line for line in lines if line.startswith(name)]
            assert f"{expected[model]:.2f}" in line
    gain = by["memory"]["gain"]["mean"]["accuracy"]
    assert gain["value"] == pytest.approx(0.25)
    assert difference(lagging, "memory", "baseline")._asdict() == pytest.approx(gain)
    assert Run(folder).gain("memory")._asdict() == pytest.approx(gain)


def test_partial_run_names_what_is_missing_everywhere(lagging, tmp_path):
    summary = summarise(lagging)
    assert not summary["complete"]
    assert summary["conditions"] == 3
    assert [(each["model"], each["recipe"], each["rows"], each["of"]) for each in summary["missing"]] == [
        ("baseline", "augmix", 2, 4),
        ("memory", "augmix", 2, 4),
    ]
    behind = next(each for each in summary["models"] if each["recipe"] == "augmix")
    assert (behind["mean"], behind["clean"]["accuracy"]["value"]) == (None, 1.0)
    assert Results(lagging).left_out == [ModelId("baseline", "augmix", "net"), ModelId("memory", "augmix", "net")]
    text = build(tmp_path / "run").read_text(encoding="utf-8").lower()
    assert "left out of the means because they lag behind: baseline · augmix · net" in text


def test_results_keep_everyone_when_that_leaves_more_rows(make_store):
    store = make_store(trained("baseline", "", [1, 1, 1]) | trained("memory", "", [1, 0.5]), LABELS)
    found = Results(store)
    assert found.common == [Condition("fog", 1)]
    assert len(found.counted) == 2
    assert Results(Store()).counted == []


def test_results_without_conditions_count_the_clean_test_set(make_store):
    found = Results(make_store(trained("baseline", "", [0.5]) | trained("memory", "", [0.75]), LABELS))
    assert (found.common, found.judged, len(found.counted)) == ([], [CLEAN], 2)
    assert found.gain("memory", conditions=found.judged).value == pytest.approx(0.25)


def test_condition_counts_when_all_seeds_have_it(make_store):
    right = {}
    for model in ("baseline", "memory"):
        right |= trained(model, "", [1, 1, 0.5], seed=0) | trained(model, "", [1, 0.5], seed=1)
    found = Results(make_store(right, LABELS))
    assert found.common == [Condition("fog", 1)]
    assert found.mean(ModelId("memory", "", "net")).value == pytest.approx(0.75)


def test_gain_needs_the_same_seeds(make_store):
    store = make_store(trained("baseline", "", [1], seed=0) | trained("memory", "", [1], seed=5), LABELS)
    assert Results(store).gain("memory", conditions=[CLEAN]) is None
    assert next(each for each in summarise(store)["models"] if each["model"] == "memory")["gain"]["clean"] is None


def test_control_without_training_is_compared_with_every_baseline(make_store):
    right = trained("baseline", "vanilla", [1, 0.5]) | trained("baseline", "augmix", [1, 0.75])
    right |= trained("memory", "cutmix", [1, 1]) | {("majority",): {("clean", 0): hits(0.5), ("fog", 1): hits(0.25)}}
    store = make_store(right, LABELS)
    by = {each["model"]: each for each in summarise(store)["models"]}
    assert by["majority"]["gain"]["over"] == "baseline"
    assert by["majority"]["gain"]["mean"]["accuracy"]["value"] == pytest.approx(0.25 - 0.625)
    assert by["memory"]["gain"] is None  # no baseline of its training
    assert by["baseline"]["gain"] is None


def test_summary_means_are_means_of_the_rows(make_store):
    store = make_store(trained("baseline", "", [1, 0.5, 0.25]) | trained("memory", "", [1, 0.75, 0.5]), LABELS)
    memory = next(each for each in summarise(store)["models"] if each["model"] == "memory")
    rows = [row for row in store.rows() if row["model"] == "memory" and row["severity"]]
    for measure in ("accuracy", "balanced_accuracy"):
        found = memory["mean"][measure]
        assert found["value"] == pytest.approx(np.mean([row[measure] for row in rows]))
        assert found["low"] <= found["value"] <= found["high"]
    assert memory["gain"]["mean"]["accuracy"]["value"] == pytest.approx(0.25)


def test_evaluation_is_complete_when_no_row_is_missing(make_store):
    right = trained("baseline", "vanilla", [1, 1]) | trained("memory", "vanilla", [1, 1])
    assert not summarise(Store())["complete"]
    store = make_store(right, LABELS)
    assert summarise(store)["complete"]
    settings = {"corruptions": ["fog"], "severities": [1], "recipes": ["vanilla"], "seeds": [0]}
    store.put("settings", settings)
    assert not summarise(store)["complete"]  # a study says itself when it has finished
    store.put("finished", "today")
    assert summarise(store)["complete"]
    store.put("settings", settings | {"recipes": ["vanilla", "augmix"], "seeds": [0, 1]})
    assert Results(store).not_begun == {"recipe": ["augmix"], "seed": ["1"]}
    store.put("settings", settings | {"severities": [1, 2]})
    assert [gap[1:] for gap in Results(store).gaps] == [(2, 3), (2, 3)]


def test_difference_of_any_two_models(make_store):
    right = trained("baseline", "vanilla", [1, 0.5]) | trained("memory", "vanilla", [1, 0.75])
    right |= {("stage1",): {("clean", 0): hits(1), ("fog", 1): hits(0.25)}}
    store = make_store(right, LABELS)
    assert difference(store, "memory", "baseline").value == pytest.approx(0.25)
    assert difference(store, "memory", "stage1").value == pytest.approx(0.5)
    with pytest.raises(ValueError, match="no results of 'oracle'; there are results of baseline, memory, stage1"):
        difference(store, "memory", "oracle")


def test_difference_with_a_model_that_lags_behind_is_refused(make_store):
    right = trained("baseline", "", [1, 1, 1, 1]) | trained("memory", "", [1, 1, 1, 1]) | trained("late", "", [1, 1])
    with pytest.raises(ValueError, match="'late' lags behind: it has not finished the 3 conditions"):
        difference(make_store(right, LABELS), "late", "baseline")


def test_restricted_results_take_means_over_fewer_conditions(make_store, tmp_path):
    make_store(trained("memory", "", [1, 0.75, 0.25]), LABELS, path=tmp_path / "results.sqlite").close()
    with open_store(tmp_path / "results.sqlite") as store:
        found = Results(store)
    found.restrict([Condition("fog", 2)])
    assert found.mean(ModelId("memory", "", "net")).value == pytest.approx(0.25)
