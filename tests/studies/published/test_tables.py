"""The paper's tables against means that were worked out from them independently (methods, section 7)."""

import pytest

from memclf.report.published import SIDES
from memclf.studies.published import table
from memclf.studies.published.tables import COLUMNS
from memclf.vision.corruptions import PAPER

# rows, column, clean baseline, clean memory, mean baseline, mean memory, gain, better / equal / worse
PUBLISHED = """
acne_data_augmentation 15 Adversarial 65 63 49.07 53.93 4.87 13/0/2
acne_data_augmentation 15 AugMix 68 65 60.87 66.60 5.73 11/0/4
acne_data_augmentation 15 CutMix 49 66 45.93 64.27 18.33 15/0/0
acne_data_augmentation 15 NoisyMix 48 63 41.47 51.87 10.40 14/0/1
acne_data_augmentation 15 ManifoldMix 76 71 63.80 68.73 4.93 9/1/5
acne_data_augmentation 15 all 61.2 65.6 52.23 61.08 8.85 62/1/12
leaf_data_augmentation 18 Adversarial 79 80 55.61 58.17 2.56 10/4/4
leaf_data_augmentation 18 AugMix 78 79 53.89 59.17 5.28 14/2/2
leaf_data_augmentation 18 CutMix 69 75 57.56 61.61 4.06 10/4/4
leaf_data_augmentation 18 NoisyMix 84 87 61.06 68.89 7.83 16/1/1
leaf_data_augmentation 18 ManifoldMix 77 75 55.11 57.28 2.17 9/2/7
leaf_data_augmentation 18 all 77.4 79.2 56.64 61.02 4.38 59/13/18
acne_architectures 15 ResNet18 78 78 62.47 76.53 14.07 15/0/0
acne_architectures 15 ResNet34 68 78 67.47 75.67 8.20 15/0/0
acne_architectures 15 ResNet50 68 77 67.47 74.27 6.80 15/0/0
acne_architectures 15 VGG11 75 78 67.93 76.33 8.40 14/0/1
acne_architectures 15 VGG16 73 78 68.73 76.67 7.93 13/1/1
acne_architectures 15 all 72.4 77.8 66.81 75.89 9.08 72/1/2
leaf_architectures 18 ResNet18 75 78 58.28 62.72 4.44 16/1/1
leaf_architectures 18 ResNet34 77 76 58.50 63.94 5.44 13/2/3
leaf_architectures 18 ResNet50 80 77 54.72 58.33 3.61 10/3/5
leaf_architectures 18 VGG11 71 71 53.22 56.56 3.33 15/1/2
leaf_architectures 18 VGG16 63 69 50.89 57.67 6.78 15/0/3
leaf_architectures 18 all 73.2 74.2 55.12 59.84 4.72 69/7/14
acne_feature_augmentation 14 ResNet18 66 78 55.36 76.57 21.21 14/0/0
acne_feature_augmentation 14 ResNet34 70 78 65.57 75.64 10.07 14/0/0
acne_feature_augmentation 14 ResNet50 67 77 54.64 74.21 19.57 14/0/0
acne_feature_augmentation 14 VGG11 77 78 63.43 76.64 13.21 14/0/0
acne_feature_augmentation 14 VGG16 77 78 63.43 76.79 13.36 14/0/0
acne_feature_augmentation 14 all 71.4 77.8 60.49 75.97 15.49 70/0/0
leaf_feature_augmentation 18 ResNet18 74 78 57.39 62.72 5.33 17/0/1
leaf_feature_augmentation 18 ResNet34 77 76 57.39 63.94 6.56 13/3/2
leaf_feature_augmentation 18 ResNet50 80 77 54.83 58.33 3.50 10/0/8
leaf_feature_augmentation 18 VGG11 67 71 49.17 56.56 7.39 17/0/1
leaf_feature_augmentation 18 VGG16 67 69 49.17 57.67 8.50 16/0/2
leaf_feature_augmentation 18 all 73.0 74.2 53.59 59.84 6.26 73/3/14
color_augmentation 18 Vanilla 100 100 72.17 80.06 7.89 11/6/1
color_augmentation 18 AugMix 99 100 64.22 80.56 16.33 18/0/0
color_augmentation 18 all 99.5 100.0 68.19 80.31 12.11 29/6/1
"""
LINES = [line.split() for line in PUBLISHED.strip().splitlines()]
NAMES = list(dict.fromkeys(line[0] for line in LINES))


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def record_of(paper, columns):
    """Cells in which the memory classifier is better, equal, worse."""
    rows = [paper.rows[name] for name in paper.corruptions]
    apart = [row[each, "memory"] - row[each, "baseline"] for row in rows for each in columns]
    return [sum(d > 0 for d in apart), sum(d == 0 for d in apart), sum(d < 0 for d in apart)]


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line[0]}-{line[2]}")
def test_table__means_gains_records__are_those_of_the_paper(line):
    name, n_rows, printed, *numbers, record = line
    paper = table(name)
    assert len(paper.corruptions) == int(n_rows)
    column = None if printed == "all" else COLUMNS[printed]
    columns = paper.columns if column is None else [column]
    clean = [mean(paper.rows["clean"][each, side] for each in columns) for side in SIDES]
    rows = [paper.rows[name] for name in paper.corruptions]
    base, memory = (mean(row[each, side] for row in rows for each in columns) for side in SIDES)
    assert [round(value, 2) for value in [*clean, base, memory, memory - base]] == [float(each) for each in numbers]
    assert record_of(paper, columns) == list(map(int, record.split("/")))


