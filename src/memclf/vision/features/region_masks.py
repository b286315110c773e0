"""From chances of each region to masks, and how far masks hang on the limit between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from memclf._numbers import Array
from memclf.vision.features.base import Masks
from memclf.vision.features.outline import Mask

STRICT, LENIENT = 0.75, 0.25  # chances from which a pixel counts, where much and where little is asked


def decide(found: Array, parents: Mapping[str, str | None]) -> Masks:
    """Masks from the chances of each region (height x width x regions).

    Beside each other, the likeliest region has the pixel. Where regions lie in others, the chance of a region is that
    of all in it together, and the inner ones then share what the outer one has.
    """
    masks: Masks = {}
    for inside, children, rivals in _families(found, parents, masks):
        likeliest = np.argmax(rivals, axis=0)
        for position, name in enumerate(children):
            masks[name] = inside & (likeliest == position)
    return {name: masks[name] for name in parents}


def leeway(found: Array, parents: Mapping[str, str | None]) -> float:
    """By how much shares of regions change if a pixel must be surely one, or may be one.

    Of regions beside each other it is the largest change, and these add up over those that lie in others.
    """
    masks: Masks = {}
    total = 0.0
    for inside, children, rivals in _families(found, parents, masks):
        likeliest = np.argmax(rivals, axis=0)
        whole = np.maximum(np.sum(rivals, axis=0), 1e-9)
        size = max(1, int(np.count_nonzero(inside)))
        changes = [0.0]
        for position, name in enumerate(children):
            masks[name] = inside & (likeliest == position)
            chance = rivals[position] / whole
            changes.append(np.count_nonzero(inside & (chance > LENIENT) & (chance <= STRICT)) / size)
        total += max(changes)
    return total


def _families(
    found: Array, parents: Mapping[str, str | None], masks: Masks
) -> Iterator[tuple[Mask, list[str], list[Array]]]:
    """Regions that lie in the same one: where that is, their names, and their chances.

    The outermost come first. The mask of a region must be in `masks` before those in it are asked for.
    """
    own = dict(zip(parents, np.moveaxis(found, 2, 0), strict=True))
    whole = dict(own)
    for name in parents:
        above = parents[name]
        while above is not None:
            whole[above] = whole[above] + own[name]
            above = parents[above]
    waiting: list[str | None] = [None]
    while waiting:
        parent = waiting.pop(0)
        children = [name for name in parents if parents[name] == parent]
        if children:
            inside = np.ones(found.shape[:2], dtype=bool) if parent is None else masks[parent]
            yield inside, children, [whole[name] for name in children] + ([] if parent is None else [own[parent]])
            waiting += children
