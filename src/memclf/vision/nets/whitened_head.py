"""The last layer of a network, trained by itself."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from memclf._numbers import Array

NORM = 16.0  # typical length of an embedding while the layer is trained


class WhitenedHead(nn.Module):
    """The last layer alone, trained on embeddings that are brought to mean 0 and a common scale.

    Embeddings of one backbone are a hundred times larger than another's, and far from 0; the learning rates that
    suit whole networks would then hardly move the layer. It is the same layer in other coordinates: `fold`
    turns it back, and until then it must not be used on plain embeddings.
    """

    def __init__(self, head: nn.Linear, E: Array):
        super().__init__()
        self.head = head
        std = E.std(axis=0)
        self.mean = E.mean(axis=0)
        self.scale = np.where(std > 1e-6 * max(1e-12, float(std.max())), std, np.inf) * np.sqrt(E.shape[1]) / NORM
        with torch.no_grad():
            weight, width = head.weight, E.shape[1]
            head.bias.add_(weight[:, :width] @ torch.as_tensor(self.mean))
            weight[:, :width] *= torch.as_tensor(np.where(np.isinf(self.scale), 0, self.scale), dtype=weight.dtype)

    def whiten(self, E: Array) -> Array:
        return ((E - self.mean) / self.scale).astype(np.float32)

    def fold(self) -> None:
        """Let the layer take plain embeddings again. What never varied in training does not count."""
        with torch.no_grad():
            weight, width = self.head.weight, len(self.mean)
            weight[:, :width] /= torch.as_tensor(self.scale, dtype=weight.dtype)
            self.head.bias.sub_(weight[:, :width] @ torch.as_tensor(self.mean))

    def forward(self, embeddings: torch.Tensor, features: torch.Tensor | None = None) -> torch.Tensor:
        return self.head(embeddings if features is None else torch.cat([embeddings, features], dim=1))
