"""AugMix: mixtures of chains of image operations, and predictions that must agree on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from memclf._numbers import Array
from memclf.vision.nets.recipes.base import Criterion, Recipe, check_views
from memclf.vision.nets.recipes.operations import EXCLUDED, OPERATIONS
from memclf.vision.nets.recipes.views import logits_of

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn


@dataclass(frozen=True)
class AugMix(Recipe):
    """Hendrycks et al., AugMix, ICLR 2020 (arXiv 1912.02781); defaults of its ImageNet runs.

    Each training image comes as it is and as two mixtures (1 - m) x + m sum_i w_i chain_i(x), with
    w ~ Dirichlet(alpha, ...), m ~ Beta(alpha, alpha), and operations drawn anew, with replacement, for every chain.
    The loss is the cross-entropy of the clean image plus `consistency` times the Jensen-Shannon divergence of the
    three predictions.

    Mixtures are float32, as in the authors' code, which mixes normalised tensors (the same thing: all weights sum
    to one). Written here because neither library keeps to the definition: torchvision's `v2.AugMix` takes whole
    steps of a grid of levels and rounds the mixture to uint8, timm's has colour, contrast, brightness and sharpness
    among its operations; both draw from global generators.

    Parameters
    ----------
    severity : float
        Every operation's level is uniform in [0.1, severity]. 1 for photographs (ImageNet), 3 for CIFAR; at most 10.
    width : int
        Number of chains in a mixture.
    depth : int or None
        Operations in a chain; None draws 1, 2 or 3 for each.
    alpha : float
        Of the Dirichlet and Beta distributions.
    consistency : float
        Weight of the Jensen-Shannon divergence.
    operations : tuple of str
        Names from `OPERATIONS`.
    """

    name: ClassVar[str] = "augmix"
    label: ClassVar[str] = "AugMix"
    paper_column: ClassVar[int | None] = 3
    n_views: ClassVar[int] = 3
    severity: float = 1.0
    width: int = 3
    depth: int | None = None
    alpha: float = 1.0
    consistency: float = 12.0
    operations: tuple[str, ...] = tuple(OPERATIONS)

    def __post_init__(self) -> None:
        object.__setattr__(self, "operations", tuple(self.operations))
        self._require(0.1 <= self.severity <= 10, "severity", "between 0.1 and 10")
        self._require(self.width >= 1, "width", "at least 1")
        self._require(self.depth is None or self.depth >= 1, "depth", "None or at least 1")
        self._require(self.alpha > 0, "alpha", "positive")
        self._require(self.consistency > 0, "consistency", "positive (without it the mixtures are never looked at)")
        self._require(len(self.operations) > 0, "operations", "at least one name")
        for name in self.operations:
            _known_operation(name)

    def views(self, image: Array, rng: np.random.Generator) -> list[Array]:
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise ValueError(f"{self.name} needs uint8 images (H, W, 3), got {image.dtype} {image.shape}")
        return [image, self._mixture(image, rng), self._mixture(image, rng)]

    def _mixture(self, image: Array, rng: np.random.Generator) -> Array:
        weights = rng.dirichlet([self.alpha] * self.width)
        strength = rng.beta(self.alpha, self.alpha)
        return mix(image, [self._chain(image, rng) for _ in weights], weights, strength)

    def _chain(self, image: Array, rng: np.random.Generator) -> Array:
        for _ in range(self.depth or int(rng.integers(1, 4))):
            operation = OPERATIONS[self.operations[int(rng.integers(len(self.operations)))]]
            level = rng.uniform(0.1, self.severity)
            if operation.signed and rng.random() < 0.5:
                level = -level
            image = operation(image, level)
        return image

    def loss(
        self, network: nn.Module, inputs: Sequence[Tensor], targets: Tensor, criterion: Criterion, rng: torch.Generator
    ) -> Tensor:
        check_views(self, inputs)
        logits = logits_of(network, inputs)
        return criterion(logits[0], targets) + self.consistency * jensen_shannon(logits)


def mix(image: Array, chains: Sequence[Array], weights: Array, strength: float) -> Array:
    """(1 - strength) image + strength sum_i weights_i chains_i, in float32."""
    # The dtype is spelt out because NumPy 1 would make float16 of uint8 times a scalar.
    mixture = np.multiply(image, np.float32(1 - strength), dtype=np.float32)
    for chain, weight in zip(chains, weights, strict=True):
        mixture += np.multiply(chain, np.float32(strength * weight), dtype=np.float32)
    return mixture


def jensen_shannon(logits: Sequence[Tensor]) -> Tensor:
    """Mean Kullback-Leibler divergence of the predictions from their average, per case.

    0 where all agree, log(number of predictions) at most.
    """
    import torch

    log_p = torch.stack([torch.log_softmax(one, dim=1) for one in logits])
    p = log_p.exp()
    log_average = p.mean(dim=0).clamp(1e-7, 1).log()
    return (p * (log_p - log_average)).sum(dim=2).mean(dim=0)


def _known_operation(name: str) -> None:
    if name in OPERATIONS:
        return
    if name in EXCLUDED:
        raise ValueError(
            f"AugMix leaves out {name!r} because it overlaps with the ImageNet-C corruptions: "
            "a network trained with it has seen what it is tested on"
        )
    close = get_close_matches(str(name), OPERATIONS, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    raise ValueError(f"AugMix: there is no operation {name!r}{hint} Known: {', '.join(OPERATIONS)}")
