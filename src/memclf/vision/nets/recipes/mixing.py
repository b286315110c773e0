"""Mixing every case of a batch with another one, and their labels in the same proportion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memclf.vision.nets.recipes.base import Criterion

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True)
class Mixing:
    """Case i keeps the share `weight` (lambda) and takes the rest from case `partner[i]`."""

    weight: float
    partner: Tensor

    @classmethod
    def draw(cls, n: int, alpha: float, rng: torch.Generator) -> Mixing:
        """Draw one lambda ~ Beta(alpha, alpha) and one permutation for the whole batch."""
        import torch

        weight = beta(alpha, alpha, rng)
        return cls(weight, torch.randperm(n, generator=rng))

    def blend(self, x: Tensor) -> Tensor:
        """Images or features, mixed."""
        return self.weight * x + (1 - self.weight) * x[self.partner.to(x.device)]

    def loss(self, logits: Tensor, targets: Tensor, criterion: Criterion) -> Tensor:
        """The criterion with mixed labels.

        Cross-entropy is linear in the target, with class weights and label smoothing too, so the two terms equal
        the criterion at the mixed one-hot labels, and the number of classes need not be known.
        """
        other = targets[self.partner.to(targets.device)]
        return self.weight * criterion(logits, targets) + (1 - self.weight) * criterion(logits, other)


def beta(a: float, b: float, rng: torch.Generator) -> float:
    """One draw from Beta(a, b).

    Torch's own Beta takes no generator, so NumPy's is seeded from it.
    """
    import torch

    seed = int(torch.randint(2**63 - 1, (), generator=rng))
    return float(np.random.default_rng(seed).beta(a, b))
