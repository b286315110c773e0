import pytest

from memclf.exceptions import StudyError
from memclf.studies import SCALES, STUDIES, settings_for


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("scale", SCALES)
def test_every_study_has_every_scale(study, scale):
    settings = settings_for(study, scale)
    assert len(settings.corruptions) == 18
    assert settings.cells()[0] == (settings.recipes[0], settings.backbones[0])


def test_the_paper_scale_has_the_paper_s_tables():
    leaf, color = settings_for("leaf", "paper"), settings_for("color", "paper")
    assert {backbone for _, backbone in leaf.cells()} == {"resnet18", "resnet34", "resnet50", "vgg11", "vgg16"}
    assert {recipe for recipe, _ in leaf.cells()} == {
        *("vanilla", "adversarial", "augmix", "cutmix", "noisymix", "manifold_mixup"),
    }
    assert len(leaf.cells()) == 6 + 5 - 1
    assert (leaf.epochs, leaf.batch_size, leaf.lr, leaf.momentum) == (40, 24, 0.01, 0.9)
    assert (leaf.preset, leaf.corrupt_at, leaf.local) == ("authors-299", (1024, 1024), "networks")
    assert (color.epochs, color.batch_size, color.weight_decay) == (50, 48, 5e-4)
    assert (color.patch_size, color.n_train, color.n_test) == (500, 3000, 300)


def test_what_is_asked_for_wins_over_the_scale():
    settings = settings_for("leaf", "full", seeds=[4], recipes=["augmix"], epochs=None)
    assert (settings.seeds, settings.recipes, settings.epochs) == ((4,), ("augmix",), 8)


def test_every_setting_is_part_of_the_fingerprint():
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
        ({"corrupt_at": (0, 0)}, "corrupt_at must be at least 32, got"),
        ({"epochs": 0}, "epochs must be at least 1, got 0"),
        ({"seeds": (-1,)}, "seeds must be at least 0, got"),
    ],
)
def test_settings_that_make_no_sense_are_refused(asked, message):
    with pytest.raises(StudyError, match=message):
        settings_for("leaf", **asked)


def test_the_robust_feature_is_always_there_and_comes_first():
    assert settings_for("color", features=["paper"]).features == ("robust", "paper")
    assert settings_for("color", features=["paper", "robust"]).features == ("robust", "paper")
    assert settings_for("color", features=["robust"]).features == ("robust",)


def test_the_contents_of_a_file_of_weights_are_part_of_the_fingerprint(tmp_path):
    from dataclasses import replace

    file = tmp_path / "weights.safetensors"
    prints = set()
    for content in (b"one", b"two"):
        file.write_bytes(content)
        prints.add(replace(settings_for("leaf"), pretrained=str(file)).fingerprint())
    assert len(prints) == 2
