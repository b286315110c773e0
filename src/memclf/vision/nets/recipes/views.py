"""Logits of several views of a batch, with the features after some stage changed on the way.

A network offers `stages`: the modules whose outputs are the features after the stem and stage 1, after stage 2, and
so on. Layer 0 is the input, layer k the output of `stages[k - 1]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from memclf.vision.nets.recipes.base import Recipe

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

Change: TypeAlias = "Callable[[int, Tensor], Tensor]"
"""(number of the view, its images or features (N, ...)) -> what replaces them."""


@runtime_checkable
class TakesViews(Protocol):
    """A network that scores several versions of the same images in one pass.

    `network.WithFeatures` is one.
    """

    def forward_views(self, views: Sequence[Tensor]) -> list[Tensor]: ...


@contextmanager
def change_output(module: nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within this context, `change` replaces what `module` returns."""

    def hook(module: nn.Module, args: Any, output: Tensor) -> Tensor:
        return change(output)

    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def logits_of(network: nn.Module, views: Sequence[Tensor]) -> list[Tensor]:
    """One batch of logits per view.

    A network that takes views gets them all at once, so that batch normalisation takes its statistics over all of
    them, as the published implementations do by concatenating.
    """
    if len(views) > 1 and isinstance(network, TakesViews):
        return list(network.forward_views(list(views)))
    return [network(view) for view in views]


def logits_with_change(network: nn.Module, views: Sequence[Tensor], layer: int, change: Change) -> list[Tensor]:
    """One batch of logits per view, each view having been changed at the given layer."""
    if layer == 0:
        return logits_of(network, [change(number, view) for number, view in enumerate(views)])
    import torch

    n, seen = len(views[0]), 0

    def change_each(features: Tensor) -> Tensor:
        # `forward_views` may pass the views one after the other or concatenated.
        nonlocal seen
        parts = [change(seen + k, part) for k, part in enumerate(torch.split(features, n))]
        seen += len(parts)
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    stages: Sequence[nn.Module] = network.stages  # type: ignore[assignment]
    with change_output(stages[layer - 1], change_each):
        logits = logits_of(network, views)
    if seen != len(views):
        # Going on would mix labels where features were not mixed, or were mixed twice.
        raise RuntimeError(
            f"stage {layer} of {type(network).__name__} was passed {seen} times by {len(views)} views; "
            "every module in `stages` must be used exactly once in a forward pass"
        )
    return logits


def check_layers(recipe: Recipe, layers: Sequence[int], network: nn.Module) -> None:
    """Refuse a network that lacks a layer, before that layer is drawn in the middle of an epoch."""
    # `stages` may be a torch.nn.ModuleList, which a runtime Protocol does not find.
    offered = len(getattr(network, "stages", ()))
    if max(layers) > offered:
        raise ValueError(
            f"{recipe.name} mixes at layers {tuple(layers)}, but {type(network).__name__} has {offered} stages in its "
            f"attribute `stages`; use layers={tuple(layer for layer in layers if layer <= offered)} "
            "or a network that offers more"
        )


def draw_layer(layers: Sequence[int], rng: torch.Generator) -> int:
    """One of the layers, all equally likely."""
    import torch

    return layers[int(torch.randint(len(layers), (), generator=rng))]
