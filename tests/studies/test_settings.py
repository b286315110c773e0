"""Settings of a study: scales, checks, fingerprints."""

import io
from dataclasses import replace
from urllib.error import URLError

import pytest
import torch
import torchvision
from PIL import Image
from rich.console import Console
from safetensors.torch import save_file

from memclf.answers.auto import METRICS
from memclf.exceptions import StudyError, WeightsError
from memclf.studies import Settings, settings_for
from memclf.studies.checks import check_weights
from memclf.studies.published import table
from memclf.studies.run import run_study
from memclf.vision import ImageClassifier
from memclf.vision.corruptions import SETS
from memclf.vision.nets.recipes import Adversarial, AugMix, ManifoldMixup

ATTACK = {"recipes": ["adversarial"]}


def test_settings_for__paper_scale__has_the_paper_s_columns():
    leaf, color = settings_for("leaf", "paper"), settings_for("color", "paper")
    assert {backbone for recipe, backbone in leaf.cells() if recipe == "vanilla"} == {
        *("resnet18", "resnet34", "resnet50", "vgg11", "vgg16"),
    }
    backbones = dict(leaf.cells()[:6])
    assert backbones.pop("manifold_mixup") == "preact_resnet18"
    assert set(backbones.values()) == {"resnet50"}
    assert leaf.network_parameters("resnet50")["pretrained"] is True
    assert leaf.network_parameters("preact_resnet18")["pretrained"] is None
    assert {recipe for recipe, _ in leaf.cells()} == {
        *("vanilla", "adversarial", "augmix", "cutmix", "noisymix", "manifold_mixup"),
    }
    assert len(leaf.cells()) == 6 + 5 - 1
    assert (leaf.epochs, leaf.batch_size, leaf.lr, leaf.momentum) == (40, 24, 0.01, 0.9)
    assert (leaf.preset, leaf.corrupt_at, leaf.local) == ("authors-299", (1024, 1024), "networks")
    assert leaf.features == ("paper",)
    assert leaf.literal  # F_d and F_b in relation to the green
    assert not settings_for("leaf", "full", features=["paper"]).literal
    assert not leaf.uses_folds  # nothing beyond the paper is trained unless it is asked for
    assert settings_for("leaf", "paper", sturdy=True, features=["both"]).uses_folds
    assert (color.epochs, color.batch_size, color.weight_decay) == (50, 48, 5e-4)
    assert (color.patch_size, color.n_train, color.n_test) == (500, 3000, 300)


@pytest.mark.parametrize("name", ["leaf", "acne"])
@pytest.mark.parametrize(
    "recipes",
    [
        ["vanilla"],
        ["augmix"],
        ["manifold_mixup"],
        ["augmix", "vanilla"],
        ["cutmix", "augmix"],
        ["manifold_mixup", "augmix"],
        ["manifold_mixup", "vanilla"],
    ],
)
def test_cells__some_recipes_at_scale_paper__are_their_part_of_all_cells(name, recipes):
    every = settings_for(name, "paper").cells()
    found = settings_for(name, "paper", recipes=recipes).cells()
    assert len(set(found)) == len(found)
    assert set(found) == {cell for cell in every if cell[0] in recipes}


def test_cells__backbones_asked_for__are_all_trained_with_the_first_recipe():
    asked = {"recipes": ["augmix", "vanilla"], "backbones": ["resnet18", "vgg11"]}
    cells = [("augmix", "resnet18"), ("vanilla", "resnet18"), ("augmix", "vgg11")]
    assert settings_for("leaf", "paper", **asked).cells() == cells
    turned = settings_for("leaf", "full", recipes=["augmix", "vanilla"])
    assert turned.recipes == ("augmix", "vanilla")  # on one backbone their order stays


def test_settings_for__acne_at_paper_scale__is_as_printed():
    acne = settings_for("acne", "paper")
    assert acne.corruptions == table("acne_data_augmentation").corruptions == table("acne_architectures").corruptions
    assert (acne.image_size, acne.n_train, acne.n_test) == ((300, 300), 36, 27)
    assert (acne.epochs, acne.batch_size, acne.lr, acne.momentum) == (40, 24, 0.01, 0.9)


def test_settings_for__named_sets__stand_for_their_corruptions():
    fewer = settings_for("acne", corruptions=["acne14"])
    assert fewer.corruptions == table("acne_feature_augmentation").corruptions
    assert settings_for("leaf", corruptions=["acne15", "fog"]).corruptions == (*SETS["acne15"], "fog")
    assert settings_for("leaf", corruptions=["paper18"]) == settings_for("leaf")


def test_settings_for__asked_values__replace_those_of_the_scale():
    settings = settings_for("leaf", "full", seeds=[4], recipes=["augmix"], epochs=None)
    assert (settings.seeds, settings.recipes, settings.epochs) == ((4,), ("augmix",), 8)


