"""Images, networks and what belongs to them in a model folder: JSON descriptions, arrays, and tensors by name.

A network is stored as the description of its architecture and its tensors (safetensors). Classifiers that share a
backbone name the same tensors, so it is stored once and is one object again after loading.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from memclf.exceptions import MissingExtraError, ModelFolderError

if TYPE_CHECKING:
    import torch

    from memclf.persist.codec import Decoder, Encoder

HOME = "memclf.vision."
ESTIMATORS = {
    "ImageClassifier": "memclf.vision.nets",
    "LeafColours": "memclf.vision.features",
    "LesionFeatures": "memclf.vision.features",
    "PatchColour": "memclf.vision.features",
}
NOT_KEPT = ("callbacks",)  # parameters that matter only while training


def is_ours(value: Any) -> bool:
    """Something of memclf.vision, or a bare torch module; a user's own expert feature goes the way of estimators."""
    if hasattr(value, "load_state_dict"):
        return True
    if hasattr(value, "get_params"):
        return _estimator_named(type(value).__name__) is type(value)
    return any(kind.__module__.startswith(HOME) for kind in type(value).__mro__)


def is_network(model: Any) -> bool:
    return type(model).__name__ == "ImageClassifier" and is_ours(model)


def encode(encoder: Encoder, value: Any, where: str) -> Any:
    from memclf.vision.images import ImageCollection

    if isinstance(value, ImageCollection):
        images = [encoder.encode(np.asarray(image), where) for image in value]
        keys = None if value.key(0) is None else [value.key(i) for i in range(len(value))]
        about = {"labels": value.labels, "info": value.info, "keys": keys}
        return {"$vision": "ImageCollection", "images": images, **{k: encoder.encode(v) for k, v in about.items()}}
    kind = type(value)
    if hasattr(value, "get_params"):
        return encoder.once(value, lambda: _estimator(encoder, value, where))
    from memclf.vision.nets.network import Network
    from memclf.vision.nets.recipes import RECIPES, Recipe

    if isinstance(value, Network):
        return _network(encoder, value, where)
    if isinstance(value, Recipe):
        if RECIPES.get(value.name) is not kind:
            raise ModelFolderError(
                f"{where} is a recipe of your own, {kind.__name__}, which a model folder cannot hold; it is needed for "
                "training only: set recipe='vanilla' on the fitted estimators before saving"
            )
        fields = {name: encoder.encode(item, where) for name, item in vars(value).items()}
        return {"$vision": "Recipe", "name": value.name, "fields": fields}
    raise ModelFolderError(
        f"{where} is a {kind.__name__}, which cannot be saved without pickle. Give a backbone as a name, or as a "
        "function that makes it."
    )


def _estimator(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    from memclf.persist.codec import FITTED

    params = {}
    for name, item in value.get_params(deep=False).items():
        plain = os.fspath(item) if isinstance(item, os.PathLike) else item
        params[name] = encoder.encode(None if name in NOT_KEPT else plain, f"{where}.{name}")
    state = {n: encoder.encode(v, f"{where}.{n}") for n, v in vars(value).items() if FITTED.fullmatch(n)}
    return {"$vision": type(value).__name__, "params": params, "state": state}


def _network(encoder: Encoder, network: Any, where: str) -> dict[str, Any]:
    architecture = {name: encoder.encode(item, where) for name, item in network.architecture.items()}
    return {
        "$vision": "Network",
        "architecture": architecture,
        "backbone": encoder.tensors_of(network.backbone),
        "head": encoder.tensors_of(network.head),
    }


def decode(decoder: Decoder, mark: Any, value: Mapping[str, Any]) -> Any:
    if mark == "ImageCollection":
        from memclf.vision.images import ImageCollection

        images = [decoder.decode(image) for image in value["images"]]
        about = {name: decoder.decode(value[name]) for name in ("labels", "info", "keys")}
        return ImageCollection(images, about["labels"], info=about["info"], keys=about["keys"])
    if mark == "Network":
        return _rebuilt(decoder, value)
    if mark == "Recipe":
        from memclf.vision.nets.recipes import RECIPES

        return RECIPES[value["name"]](**{name: decoder.decode(item) for name, item in value["fields"].items()})
    from memclf.persist.codec import FITTED

    if mark not in ESTIMATORS:
        raise ModelFolderError(f"manifest.json holds a {mark!r}, which memclf never writes")
    estimator = _estimator_named(mark)(**{name: decoder.decode(item) for name, item in value["params"].items()})
    for name, item in value["state"].items():
        if not FITTED.fullmatch(name):
            raise ModelFolderError(f"manifest.json sets {name!r}, which is no fitted attribute, on a {mark}")
        setattr(estimator, name, decoder.decode(item))
    return estimator


def _rebuilt(decoder: Decoder, value: Mapping[str, Any]) -> Any:
    import torch

    from memclf.vision.nets.network import Network
    from memclf.vision.nets.weights import load_tensors

    architecture = {name: decoder.decode(item) for name, item in value["architecture"].items()}
    backbone, head = value["backbone"], value["head"]
    known = decoder.backbones.get(backbone)
    if known is None:
        try:
            with torch.device("meta"):  # compared before anything of its size is made
                shapes = Network.from_architecture(architecture)
        except (NotImplementedError, RuntimeError):  # some cannot be built without memory behind their numbers
            shapes = Network.from_architecture(architecture)
        _fits(shapes, decoder.tensors, backbone, head)
    network = Network.from_architecture(architecture, known)
    if known is None:
        load_tensors(network.backbone, _part(decoder.tensors, backbone))
        decoder.backbones[backbone] = network.backbone
    load_tensors(network.head, _part(decoder.tensors, head))
    return network.to(memory_format=torch.channels_last).eval()


def _fits(network: Any, tensors: Mapping[str, torch.Tensor], backbone: str, head: str) -> None:
    for name, module in ((backbone, network.backbone), (head, network.head)):
        given = {key: tuple(tensor.shape) for key, tensor in _part(tensors, name).items()}
        wanted = {key: tuple(tensor.shape) for key, tensor in module.state_dict().items()}
        if given != wanted:
            raise ModelFolderError("networks.safetensors does not fit the architecture that manifest.json describes")


def _part(tensors: Mapping[str, torch.Tensor], name: str) -> dict[str, torch.Tensor]:
    return {key.removeprefix(f"{name}."): value for key, value in tensors.items() if key.startswith(f"{name}.")}


def write_tensors(tensors: dict[str, Any]) -> bytes:
    from safetensors.torch import save

    return bytes(save(tensors))


def read_tensors(content: bytes, name: str) -> dict[str, Any]:
    try:
        from safetensors.torch import load
    except ModuleNotFoundError as error:
        raise MissingExtraError('this model holds networks: pip install "memclf[vision]"') from error
    try:
        return dict(load(content))
    except Exception as error:
        raise ModelFolderError(f"{name} is not a file of tensors: {error}") from error


def _estimator_named(name: str) -> Any:
    """The class, if it is one that a folder may hold; it is imported only now."""
    if name not in ESTIMATORS:
        return None
    try:
        return getattr(import_module(ESTIMATORS[name]), name)
    except ModuleNotFoundError as error:
        raise MissingExtraError('this model looks at images: pip install "memclf[vision]"') from error
