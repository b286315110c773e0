"""The benchmark `earn.py`: what its page marks, whom it measures, and what it leaves out. No data, little fitting."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pandas")

CASES = 400


def part(wrong, cases=CASES, units=None):
    """A test part with two classes whose first cases are answered wrongly, evenly in both."""
    right = (np.arange(cases) >= wrong).astype(int)
    found = {"truth": ["ab"[i % 2] for i in range(cases)], "right": right.tolist(), "confidence": right.tolist()}
    return {**found, "level": found["confidence"], **({} if units is None else {"unit": units})}


def write_results(folder, name, auto, others=40, **options):
    """Results of one data set in which auto gives `auto` wrong answers and every other contender `others`."""
    wrong = dict.fromkeys(["logistic", "plain", "stage 1", "paper"], others) | {"auto": auto}
    rows = [
        {"data": name, "seed": 0, "contender": contender, "fit": 1.0, "believed": "global"}
        | {place: part(number, **options) for place in ("test", "shifted")}
        for contender, number in wrong.items()
    ]
    (folder / f"{name}-0.json").write_text(json.dumps(rows))


def judge(folder):
    import earn_page

    return earn_page.against_parts(earn_page.Results(folder))


@pytest.mark.parametrize(
    ("auto", "cases", "marked"),
    [
        pytest.param(60, 400, True, id="five points behind"),
        pytest.param(45, 400, False, id="surely behind by 1.25 points"),
        pytest.param(42, 60, False, id="three points behind on few cases"),
        pytest.param(40, 400, False, id="level"),
        pytest.param(20, 400, False, id="ahead"),
    ],
)
def test_page_marks_auto_only_if_far_and_surely_behind(tmp_path, auto, cases, marked):
    write_results(tmp_path, "heart", auto, cases=cases)
    table, verdict = judge(tmp_path)
    row = next(line for line in table.splitlines() if line.startswith("| heart"))
    assert row.count("**!**") == (4 if marked else 0)
    assert f"surely behind in {4 if marked else 0}: " in verdict
    assert ("heart, shifted, balanced accuracy (-5.0 against plain)" in verdict) == marked


def test_page_counts_cases_of_one_photograph_as_one(tmp_path):
    write_results(tmp_path, "heart", 60)
    write_results(tmp_path, "acne", 60, units=[i // 50 for i in range(CASES)])  # all 20 that differ are of one
    table, _ = judge(tmp_path)
    heart, acne = (next(line for line in table.splitlines() if line.startswith(f"| {x}")) for x in ("heart", "acne"))
    assert "**!**" in heart
    assert "**!**" not in acne


def test_page_of_a_results_folder_is_written_with_its_picture(tmp_path):
    pytest.importorskip("matplotlib")
    import earn_page

    results, docs = tmp_path / "results", tmp_path / "docs"
    results.mkdir()
    (docs / "pictures").mkdir(parents=True)
    write_results(results, "heart", 60)
    write_results(results, "colours", 20)
    earn_page.write_page(results, docs)
    page = (docs / "earn.md").read_text()
    assert page.startswith("# Does it earn its place?\n\n2 data sets, 1 seed,")
    assert "plain, MAPIE declines" in page
    assert "surely behind in 4: heart" in page
    assert (docs / "pictures" / "earn_ranks.png").is_file()
    assert "Which colour a small patch has" in (docs / "earn_numbers.md").read_text()


def test_page_of_fresh_tables_is_written_without_empty_columns(tmp_path):
    import earn_fresh.page

    results, docs = tmp_path / "results", tmp_path / "docs"
    results.mkdir()
    docs.mkdir()
    write_results(results, "titanic", 60)
    earn_fresh.page.write_page(results, docs)
    page = (docs / "earn_fresh.md").read_text()
    assert page.startswith("# 1 further tables\n")
    assert "surely behind in 4: titanic" in page
    assert "unseen kinds" not in page


def test_fresh_tables__names__are_in_no_other_benchmark():
    from earn_data import DATASETS
    from earn_fresh import DATASETS as FRESH

    assert len(FRESH) == 41
    assert not set(FRESH) & set(DATASETS)
    assert not {each.source for each in FRESH.values()} & {each.source for each in DATASETS.values()}


def test_oracle__parts_differ_by_chance_alone__is_behind_by_chance_alone(tmp_path):
    import earn_page

    rng, rows = np.random.default_rng(0), []
    truth = ["ab"[i % 2] for i in range(CASES)]
    for contender in ("logistic", "plain", "stage 1", "paper", "auto"):
        right = (rng.random(CASES) < (0.5 if contender == "auto" else 0.8)).astype(int).tolist()
        told = {"truth": truth, "right": right, "confidence": right, "level": right}
        row = {"data": "heart", "seed": 0, "contender": contender, "fit": 1.0, "believed": "global"}
        rows.append({**row, "test": told, "shifted": told})
    (tmp_path / "heart-0.json").write_text(json.dumps(rows))
    auto, oracle, judged = earn_page.against_oracle(earn_page.Results(tmp_path))
    assert judged == 2 * 2 * earn_page.HALVES
    assert auto == judged  # it is worse by 30 points
    assert oracle < judged // 2


def test_photographs_without_a_folder_are_left_out_with_a_line(capsys):
    import earn

    options = SimpleNamespace(fresh=False, only=["heart", "leaves", "acne"], leaves=None, acne=None, networks=None)
    assert [data.name for data in earn.choose(options)] == ["heart"]
    assert (
        "leaves is left out: generated images say nothing about real ones; give --leaves FOLDER"
        in capsys.readouterr().out
    )


def test_unknown_data_set_is_refused_with_the_names_there_are():
    import earn

    options = SimpleNamespace(fresh=False, only=["hart"], leaves=None, acne=None, networks=None)
    with pytest.raises(SystemExit, match="no data set 'hart'; the data sets are heart, "):
        earn.choose(options)


def test_tree_sees_the_columns_of_the_similarity_alone():
    import pandas as pd

    from earn_data.dataset import alike_in, measure_features

    table = pd.DataFrame({"age": [30.0, 50.0, None], "home": ["own", "rent", "own"], "other": [1, 2, 3]})
    numbers = measure_features(alike_in(age=2, home=1)).fit_transform(table)
    assert numbers.shape == (3, 3)  # age, and one column for each kind of home
    assert np.isfinite(numbers).all()


def test_all_measurements__feature_with_details__are_more_than_what_is_compared():
    pytest.importorskip("cv2")
    from earn_data.images import AllMeasurements
    from memclf.studies.generated import leaf_pictures
    from memclf.vision.features import LeafColours

    images, feature = leaf_pictures(6, seed=0), LeafColours()
    measured = AllMeasurements(feature).fit_transform(images)
    assert measured.shape == (6, len(feature.names) + len(feature.details))
    assert np.ptp(measured[:, len(feature.names) :], axis=0).any()
    np.testing.assert_allclose(measured[:, : len(feature.names)], feature.fit(images).transform(images), atol=1e-6)


def test_each_image_is_corrupted_in_different_ways_that_the_seed_draws(monkeypatch):
    pytest.importorskip("cv2")
    pytest.importorskip("torch")
    from earn_data import images as made
    from memclf.studies.registry import settings_for
    from memclf.vision import ImageCollection

    monkeypatch.setattr(made, "SHIFTED", 20)
    pixels = np.random.default_rng(0).integers(0, 255, (10, 32, 32, 3), dtype=np.uint8)
    images = ImageCollection(pixels, labels=np.arange(10) % 3, keys=[f"{i}" for i in range(10)])
    settings = settings_for("color", corruptions=("contrast", "brightness"), severities=(1, 3))
    shifted, sources = made.corrupt(images, settings, seed=0)
    assert np.bincount(sources).tolist() == [2] * 10
    assert (np.asarray(shifted.labels) == sources % 3).all()
    assert len({shifted.key(i) for i in range(20)}) == 20
    again, same = made.corrupt(images, settings, seed=0)
    assert (same == sources).all()
    assert np.array_equal(np.asarray(again), np.asarray(shifted))
    assert not np.array_equal(np.asarray(made.corrupt(images, settings, seed=1)[0]), np.asarray(shifted))
