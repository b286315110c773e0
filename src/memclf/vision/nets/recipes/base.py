"""What a training recipe is: views of an image, and a loss over a batch of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from memclf._numbers import Array

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

Criterion: TypeAlias = "Callable[[Tensor, Tensor], Tensor]"
"""(logits, targets) -> one loss per case; targets are class numbers (N,) or probabilities (N, K)."""


@dataclass(frozen=True)
class Recipe:
    """The plain recipe, and the base of all others: the image as it is, the criterion as it is.

    A subclass overrides `views`, `loss` or both. Its fields are its settings; a recipe keeps no state, so that one
    object may serve any number of networks and processes.

    Attributes
    ----------
    name : str
        How `get_recipe` finds it; the class's name in lower case unless the class says otherwise.
    label : str
        How tables and charts print it; the class's name unless the class says otherwise.
    paper_column : int or None
        Its place among the recipes in the tables of the paper.
    n_views : int
        How many versions of each training image `views` returns.
    """

    name: ClassVar[str] = "recipe"
    label: ClassVar[str] = "Recipe"
    paper_column: ClassVar[int | None] = None
    n_views: ClassVar[int] = 1

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__.lower()
        if "label" not in cls.__dict__:
            cls.label = cls.__name__
        if "paper_column" not in cls.__dict__:
            cls.paper_column = None

    def views(self, image: Array, rng: np.random.Generator) -> list[Array]:
        """`n_views` versions of one training image.

        Parameters
        ----------
        image : ndarray of uint8, (H, W, 3)
            Already at the network's size. It is never written to.
        rng : Generator
            Made for this image in this epoch; the only source of randomness.

        Returns
        -------
        list of ndarray, (H, W, 3)
            uint8, or float32 in 0..255.
        """
        return [image]

    def loss(
        self, network: nn.Module, inputs: Sequence[Tensor], targets: Tensor, criterion: Criterion, rng: torch.Generator
    ) -> Tensor:
        """One loss per case of a batch, so that sample weights can be applied afterwards.

        Parameters
        ----------
        network : Module
            In training mode; takes images in [0, 1], not normalised (its first layer does that), returns logits.
        inputs : list of Tensor, (N, 3, H, W)
            One batch per view, in [0, 1].
        targets : Tensor
            Class numbers (N,), or probabilities (N, K).
        criterion : callable
            See `Criterion`. Class weights and label smoothing are its business.
        rng : torch.Generator
            On the CPU; the only source of randomness of a recipe.
        """
        return criterion(network(inputs[0]), targets)

    def _require(self, ok: bool, field: str, expected: str) -> None:
        if not ok:
            raise ValueError(f"{type(self).__name__}: {field} must be {expected}, got {getattr(self, field)!r}")


def check_views(recipe: Recipe, inputs: Sequence[Tensor]) -> None:
    """Refuse a batch that lacks views: training would silently be another recipe's."""
    if len(inputs) != recipe.n_views:
        raise ValueError(
            f"{recipe.name} needs {recipe.n_views} views of every image (see Recipe.views), got {len(inputs)}"
        )
