"""CutMix: a box of each image comes from another one, and so does that share of the label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from memclf.vision.nets.recipes.base import Criterion, Recipe
from memclf.vision.nets.recipes.mixing import Mixing

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

Box = tuple[int, int, int, int]
"""Top, bottom, left, right; bottom and right are outside."""


@dataclass(frozen=True)
class CutMix(Recipe):
    """Yun et al., CutMix, ICCV 2019 (arXiv 1905.04899); defaults of its ImageNet runs.

    One box per batch, of the image's proportions and area 1 - lambda, about a centre that is uniform over the image,
    cut off at the border. What is pasted comes from a random permutation of the batch. lambda is then set to the
    share of pixels that really stayed, so that labels and pixels agree exactly.

    Written here rather than taken from torchvision, whose `v2.CutMix` draws from torch's global generator and
    pairs neighbours instead of a permutation.

    Parameters
    ----------
    alpha : float
        lambda ~ Beta(alpha, alpha).
    probability : float
        Share of the batches that are mixed: 1 for ImageNet, 0.5 for CIFAR.
    """

    name: ClassVar[str] = "cutmix"
    label: ClassVar[str] = "CutMix"
    paper_column: ClassVar[int | None] = 4
    alpha: float = 1.0
    probability: float = 1.0

    def __post_init__(self) -> None:
        self._require(self.alpha > 0, "alpha", "positive")
        self._require(0 <= self.probability <= 1, "probability", "between 0 and 1")

    def loss(
        self, network: nn.Module, inputs: Sequence[Tensor], targets: Tensor, criterion: Criterion, rng: torch.Generator
    ) -> Tensor:
        import torch

        images = inputs[0]
        if float(torch.rand((), generator=rng)) >= self.probability:
            return criterion(network(images), targets)
        mixing = Mixing.draw(len(images), self.alpha, rng)
        images, mixing = paste(images, mixing, draw_box(images.shape[-2], images.shape[-1], mixing.weight, rng))
        return mixing.loss(network(images), targets, criterion)


def draw_box(height: int, width: int, weight: float, rng: torch.Generator) -> Box:
    """Draw a box that leaves about the share `weight` of the image outside.

    More, where the border cuts it off.
    """
    import torch

    share = max(0.0, 1.0 - weight) ** 0.5
    row, column = (int(torch.randint(size, (), generator=rng)) for size in (height, width))
    half_height, half_width = int(height * share) // 2, int(width * share) // 2
    return (
        max(0, row - half_height),
        min(height, row + half_height),
        max(0, column - half_width),
        min(width, column + half_width),
    )


def paste(images: Tensor, mixing: Mixing, box: Box) -> tuple[Tensor, Mixing]:
    """Paste the box from each image's partner; the mixing then has the share that stayed."""
    top, bottom, left, right = box
    inside = (..., slice(top, bottom), slice(left, right))
    pasted = images.clone()
    pasted[inside] = images[inside][mixing.partner.to(images.device)]
    area = (bottom - top) * (right - left)
    return pasted, Mixing(1 - area / (images.shape[-2] * images.shape[-1]), mixing.partner)
