"""`memclf study`, `report` and `compare`: options, plans and errors. Whole runs are in tests/studies."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memclf.cli import app
from memclf.cli.main import load_command
from memclf.cli.study import read_options
from memclf.studies import STUDIES, Settings
from memclf.studies.estimate import Estimate

OPTIONS = {
    *("out", "data", "split", "scale", "seed", "recipe", "backbone", "corruption", "severity", "feature", "preset"),
    *("corrupt_at", "image_size", "pretrained", "train", "local", "epochs", "local_epochs", "batch_size", "lr"),
    *("momentum", "weight_decay", "schedule", "device", "mixed_precision", "recipe_backbone", "weights", "textures"),
    *("augmented", "sturdy", "careful", "folds", "ablate", "ensemble", "networks", "n_train", "n_test", "patch_size"),
    *("recipe_setting", "min_cluster_size", "literal", "plan", "cluster", "workers", "cache", "metric"),
}


def command():
    return load_command("study")


def test_study_options__settings__each_has_its_own():
    params = {each.name: each for each in command().params}
    assert set(params) - {"help"} == OPTIONS | {"name"}
    repeated = {"seed", "recipe", "backbone", "corruption", "severity", "feature", "weights"}
    repeated |= {"recipe_backbone", "recipe_setting"}
    assert {name for name, each in params.items() if each.multiple} == repeated
    assert params["augmented"].secondary_opts == ["--no-augmented"]
    assert params["corrupt_at"].opts == ["--corrupt-at"]
    assert all(each.help for name, each in params.items() if name in OPTIONS)


def test_study_help__studies__are_all_named():
    (name,) = [each for each in command().params if each.name == "name"]
    assert all(study in name.help for study in STUDIES)


@pytest.mark.parametrize(("text", "expected"), [("256x128", (128, 256)), ("96", (96, 96)), ("64X32", (32, 64))])
def test_read_options__sizes__are_height_and_width(text, expected):
    assert read_options({"image_size": text, "seed": [3], "data": Path("x"), "lr": None}) == {
        "image_size": expected,
        "seeds": [3],
        "data": "x",
    }


def test_import_cli__heavy_packages__are_not_loaded():
    code = (
        "import sys, memclf.cli; print([n for n in ('torch', 'cv2', 'PIL', 'matplotlib', 'skops') if n in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.fixture
def no_trial(monkeypatch):
    """A plan without its trial, which trains networks."""
    found = Estimate(training=7200, conditions=600, answers=1200, trial=4, disk=2.5e9, checkpoints=4e8)
    monkeypatch.setattr("memclf.studies.estimate.estimate", lambda settings: found)


def test_study_plan__full_scale__shows_every_setting_and_runs_nothing(tmp_path, monkeypatch, no_trial):
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(app, ["study", "leaf", "--scale", "full", "--seed", "7", "--plan"])
    assert shown.exit_code == 0
    lines = {
        cells[1].strip(): cells[2].strip() for line in shown.output.splitlines() if len(cells := line.split("│")) > 2
    }
    assert set(lines) - {""} == {each.name for each in fields(Settings)} - {"patch_size"}  # of the colour study
    assert (lines["seeds"], lines["image_size"], lines["data"]) == ("7", "256x128", "generated images")
    assert "to train: 6" in shown.output
    assert "90 conditions" in shown.output.replace("\n", " ")
    assert not list(tmp_path.iterdir())


def test_study_plan__trial__says_time_and_disk_and_that_they_are_estimates(no_trial):
    shown = CliRunner().invoke(app, ["study", "color", "--plan"]).output
    assert "time: about 2 h 30 min (training 2 h 0 min" in shown
    assert "disk: about 2.5 GB, and 400 MB more" in shown
    assert "estimates from a trial of 4 s" in shown


def test_study_plan__one_feature__says_that_it_is_the_papers(no_trial):
    told = "robust (which is the paper’s)"
    assert told in CliRunner().invoke(app, ["study", "acne", "--feature", "paper", "--plan"]).output
    assert told not in CliRunner().invoke(app, ["study", "leaf", "--plan"]).output


def test_study_name__other_spelling__is_the_same_study(no_trial):
    assert "study color --scale quick" in CliRunner().invoke(app, ["study", "colour", "--plan"]).output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["study", "cats"], "the studies are color, leaf, acne"),
        (["study", "leaf", "--scale", "huge"], "the scales are quick, full, paper"),
        (["study", "leaf", "--data", "/nowhere/at/all"], "there is no folder /nowhere/at/all"),
        (["study", "leaf", "--data", "."], "holds no dataset-full.csv"),
        (["study", "leaf", "--split", "split.csv"], "give the folder too"),
        (["study", "acne", "--data", "/nowhere/at/all"], "lesions.csv cannot be read"),
        (["study", "leaf", "--recipe", "voodoo"], "'voodoo' is none of the recipes"),
        (["study", "leaf", "--corruption", "rain"], "there is no corruption 'rain'"),
        (["study", "leaf", "--severity", "6"], "severity"),
        (["study", "leaf", "--backbone", "resnet1000"], "resnet1000"),
        (["study", "leaf", "--image-size", "big"], "--image-size must be WIDTHxHEIGHT"),
        (["study", "leaf", "--pretrained", "imagenet"], "pretrained must be auto, bundled, none, published or a file"),
        (["study", "color", "--data", "."], "generates its images"),
        (["study", "leaf", "--patch-size", "64"], "(--patch-size) is for the color study, not for leaf"),
        (["study", "acne", "--literal"], "literal is for the leaf study, not for acne"),
        (
            ["study", "leaf", "--data", ".", "--n-train", "20"],
            "(--n-train) is for generated images, and data names real",
        ),
        (
            ["study", "leaf", "--recipe-setting", "augmix.depth=2"],
            "is for augmix, and the recipes of this run are vanilla",
        ),
        (["study", "acne", "--feature", "own"], "has one feature, robust, which is the paper's; got 'own'"),
        (["study", "acne", "--feature", "both"], "has one feature, robust, which is the paper's; got 'both'"),
        (["study", "leaf", "--feature", "own"], "the leaf study has the features robust, paper, or both; got 'own'"),
        (["study", "leaf", "--literal"], "literal is for the feature paper, and the features of this run are robust"),
        (["study", "leaf", "--lr", "inf"], "lr must be a finite number, got inf"),
        (["study", "color", "--device", "meta"], "torch cannot compute on device='meta' here"),
        (
            ["study", "leaf", "--scale", "paper", "--weights", "resnet34=bundled", "--plan"],
            "resnet34 has no bundled weights, for which weights asks; give --weights resnet34=FILE|none",
        ),
        (["study", "color", "--device", "cuda:77"], "device='cuda:77' needs a GPU"),
        (["study", "leaf", "--textures", "/nowhere/at/all"], "there is no folder /nowhere/at/all"),
        (["study", "leaf", "--textures", "."], "holds no images (.jpg, .png ...), which frost needs as textures"),
        (["report", "/nowhere/at/all"], "/nowhere/at/all"),
    ],
)
def test_study_errors__wrong_arguments__are_one_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(app, arguments)
    by_data = {"--data", "--split", "report"} & set(arguments) and "--n-train" not in arguments
    assert shown.exit_code == (1 if by_data else 2)  # found when the data are read and the run begins
    assert message in shown.output
    assert len(shown.output.strip().splitlines()) == 1
    assert not Path("runs").exists()


def test_compare__one_run__is_an_error(tmp_path):
    shown = CliRunner().invoke(app, ["compare", str(tmp_path)])
    assert shown.exit_code == 2
    assert "two or more runs" in shown.output
