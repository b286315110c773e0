"""What the report says about its numbers: the verdict, cautions, the paper's gain."""

import json
import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from memclf.evaluate import Condition, ModelId, Store, evaluate, open_store, summarise
from memclf.report import beside_paper, build, charts, colours, findings, formats, headline, mistakes
from memclf.report.run import Run

GAIN = {"baseline": (0.9, 0.09), "memory": (0.9, 0.06)}


@pytest.fixture
def run_of(made):
    """A function that makes a small run and reads it."""

    def make(name="run", **kinds):
        few = {"corruptions": ("fog", "snow"), "severities": (1, 5), "exhibits": False, "n": 120, "skill": GAIN}
        return Run(made(name, **{**few, **kinds}))

    return make


def own(folder, X, labels, conditions, names=("baseline", "memory")):
    """Someone's own evaluation of a table."""
    plain = LogisticRegression(max_iter=1000).fit(X, labels)
    store = Store(folder / "results.sqlite")
    evaluate(dict.fromkeys(names, plain), X, labels, conditions, store=store)
    store.close()
    return folder


# -------------------------------------------------------------------------------------------------------- the verdict


def test_headline_recommends_the_best_memory_classifier_not_the_one_called_memory(run_of):
    run = run_of(skill={**GAIN, "memory": (0.9, 0.085), "sturdy": (0.95, 0.03)})
    found = findings.headline(run)
    assert (found.kind, found.title) == ("memory", "Use the sturdy memory classifier")
    gain = run.gain("sturdy")
    interval = f"95 % interval {formats.points(gain.low)} to {formats.points(gain.high)}"
    assert f"{100 * gain.value:.1f} points more than the baseline ({interval})." in found.sentence
    assert "expect a little less on new cases" in found.small_print
    assert run.subject == "sturdy"


def test_headline_recommends_the_baseline_when_nothing_is_surely_better(run_of):
    found = findings.headline(run_of(skill={"baseline": (0.9, 0.05), "memory": (0.88, 0.09)}))
    assert (found.kind, found.title) == ("baseline", "Use the baseline")
    assert found.sentence.endswith("and nothing else is surely better.")


def test_headline_recommends_a_control_that_does_as_well_and_is_simpler(run_of):
    run = run_of(skill={**GAIN, "prior": (0.9, 0.05)})
    found = findings.headline(run)
    assert (found.kind, found.title) == ("other", "Use the baseline × class frequencies")
    assert run.subject == "memory"


def test_headline__simpler_ones_are_worse_in_balanced_accuracy__says_so(run_of, monkeypatch):
    run = run_of(skill={**GAIN, "memory": (0.9, 0.085), "sturdy": (0.95, 0.03)})
    memory, sturdy = (next(name for name in run.field if name.model == each) for each in ("memory", "sturdy"))
    dropping = run.verdict._replace(best=memory, dropped=[memory])
    assert "balanced" not in findings.headline(run).small_print
    monkeypatch.setitem(vars(run), "verdict", dropping)
    own = run.mean(sturdy, run.judged, balanced=True)
    said = f"and are not surely worse in balanced accuracy (it has {formats.percent(own.value)} %), among"
    assert said in findings.headline(run).small_print


def test_headline_names_a_model_of_ones_own_in_quotes(tmp_path):
    X = np.arange(40.0)[:, np.newaxis]
    run = Run(own(tmp_path, X, (X[:, 0] > 20).astype(int), {("drift", 1): X + 1}, names=("mine", "yours")))
    assert findings.headline(run).title == "Use “mine”"


def test_headline_is_one_sentence_with_a_chart_and_the_words_folded(run_of):
    run = run_of(skill={**GAIN, "sturdy": (0.9, 0.03), "careful": (0.9, 0.05), "stage1": (0.7, 0.02)})
    section = headline.section(run, run.folder)
    assert [block.kind for block in section.blocks] == ["text", "text", "chart", "folded"]
    assert section.blocks[0].text.count(". ") == 0


def test_headline_of_a_run_without_results_says_so(run_of):
    found = findings.headline(run_of(finished=False, skip=lambda *_: True))
    assert (found.kind, found.sentence) == ("none", "There are no results yet.")


def test_headline_of_a_single_contender_compares_nothing(run_of):
    found = findings.headline(run_of(skill={"memory": (0.9, 0.05)}))
    assert (found.kind, found.title) == ("none", "Only the memory classifier was measured")


def test_headline_uses_the_clean_test_set_without_conditions(tmp_path):
    X = np.arange(40.0)[:, np.newaxis]
    found = findings.headline(Run(own(tmp_path, X, (X[:, 0] > 20).astype(int), {})))
    assert found.sentence.startswith("On the clean test set it answers")
    assert "Which data" in build(tmp_path).read_text(encoding="utf-8")


