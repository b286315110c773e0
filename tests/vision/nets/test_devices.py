"""Devices and mixed precision, as far as a processor can show them."""

import platform
import resource
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from skorch.callbacks import Callback
from torch import nn

from memclf.vision import ImageClassifier
from memclf.vision.nets import RECIPES, devices, network

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.integers(0, 120, (8, 16, 16, 3)), RNG.integers(130, 255, (8, 16, 16, 3))]).astype(np.uint8)
Y = [0] * 8 + [1] * 8


def small_net():
    return nn.Sequential(nn.Conv2d(3, 4, 3, 2), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())


def fitted(**settings):
    settings = {"epochs": 4, "lr": 0.1, "batch_size": 8, "image_size": 16, "random_state": 0, **settings}
    return ImageClassifier(small_net, **settings).fit(X, Y)


def same(first, second):
    pairs = zip(first.network_.state_dict().values(), second.network_.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def test_find_device__no_gpu__auto_is_the_processor(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert devices.find_device("auto") == devices.find_device("cpu") == "cpu"
    with pytest.raises(ValueError, match="device='cuda' needs a GPU.* are none; use 'auto' or 'cpu'"):
        devices.find_device("cuda")


def test_find_device__two_gpus__a_third_is_an_error(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert devices.find_device("cuda:1") == "cuda:1"
    with pytest.raises(ValueError, match="numbered 0 to 1"):
        devices.find_device("cuda:2")


def test_find_device__no_gpu_of_apple__is_an_error(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(ValueError, match="device='mps' needs a GPU of Apple"):
        devices.find_device("mps")


@pytest.mark.parametrize("name", ["meta", "meta:1", "xla"])
def test_find_device__torch_cannot_compute_on_it__is_an_error(name):
    with pytest.raises(ValueError, match=f"torch cannot compute on device='{name}' here .*; use 'auto'"):
        devices.find_device(name)


@pytest.mark.parametrize(("capability", "expected"), [((7, 5), torch.float16), ((8, 6), torch.bfloat16)])
def test_half_precision__gpus__older_ones_have_float16(monkeypatch, capability, expected):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert devices.half_precision("cuda:0") is expected
    assert devices.half_precision("cpu") is None


def test_fit__mixed_precision_on_a_processor__changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    plain = fitted(checkpoint=tmp_path)
    assert same(plain, fitted(device="cpu", mixed_precision=True, checkpoint=tmp_path))
    assert len(list(tmp_path.iterdir())) == 1  # the name of the fit is the same too


def test_fit__full_precision__is_named_by_the_same_settings_as_ever(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("memclf.vision.nets.run.fingerprint", lambda settings, *rest: seen.append(settings) or "name")
    fitted(checkpoint=tmp_path)
    assert set(seen[0]) == {  # another one would make all networks useless that users have kept
        *("recipe", "epochs", "batch_size", "lr", "momentum", "weight_decay", "optimizer", "schedule"),
        *("label_smoothing", "class_weights", "patience", "frozen", "seed"),
    }


@pytest.mark.parametrize(
    ("recipe", "half"), [("vanilla", torch.float16), *((name, torch.bfloat16) for name in RECIPES)]
)
def test_fit__short_numbers__learn_as_well_with_every_recipe(monkeypatch, half, recipe):
    monkeypatch.setattr("memclf.vision.nets.classifier.half_precision", lambda device: half)
    settings = {"recipe": "vanilla"} if recipe == "vanilla" else {"recipe": recipe, "epochs": 2}
    clf = fitted(mixed_precision=True, device="cpu", **settings)
    assert not same(clf, fitted(device="cpu", **settings))  # short numbers were used
    assert all(value.dtype != half for value in clf.network_.state_dict().values())
    assert np.isfinite(clf.predict_proba(X)).all()
    if recipe == "vanilla":
        assert clf.score(X, Y) == 1.0


def test_fit__float16_interrupted__goes_on_with_the_same_scale(monkeypatch, tmp_path):
    monkeypatch.setattr("memclf.vision.nets.classifier.half_precision", lambda device: torch.float16)
    settings = {"mixed_precision": True, "device": "cpu", "epochs": 3}
    with pytest.raises(KeyboardInterrupt):
        fitted(**settings, checkpoint=tmp_path, callbacks=[Stop()])
    assert same(fitted(**settings, checkpoint=tmp_path), fitted(**settings))


class Stop(Callback):
    def on_epoch_begin(self, net, **kwargs):
        if len(net.history) == 3:
            raise KeyboardInterrupt


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told to keep memory")
def test_reuse_memory__arrays_one_after_the_other__are_the_same_memory():
    pages = 2**26 / resource.getpagesize()  # of an array of 64 MB
    with devices.reuse_memory("cpu"):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(20):
            torch.empty(2**24).fill_(1.0)
        cleared = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert cleared < 5 * pages  # without reuse, the system clears all twenty


def test_predict__several_batches__reuse_memory_and_one_does_not(monkeypatch):
    reused = []
    monkeypatch.setattr(network, "reuse_memory", lambda device: reused.append(device) or nullcontext())
    model = fitted(predict_batch_size=4, device="cpu")
    reused.clear()
    model.predict(X[:4])
    assert reused == []
    model.predict(X[:5])
    assert reused == ["cpu"]


def test_reuse_memory__gpu__changes_nothing(monkeypatch):
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda name: pytest.fail("asked for the library of C"))
    with devices.reuse_memory("cuda"):
        pass
