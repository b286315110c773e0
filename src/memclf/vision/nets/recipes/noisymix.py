"""NoisyMix: AugMix and Manifold Mixup together, with noise where the mixing takes place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from memclf.vision.nets.recipes.augmix import AugMix, jensen_shannon
from memclf.vision.nets.recipes.base import Criterion, check_views
from memclf.vision.nets.recipes.mixing import Mixing, beta
from memclf.vision.nets.recipes.views import check_layers, draw_layer, logits_with_change

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

INPUT_CENTRE, INPUT_SCALE = 0.5, 0.5
"""The authors normalise inputs with these; the noise levels at the input are in units of the result."""


@dataclass(frozen=True)
class NoisyMix(AugMix):
    """Erichson et al., NoisyMix, 2022 (arXiv 2202.01263); defaults of the authors' CIFAR runs.

    The three views of AugMix are mixed at one layer with one lambda and one permutation, then noise is injected:
    x (1 + c_m b_m U(-1, 1)) + c_a b_a N(0, 1), with b ~ Beta(2, 5) drawn once per view and kind of noise, and
    elements left alone with probability `sparsity`. The additive level c_a is taken once, twice and three times for
    the clean image and the two mixtures. The loss is the cross-entropy of the clean view with mixed labels
    plus `consistency` times the Jensen-Shannon divergence of the three predictions.

    The authors give no noise levels for ImageNet. At the input the noise is in units of their normalisation,
    (x - 0.5) / 0.5, whatever the network's own; pixels may leave [0, 1] by it.

    Parameters
    ----------
    severity, width, depth, alpha, consistency, operations
        See `AugMix`; severity 3 is the authors' choice.
    mixup_alpha : float
        lambda ~ Beta(mixup_alpha, mixup_alpha).
    additive, multiplicative : float
        Noise levels c_a and c_m.
    sparsity : float
        Share of the elements that get no noise of a kind.
    layers : tuple of int
        0 is the input, k the output of `network.stages[k - 1]`.
    """

    name: ClassVar[str] = "noisymix"
    label: ClassVar[str] = "NoisyMix"
    paper_column: ClassVar[int | None] = 5
    severity: float = 3.0
    mixup_alpha: float = 1.0
    additive: float = 0.5
    multiplicative: float = 0.5
    sparsity: float = 0.65
    layers: tuple[int, ...] = (0, 1, 2, 3)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "layers", tuple(self.layers))
        self._require(self.mixup_alpha > 0, "mixup_alpha", "positive")
        self._require(self.additive >= 0, "additive", "at least 0")
        self._require(self.multiplicative >= 0, "multiplicative", "at least 0")
        self._require(0 <= self.sparsity <= 1, "sparsity", "between 0 and 1")
        self._require(len(self.layers) > 0 and min(self.layers) >= 0, "layers", "one or more numbers from 0 upwards")

    def loss(
        self, network: nn.Module, inputs: Sequence[Tensor], targets: Tensor, criterion: Criterion, rng: torch.Generator
    ) -> Tensor:
        check_views(self, inputs)
        check_layers(self, self.layers, network)
        layer = draw_layer(self.layers, rng)
        mixing = Mixing.draw(len(targets), self.mixup_alpha, rng)

        def mix_and_disturb(view: int, x: Tensor) -> Tensor:
            if layer > 0:
                return self.disturb(mixing.blend(x), view, rng)
            x = (mixing.blend(x) - INPUT_CENTRE) / INPUT_SCALE
            return self.disturb(x, view, rng) * INPUT_SCALE + INPUT_CENTRE

        logits = logits_with_change(network, inputs, layer, mix_and_disturb)
        return mixing.loss(logits[0], targets, criterion) + self.consistency * jensen_shannon(logits)

    def disturb(self, x: Tensor, view: int, rng: torch.Generator) -> Tensor:
        """`x` with multiplicative and additive noise; `view` counts from 0 (clean) to 2."""
        import torch

        if self.multiplicative > 0:
            level = self.multiplicative * beta(2, 5, rng)
            noise = torch.rand(x.shape, generator=rng).mul_(2).sub_(1)
            x = x * (1 + level * self._thin(noise, rng).to(x))
        if self.additive > 0:
            level = (view + 1) * self.additive * beta(2, 5, rng)
            noise = torch.randn(x.shape, generator=rng)
            x = x + level * self._thin(noise, rng).to(x)
        return x

    def _thin(self, noise: Tensor, rng: torch.Generator) -> Tensor:
        """Noise, switched off element by element with probability `sparsity`."""
        import torch

        return noise.mul_(torch.rand(noise.shape, generator=rng) >= self.sparsity)