def test_headline_says_that_always_the_commonest_class_is_more_accurate(run_of):
    skill = {"baseline": (0.3, 0), "memory": (0.3, 0), "majority": (None, 0)}
    assert (
        "Always answering the commonest class is correct more often"
        in findings.headline(run_of(skill=skill)).small_print
    )


def test_chart_of_contenders_is_sorted_and_in_both_widths(run_of):
    run = run_of(skill={**GAIN, "sturdy": (0.95, 0.03), "stage1": (0.7, 0.02)})
    chart = charts.contenders(run, run.folder)
    wide, narrow = chart.svgs
    order = [wide.index(f">{run.labels.model(name)}<") for name in ("baseline", "memory", "sturdy")]
    assert order == sorted(order, reverse=True)  # drawn from below
    assert "Sturdy memory<" in narrow
    told = re.findall(r"([\d.]+) %", chart.alt)
    assert told == sorted(told, key=float, reverse=True)


def test_means_and_gains_of_the_report_are_those_of_the_summary(run_of):
    run = run_of(seeds=(0, 1), skill={**GAIN, "prior": (0.9, 0.07), "stage1": (0.7, 0.02)})
    with open_store(run.folder / "results.sqlite") as store:
        summary = summarise(store)
    assert len(run.common) == summary["conditions"] == 4
    for each in summary["models"]:
        name = ModelId(each["model"], each["recipe"], each["backbone"])
        assert run.contenders[name] == each["seeds"]
        for balanced, measure in ((False, "accuracy"), (True, "balanced_accuracy")):
            assert run.mean(name, balanced=balanced)._asdict() == pytest.approx(each["mean"][measure])
            if name.model != "baseline":
                gain = run.gain(name.model, balanced=balanced)
                assert gain._asdict() == pytest.approx(each["gain"]["mean"][measure])


def test_gain_of_several_trainings_is_their_mean(run_of):
    pairs = (("vanilla", "resnet18"), ("augmix", "resnet18"))
    run = run_of(pairs=pairs)
    single = [run.gain("memory", trainings=[pair]).value for pair in pairs]
    assert run.gain("memory").value == pytest.approx(np.mean(single))


def test_contenders_that_lag_behind_do_not_empty_the_means(run_of):
    pairs = (("vanilla", "resnet18"), ("augmix", "resnet18"), ("cutmix", "resnet18"))

    def behind(name, corruption, severity):
        return name.recipe == "cutmix" or (name.recipe == "augmix" and (corruption != "fog" or severity > 1))

    run = run_of(pairs=pairs, finished=False, skip=behind)
    assert run.trainings("memory") == [("vanilla", "resnet18")]
    assert len(run.common) == 4
    assert any(
        each.startswith("Left out of the means because they lag behind: Baseline · AugMix") for each in run.partial
    )
    assert "Not begun: CutMix." in run.partial


# ------------------------------------------------------------------------------------------------ hardest and worst


def test_mistakes_are_those_of_the_memory_classifier_of_the_verdict(run_of):
    run = run_of(skill={**GAIN, "sturdy": (0.95, 0.03)})
    assert "the sturdy memory classifier" in mistakes.confusions(run).title
    gain = run.gain("sturdy", conditions=[Condition("fog", 5)])
    (fog,) = [row for row in mistakes.gains(run, run.trainings("sturdy")[0]).rows if row[0] == "Fog"]
    assert fog[2].value == pytest.approx(gain.value)


# --------------------------------------------------------------------------------------------------------- cautions


def test_memories_that_share_one_classifier_are_announced(made):
    run = made(corruptions=("fog",), severities=(1,), settings={"min_cluster_size": 20})
    exhibits = json.loads((run / "exhibits.json").read_text())
    (run / "exhibits.json").write_text(json.dumps({**exhibits, "local": {"memories": 3, "classifiers": 1}}))
    for file in (build(run), run / "report.md"):
        assert "All 3 memories share ONE classifier" in file.read_text(encoding="utf-8")
    (found,) = findings.cautions(Run(run))
    assert "(min_cluster_size 20): this run cannot show what routing brings." in found
    for local in (None, [], {"memories": 3, "classifiers": 2}, {"memories": 1, "classifiers": 1}, {"classifiers": 1}):
        (run / "exhibits.json").write_text(json.dumps({**exhibits, "local": local}))
        assert not findings.cautions(Run(run))


