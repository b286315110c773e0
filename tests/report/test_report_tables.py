"""Tables and figures on disk."""

import csv
import re

import pytest

from memclf.report import beside_paper, build, compare
from memclf.report.run import Run
from memclf.report.tables import Column, Number, Table, latex, markdown, to_csv, to_latex, to_markdown
from memclf.studies.published import table as published

NASTY = Table(
    "nasty",
    "50 % of a_b & c",
    [Column("Class #1"), Column("x_y", "Group {1}"), Column("gain", "Group {1}")],
    [['50 %, a_b | "q" \\ $5 ~ ^', Number(0.5, 0.4, 0.6), Number(-0.021, signed=True, mark="lose")]],
)


def balanced(text):
    depth = 0
    for letter in re.sub(r"\\[{}\\]", "", text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    return depth == 0


def test_csv_parses_back_with_the_ends_of_intervals_in_columns_of_their_own():
    head, row = csv.reader(to_csv(NASTY).splitlines())
    assert head == ["Class #1", "Group {1}: x_y", "Group {1}: x_y (low)", "Group {1}: x_y (high)", "Group {1}: gain"]
    assert row == ['50 %, a_b | "q" \\ $5 ~ ^', "50.00", "40.00", "60.00", "-2.10"]


def test_number__large_and_plain__has_commas_for_people_only():
    table = Table("bounds", "Bounds", [Column("Bound"), Column("Value")], [["paper", Number(46128.3, plain=True)]])
    assert "46,128.3" in to_markdown(table)
    assert list(csv.reader(to_csv(table).splitlines()))[1] == ["paper", "46128.3"]


def test_latex_has_its_special_letters_escaped_and_its_braces_closed():
    text = to_latex(NASTY)
    assert r"50 \% of a\_b \& c" in text
    assert r"\textbackslash{} \$5 \textasciitilde{} \textasciicircum{}" in text
    assert r"50.0 {\scriptsize [40.0 to 60.0]}" in text
    assert "$-$2.1" in text
    body = text.split("\n", 1)[1]  # the first line is a comment
    assert not re.search(r"(?<!\\)[%#_]", body)
    assert balanced(body)
    for rule in ("toprule", "midrule", "bottomrule"):
        assert f"\\{rule}" in text
    assert text.count(r"\begin{") == text.count(r"\end{") == 2


def test_a_difference_that_may_be_chance_does_not_look_like_one_that_is_not():
    sure, unsure = Number(0.3, 0.075, 0.5, True, "win", sure=True), Number(0.025, -0.2, 0.25, True, "win")
    lost, maybe = Number(-0.3, -0.5, -0.1, True, "lose", sure=True), Number(-0.1, -0.3, 0.1, True, "lose")
    assert [each.sign for each in (sure, unsure, lost, maybe)] == ["▲", "△", "▼", "▽"]
    table = Table("t", "T", [Column("a"), Column("b"), Column("c")], [["x", sure, unsure]])
    assert "**+30.0** ▲ (+7.5 to +50.0) | +2.5 △ (−20.0 to +25.0)" in to_markdown(table)
    assert to_latex(table).count("textbf") == 1


def test_latex_rows_have_as_many_cells_as_columns(made):
    run = made(corruptions=("fog", "snow"), severities=(1, 5), exhibits=False, bounds=True)
    build(run)
    files = sorted((run / "tables").glob("*.tex"))
    assert len(files) >= 6
    for file in files:
        text = file.read_text(encoding="utf-8")
        kinds = re.search(r"\\begin\{tabular\}\{([lr]+)\}", text).group(1)
        lines = text[text.index("\\toprule") :].splitlines()
        rows = [re.sub(r"\\&", "", line) for line in lines if line.endswith(r"\\") and "multicolumn" not in line]
        assert rows
        assert {line.count("&") + 1 for line in rows} == {len(kinds)}, file.name
        assert text.isascii() or not re.search("[−±▲▼△▽×–…·]", text)


def test_markdown_rows_have_as_many_cells_as_columns_whatever_they_hold():
    lines = to_markdown(NASTY).splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {4}
    assert markdown("<b>`x`</b>") == r"&lt;b&gt;\`x\`&lt;/b&gt;"
    assert latex("100 %") == r"100 \%"


def test_every_table_and_every_figure_is_written_and_linked(made):
    run = made(corruptions=("fog", "snow"), severities=(1, 5))
    build(run)
    names = {file.stem for file in (run / "tables").iterdir()}
    assert names == {
        "contenders", "severities", "paper_leaf_architectures", "paper_leaf_feature_augmentation", "gains",
        "confusions", "hardest", "settings", "memories", "routes", "overlays",
        "opening", "opening_answers", "method", "samples", "masks",
    }  # fmt: skip
    assert all((run / "tables" / f"{name}.{kind}").is_file() for name in names for kind in ("csv", "tex"))
    figures = list((run / "figures").iterdir())
    assert {file.name for file in figures} == {"contenders.png", "severities.png"}
    assert all(file.read_bytes()[:4] == b"\x89PNG" for file in figures)
    linked = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", (run / "report.md").read_text(encoding="utf-8"))
    assert len(linked) > 15
    assert all((run / path).is_file() for path in linked)


def test_the_papers_cells_stand_beside_ours(made):
    run = made(
        pairs=(("augmix", "resnet50"), ("noisymix", "resnet50")),
        corruptions=("fog", "snow"),
        severities=(1, 5),
        exhibits=False,
    )
    build(run)
    with (run / "tables" / "paper_leaf_data_augmentation.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["Corruption"]: row for row in csv.DictReader(file)}
    printed = published("leaf_data_augmentation")
    found = Run(run)
    assert list(rows) == ["Clean", "Fog", "Snow", "Mean over corruptions"]
    for name, title in (("fog", "Fog"), ("snow", "Snow"), ("clean", "Clean")):
        row = rows[title]
        assert float(row["AugMix: Paper: memory"]) == printed.rows[name]["augmix", "memory"]
        mine = [r for r in found.rows if r["recipe"] == "augmix" and r["model"] == "memory" and r["corruption"] == name]
        assert float(row["AugMix: Memory"]) == pytest.approx(
            100 * sum(r["accuracy"] for r in mine) / len(mine), abs=0.01
        )
    both = [printed.rows[name]["noisymix", "baseline"] for name in ("fog", "snow")]
    assert float(rows["Mean over corruptions"]["NoisyMix: Paper: baseline"]) == pytest.approx(sum(both) / 2)


@pytest.mark.parametrize(
    ("study", "name", "pair", "label", "first"),
    [
        ("acne", "acne_feature_augmentation", ("vanilla", "resnet18"), "ResNet18", "augmented"),
        ("leaf", "leaf_feature_augmentation", ("vanilla", "vgg11"), "VGG11", "augmented"),
        ("color", "color_augmentation", ("augmix", "resnet50"), "AugMix", "baseline"),
    ],
)
def test_tables_5_to_7__the_papers_cells__stand_beside_ours(made, study, name, pair, label, first):
    run = made(study=study, pairs=(pair,), corruptions=("saturate", "contrast"), exhibits=False)
    build(run)
    with (run / "tables" / f"paper_{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["Corruption"]: row for row in csv.DictReader(file)}
    printed, column = published(name), pair[0] if study == "color" else pair[1]
    for corruption in ("saturate", "contrast"):
        row = rows[corruption.capitalize()]
        for model in (first, "memory"):
            theirs = printed.rows[corruption][column, "memory" if model == "memory" else "baseline"]
            assert float(row[f"{label}: Paper: {model}"]) == theirs
            found = [r for r in Run(run).rows if r["model"] == model and r["corruption"] == corruption]
            mine = 100 * sum(r["accuracy"] for r in found) / len(found)
            assert float(row[f"{label}: {model.capitalize()}"]) == pytest.approx(mine, abs=0.01)


def test_settings__that_are_not_set__are_told_in_words(made):
    run = made(exhibits=False, settings={"schedule": None, "corrupt_at": [128, 256], "seeds": [0, 1]})
    build(run)
    shown = (run / "tables" / "settings.csv").read_text(encoding="utf-8")
    assert "schedule,constant" in shown
    assert "corrupt_at,256x128" in shown


def test_means_beside_each_other_are_over_the_same_corruptions(made):
    """The paper's acne tables have no fog; ours over everything has a row of its own, with nothing beside it."""
    few = {"corruptions": ("fog", "snow", "contrast"), "severities": (3,), "exhibits": False}
    run = made(study="acne", pairs=(("vanilla", "resnet18"),), **few)
    build(run)
    with (run / "tables" / "paper_acne_architectures.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["Corruption"]: row for row in csv.DictReader(file)}
    printed = published("acne_architectures")
    assert list(rows)[-2:] == ["Mean over the 2 corruptions that both have", "Mean over all 3 corruptions of ours"]
    both, ours = list(rows.values())[-2:]
    right = {r["corruption"]: r["accuracy"] for r in Run(run).rows if r["model"] == "memory"}
    assert float(both["ResNet18: Memory"]) == pytest.approx(50 * (right["snow"] + right["contrast"]), abs=0.01)
    assert float(ours["ResNet18: Memory"]) == pytest.approx(
        100 * (right["snow"] + right["contrast"] + right["fog"]) / 3, abs=0.01
    )
    theirs = [printed.rows[name]["resnet18", "memory"] for name in ("snow", "contrast")]
    assert float(both["ResNet18: Paper: memory"]) == pytest.approx(sum(theirs) / 2)
    assert ours["ResNet18: Paper: memory"] == ""
    assert "ours over severity 3, the paper’s over all five" in (run / "report.md").read_text(encoding="utf-8")


def test_a_tie_and_a_loss_beside_the_paper_are_not_marked_as_wins(made):
    run = Run(made(pairs=(("vanilla", "resnet18"),), skill={"baseline": (0.9, 0.05), "memory": (0.9, 0.09)}))
    table = next(each for each in beside_paper.paper_tables(run) if each.name == "paper_leaf_architectures")
    where = {(column.group, column.title): k for k, column in enumerate(table.columns)}
    rows = {row[0]: row for row in table.rows}
    assert rows["Mean over corruptions"][where["ResNet18", "Memory"]].mark == "lose"
    assert rows["Mean over corruptions"][where["ResNet18", "Memory"]].sure
    assert rows["Fog"][where["ResNet18", "Paper: memory"]].mark == "lose"  # 60 and 55 in the paper
    assert rows["Motion blur"][where["ResNet18", "Paper: memory"]].mark == "tie"  # 74 and 74


# ------------------------------------------------------------------------------------------------ runs side by side


def test_runs_side_by_side_show_headlines_what_differs_and_every_model(made, tmp_path):
    common = {"corruptions": ("fog", "snow"), "severities": (1, 5), "exhibits": False}
    first = made("first", **common)
    second = made("second", skill={"baseline": (0.9, 0.05), "memory": (0.8, 0.09)}, source="real", **common)
    third = made("third", finished=False, settings={"scale": "full"}, skip=lambda n, c, s: c == "snow", **common)
    file = compare([first, second, third], tmp_path / "out")
    text = file.read_text(encoding="utf-8")
    assert file.name == "compare.html"
    assert len(text) < 1_000_000
    assert not re.search(r"https?:|<script|<link", text)
    titles = re.findall(r"<strong>(Use [^<]*)\.</strong>", text)
    assert len(titles) == 3
    assert titles[1] == "Use the baseline"
    with (tmp_path / "out" / "tables" / "headlines.csv").open(encoding="utf-8", newline="") as lines:
        rows = {row["Run"]: row for row in csv.DictReader(lines)}
    for name, folder in (("first", first), ("second", second)):
        run = Run(folder)
        run.restrict(condition for condition in run.common if condition.corruption == "fog")  # the third has no snow
        assert float(rows[name]["Gain over the baseline: Accuracy"]) == pytest.approx(
            100 * run.gain("memory").value, abs=0.01
        )
    assert text.count("PARTIAL run.") == 1
    with (tmp_path / "out" / "tables" / "differing_settings.csv").open(encoding="utf-8", newline="") as lines:
        differ = {row["Setting"]: row for row in csv.DictReader(lines)}
    assert differ["source"]["second"] == "real"
    assert differ["scale"] == {"Setting": "scale", "first": "quick", "second": "quick", "third": "full"}
    assert "version of memclf" not in differ
    with (tmp_path / "out" / "tables" / "models.csv").open(encoding="utf-8", newline="") as lines:
        models = {row["Model"]: row for row in csv.DictReader(lines)}
    assert models["Random routing · Vanilla · EfficientNet-Lite0"]["second: Accuracy"] == ""
    markdown = (tmp_path / "out" / "compare.md").read_text(encoding="utf-8")
    assert "### second" in markdown


def test_runs_on_other_cases_or_of_other_studies_are_not_compared_in_silence(made, tmp_path):
    few = {"corruptions": ("fog",), "severities": (1,), "exhibits": False}
    leaf, other, color = made("a", **few), made("b", n=60, **few), made("c", study="color", **few)
    assert "not measured on the same test cases" in compare([leaf, other], tmp_path / "x").read_text(encoding="utf-8")
    assert "of different studies: leaf and color" in compare([leaf, color], tmp_path / "y").read_text(encoding="utf-8")
    assert "same test cases.</strong>" not in compare([leaf, leaf], tmp_path / "z").read_text(encoding="utf-8")


def test_runs_under_other_conditions_are_compared_where_they_are_alike(made, tmp_path):
    few = {"severities": (1, 5), "exhibits": False}
    first, second = made("first", corruptions=("fog", "snow"), **few), made("second", corruptions=("fog",), **few)
    text = compare([first, second], tmp_path / "x").read_text(encoding="utf-8")
    assert "These runs were not measured under the same conditions." in text
    assert "first: 2 conditions left out (Snow 1 and Snow 5)." in text
    with (tmp_path / "x" / "tables" / "models.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            assert row["first: Accuracy"] == row["second: Accuracy"]
    assert text.count("under 2 corrupted conditions") == 2
    assert "same conditions" not in compare([first, first], tmp_path / "y").read_text(encoding="utf-8")
    third = made("third", corruptions=("contrast",), **few)
    apart = compare([second, third], tmp_path / "z").read_text(encoding="utf-8")
    assert "These runs have no corrupted condition in common." in apart


def test_the_same_condition_made_in_another_way_is_not_compared_in_silence(made, tmp_path):
    few = {"corruptions": ("fog",), "severities": (1,), "exhibits": False}
    plain, authors = (made(name, settings={"preset": name}, **few) for name in ("imagenet-c", "authors-299"))
    text = compare([plain, authors], tmp_path / "out").read_text(encoding="utf-8")
    assert "is not the same picture in these runs.</strong>They differ in preset." in text


def test_there_must_be_a_run_to_compare(tmp_path):
    with pytest.raises(ValueError, match="there is no run to compare"):
        compare([], tmp_path)


def test_an_ablation_has_a_table_of_its_own_and_stands_in_no_other(made):
    skill = {
        "baseline": (0.9, 0.09),
        "memory": (0.9, 0.08),
        "sturdy": (0.95, 0.03),
        "+product": (0.93, 0.05),
        "sturdy-balance": (0.94, 0.04),
        "stage1": (0.72, 0.03),
    }
    folder = made(skill=skill, corruptions=("fog", "snow"), severities=(1, 5), exhibits=False)
    build(folder)
    rows = list(csv.DictReader((folder / "tables" / "ablation.csv").read_text().splitlines()))
    assert [row["Memory classifier"] for row in rows] == [
        "Memory classifier", "Sturdy memory classifier", "+product", "sturdy-balance"
    ]  # fmt: skip
    apart = "Gain over the paper’s way: Accuracy"
    assert rows[0][apart] == ""
    assert float(rows[1][apart]) > float(rows[2][apart]) > 0
    assert float(rows[1][f"{apart} (low)"]) < float(rows[1][apart]) < float(rows[1][f"{apart} (high)"])
    standing = (folder / "tables" / "contenders.csv").read_text()
    assert "Sturdy memory classifier" in standing
    assert "+product" not in standing
    page = (folder / "report.html").read_text()
    assert "What each part brings" in page
    assert "Use the sturdy memory classifier" in page


def test_without_an_ablation_there_is_no_such_table(made):
    folder = made(corruptions=("fog",), severities=(1,), exhibits=False)
    build(folder)
    assert not (folder / "tables" / "ablation.csv").exists()
    assert "What each part brings" not in (folder / "report.html").read_text()
