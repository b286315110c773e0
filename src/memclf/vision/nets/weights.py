"""Pretrained weights from a package, from torchvision or timm, or from a file.

Nothing is unpickled.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import timm
import torch
import torchvision
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from memclf.exceptions import WeightsError
from memclf.vision.nets.backbones import Backbone, bundled_weights_of, resolve
from memclf.vision.nets.bundled import bundled_weights
from memclf.vision.nets.catalogue import BUNDLED

Tensors = Mapping[str, torch.Tensor]


def load_pretrained(backbone: Backbone, name: Any, pretrained: Any) -> bool:
    """Fill the backbone with weights, if `pretrained` means any; returns whether it did.

    `pretrained` is "auto" (bundled weights if there are any for this backbone, else none), "bundled", True (from
    torchvision or timm, over the network), False or None, or the path of a file.
    """
    if isinstance(pretrained, str) and pretrained == "auto":
        pretrained = None if bundled_weights_of(name) is None else "bundled"
    if pretrained is None or pretrained is False:
        return False
    if isinstance(pretrained, str) and pretrained == "bundled":
        fill(backbone, bundled_weights(name), "the bundled weights")
    elif pretrained is True:
        if not isinstance(name, str):
            raise WeightsError("pretrained=True needs a backbone by name; load your own module's weights from a path")
        fill(backbone, published_weights(name), f"the published weights of {name}")
    elif isinstance(pretrained, (str, os.PathLike)):
        fill(backbone, read_weights(Path(pretrained)), str(pretrained))
    else:
        raise ValueError(f"pretrained must be 'auto', 'bundled', True, None or a path, got {pretrained!r}")
    return True


def published_weights(name: str) -> dict[str, torch.Tensor]:
    """The weights that torchvision or timm offer for a backbone."""
    source, plain = resolve(name)
    if source == "memclf":
        raise WeightsError(f"there are no published weights for {plain}; use pretrained=None or a path")
    try:
        if source == "torchvision":
            return dict(torchvision.models.get_model_weights(plain).DEFAULT.get_state_dict(progress=False))
        return timm.create_model(plain, pretrained=True).state_dict()
    except Exception as error:  # no network, no such file, no weights at all: each library has its own errors
        raise WeightsError(
            f"{source} could not provide weights for {plain} ({type(error).__name__}: {error}). Without a network, use "
            f"backbone={BUNDLED[0]!r} with pretrained='bundled', or the path of a file with weights."
        ) from error


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """A state dict from a safetensors file or from torch's own format, read as data only."""
    if not path.is_file():
        raise WeightsError(f"there is no file {path}; pretrained may be 'auto', 'bundled', True, None or a path")
    try:
        if path.suffix == ".safetensors":
            return dict(load_file(path))
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (SafetensorError, OSError, RuntimeError) as error:
        raise WeightsError(f"{path} is not a file of weights: {error}") from error
    except (EOFError, LookupError, ValueError, AttributeError) as error:  # whose text says nothing by itself
        raise WeightsError(
            f"{path} is not a file of weights: it is empty, damaged or of another kind, since torch cannot read it "
            f"({type(error).__name__}); save a state dict with torch.save, or use safetensors"
        ) from error
    except Exception as error:  # torch refuses pickles with its own error and advice that would run their code
        raise WeightsError(
            f"{path} is not a file of weights, or holds more than weights; save a state dict, or use safetensors"
        ) from error
    for wrapper in ("state_dict", "model"):
        if isinstance(found, Mapping) and isinstance(found.get(wrapper), Mapping):
            found = found[wrapper]
    if not isinstance(found, Mapping) or not all(isinstance(value, torch.Tensor) for value in found.values()):
        raise WeightsError(f"{path} does not hold a state dict (names and tensors)")
    return dict(found)


def fill(backbone: Backbone, tensors: Tensors, where: str) -> None:
    """Load tensors into a backbone.

    Those of the last layer, which is ours, are left out; all others must fit.
    """
    if tensors and all(name.startswith("module.") for name in tensors):
        tensors = {name.removeprefix("module."): value for name, value in tensors.items()}
    if any(name.startswith("backbone.") for name in tensors) and all(
        name.startswith(("backbone.", "head.")) for name in tensors
    ):  # a network of ours
        tensors = {n.removeprefix("backbone."): value for n, value in tensors.items() if n.startswith("backbone.")}
    own = backbone.module.state_dict()
    given = {name: value for name, value in tensors.items() if not _is_part(name, backbone.last) or name in own}
    missing = [name for name in own if name not in given and not name.endswith("num_batches_tracked")]
    strange = [name for name in given if name not in own]
    wrong = [name for name in own if name in given and own[name].shape != given[name].shape]
    for names, problem in ((missing, "lacks"), (wrong, "has another shape for"), (strange, "has besides")):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            raise WeightsError(f"{where} does not fit the backbone: it {problem} {', '.join(names[:3])}{more}")
    load_tensors(backbone.module, given, strict=False)


def _is_part(name: str, layer: str) -> bool:
    return bool(layer) and name.startswith(f"{layer}.")


def load_tensors(module: nn.Module, tensors: Tensors, *, strict: bool = True) -> None:
    """Load tensors into a module whose loading may depend on the version of the tensors."""
    state = OrderedDict(tensors)
    state._metadata = module.state_dict()._metadata  # type: ignore[attr-defined]
    module.load_state_dict(state, strict=strict)


def tensors_of(module: nn.Module) -> dict[str, torch.Tensor]:
    """All tensors of a module on the CPU, each with memory of its own, ready to be stored."""
    return {name: value.detach().cpu().contiguous().clone() for name, value in module.state_dict().items()}