def test_classes_with_few_test_cases_are_announced_once(tmp_path):
    labels = np.repeat([0, 1, 2, 3, 4], [20, 5, 4, 1, 1])
    X = labels[:, np.newaxis].astype(float)
    said = (
        "Of class 3 and class 4 there is 1 test case each, of class 2 there are 4 test cases: balanced accuracy "
        "hangs on single cases, and its intervals are too narrow."
    )
    assert build(own(tmp_path, X, labels, {("drift", 1): X + 1})).read_text(encoding="utf-8").count(said) == 1
    assert said in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_many_classes_with_few_test_cases_are_counted(tmp_path):
    labels = np.repeat(np.arange(9), 2)
    X = labels[:, np.newaxis].astype(float)
    (said,) = findings.cautions(Run(own(tmp_path, X, labels, {("drift", 1): X + 1})))
    assert said.startswith("9 classes have fewer than 5 test cases each: balanced accuracy")


# ------------------------------------------------------------------------------------------------------ the paper's


def test_paper_gain_is_compared_over_the_same_corruptions(run_of):
    """The paper's acne tables have no fog."""
    run = run_of(study="acne", corruptions=("fog", "snow", "contrast"), severities=(3,))
    found = beside_paper.paper_gain(run)
    both = [Condition("contrast", 3), Condition("snow", 3)]
    assert found.ours.value == pytest.approx(run.gain("memory", conditions=both).value)
    said = "vanilla ResNet50, over the 2 corruptions that both have, there all five severities, here severity 3"
    assert found.note == said
    assert said in build(run.folder).read_text(encoding="utf-8")


def test_paper_gain_is_compared_for_the_trainings_that_the_paper_has(run_of):
    pairs = (("augmix", "resnet50"), ("homemade", "resnet50"))
    run = run_of(pairs=pairs)
    found = beside_paper.paper_gain(run)
    assert found.ours.value == pytest.approx(run.gain("memory", trainings=[pairs[0]]).value)
    assert "ours for AugMix only" in found.note


def test_paper_gain_is_that_of_the_papers_own_feature_where_a_run_has_both(run_of):
    run = run_of(skill={**GAIN, "memory-paper": (0.9, 0.01)})
    found = beside_paper.paper_gain(run)
    assert found.ours.value == pytest.approx(run.gain("memory-paper").value)
    assert found.ours.value != pytest.approx(run.gain("memory").value)


def test_paper_gain_of_the_leaf_study_is_that_of_its_table(run_of):
    six = ("fog", "brightness", "contrast", "gaussian_noise", "motion_blur", "snow")
    found = beside_paper.paper_gain(run_of(corruptions=six, severities=(1, 2, 3, 4, 5), n=40))
    assert formats.points(found.gain) == "+4.5"
    assert found.note == "vanilla ResNet50, the same 6 corruptions"


# ------------------------------------------------------------------------------------------------ charts and colours


def test_lines_that_coincide_take_turns_and_are_named(run_of):
    run = run_of(skill={**GAIN, "sturdy": (0.9, 0.06), "augmented": (0.9, 0.06)})
    chart = charts.severities(run, run.folder)
    assert "Lines that coincide take turns: Sturdy memory classifier and Feature augmentation." in chart.caption
    assert charts.severities(run_of("apart"), run.folder).caption.endswith("intervals.")


def test_balanced_controls_have_no_line_over_the_severities(run_of):
    run = run_of(skill={**GAIN, "stage1-balanced": (0.9, 0.05), "prior": (0.9, 0.05)})
    chart = charts.severities(run, run.folder)
    assert "Stage 1 alone, balanced" not in chart.svgs[0]
    assert "Baseline × class frequencies" in chart.svgs[0]


def test_class_called_by_a_colour_has_that_colour():
    for place, (name, strongest) in enumerate([("green", 1), ("red", 0), ("Blue", 2)]):
        for shade in colours.choose_colour(name, place):
            parts = [int(shade[k : k + 2], 16) for k in (1, 3, 5)]
            assert parts.index(max(parts)) == strongest
            assert parts.count(max(parts)) == 1


def test_class_has_the_same_colour_in_all_memories(made):
    run = made(corruptions=("fog",), severities=(1,))
    exhibits = json.loads((run / "exhibits.json").read_text())
    told = [{"mild": 5, "severe": 2}, {"severe": 9}, {"elsewhere": 1, "mild": 3}]
    for memory, classes in zip(exhibits["memories"], told, strict=True):
        memory["classes"] = classes
    (run / "exhibits.json").write_text(json.dumps(exhibits))
    bars = re.findall(r'<div class="shares".*?</div>', build(run).read_text(encoding="utf-8"))
    shown = [re.findall("background:(#[0-9a-f]{6})", bar) for bar in bars]
    pairs = {pair for classes, bar in zip(told, shown, strict=True) for pair in zip(classes, bar, strict=True)}
    assert len(pairs) == len(dict(pairs)) == len({colour for _, colour in pairs}) == 3


def test_many_classes_have_as_many_colours(run_of):
    assert len(set(colours.class_colours(run_of(classes=[f"class {k}" for k in range(30)])).values())) == 30