def test_settings_for__constant_schedule__is_none_as_at_scale_paper():
    assert settings_for("leaf", schedule="constant").schedule is settings_for("leaf", "paper").schedule is None
    asked = {"momentum": 0.8, "weight_decay": 5e-4, "schedule": "step"}
    parameters = settings_for("leaf", **asked).network_parameters()
    assert {name: parameters[name] for name in asked} == asked


def test_fingerprint__other_setting__is_another():
    first = settings_for("leaf")
    others = [
        settings_for("leaf", seeds=(1,)),
        settings_for("leaf", epochs=41),
        settings_for("leaf", preset="authors-299"),
        settings_for("leaf", corrupt_at=(64, 64)),
        settings_for("leaf", n_test=101),
        settings_for("leaf", "full"),
    ]
    prints = {each.fingerprint() for each in (first, *others)}
    assert len(prints) == 7
    assert first.fingerprint() == settings_for("leaf").fingerprint()
    assert first.fingerprint("other data") != first.fingerprint()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"recipes": ("vanilla", "vanilla")}, "different values"),
        ({"seeds": ()}, "one or more"),
        ({"local": "both"}, "local must be one of heads, networks"),
        ({"n_train": 3}, "at least 20"),
        ({"colour": 1}, "no setting colour"),
        ({"preset": "imagenet"}, "Did you mean"),
        ({"local": "networks"}, "need --train all"),
        ({"corrupt_at": (0, 0)}, r"corrupt_at \(--corrupt-at\) must be at least 32, got"),
        ({"momentum": 1.0}, "momentum must be below 1, got 1.0"),
        ({"weight_decay": -0.1}, r"weight_decay \(--weight-decay\) must be at least 0, got -0.1"),
        ({"weight_decay": float("nan")}, "must be at least 0, got nan"),
        ({"weight_decay": float("inf")}, r"weight_decay \(--weight-decay\) must be a finite number, got inf"),
        ({"lr": float("inf")}, "lr must be a finite number, got inf"),
        ({"device": "meta"}, "torch cannot compute on device='meta' here"),
        ({"literal": True}, "literal is for the feature paper, and the features of this run are robust"),
        ({"patch_size": 64}, r"patch_size \(--patch-size\) is for the color study, not for leaf"),
        ({"data": "leaves", "n_train": 30}, r"n_train \(--n-train\) is for generated images, and data names real"),
        (
            {"backbones": ["resnet34"], "weights": ["resnet34=bundled"]},
            "resnet34 has no bundled weights, for which weights asks; give --weights resnet34=FILE.none",
        ),
        (
            {"backbones": ["vgg16_conv"], "pretrained": "published"},
            "vgg16_conv has no published weights, for which pretrained asks; give .* vgg16_conv=FILE.bundled.none",
        ),
        (
            {"backbones": ["preact_resnet18"], "weights": ["preact_resnet18=published"]},
            "preact_resnet18 has no published weights, for which weights asks",
        ),
        ({"backbones": ["coatnet_0_224"], "pretrained": "published"}, "coatnet_0_224 has no published weights"),
        ({"corruptions": ["Acne15"]}, "there is no corruption 'Acne15'.*, and the sets paper18, acne15, acne14"),
        ({"schedule": "exponential"}, "schedule must be one of constant, cosine, linear, step; got 'exponential'"),
        ({"weights": ["resnet18"]}, "weights are pairs as resnet50=weights.safetensors; got 'resnet18'"),
        ({"weights": ["resnet18=none"]}, "weights names 'resnet18', which is none of efficientnet_lite0"),
        ({"weights": ["efficientnet_lite0=no.pt"]}, "the weights of efficientnet_lite0 must be auto.*no file no.pt"),
        ({"recipe_backbones": ["mixup=vgg11"]}, "names 'mixup', which is none of vanilla"),
        ({"recipe_backbones": ["augmix=vgg11", "augmix=vgg16"]}, "name each recipe or backbone once"),
        ({"recipe_backbones": ["augmix=resnet1000"]}, "resnet1000"),
        ({"recipe_backbones": ["augmix=vgg11"]}, "is for augmix, and the recipes of this run are vanilla"),
        (
            {"recipe_settings": ["augmix.severity=3"]},
            r"\(--recipe-setting\) is for augmix, and the recipes of this run",
        ),
        ({**ATTACK, "recipe_settings": ["adversarial.steps"]}, "are pairs as adversarial.steps=1"),
        ({**ATTACK, "recipe_settings": ["adversarial.steps=1", "adversarial.steps=2"]}, "must name each field once"),
        (
            {**ATTACK, "recipe_settings": ["adversarial.step=1"]},
            "no field 'step'; its fields are epsilon, alpha, steps",
        ),
        ({**ATTACK, "recipe_settings": ["adversarial.steps=1.5"]}, "steps must be a whole number, got '1.5'"),
        ({**ATTACK, "recipe_settings": ["adversarial.alpha=2/0"]}, "alpha must be a number, as 3, 0.5 or 10/255"),
        ({**ATTACK, "recipe_settings": ["adversarial.alpha=1e999"]}, "alpha must be a smaller number, got '1e999'"),
        ({**ATTACK, "recipe_settings": ["adversarial.random_start=1"]}, "random_start must be true or false, got '1'"),
        ({**ATTACK, "recipe_settings": ["adversarial.steps=0"]}, "Adversarial: steps must be at least 1, got 0"),
        ({**ATTACK, "recipe_settings": ["steps=1"]}, "are pairs as adversarial.steps=1; got 'steps=1'"),
        ({"recipe_settings": ["vanilla.steps=1"]}, "vanilla has no field 'steps'; it has none"),
        ({"epochs": 0}, "epochs must be at least 1, got 0"),
        ({"seeds": (-1,)}, r"seeds \(--seed\) must be at least 0, got"),
    ],
)
def test_settings_for__wrong_value__is_an_error_that_names_it(asked, message):
    with pytest.raises(StudyError, match=message):
        settings_for("leaf", **asked)


