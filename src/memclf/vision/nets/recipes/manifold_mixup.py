"""Manifold Mixup: mix features of two cases at a random layer, and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from memclf.vision.nets.recipes.base import Criterion, Recipe
from memclf.vision.nets.recipes.mixing import Mixing
from memclf.vision.nets.recipes.views import check_layers, draw_layer, logits_with_change

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn


@dataclass(frozen=True)
class ManifoldMixup(Recipe):
    """Verma et al., Manifold Mixup, ICML 2019 (arXiv 1806.05236).

    The defaults are those of its CIFAR and SVHN runs.

    Every batch draws one layer, one lambda ~ Beta(alpha, alpha) and one permutation. The loss is the cross-entropy
    with mixed labels; the authors' code takes a binary cross-entropy on the softmax output instead.

    Parameters
    ----------
    alpha : float
        2 for CIFAR and SVHN; the authors take 0.2 for Tiny-ImageNet.
    layers : tuple of int
        0 is the input, k the output of `network.stages[k - 1]`. `(0,)` is input mixup (Zhang et al., 2018).
    """

    name: ClassVar[str] = "manifold_mixup"
    label: ClassVar[str] = "Manifold Mixup"
    paper_column: ClassVar[int | None] = 6
    alpha: float = 2.0
    layers: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        self._require(self.alpha > 0, "alpha", "positive")
        self._require(len(self.layers) > 0 and min(self.layers) >= 0, "layers", "one or more numbers from 0 upwards")

    def loss(
        self, network: nn.Module, inputs: Sequence[Tensor], targets: Tensor, criterion: Criterion, rng: torch.Generator
    ) -> Tensor:
        check_layers(self, self.layers, network)
        layer = draw_layer(self.layers, rng)
        mixing = Mixing.draw(len(targets), self.alpha, rng)
        (logits,) = logits_with_change(network, inputs[:1], layer, lambda _, features: mixing.blend(features))
        return mixing.loss(logits, targets, criterion)