def test_table__all_seven__have_526_cells():
    papers = [table(name) for name in NAMES]
    cells = [
        (row[column, "baseline"], row[column, "memory"])
        for paper in papers
        for row in map(paper.rows.get, paper.corruptions)
        for column in paper.columns
    ]
    assert len(cells) == 526
    assert round(mean(base for base, _ in cells), 2) == 57.98
    assert round(mean(memory for _, memory in cells), 2) == 66.06
    records = [record_of(paper, paper.columns) for paper in papers]
    assert [sum(each) for each in zip(*records, strict=True)] == [434, 31, 61]


@pytest.mark.parametrize("name", NAMES)
def test_table__rows__are_our_corruptions_in_the_paper_s_order(name):
    paper = table(name)
    assert next(iter(paper.rows)) == "clean"
    assert list(paper.corruptions) == [each for each in PAPER if each in paper.rows]


def test_table__shaded_rows_of_colours__are_in_their_places():
    paper = table("color_augmentation")
    noises = ["gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise"]
    assert mean(paper.rows[each]["vanilla", "baseline"] for each in noises) == 70.25
    assert mean(paper.rows[each]["augmix", "memory"] for each in noises) == 92.5
    assert round(mean(paper.rows[each]["augmix", "memory"] for each in [*noises, "spatter"]), 1) == 90.4


def test_table__notes__are_true():
    for name in ("leaf_feature_augmentation", "acne_feature_augmentation"):
        paper = table(name)
        assert "exact copy" in " ".join(paper.notes)
        assert all(row["vgg11", "baseline"] == row["vgg16", "baseline"] for row in paper.rows.values())
    whole, joined = table("leaf_architectures"), table("leaf_feature_augmentation")
    assert all(
        row[column, "memory"] == joined.rows[name][column, "memory"]
        for name, row in whole.rows.items()
        for column in whole.columns
    )
    leaf = table("leaf_data_augmentation")
    below = [sum(leaf.rows[c][r, side] < 58 for c in leaf.corruptions for r in leaf.columns) for side in SIDES]
    assert below == [42, 33]
    acne = table("acne_data_augmentation")
    assert [above_clean(acne, side) for side in SIDES] == [12, 24]
    acne = table("acne_architectures")
    assert above_clean(acne, "baseline") == 17
    memory = [acne.rows[name][column, "memory"] for name in acne.corruptions for column in acne.columns]
    assert (min(memory), max(memory)) == (69, 78)
    assert set(PAPER) - set(acne.rows) == {"fog", "frost", "spatter"}
    assert set(PAPER) - set(table("acne_feature_augmentation").rows) == {"fog", "frost", "spatter", "snow"}
    apart = [
        (name, column)
        for name in table("acne_feature_augmentation").rows
        for column in acne.columns
        if acne.rows[name][column, "memory"] != table("acne_feature_augmentation").rows[name][column, "memory"]
    ]
    assert apart == [("motion_blur", "resnet18")]
    colour = table("color_augmentation")
    rise = [c for c in PAPER if colour.rows[c]["augmix", "baseline"] > colour.rows[c]["vanilla", "baseline"]]
    assert rise == ["spatter", "gaussian_noise"]


def above_clean(paper, side):
    clean = paper.rows["clean"]
    return sum(paper.rows[c][r, side] > clean[r, side] for c in paper.corruptions for r in paper.columns)


def test_table__unknown_name__lists_the_known_ones():
    with pytest.raises(ValueError, match="the paper's tables are color_augmentation, .* got 'leaves'"):
        table("leaves")