def test_settings_for__paper_scale_with_one_recipe__needs_no_other_backbone_of_a_recipe():
    assert settings_for("leaf", "paper", recipes=["vanilla"]).recipe_backbones  # of the scale, not asked for


def test_recipe__fields_asked_for__replace_the_published_ones():
    asked = ["adversarial.steps=1", "adversarial.alpha=10/255", "adversarial.random_start=false", "augmix.depth=2"]
    settings = settings_for("leaf", recipes=["vanilla", "adversarial", "augmix"], recipe_settings=asked)
    assert settings.recipe("vanilla") == "vanilla"
    assert settings.recipe("adversarial") == Adversarial(steps=1, alpha=10 / 255, random_start=False)
    assert settings.recipe("augmix") == AugMix(depth=2)
    plain = settings_for("leaf", recipes=["vanilla", "adversarial", "augmix"])
    assert plain.fingerprint() != settings.fingerprint()
    other = settings_for("leaf", recipes=["vanilla", "adversarial", "augmix"], recipe_settings=asked[::-1])
    assert other.fingerprint() == settings.fingerprint()


def test_recipe__fields_that_hold_several_values__are_read_with_commas():
    asked = ["manifold_mixup.layers=0,2", "augmix.operations=rotate, solarize"]
    settings = settings_for("leaf", recipes=["manifold_mixup", "augmix"], recipe_settings=asked)
    assert settings.recipe("manifold_mixup") == ManifoldMixup(layers=(0, 2))
    assert settings.recipe("augmix") == AugMix(operations=("rotate", "solarize"))


def test_settings_for__features__paper_replaces_and_both_adds():
    assert settings_for("color", features=["paper"]).features == ("paper",)
    assert settings_for("color", features=["both"]).features == ("robust", "paper")
    assert settings_for("acne", features=["paper"]).features == ("robust",)  # its one feature is the paper's
    assert settings_for("color", features=["paper", "robust"]).features == ("robust", "paper")
    assert settings_for("color", features=["robust"]).features == ("robust",)


def test_settings_for__sets_that_overlap__count_a_corruption_once():
    assert settings_for("acne", corruptions=["acne15", "acne14"]) == settings_for("acne", corruptions=["acne15"])


def test_settings_for__textures_without_frost__is_an_error(tmp_path):
    with pytest.raises(StudyError, match="textures are for frost, and the corruptions are fog"):
        settings_for("leaf", corruptions=["fog"], textures=str(tmp_path))


