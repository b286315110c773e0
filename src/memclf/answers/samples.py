"""Opinions about held-out cases with the true classes, for learning whom to believe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from memclf._numbers import Array
from memclf.answers.base import HeldOut, Opinions

ENOUGH = 4000  # held-out cases of a kind that tell four numbers well enough
LEAST_LEFT = 0.5  # share of a class that must be left to learn from, for its held-out cases to say anything


@dataclass(frozen=True)
class Sample:
    """Opinions about some held-out cases with their true classes.

    Attributes
    ----------
    opinions : Opinions
    truth : ndarray
        Positions of the true classes.
    weight : ndarray
        Of each case; those of cases as they are add up to as much as those of shifted ones.
    fold : int
        The fold in which they were held out.
    shifted : bool
        Whether the cases are changed, or their memories were held out with them.
    unit : ndarray or None
        Of each case what it belongs to: versions of one case, and cases of one group, are not independent of each
        other. None: all are.
    """

    opinions: Opinions
    truth: Array
    weight: Array
    fold: int
    shifted: bool
    unit: Array | None = None

    def take(self, rows: Array) -> Sample:
        """Some of the cases."""
        unit = None if self.unit is None else self.unit[rows]
        told = self.opinions.take(rows)
        return replace(self, opinions=told, truth=self.truth[rows], weight=self.weight[rows], unit=unit)


def leave_out(samples: list[Sample], fold: int) -> list[Sample]:
    """The samples of other folds, without cases of the units that this fold holds.

    Where whole memories are held out as well, each case is in two folds.
    """
    held = [each.unit for each in samples if each.fold == fold and each.unit is not None]
    units = np.concatenate(held) if held else np.empty(0)
    found = []
    for each in samples:
        if each.fold != fold:
            rest = np.ones(len(each.truth), bool) if each.unit is None else ~np.isin(each.unit, units)
            found.append(each.take(np.flatnonzero(rest)))
    return [each for each in found if len(each.truth)]


def draw_samples(
    held: list[HeldOut],
    codes: Array,
    weight: Array | None,
    groups: Array | None,
    compare_with_usual: Callable[[Opinions, Array], Opinions],
) -> list[Sample]:
    """Samples of what was held out; cases as they are count as much as all shifted ones.

    Of many cases a part is drawn, from each class its share. `compare_with_usual` turns strangeness and distance into
    what is beyond the usual.
    """
    found: list[Sample] = []
    unit = np.arange(len(codes)) if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1)
    order = _shuffle_within_classes(codes)
    n = sum(len(each.rows) * len(each.opinions) for each in held)
    step = max(1, n // (2 * ENOUGH))  # fewer cases tell four numbers as well
    for fold, each in enumerate(held):
        own = np.ones(len(each.rows)) if weight is None else np.asarray(weight, dtype=float)[each.rows]
        for number, (opinions, strange) in enumerate(zip(each.opinions, each.strangeness, strict=True)):
            rows = np.arange(len(each.rows))
            if each.far:  # what was nearly forgotten with its memories cannot be answered by any part
                rows = np.flatnonzero(_find_left(opinions, codes, weight, each.rows) >= LEAST_LEFT)
            rows = np.sort(rows[np.argsort(order[each.rows][rows])][::step])
            told = compare_with_usual(opinions, strange).take(rows)
            shifted = each.far or number > 0
            found.append(Sample(told, codes[each.rows][rows], own[rows], fold, shifted, unit[each.rows][rows]))
    return _share_out(found)


def _find_left(opinions: Opinions, codes: Array, weight: Array | None, rows: Array) -> Array:
    """For each held-out case how common its class was among the cases left, compared with all."""
    overall = np.bincount(codes, weight, minlength=len(opinions.prior))
    overall = overall / overall.sum()
    return np.asarray((opinions.prior / np.maximum(overall, np.finfo(float).tiny))[codes[rows]])


def _shuffle_within_classes(codes: Array) -> Array:
    """A place for each case, so that every k-th of them are a fair sample of each class.

    The order in which cases were collected means something: pairs of case and control, say, lie side by side.
    """
    place = np.empty(len(codes), dtype=np.intp)
    place[np.lexsort((np.random.default_rng(0).permutation(len(codes)), codes))] = np.arange(len(codes))
    return place


def _share_out(samples: list[Sample]) -> list[Sample]:
    """Weights under which cases as they are count as much as all shifted ones together."""
    total = {kind: sum(float(each.weight.sum()) for each in samples if each.shifted == kind) for kind in (False, True)}
    return [replace(each, weight=each.weight / total[each.shifted]) for each in samples if len(each.truth)]
