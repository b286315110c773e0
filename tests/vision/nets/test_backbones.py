"""Backbones by name, and where their weights come from."""

import pickle
import urllib.error
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
import torchvision
from safetensors.torch import save_file

from memclf.exceptions import WeightsError
from memclf.vision import ImageClassifier
from memclf.vision.nets import weights
from memclf.vision.nets.backbones import (
    build,
    bundled_weights_of,
    has_published_weights,
    resolve,
    stages_of,
    width_of,
)
from memclf.vision.nets.catalogue import CATALOGUE, label_of
from pictures import squares, tiny

PAPERS = {"resnet18": 512, "resnet34": 512, "resnet50": 2048, "vgg11": 4096, "vgg16": 4096, "preact_resnet18": 512}
OTHERS = {
    "vgg16_conv": 512,
    "efficientnet_lite0": 1280,
    "mobilenet_v3_small": 1024,
    "timm/resnet18": 512,
    "densenet121": 1024,
}


@pytest.mark.parametrize(("name", "width"), [*PAPERS.items(), *OTHERS.items()])
def test_a_backbone_by_name_gives_one_embedding_per_image(name, width):
    with torch.device("meta"):  # shapes only: VGG's half a billion bytes are not needed for this
        backbone = build(name, (64, 96))
        assert width_of(backbone.module, (64, 96)) == width
    assert len(backbone.mean) == len(backbone.std) == 3


@pytest.mark.parametrize("name", [*PAPERS, "vgg16_conv", "efficientnet_lite0", "densenet121", "convnext_tiny"])
def test_recipes_find_three_places_to_mix_in_order(name):
    with torch.device("meta"):
        module = build(name, (64, 64)).module
        stages = stages_of(module)
        assert len(stages) == 3
        sizes = []
        handles = [
            stage.register_forward_hook(lambda _m, _i, out: sizes.append((out.shape[2], out.shape[1])))
            for stage in stages
        ]
        module.eval()(torch.zeros(1, 3, 64, 64))
    for handle in handles:
        handle.remove()
    assert len(sizes) == 3
    assert [height for height, _ in sizes] == sorted((height for height, _ in sizes), reverse=True)
    assert sizes[0] != sizes[-1]


def test_a_name_may_say_which_library_it_means():
    assert resolve("resnet18") == ("torchvision", "resnet18")
    assert resolve("timm/resnet18") == ("timm", "resnet18")
    assert resolve("preact_resnet18") == ("memclf", "preact_resnet18")
    with pytest.raises(ValueError, match="neither torchvision nor timm knows a backbone 'torchvision/resnet10t'"):
        resolve("torchvision/resnet10t")


def test_a_network_for_one_size_says_so():
    with pytest.raises(ValueError, match="cannot take images of 64 x 64 pixels.*set image_size"), torch.device("meta"):
        width_of(build("vit_b_16", (64, 64)).module, (64, 64))


def test_the_classifier_embeds_as_the_bundled_network_does():
    network = timm.create_model("tf_efficientnet_lite0")
    network.load_state_dict(weights.bundled_weights("efficientnet_lite0"))
    network.reset_classifier(0)
    images, labels = squares(6, size=64)
    clf = ImageClassifier(image_size=64, train="head", epochs=1, random_state=0).fit(images, labels)
    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    with torch.inference_mode():
        expected = network.eval()((pixels - 0.5) / 0.5).numpy()
    np.testing.assert_allclose(clf.embed(images), expected, atol=1e-4)


@pytest.mark.parametrize("name", CATALOGUE)
def test_catalogue__every_entry__can_be_built_and_is_light(name):
    entry = CATALOGUE[name]
    assert entry.name == name
    assert label_of(name) == entry.label
    with torch.device("meta"):
        backbone = build(name, (64, 64))
    if entry.weights is not None:
        assert (backbone.mean, backbone.std) == (entry.weights.mean, entry.weights.std)
        assert bundled_weights_of(name) == entry.weights


@pytest.mark.parametrize("name", CATALOGUE)
def test_catalogue__published__is_what_the_libraries_offer(name):
    assert has_published_weights(name) == CATALOGUE[name].published


def test_catalogue__other_spellings_of_a_bundled_backbone__find_its_weights():
    found = [bundled_weights_of(f"{prefix}efficientnet_lite0") for prefix in ("", "timm/", "tf_", "timm/tf_")]
    assert found == [CATALOGUE["efficientnet_lite0"].weights] * 4
    assert bundled_weights_of("timm/resnet18") is None  # torchvision's has weights
    assert bundled_weights_of(tiny) is None