def test_run_study__weights_of_another_network__are_an_error_before_images_are_read(tmp_path):
    file = tmp_path / "other.safetensors"
    save_file({"weight": torch.zeros(1)}, file)
    settings = settings_for("leaf", backbones=["resnet18"], weights=[f"resnet18={file}"])
    with pytest.raises(WeightsError, match="resnet18 cannot start from the weights .*other.safetensors does not fit"):
        run_study(settings, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_run_study__published_weights_without_a_network__are_an_error_before_training(tmp_path, monkeypatch):
    def offline(*_args, **_kwargs):
        raise URLError("no route to host")

    monkeypatch.setattr(torchvision.models._api, "load_state_dict_from_url", offline)
    asked = {"recipes": ["vanilla", "cutmix"], "backbones": ["resnet18", "resnet34"]}
    settings = settings_for("leaf", "paper", **asked, weights=["resnet18=none"])
    message = "published weights of resnet34 cannot be had .URLError: .*no route.*give --weights resnet34=FILE.none$"
    with pytest.raises(WeightsError, match=message):
        run_study(settings, tmp_path / "run", console=Console(file=io.StringIO()))
    assert not (tmp_path / "run").exists()
    both = "weights of resnet18, resnet34 cannot be had .*--weights resnet18=FILE.bundled.none; --weights resnet34"
    with pytest.raises(WeightsError, match=both):
        check_weights(settings_for("leaf", "paper", **asked))


def test_check_weights__all_of_them_there__says_which_take_a_while(monkeypatch):
    fresh = torchvision.models.resnet18(weights=None).state_dict()
    monkeypatch.setattr(torchvision.models._api, "load_state_dict_from_url", lambda *_args, **_kwargs: fresh)
    said = []
    backbones = ["resnet18", "efficientnet_lite0"]
    check_weights(settings_for("leaf", backbones=backbones, weights=["resnet18=published"]), said.append)
    assert said == ["loading the published weights of resnet18"]


def test_settings__metric__may_be_what_auto_takes():
    assert set(Settings.about()["metric"].choices) == set(METRICS)


def test_fingerprint__settings_that_came_later__count_only_if_given():
    known = "15b9a3eb5d79d6c9"  # as it was before they came
    assert settings_for("leaf").fingerprint("x").startswith(known)
    assert settings_for("leaf", device="auto", mixed_precision=False).fingerprint("x").startswith(known)
    later = ({"device": "cpu"}, {"mixed_precision": True}, {"literal": True}, {"metric": "accuracy"})
    others = [replace(settings_for("leaf"), **each) for each in later]
    assert len({each.fingerprint("x") for each in (settings_for("leaf"), *others)}) == 5


def test_fingerprint__file_of_weights__depends_on_its_content(tmp_path):
    file = tmp_path / "weights.safetensors"
    prints = set()
    for content in (b"one", b"two"):
        file.write_bytes(content)
        prints.add(replace(settings_for("leaf"), pretrained=str(file)).fingerprint())
    assert len(prints) == 2


def test_fingerprint__textures__depend_on_their_content(tmp_path):
    prints = {settings_for("leaf").fingerprint()}
    for shade in (200, 220):
        Image.new("RGB", (48, 48), (shade, shade, 255)).save(tmp_path / "ice.png")
        prints.add(settings_for("leaf", textures=str(tmp_path)).fingerprint())
    assert len(prints) == 3


def test_digest_textures__frost__depends_on_content_and_not_on_the_folder(tmp_path):
    prints = []
    for name, shade in (("a", 200), ("b", 200), ("c", 220)):
        (tmp_path / name).mkdir()
        Image.new("RGB", (48, 48), (shade, shade, 255)).save(tmp_path / name / "ice.png")
        prints.append(settings_for("leaf", textures=str(tmp_path / name)).digest_textures())
    assert prints[0] == prints[1] != prints[2]
    assert settings_for("leaf", corruptions=["fog"]).digest_textures() is None


def test_settings_for__broken_texture__is_an_error_at_once(tmp_path):
    (tmp_path / "ice.jpg").write_bytes(b"no picture")
    with pytest.raises(StudyError, match=r"ice\.jpg"):
        settings_for("leaf", textures=str(tmp_path))


def test_used__real_leaves__leave_out_what_is_for_generated_ones_or_other_studies():
    generated, real = settings_for("leaf"), replace(settings_for("leaf"), data="leaves")
    assert set(generated.as_dict()) - set(generated.used()) == {"patch_size"}
    assert set(real.as_dict()) - set(real.used()) == {"patch_size", "n_train", "n_test"}


def test_network_parameters__weights_of_a_backbone__are_its_own(tmp_path):
    file = tmp_path / "a=b.safetensors"
    file.write_bytes(b"one")
    settings = settings_for("leaf", backbones=["resnet18", "vgg11"], weights=[f"resnet18={file}", "vgg11=none"])
    found = [settings.network_parameters(name)["pretrained"] for name in ("resnet18", "vgg11", "resnet50")]
    assert found == [str(file), None, "auto"]
    before = settings.fingerprint()
    file.write_bytes(b"two")
    assert settings.fingerprint() != before != settings_for("leaf", backbones=["resnet18", "vgg11"]).fingerprint()


def test_network_parameters__words_for_weights__are_those_of_the_classifier():
    settings = replace(settings_for("leaf", "full"), pretrained="none", local="networks")
    parameters = settings.network_parameters()
    assert (parameters["pretrained"], parameters["share_backbone"], parameters["epochs"]) == (None, False, 8)
    assert ImageClassifier(**parameters).get_params()["local_epochs"] == 4
