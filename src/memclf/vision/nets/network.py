"""The network of an image classifier: normalise, embed, join expert features, classify."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from memclf.vision.nets.backbones import build, stages_of


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
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32).view(1, 3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(std, dtype=torch.float32).view(1, 3, 1, 1), persistent=False)

    @classmethod
    def from_architecture(cls, architecture: dict[str, Any], backbone: nn.Module | None = None) -> Network:
        """A network from a description of it, with fresh weights, or around a backbone that there is already.

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
    def stages(self) -> list[nn.Module]:
        """Parts of the backbone after which training recipes may mix."""
        return stages_of(self.backbone)

    def embed(self, pixels: Tensor) -> Tensor:
        """The penultimate layer."""
        return self.backbone((pixels - self.mean) / self.std)

    def backbone_digest(self) -> str:
        """The same for networks that embed images alike: what they are and all their weights but the head's."""
        seen = hashlib.blake2b(repr(sorted(self._outline().items())).encode(), digest_size=16)
        for name, value in self.backbone.state_dict().items():
            seen.update(name.encode() + value.detach().cpu().contiguous().numpy().tobytes())
        return seen.hexdigest()

    def _outline(self) -> dict[str, Any]:
        """What the description says of the backbone, a module of the user's own by its type and place in memory."""
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
    """A network with the expert features of one batch put in, so that recipes see a function of images alone."""

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
