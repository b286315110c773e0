"""From chances of each region to masks, and how far masks hang on the limit between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from memclf._numbers import Array
from memclf.vision.features.base import Masks
from memclf.vision.features.outline import Mask
from memclf.vision.features.paintings import Painting

STRICT, LENIENT = 0.75, 0.25  # chances from which a pixel counts, where much and where little is asked
SOLID = 0.8  # chance from which other regions are not in doubt
NEAR = 0.5  # log-odds from the limit, within which a pixel is not painted
ABSENT = 0.001  # share up to which a region is not there


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


def share_range(found: Array, parents: Mapping[str, str | None]) -> dict[str, tuple[float, float]]:
    """The share of each region of what it lies in: of sure pixels, and of possible ones."""
    masks: Masks = {}
    ranges = {}
    for inside, children, rivals in _families(found, parents, masks):
        likeliest = np.argmax(rivals, axis=0)
        whole = np.maximum(np.sum(rivals, axis=0), 1e-9)
        size = max(1, int(np.count_nonzero(inside)))
        for position, name in enumerate(children):
            masks[name] = inside & (likeliest == position)
            chance = (rivals[position] / whole)[inside]
            ranges[name] = np.count_nonzero(chance > STRICT) / size, np.count_nonzero(chance > LENIENT) / size
    return {name: ranges[name] for name in parents}


def leeway(ranges: Mapping[str, tuple[float, float]], parents: Mapping[str, str | None]) -> float:
    """How far the shares hang on the limit between regions.

    Of regions beside each other it is the widest range, and these add up over those that lie in others.
    """
    widest: dict[str | None, float] = {}
    for name, parent in parents.items():
        widest[parent] = max(widest.get(parent, 0.0), ranges[name][1] - ranges[name][0])
    return sum(widest.values())


def paint_share(found: Array, parents: Mapping[str, str | None], region: str, low: float, high: float) -> Painting:
    """A painting of a picture whose share of a region is known to lie in a range.

    The limit from which a pixel shows the region is moved until the share is in the range. Pixels near the limit, and
    those whose other regions are in doubt, stay unpainted (0).
    """
    names = list(parents)
    position, parent = names.index(region), parents[region]
    own = found[:, :, position]
    family = [k for k, name in enumerate(names) if parent is None or name == parent or _lies_in(name, parent, parents)]
    whole = found[:, :, family].sum(axis=2)
    inside = whole > 0.5
    odds = _odds(own / np.maximum(whole, 1e-9))
    ranked = np.sort(odds[inside])[::-1]
    limit = 0.0
    if len(ranked):
        usual = float(np.mean(ranked > 0))
        reached = min(len(ranked) - 1, int(np.ceil((high if usual > high else low) * len(ranked))))
        limit = float(ranked[reached]) if not low <= usual <= high else 0.0
    painting = np.zeros(own.shape, dtype=np.int64)
    beside = [k for k in family if k != position]
    for some, where in (
        (beside, whole > SOLID),
        ([k for k in range(len(names)) if k not in family], whole < 1 - SOLID),
    ):
        if some:
            likely = found[:, :, some]
            clear = where & (likely.max(axis=2) > SOLID * likely.sum(axis=2))
            painting[clear] = 1 + np.array(some)[likely.argmax(axis=2)][clear]
    if high > ABSENT:
        painting[inside & (odds > limit - NEAR)] = 0
        painting[(whole > SOLID) & (odds > limit + NEAR)] = position + 1
    return painting


def _lies_in(name: str, region: str, parents: Mapping[str, str | None]) -> bool:
    above = parents[name]
    while above is not None and above != region:
        above = parents[above]
    return above == region


def _odds(chance: Array) -> Array:
    chance = np.clip(chance, 1e-4, 1 - 1e-4)
    return np.asarray(np.log(chance / (1 - chance)))


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
