"""Generalization bounds of the memory classifiers of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from memclf.bounds import HELD_OUT, TRAINING_KINDS, Bound, bounds_of
from memclf.evaluate import Contender

if TYPE_CHECKING:
    from memclf.vision.images import ImageCollection

MODELS = ("memory", "sturdy")


def compute_bounds(
    contenders: Iterable[Contender],
    *,
    train: ImageCollection,
    test: ImageCollection,
    given: Iterable[str] = (),
    say: Callable[[str], object] = lambda message: None,
) -> dict[str, Any]:
    """Bounds of every kind for each memory classifier, as plain values for ``bounds.json``.

    Only the first seed of every recipe and backbone is taken. A classifier for which an error occurs is left out, and
    `say` is called with the reason; kinds of bounds that are not defined for a classifier are under `missing`.
    """
    first: dict[tuple[str, str, str], Contender] = {}
    for each in contenders:
        if each.model in MODELS:
            first.setdefault((each.model, each.recipe, each.backbone), each)
    given = sorted(given)
    train, test = train.remembered(), test.remembered()  # described and embedded once for all of them
    found = []
    for number, each in enumerate(first.values(), start=1):
        called = " ".join(part for part in (each.model, each.recipe, each.backbone) if part)
        say(f"bounds of {called} ({number} of {len(first)})")
        try:
            bounds = dict(zip(TRAINING_KINDS, _bounds_of(each, train, TRAINING_KINDS, given), strict=True))
            bounds |= dict(zip([HELD_OUT], _bounds_of(each, test, [HELD_OUT], given), strict=True))
        except Exception as error:  # the bounds of the other classifiers are still worth having
            say(f"no bounds of {called}: {type(error).__name__}: {error}")
            continue
        found.append(
            {
                **each.name._asdict(),
                "bounds": [bound.as_dict() for bound in bounds.values() if isinstance(bound, Bound)],
                "missing": {kind: str(why) for kind, why in bounds.items() if not isinstance(why, Bound)},
            }
        )
    return {"given": given, "contenders": found}


def _bounds_of(contender: Contender, images: ImageCollection, kinds: Iterable[str], given: Iterable[str]) -> list[Any]:
    return bounds_of(contender.estimator, images, np.asarray(images.labels), kinds, given=given)
