"""Adversarial training: every batch is replaced by the worst images near it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from memclf.vision.nets.recipes.base import Criterion, Recipe

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn


@dataclass(frozen=True)
class Adversarial(Recipe):
    """Madry et al., ICLR 2018 (arXiv 1706.06083): train on the worst images near each image.

    They are found by projected gradient ascent in the L-infinity ball; the defaults are those of the authors' released
    CIFAR-10 configuration (their paper has 7 steps).

    The attack runs with the network in evaluation mode: it then meets the network that will be deployed, dropout
    does not blur its gradients, and running statistics of batch normalisation are not touched by images on the way.
    The training pass that follows is in training mode and updates them, from adversarial images only.
    Modules that were in evaluation mode before (frozen ones) still are afterwards.

    Parameters
    ----------
    epsilon : float
        Radius of the ball, for pixels in [0, 1].
    alpha : float
        Size of a step.
    steps : int
        Number of steps; each costs a forward and a backward pass.
    random_start : bool
        Start anywhere in the ball rather than at the image.

    Notes
    -----
    `Adversarial(steps=1, alpha=10 / 255)` is the single-step variant of Wong et al. (ICLR 2020, arXiv 2001.03994),
    `Adversarial(steps=1, alpha=8 / 255, random_start=False)` the plain FGSM of Goodfellow et al. (2015).
    """

    name: ClassVar[str] = "adversarial"
    label: ClassVar[str] = "Adversarial"
    paper_column: ClassVar[int | None] = 2
    epsilon: float = 8 / 255
    alpha: float = 2 / 255
    steps: int = 10
    random_start: bool = True

    def __post_init__(self) -> None:
        self._require(0 < self.epsilon <= 1, "epsilon", "above 0 and at most 1 (pixels are in [0, 1]: write 8 / 255)")
        self._require(0 < self.alpha <= 1, "alpha", "above 0 and at most 1 (pixels are in [0, 1]: write 2 / 255)")
        self._require(self.steps >= 1, "steps", "at least 1")

    def loss(
        self, network: nn.Module, inputs: Sequence[Tensor], targets: Tensor, criterion: Criterion, rng: torch.Generator
    ) -> Tensor:
        return criterion(network(self.attack(network, inputs[0], targets, criterion, rng)), targets)

    def attack(
        self, network: nn.Module, images: Tensor, targets: Tensor, criterion: Criterion, rng: torch.Generator
    ) -> Tensor:
        """Images within `epsilon` of the given ones on which the criterion is high.

        They stay within [0, 1].
        """
        import torch

        low, high = (images - self.epsilon).clamp(0, 1), (images + self.epsilon).clamp(0, 1)
        attacked = images.detach()
        if self.random_start:
            start = torch.rand(images.shape, generator=rng).mul_(2).sub_(1).to(images)
            attacked = (attacked + self.epsilon * start).clamp(low, high)
        with evaluating(network), torch.enable_grad():
            for _ in range(self.steps):
                attacked = attacked.detach().requires_grad_()
                # Asking for this one gradient leaves the .grad of the parameters alone.
                (gradient,) = torch.autograd.grad(criterion(network(attacked), targets).sum(), attacked)
                attacked = (attacked + self.alpha * gradient.sign()).clamp(low, high)
        return attacked.detach()


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """The network in evaluation mode; afterwards every module is back in the mode it was in."""
    modes = [(module, module.training) for module in network.modules()]
    network.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
