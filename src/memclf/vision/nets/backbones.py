"""Networks by name, without their last layer: from normalised pixels to embeddings."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import timm
import torch
import torchvision
from torch import nn

from memclf.vision.nets.catalogue import CATALOGUE, IMAGENET, Weights
from memclf.vision.nets.preact import PreActResNet18
from memclf.vision.nets.vgg import make_vgg16_conv

SEVERAL_OUTPUTS = {"googlenet", "inception_v3"}  # in training, and weights for other pixels; timm has the latter
OURS = ("preact_resnet18", "vgg16_conv")


@dataclass(frozen=True)
class Backbone:
    """A network without its last layer.

    Attributes
    ----------
    module : torch.nn.Module
        Normalised pixels of shape (n, 3, h, w) to embeddings of shape (n, width).
    mean, std : tuples of float
        How its pixels are normalised.
    last : str
        The name of the last layer in published weights, which is left out.
    """

    module: nn.Module
    mean: tuple[float, ...]
    std: tuple[float, ...]
    last: str


def resolve(name: str) -> tuple[str, str]:
    """The library of a backbone ("memclf", "torchvision" or "timm") and its name there.

    torchvision comes before timm; ``"timm/resnet18"`` means timm's.

    >>> resolve("resnet18"), resolve("timm/resnet18"), resolve("efficientnet_lite0")
    (('torchvision', 'resnet18'), ('timm', 'resnet18'), ('timm', 'tf_efficientnet_lite0'))
    """
    source, _, plain = name.rpartition("/")
    if plain in CATALOGUE and CATALOGUE[plain].model:
        home, _, model = CATALOGUE[plain].model.partition("/")
        if source in ("", home):
            return home, model
    homes: dict[str, Callable[[], Any]] = {
        "memclf": lambda: OURS,
        "torchvision": _torchvision_names,
        "timm": lambda: set(timm.list_models()),
    }
    for home, known in homes.items():
        if source in ("", home) and (plain in known() or (home == "timm" and timm.is_model(plain))):
            return home, plain
    names = sorted({*OURS, *CATALOGUE, *_torchvision_names(), *timm.list_models()})
    close = difflib.get_close_matches(plain, names, n=3)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "see timm.list_models()."
    raise ValueError(f"neither torchvision nor timm knows a backbone {name!r}; {hint}")


def bundled_weights_of(backbone: Any) -> Weights | None:
    """The weights that a package carries for this backbone; None if there are none."""
    if not isinstance(backbone, str):
        return None
    model = resolve(backbone)
    return next((each.weights for each in CATALOGUE.values() if each.weights and resolve(each.name) == model), None)


def has_published_weights(name: str) -> bool:
    """Whether torchvision or timm offer weights for this backbone.

    >>> has_published_weights("resnet34"), has_published_weights("vgg16_conv")
    (True, False)
    """
    source, plain = resolve(name)
    return source == "torchvision" or (source == "timm" and timm.models.is_model_pretrained(plain))


def build(backbone: Any, size: tuple[int, int]) -> Backbone:
    """The backbone, with fresh weights, for images of this height and width."""
    if isinstance(backbone, nn.Module):
        return Backbone(backbone, *IMAGENET, last="")
    if callable(backbone):
        module = backbone()
        if not isinstance(module, nn.Module):
            raise TypeError(f"backbone {backbone!r} must return a torch module, got {type(module).__name__}")
        return Backbone(module, *IMAGENET, last="")
    if not isinstance(backbone, str):
        raise TypeError(f"backbone must be a name, a torch module or a function that makes one, got {backbone!r}")
    source, name = resolve(backbone)
    if name == "vgg16_conv":
        return Backbone(make_vgg16_conv(), *IMAGENET, last="")
    if source == "memclf":
        module = PreActResNet18.for_size(1, *size)
        return Backbone(_remove_last(module, "fc"), *IMAGENET, last="fc")
    if source == "torchvision":
        module = torchvision.models.get_model(name, weights=None)
        last = _last_linear(module, name)
        return Backbone(_remove_last(module, last), *IMAGENET, last=last)
    module = timm.create_model(name, num_classes=0)
    cfg: dict[str, Any] = module.pretrained_cfg or {}
    bundled = bundled_weights_of(backbone)
    mean, std = tuple(cfg.get("mean", IMAGENET[0])), tuple(cfg.get("std", IMAGENET[1]))
    if bundled is not None:
        mean, std = bundled.mean, bundled.std
    last = cfg.get("classifier") or "classifier"
    return Backbone(module, mean, std, last=last if isinstance(last, str) else last[0])


def width_of(module: nn.Module, size: tuple[int, int]) -> int:
    """The length of the embeddings, found by passing one image through."""
    was_training = module.training
    module.eval()
    try:
        with torch.inference_mode():
            out = module(torch.zeros(1, 3, *size))
    except Exception as error:
        raise ValueError(
            f"{type(module).__name__} cannot take images of {size[0]} x {size[1]} pixels: {error}. "
            "Some networks work at one size only; set image_size to it."
        ) from error
    finally:
        module.train(was_training)
    if not isinstance(out, torch.Tensor) or out.ndim != 2 or len(out) != 1:
        got = tuple(out.shape) if isinstance(out, torch.Tensor) else type(out).__name__
        raise ValueError(f"a backbone must return one row of numbers per image; {type(module).__name__} returned {got}")
    return int(out.shape[1])


def stages_of(module: nn.Module) -> list[nn.Module]:
    """The parts of a backbone after which recipes may mix: its first, second and third stage."""
    stages = getattr(module, "stages", None)  # a user's own network may say them, as a plain list
    if isinstance(stages, (list, tuple, nn.ModuleList, nn.Sequential)):
        return list(stages)[:3]
    children = dict(module.named_children())
    layers = [children[name] for name in ("layer1", "layer2", "layer3") if name in children]
    if len(layers) == 3:
        return layers
    for parts in (children.get("blocks"), children.get("features"), module):
        if not isinstance(parts, nn.Sequential):
            continue
        pools = [part for part in parts if isinstance(part, nn.MaxPool2d)]
        if len(pools) > 3:  # as in VGG
            return list(pools[:3])
        if len(parts) >= 4:
            return [parts[round(len(parts) * i / 4) - 1] for i in (1, 2, 3)]
    return []


def _torchvision_names() -> set[str]:
    return set(torchvision.models.list_models(module=torchvision.models)) - SEVERAL_OUTPUTS


def _last_linear(module: nn.Module, name: str) -> str:
    linear = [path for path, part in module.named_modules() if isinstance(part, nn.Linear)]
    if not linear:
        raise ValueError(f"torchvision's {name} has no linear last layer to replace; choose another backbone")
    return linear[-1]


def _remove_last(module: nn.Module, last: str) -> nn.Module:
    parent, _, leaf = last.rpartition(".")
    setattr(module.get_submodule(parent) if parent else module, leaf, nn.Identity())
    return module
