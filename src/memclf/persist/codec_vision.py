"""Images and networks in a model folder: JSON descriptions, arrays, and tensors by name.

A network is stored as the description of its architecture and its tensors (safetensors). Classifiers that share a
backbone name the same tensors, so it is stored once and is one object again after loading.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from memclf.exceptions import MissingExtraError, ModelFolderError
from memclf.persist.classes import is_network
from memclf.persist.codec import Decoder, Encoder

HOMES = ("memclf.vision.", "torch.nn.")
TRAINING_ONLY = ("callbacks",)  # parameters of a network that a fitted one no longer needs


class VisionEncoder(Encoder):
    """An encoder for images and networks as well."""

    def __init__(self, *, training: bool = False) -> None:
        super().__init__(training=training)
        self.tensors: dict[str, Any] = {}  # of all networks

    def parameters_of(self, estimator: Any) -> dict[str, Any]:
        params = super().parameters_of(estimator)
        if not is_network(estimator):
            return params
        kept = {name: None if name in TRAINING_ONLY else item for name, item in params.items()}
        return {name: os.fspath(item) if isinstance(item, os.PathLike) else item for name, item in kept.items()}

    def encode_other(self, value: Any, where: str) -> Any:
        kind = type(value)
        # A user's own expert feature is an estimator like any other.
        if isinstance(value, BaseEstimator) or not any(base.__module__.startswith(HOMES) for base in kind.__mro__):
            return super().encode_other(value, where)
        from memclf.vision.images import ImageCollection

        if isinstance(value, ImageCollection):
            images = [self.encode(np.asarray(image), where) for image in value]
            keys = None if value.key(0) is None else [value.key(i) for i in range(len(value))]
            about = {"labels": value.labels, "info": value.info, "keys": keys}
            fields = {name: self.encode(item, where) for name, item in about.items()}
            return {"$vision": "ImageCollection", "images": images, **fields}
        from memclf.vision.nets.network import Network  # torch is slow to import, and images do without
        from memclf.vision.nets.recipes import RECIPES, Recipe

        if isinstance(value, Network):
            return {
                "$vision": "Network",
                "architecture": {name: self.encode(item, where) for name, item in value.architecture.items()},
                "backbone": self._add_tensors(value.backbone),
                "head": self._add_tensors(value.head),
            }
        if isinstance(value, Recipe):
            if RECIPES.get(value.name) is not kind:
                raise ModelFolderError(
                    f"{where} is a recipe of your own, {kind.__name__}, which a model folder cannot hold; it is needed "
                    "for training only: set recipe='vanilla' on the fitted estimators before saving"
                )
            fields = {name: self.encode(item, where) for name, item in vars(value).items()}
            return {"$vision": "Recipe", "name": value.name, "fields": fields}
        raise ModelFolderError(
            f"{where} is a {kind.__name__}, which cannot be saved without pickle. Give a backbone as a name, or as a "
            "function that makes it."
        )

    def _add_tensors(self, module: Any) -> str:
        """The name under which a module's tensors are stored, once."""
        from memclf.vision.nets.weights import tensors_of

        name, new = self.name_object(module, "t")
        if new:
            self.tensors.update({f"{name}.{key}": tensor for key, tensor in tensors_of(module).items()})
        return name


class VisionDecoder(Decoder):
    """A decoder for images and networks as well; `tensors` come from the encoder."""

    def __init__(self, *args: Any, tensors: Mapping[str, Any]):
        super().__init__(*args)
        self._tensors = tensors
        self._backbones: dict[str, Any] = {}

    def decode_marked(self, mark: str, content: Any, value: Mapping[str, Any]) -> Any:
        if mark != "$vision":
            return super().decode_marked(mark, content, value)
        if content == "ImageCollection":
            from memclf.vision.images import ImageCollection

            about = self.decode_all({name: value[name] for name in ("labels", "info", "keys")})
            return ImageCollection(self.decode(value["images"]), about.pop("labels"), **about)
        if content == "Network":
            return self._decode_network(value)
        if content == "Recipe":
            from memclf.vision.nets.recipes import RECIPES

            return RECIPES[value["name"]](**self.decode_all(value["fields"]))
        raise ModelFolderError(f"manifest.json holds a {content!r}, which memclf never writes")

    def _decode_network(self, value: Mapping[str, Any]) -> Any:
        import torch

        from memclf.vision.nets.network import Network
        from memclf.vision.nets.weights import load_tensors

        architecture = self.decode_all(value["architecture"])
        backbone, head = value["backbone"], value["head"]
        known = self._backbones.get(backbone)
        if known is None:
            try:
                with torch.device("meta"):  # compared before anything of its size is made
                    shapes = Network.from_architecture(architecture)
            except (NotImplementedError, RuntimeError):  # some cannot be built without memory behind their numbers
                shapes = Network.from_architecture(architecture)
            self._check_shapes(backbone, shapes.backbone)
            self._check_shapes(head, shapes.head)
        network = Network.from_architecture(architecture, known)
        if known is None:
            load_tensors(network.backbone, self._tensors_of(backbone))
            self._backbones[backbone] = network.backbone
        load_tensors(network.head, self._tensors_of(head))
        return network.to(memory_format=torch.channels_last).eval()

    def _check_shapes(self, name: str, module: Any) -> None:
        given = {key: tuple(tensor.shape) for key, tensor in self._tensors_of(name).items()}
        if given != {key: tuple(tensor.shape) for key, tensor in module.state_dict().items()}:
            raise ModelFolderError("networks.safetensors does not fit the architecture that manifest.json describes")

    def _tensors_of(self, name: str) -> dict[str, Any]:
        start = f"{name}."
        return {key.removeprefix(start): value for key, value in self._tensors.items() if key.startswith(start)}


def write_tensors(tensors: dict[str, Any]) -> bytes:
    """Tensors as the content of a safetensors file."""
    from safetensors.torch import save

    return bytes(save(tensors))


def read_tensors(content: bytes, name: str) -> dict[str, Any]:
    """The tensors in the content of a safetensors file."""
    try:
        from safetensors.torch import load
    except ModuleNotFoundError as error:
        raise MissingExtraError('this model holds networks: pip install "memclf[vision]"') from error
    try:
        return dict(load(content))
    except Exception as error:
        raise ModelFolderError(f"{name} is not a file of tensors: {error}") from error