@pytest.mark.parametrize("suffix", [".safetensors", ".pth"])
def test_weights_from_a_file_are_those_in_the_file(tmp_path, suffix):
    torch.manual_seed(0)
    network = torchvision.models.resnet18(weights=None)
    file = tmp_path / f"weights{suffix}"
    save_file(network.state_dict(), file) if suffix == ".safetensors" else torch.save(network.state_dict(), file)
    images, labels = squares(6, size=32)
    clf = ImageClassifier("resnet18", pretrained=file, image_size=32, train="head", epochs=1).fit(images, labels)
    for name, value in clf.backbone_.state_dict().items():
        assert torch.equal(value, network.state_dict()[name]), name


def test_a_checkpoint_of_a_training_script_is_understood(tmp_path):
    network = torchvision.models.resnet18(weights=None)
    wrapped = {"epoch": 3, "state_dict": {f"module.{k}": v for k, v in network.state_dict().items()}}
    torch.save(wrapped, tmp_path / "checkpoint.pt")
    backbone = build("resnet18", (32, 32))
    weights.load_pretrained(backbone, "resnet18", tmp_path / "checkpoint.pt")
    assert torch.equal(backbone.module.layer1[0].conv1.weight, network.layer1[0].conv1.weight)


def test_weights_of_a_backbone_of_the_users_own_come_from_a_file(tmp_path):
    mine = tiny()
    save_file(mine.state_dict(), tmp_path / "mine.safetensors")
    backbone = build(tiny, (24, 24))
    weights.load_pretrained(backbone, tiny, tmp_path / "mine.safetensors")
    assert torch.equal(backbone.module[0].weight, mine[0].weight)


class Evil:
    def __reduce__(self):
        return (Path.touch, (Path("owned"),))


def test_a_file_that_is_more_than_weights_is_refused_and_runs_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.pth").write_bytes(pickle.dumps({"state_dict": Evil()}))
    with pytest.raises(WeightsError, match=r"evil.pth (holds more than weights|is not a file of weights)"):
        weights.read_weights(tmp_path / "evil.pth")
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.pth", None, "there is no file"),
        ("text.safetensors", b"hello", "is not a file of weights"),
        ("text.pth", b"hello", r"text.pth is not a file of weights: .* cannot read it \(KeyError\); save a state dict"),
        ("empty.pth", b"", r"is not a file of weights: it is empty, damaged or of another kind.*\(EOFError\)"),
    ],
)
def test_files_that_are_no_weights_are_named(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(WeightsError, match=message) as raised:
        weights.read_weights(tmp_path / name)
    assert name in str(raised.value)


def test_weights_of_another_network_say_what_does_not_fit(tmp_path):
    backbone = build("resnet18", (32, 32))
    good = torchvision.models.resnet18(weights=None).state_dict()
    with pytest.raises(WeightsError, match="it lacks conv1.weight"):
        weights.fill(backbone, {k: v for k, v in good.items() if k != "conv1.weight"}, "the file")
    with pytest.raises(WeightsError, match="it has besides more.weight"):
        weights.fill(backbone, {**good, "more.weight": torch.zeros(1)}, "the file")
    with pytest.raises(WeightsError, match="another shape for conv1.weight"):
        weights.fill(backbone, {**good, "conv1.weight": torch.zeros(64, 3, 3, 3)}, "the file")


def test_published_weights_without_a_network_say_what_to_do_instead(monkeypatch):
    def offline(*_args, **_kwargs):
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(torch.hub, "load_state_dict_from_url", offline)
    monkeypatch.setattr(torchvision.models._api, "load_state_dict_from_url", offline)
    with pytest.raises(WeightsError, match="torchvision could not provide weights for resnet18.*pretrained='bundled'"):
        weights.load_pretrained(build("resnet18", (32, 32)), "resnet18", True)
    with pytest.raises(WeightsError, match="there are no published weights for preact_resnet18"):
        weights.published_weights("preact_resnet18")


@pytest.mark.parametrize(
    ("backbone", "pretrained", "message"),
    [
        ("resnet34", "bundled", "the bundled weights are those of efficientnet_lite0, .*, not of 'resnet34'"),
        (tiny, True, "needs a backbone by name"),
        ("resnet18", 7, "pretrained must be 'auto', 'bundled', True, None or a path, got 7"),
    ],
)
def test_impossible_wishes_for_weights_are_explained(backbone, pretrained, message):
    with pytest.raises((WeightsError, ValueError), match=message):
        weights.load_pretrained(build(backbone, (32, 32)), backbone, pretrained)


def test_auto_means_bundled_for_the_bundled_backbone_and_none_for_others():
    torch.manual_seed(0)
    fresh = build("resnet34", (32, 32))
    before = fresh.module.conv1.weight.clone()
    weights.load_pretrained(fresh, "resnet34", "auto")
    assert torch.equal(before, fresh.module.conv1.weight)
    bundled = build("efficientnet_lite0", (32, 32))
    weights.load_pretrained(bundled, "efficientnet_lite0", "auto")
    assert torch.equal(
        bundled.module.conv_stem.weight, weights.bundled_weights("efficientnet_lite0")["conv_stem.weight"]
    )
