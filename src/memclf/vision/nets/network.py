"""The network of an image classifier: normalise, embed, join expert features, classify."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from memclf._numbers import Array
from memclf._threads import torch_threads
from memclf.cases import Computation
from memclf.vision.images import ImageCollection
from memclf.vision.nets.backbones import build, stages_of, width_of
from memclf.vision.nets.data import Examples
from memclf.vision.nets.devices import find_device, reuse_memory
from memclf.vision.nets.weights import load_pretrained


class Network(nn.Module):
    """Pixels from 0 to 1 to one score per class.

    Normalisation is its first layer, so that whatever changes pixels (an attack, a mixture) does so in the
    range of pixels.

    Parameters
    ----------
    backbone : torch.nn.Module
        Normalised pixels to embeddings of length `width`. Several networks may share one.
    width, n_classes : int
    n_features : int
        Expert features that are joined to the embedding.
    mean, std : sequences of three floats
    """

    mean: Tensor
    std: Tensor

    def __init__(
        self,
        backbone: nn.Module,
        width: int,
        n_classes: int,
        n_features: int = 0,
        mean: Sequence[float] = (0.5, 0.5, 0.5),
        std: Sequence[float] = (0.5, 0.5, 0.5),
    ):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(width + n_features, n_classes)
        self.width, self.n_features = width, n_features
        self.architecture: dict[str, Any] = {}
        self._digest: tuple[list[tuple[int, int]], str] | None = None
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32).view(1, 3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(std, dtype=torch.float32).view(1, 3, 1, 1), persistent=False)

    @classmethod
    def from_architecture(cls, architecture: dict[str, Any], backbone: nn.Module | None = None) -> Network:
        """Build a network from its description, with fresh weights or around an existing backbone.

        The description holds `backbone` (a name or a function), `size`, `width`, `n_classes`, `n_features`, `mean`
        and `std`; it stays with the network as `architecture`.
        """
        size = (int(architecture["size"][0]), int(architecture["size"][1]))
        module = build(architecture["backbone"], size).module if backbone is None else backbone
        names = ("width", "n_classes", "n_features", "mean", "std")
        network = cls(module, **{name: architecture[name] for name in names})
        network.architecture = architecture
        return network

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the images that it takes."""
        return int(self.architecture["size"][0]), int(self.architecture["size"][1])

    @property
    def stages(self) -> list[nn.Module]:
        """Parts of the backbone after which training recipes may mix."""
        return stages_of(self.backbone)

    def embed(self, pixels: Tensor) -> Tensor:
        """The penultimate layer."""
        return self.backbone((pixels - self.mean) / self.std)

    def backbone_digest(self) -> str:
        """A digest that is the same for networks that embed images alike.

        They are of the same kind, with equal weights but for the head.
        """
        tensors = self.backbone.state_dict()
        # Hashing takes longer than embedding an image; torch counts the changes of a tensor.
        stamp = [(value.data_ptr(), value._version) for value in tensors.values()]
        if self._digest is None or self._digest[0] != stamp:
            digest = hashlib.blake2b(repr(sorted(self._outline().items())).encode(), digest_size=16)
            for name, value in tensors.items():
                digest.update(name.encode() + value.detach().cpu().contiguous().numpy().tobytes())
            self._digest = stamp, digest.hexdigest()
        return self._digest[1]

    def _outline(self) -> dict[str, Any]:
        """The backbone's part of the description.

        A user's own module is identified by its type and place in memory.
        """
        outline = {name: self.architecture.get(name) for name in ("backbone", "size", "mean", "std")}
        if not isinstance(outline["backbone"], str):
            outline["backbone"] = f"{type(self.backbone).__qualname__} {id(self.backbone)}"
        return outline

    def classify(self, embeddings: Tensor, features: Tensor | None = None) -> Tensor:
        """Scores from embeddings, with the expert features joined if the network has any."""
        return self.head(embeddings if features is None else torch.cat([embeddings, features], dim=1))

    def forward(self, pixels: Tensor, features: Tensor | None = None) -> Tensor:
        return self.classify(self.embed(pixels), features)


class WithFeatures(nn.Module):
    """A network and the expert features of one batch: for recipes, a function of images alone."""

    def __init__(self, network: Network, features: Tensor | None):
        super().__init__()
        self.network, self.features = network, features
        self.training = network.training

    @property
    def stages(self) -> list[nn.Module]:
        return self.network.stages

    def forward(self, pixels: Tensor) -> Tensor:
        return self.network(pixels, self.features)

    def forward_views(self, views: Sequence[Tensor]) -> list[Tensor]:
        """Scores of several versions of the same images, in one pass."""
        features = None if self.features is None else self.features.repeat(len(views), 1)
        return list(self.network(torch.cat(list(views)), features).chunk(len(views)))


def create_network(
    backbone: Any, pretrained: Any, size: tuple[int, int], n_classes: int, n_features: int
) -> tuple[Network, bool]:
    """A network to train, and whether its backbone has pretrained weights."""
    built = build(copy.deepcopy(backbone), size)
    loaded = load_pretrained(built, backbone, pretrained)
    architecture = {
        "backbone": backbone,
        "size": size,
        "width": width_of(built.module, size),
        "n_classes": n_classes,
        "n_features": n_features,
        "mean": built.mean,
        "std": built.std,
    }
    return Network.from_architecture(architecture, built.module).to(memory_format=torch.channels_last), loaded


def embed_images(network: Network, images: ImageCollection, device: str, batch_size: int | None) -> Array:
    """The penultimate layer, one row per image.

    A remembered collection passes an image through a backbone once.
    """
    compute = _Embedding(network, device, batch_size)
    if not images.has_memory:
        return compute(images)
    what = Computation(f"embedding {network.backbone_digest()}", network.architecture.get("backbone"))
    return np.asarray(images.compute_once(what, compute))


@dataclass
class _Embedding:
    """Embeds images, on a device of the process that calls it: "auto" may be another there.

    It uses as many threads there as here, so that the numbers are the same to the last bit.
    """

    network: Network
    device: str
    batch_size: int | None
    threads: int = field(default_factory=torch.get_num_threads)

    def __getstate__(self) -> dict[str, Any]:
        """Another machine need not have the GPU that the network is on."""
        elsewhere = any(each.device.type != "cpu" for each in self.network.parameters())
        return {**vars(self), "network": copy.deepcopy(self.network).cpu() if elsewhere else self.network}

    def __call__(self, some: ImageCollection) -> Array:
        device = find_device(self.device)
        place = torch.device(device)
        placed = self.network.to(place).eval()
        out = np.empty((len(some), placed.width), dtype=np.float32)
        done, size = 0, self.batch_size or (16 if place.type == "cpu" else 128)
        spared = reuse_memory(device) if len(some) > size else nullcontext()
        with torch.inference_mode(), torch_threads(self.threads), spared:
            for batch in Examples(some, placed.size).batches(size, training=False):
                out[done : done + len(batch)] = placed.embed(batch.views[0].to(place)).cpu().numpy()
                done += len(batch)
        return out
