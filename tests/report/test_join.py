"""Runs joined into one: cells of recipe, backbone and seed, where they are from, what is refused."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

from memclf.cli import app
from memclf.evaluate.intervals import mean_interval, seeds_interval
from memclf.evaluate.store import Store, open_store
from memclf.report import compare
from memclf.report.beside_paper import paper_tables
from memclf.report.join import join_runs
from memclf.report.run import Run
from memclf.report.tables import Number

NET = "efficientnet_lite0"
SMALL = {"corruptions": ("fog", "snow"), "severities": (1, 5), "n": 60, "exhibits": False}


@pytest.fixture
def runs(make_run, tmp_path):
    """A function that makes runs by name, each with arguments of its own."""

    def make(**wanted):
        made = {}
        for name, options in wanted.items():
            (tmp_path / name).mkdir()
            made[name] = Run(make_run(tmp_path / name, **{**SMALL, **options}))
        return made

    return make


def cells_of(joined, name="paper_leaf_data_augmentation"):
    return next(table for table in paper_tables(joined.run) if table.name == name)


def test_join__cells_of_two_runs__stand_in_one_table_with_their_runs(runs):
    both = runs(a={"pairs": (("vanilla", NET),)}, b={"pairs": (("augmix", NET),)})
    table = cells_of(join_runs(both))
    groups = [title for title, _ in table.groups() if title]
    alone = cells_of(join_runs({"b": both["b"]}))
    assert sorted(groups) == ["AugMix", "Vanilla"]
    assert {cell for cell in table.rows[-1] if cell} == {"Run and seeds", "a: 0", "b: 0"}
    place = [column.group for column in table.columns].index("AugMix")
    assert [row[place : place + 2] for row in table.rows[:-1]] == [row[1:3] for row in alone.rows[:-1]]


def test_join__manifold_mixup_on_two_backbones__shows_that_of_the_paper_and_names_it(runs):
    both = runs(
        a={"pairs": (("manifold_mixup", "resnet50"), ("augmix", "resnet50"))},
        b={"pairs": (("manifold_mixup", "preact_resnet18"),)},
    )
    table = cells_of(join_runs(both))
    place = [column.group for column in table.columns].index("Manifold Mixup")
    assert table.rows[-1][place] == "b: 0"
    assert "Our networks are ResNet50 for AugMix; PreActResNet18 for Manifold Mixup." in table.note


def test_join__one_training_in_two_seeds__is_averaged_with_an_interval(runs):
    both = runs(a={"seeds": (0,)}, b={"seeds": (1,)})
    architectures = "paper_leaf_architectures"
    table = cells_of(join_runs(both), architectures)
    single = [cells_of(join_runs({name: run}), architectures) for name, run in both.items()]
    cell, parts = table.rows[1][1], [each.rows[1][1] for each in single]
    assert cell.value == pytest.approx(np.mean([part.value for part in parts]))
    assert cell.low < cell.value < cell.high
    assert all(part.low is None for part in parts if isinstance(part, Number))
    assert table.rows[-1][1] == "a: 0; b: 1"


def test_join__same_cell_twice__takes_the_first_and_adds_new_models(runs):
    few = {"baseline": (0.9, 0.09), "memory": (0.91, 0.06)}
    both = runs(a={"skill": few}, b={})
    joined = join_runs(both)
    taken = {name.model: run for name, run in joined.run.sources.items() if any(name.training)}
    assert taken["baseline"] == taken["memory"] == "a"
    assert taken["augmented"] == "b"
    assert not joined.cautions


def test_join__same_cell_with_other_answers__counts_the_first_and_says_so(runs):
    both = runs(a={}, b={"skill": {"baseline": (0.5, 0.01), "memory": (0.5, 0.01), "augmented": (0.5, 0.01)}})
    joined = join_runs(both)
    assert {run for name, run in joined.run.sources.items() if any(name.training)} == {"a"}
    assert any("seed 0" in line and "those of a count" in line for line in joined.cautions)


def test_join__unfinished_cell__is_left_out_and_the_rest_stays(runs):
    both = runs(a={}, b={"seeds": (1, 2), "skip": lambda name, corruption, severity: name.seed == 2 and severity == 5})
    joined = join_runs(both)
    assert {name.seed for name in joined.run.sources if any(name.training)} == {0, 1}
    assert any("not finished" in line and "seed 2" in line for line in joined.cautions)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"severities": (1, 3)}, "severities"),
        ({"corruptions": ("fog",)}, "corruptions"),
        ({"n": 50}, "other test cases"),
        ({"source": "real"}, "other data"),
        ({"study": "acne"}, "another study"),
        ({"settings": {"corruptions": ["fog", "snow"], "severities": [1, 5], "image_size": [64, 64]}}, "image size"),
    ],
)
def test_join__other_data_or_conditions__are_refused_with_the_reason(runs, other, reason):
    joined = join_runs(runs(a={}, b={"seeds": (1,), **other}))
    assert joined.names == ["a"]
    assert any(reason in each for each in joined.refused["b"])
    assert set(joined.run.sources.values()) == {"a"}


def test_join__other_images_under_the_same_names__are_refused(runs):
    both = runs(a={}, b={"seeds": (1,)})
    for name, run in both.items():
        with open_store(run.folder / "results.sqlite") as store:
            store.put("data_digest", name)
    joined = join_runs({name: Run(run.folder) for name, run in both.items()})
    assert joined.refused == {"b": ["other images or another split"]}


ROBUST, PAPER, BOTH = (["robust"], ["paper"], ["robust", "paper"])


def test_join__other_way_of_measuring__is_refused(runs):
    both = runs(a={}, b={"seeds": (1,)})
    with open_store(both["b"].folder / "results.sqlite") as store:
        store.put("goes_on_from", "9.9.0")
    joined = join_runs({"a": both["a"], "b": Run(both["b"].folder)})
    assert joined.refused == {"b": ["another way of training or measuring (that of memclf 9.9.0, not 0.1.0)"]}


@pytest.mark.parametrize(
    ("first", "other", "reasons"),
    [
        ({"features": ROBUST}, {"features": PAPER}, ["another expert feature of memory (paper, not robust)"]),
        ({"features": PAPER}, {"features": BOTH}, ["another expert feature of memory (robust, not paper)"]),
        (
            {"features": PAPER},  # of a version without the setting
            {"features": PAPER, "literal": True},
            ["another expert feature of memory (paper as printed, not paper)"],
        ),
        (
            {"features": BOTH, "literal": True},
            {"features": BOTH, "literal": False},
            ["another expert feature of memory-paper (paper, not paper as printed)"],
        ),
        ({"features": ROBUST}, {"features": BOTH}, None),
        ({"features": ROBUST, "literal": True}, {"features": ROBUST, "literal": False}, None),
        ({"features": ROBUST}, {}, None),  # an evaluation that notes none
    ],
)
def test_join__expert_features__of_the_same_contender_must_agree(runs, first, other, reasons):
    same = {"corruptions": ["fog", "snow"], "severities": [1, 5]}
    joined = join_runs(runs(a={"settings": {**same, **first}}, b={"seeds": (1,), "settings": {**same, **other}}))
    assert joined.refused == ({} if reasons is None else {"b": reasons})
    assert not joined.cautions


def test_join__third_run_that_fits_the_first_but_not_the_second__is_refused(runs):
    same = {"corruptions": ["fog", "snow"], "severities": [1, 5]}
    asked = [{"features": ROBUST}, {"features": BOTH}, {"features": BOTH, "literal": True}]
    made = runs(**{"abc"[k]: {"seeds": (k,), "settings": {**same, **each}} for k, each in enumerate(asked)})
    joined = join_runs(made)
    assert joined.names == ["a", "b"]
    assert joined.refused == {"c": ["another expert feature of memory-paper (paper as printed, not paper)"]}


@pytest.mark.parametrize(
    ("folders", "digests", "refused"),
    [
        ((None, "ice"), (None, None), ["other frost textures (ice, not those that come with memclf)"]),
        (("ice", "ice"), ("one", "two"), ["other frost textures"]),
        (("ice", "copy"), ("one", "one"), None),
        ((None, "originals"), ("one", None), ["other frost textures (originals, not those that come with memclf)"]),
    ],
)
def test_join__frost_textures__are_compared_by_content_where_it_is_noted(runs, folders, digests, refused):
    same = {"corruptions": ["fog", "snow"], "severities": [1, 5]}
    made = runs(
        **{name: {"seeds": (k,), "settings": {**same, "textures": folders[k]}} for k, name in enumerate(("a", "b"))}
    )
    for run, digest in zip(made.values(), digests, strict=True):
        with open_store(run.folder / "results.sqlite") as store:
            store.put("textures_digest", digest)
    joined = join_runs({name: Run(run.folder) for name, run in made.items()})
    assert joined.refused == ({} if refused is None else {"b": refused})
    assert not joined.cautions


def test_compare__other_features_and_textures__are_named_on_the_page(runs, tmp_path):
    same = {"corruptions": ["fog", "snow"], "severities": [1, 5]}
    made = runs(
        a={"settings": {**same, "features": ROBUST}},
        b={"seeds": (1,), "settings": {**same, "features": PAPER, "textures": "ice"}},
    )
    said = []
    compare([run.folder for run in made.values()], tmp_path / "out", say=said.append)
    assert any("is not the same picture" in line and "textures" in line for line in said)
    assert any("same name are not the same" in line and "(paper, not robust)" in line for line in said)
    assert any(
        "cannot be joined" in line and "frost textures (ice, not those that come with memclf)" in line for line in said
    )


def test_join__other_epochs__is_joined_with_a_caution(runs):
    settings = {"corruptions": ["fog", "snow"], "severities": [1, 5]}
    both = runs(a={"settings": {**settings, "epochs": 2}}, b={"seeds": (1,), "settings": {**settings, "epochs": 9}})
    joined = join_runs(both)
    assert joined.names == ["a", "b"]
    assert joined.cautions == ["The setting epochs differs: 2 in a, 9 in b."]


def test_compare__runs_that_fit__writes_the_joined_tables_and_says_what_is_refused(runs, tmp_path):
    made = runs(a={}, b={"seeds": (1,)}, c={"severities": (2,)})
    said = []
    page = compare([run.folder for run in made.values()], tmp_path / "out", say=said.append)
    rows = list(csv.reader((page.parent / "tables" / "sources.csv").read_text(encoding="utf-8").splitlines()))
    assert {row[3] for row in rows[1:]} == {"a", "b"}
    assert any("cannot be joined" in line and "severities" in line for line in said)
    assert "The runs joined" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("order", ["zbn", "bnz", "bzn"])
def test_compare__run_without_results__is_named_and_the_others_are_joined(runs, tmp_path, order):
    made = runs(b={}, n={"seeds": (1,)})
    folders = {name: run.folder for name, run in made.items()} | {"z": tmp_path / "z"}
    store = Store(folders["z"] / "results.sqlite")  # it failed before any answer
    store.put("study", "leaf")
    store.close()
    said = []
    page = compare([folders[name] for name in order], tmp_path / "out", say=said.append)
    assert len(said) == 1
    assert said[0].startswith("z has no results yet.")
    rows = list(csv.reader((page.parent / "tables" / "sources.csv").read_text(encoding="utf-8").splitlines()))
    assert {row[3] for row in rows[1:]} == {"b", "n"}


def test_compare__no_run_with_results__says_so_alone(tmp_path):
    for name in ("y", "z"):
        (tmp_path / name).mkdir()
        Store(tmp_path / name / "results.sqlite").close()
    said = []
    compare([tmp_path / "y", tmp_path / "z"], tmp_path / "out", say=said.append)
    assert [line.strip() for line in said] == ["y and z have no results yet."]


def test_compare__folder_of_a_run_for_the_comparison__is_refused_and_stays(runs):
    made = runs(a={}, b={"seeds": (1,)})
    folder = made["b"].folder
    before = sorted(folder.rglob("*"))
    shown = CliRunner().invoke(app, ["compare", str(made["a"].folder), str(folder), "--out", str(folder)])
    assert shown.exit_code == 2
    assert "is the folder of a run, whose tables would be overwritten; choose another one (--out)" in shown.output
    assert sorted(folder.rglob("*")) == before


def test_compare__same_folder_twice__is_refused(runs, tmp_path):
    folder = runs(first={})["first"].folder
    again = folder / ".." / folder.name
    shown = CliRunner().invoke(app, ["compare", str(folder), str(again), "--out", str(tmp_path / "out")])
    assert shown.exit_code == 2
    assert "is named twice" in shown.output
    assert not (tmp_path / "out").exists()


def test_join__other_sizes_and_schedules__are_shown_as_they_are_asked_for(runs):
    sizes = [{"image_size": [128, 256]}, {"image_size": [64, 64]}]
    found = runs(first={"settings": sizes[0]}, second={"settings": sizes[1]})
    (reasons,) = join_runs(found).refused.values()
    assert reasons == ["other image size (64x64, not 256x128)"]
    schedules = runs(third={"settings": {"schedule": None}}, fourth={"settings": {"schedule": "cosine"}})
    assert "The setting schedule differs: constant in third, cosine in fourth." in join_runs(schedules).cautions


def test_seeds_interval__one_seed__is_the_interval_over_cases():
    right = np.random.default_rng(0).random((1, 40)) < 0.7
    assert seeds_interval(right) == mean_interval(right)


def test_seeds_interval__seeds_that_disagree__is_wider_than_over_cases():
    cases = np.random.default_rng(0).random(200)
    right = np.array([cases < 0.9, cases < 0.5]).astype(float)
    seeds, alone = seeds_interval(right), mean_interval(right)
    assert seeds.value == pytest.approx(alone.value)
    assert seeds.high - seeds.low > 1.5 * (alone.high - alone.low)


def test_seeds_interval__groups__are_drawn_whole():
    right = np.repeat(np.random.default_rng(1).random((2, 10)) < 0.5, 20, axis=1).astype(float)
    groups = np.repeat(np.arange(10), 20)
    alone, together = seeds_interval(right), seeds_interval(right, groups=groups)
    assert together.high - together.low > alone.high - alone.low
