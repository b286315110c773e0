"""What is learned on held-out training cases: the answer rule and conformal thresholds.

The training cases are cut into folds. For each, a memory classifier is fitted without it and then applied to it, so
that no part is tested on cases that it was fitted to.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold

from memclf._numbers import TOLERANCE, Array, shares
from memclf._progress import track
from memclf.answers.base import HeldOut, Opinions
from memclf.cases import Cases
from memclf.cases.chunks import Chunks, map_parts
from memclf.classifier.fit import FitSettings, FittedParts, Seeds, StageOne, TrainingData, fit_memories, fit_once
from memclf.classifier.folds import FoldPlan
from memclf.routing import conformal_thresholds
from memclf.routing.thresholds import distance, tell_widths, widths

FEWER_MEMORIES = "n_memories=.* cases have different descriptions"  # a warning
FOLDS = 10  # of which one at a time is left out to measure distances; only the memories are chosen anew


@dataclass(frozen=True)
class FoldedFit:
    """A fit of the whole, and what it takes to fit again without each fold.

    Attributes
    ----------
    settings : FitSettings
    data : TrainingData
    plan : FoldPlan
    parts : FittedParts
        Of the whole.
    seed : int or None
        For drawing folds.
    square : bool
        Whether the cases are rows of a square matrix of similarities, with a column for each training case.
    """

    settings: FitSettings
    data: TrainingData
    plan: FoldPlan
    parts: FittedParts
    seed: int | None
    square: bool

    def without(self, rest: Array, held: Array) -> tuple[FitSettings, TrainingData, Any]:
        """Settings and data for a fit without the held-out cases, and the held-out cases."""
        fixed = self.settings.n_memories is not None
        settings = self.settings.for_fold(min(len(self.parts.memory_indices), len(rest)) if fixed else None)
        cases = self.data.cases.take(held)
        return settings, self.data.take(rest, square=self.square), cases.take_columns(rest) if self.square else cases


def learn_answer(fit: FoldedFit) -> None:
    """Fit without each fold, and fit the answer rule to what these fits give for the fold."""
    pairs = [(rest, held, False) for rest, held in fit.plan.split(fit.data.y, fit.data.counted, fit.seed)]
    rule, whole = fit.parts.answer, fit.data.cases
    if rule.strong and not whole.can_change:  # of images, changed ones are enough, and cost no fit
        pairs += [(rest, held, True) for rest, held in split_by_memories(fit)]
    changed = [] if fit.square else change_cases(rule, whole)
    found = []
    shown = track(pairs, total=len(pairs), what="fitting without each fold", verbose=fit.settings.verbose)
    for rest, held, far in shown:
        settings, data, cases = fit.without(rest, held)
        with warnings.catch_warnings():  # the user gave no number for a fold
            warnings.filterwarnings("ignore", message=FEWER_MEMORIES)
            parts = fit_once(settings, data, Seeds.draw(settings.random_state))
        versions = [cases, *([] if far else [each.take(held) for each in changed])]
        found.append(observe(fit.parts.classes, parts, versions, held, far))
    codes = np.searchsorted(fit.parts.classes, fit.data.y)
    rule.learn(found, codes, fit.data.weight, fit.plan.groups)


def change_cases(rule: Any, cases: Any) -> list[Any]:
    """Changed versions of all training cases, for the rule to learn from."""
    seeds = range(1000, 1000 + rule.versions)
    if rule.strong:
        return [cases.shifted(seed) for seed in seeds] if cases.can_shift else []
    return [cases.perturbed(seed) for seed in seeds] if cases.can_change else []


def split_by_memories(fit: FoldedFit) -> list[tuple[Array, Array]]:
    """Folds that hold out whole memories with their clusters, so that held-out cases are far.

    Cases of a held-out group are not learned from. There are no such folds where too little is left.
    """
    counted, y = fit.data.counted, fit.data.y
    labels, groups = fit.parts.labels[counted], fit.plan.groups
    number = min(int(fit.plan.cv) if isinstance(fit.plan.cv, Integral) else 3, len(np.unique(labels)))
    if number < 2:
        return []
    found = []
    for kept, out in GroupKFold(number).split(labels, groups=labels):
        rest, held = counted[kept], counted[out]
        if groups is not None:
            rest = rest[~np.isin(groups[rest], groups[held])]
        if len(np.unique(y[rest])) > 1:
            found.append((rest, held))
    return found


def observe(
    classes: Array, parts: FittedParts, versions: Sequence[Cases | Chunks], held: Array, far: bool = False
) -> HeldOut:
    """What `parts` give for versions of held-out cases, for all of `classes`."""
    columns = np.searchsorted(classes, parts.classes)
    opinions, strangeness, light = [], [], parts.without_cases()
    for version in versions:
        found, strange = zip(*map_parts(_observe_cases, light, version), strict=True)
        opinions.append(Opinions.join(found).spread(columns, len(classes)))
        strangeness.append(np.concatenate(strange))
    return HeldOut(held, opinions, strangeness, far)


def _observe_cases(parts: FittedParts, cases: Cases) -> tuple[Opinions, Array]:
    opinions, strange = parts.answer.observe(parts, cases, parts.route(cases))
    return opinions, strange


@dataclass(frozen=True)
class Distances:
    """How far held-out cases are from the memories, in widths of clusters.

    Attributes
    ----------
    wide : ndarray
        How wide the cluster of each memory is. The same for all, if the clusters of the whole or of a fit without a
        fold are too small to say: distances in widths could not be compared then.
    far : ndarray
        Of every held-out case the distance to its nearest memory, in widths of that memory's cluster, both found
        without the case; infinite if its description is not trusted. A case that was held out several times counts
        as the last time.
    groups : ndarray or None
        What each of them belongs to, as numbers, if cases come in groups.
    memories : ndarray
        Rows of the memories that `wide` is about.
    """

    wide: Array
    far: Array
    groups: Array | None
    memories: Array


def _widths_of(stage_one: StageOne, counted: Array) -> Array | None:
    """How wide the clusters are, as the search found them; None where they are too small to say."""
    found, q = stage_one.search_result, len(stage_one.memory_indices)
    similarity, labels = found.similarity[counted], found.labels[counted]
    return widths(similarity, labels, q) if tell_widths(similarity, q) else None


def measure_distances(fit: FoldedFit) -> Distances:
    """Choose memories without each fold, and measure the distance of the fold from them.

    No classifier is fitted.

    Where clusters are small, memories that are found without a third of the cases can lie quite differently from those
    of the whole. Without a tenth they do not, so a number of folds means at least ten here.
    """
    y, counted = fit.data.y, fit.data.counted
    far, plain = np.full((2, len(y)), np.nan)
    whole = _widths_of(fit.parts, counted)
    pairs = fit.plan.at_least(FOLDS, counted).split(y, counted, fit.seed, classes=False)
    for rest, held in track(pairs, total=len(pairs), what="memories without each fold", verbose=fit.settings.verbose):
        settings, data, cases = fit.without(rest, held)
        stage_one = fit_memories(settings, data, Seeds.draw(settings.random_state))
        found = zip(*map_parts(_find_nearest, stage_one.without_cases(), cases), strict=True)
        trusted, similarity, nearest = map(np.concatenate, found)
        wide = _widths_of(stage_one, data.counted)
        plain[held] = np.where(trusted, distance(similarity), np.inf)
        far[held] = np.inf if wide is None else plain[held] / wide[nearest]
        whole = None if wide is None else whole
    if whole is None:
        whole, far = np.ones(len(fit.parts.memory_indices)), plain
    seen = ~np.isnan(far)  # a splitter may hold out only some
    groups = None if fit.plan.groups is None else np.unique(fit.plan.groups[seen], return_inverse=True)[1]
    return Distances(whole, far[seen], groups, fit.parts.memory_indices)


def _find_nearest(stage_one: StageOne, cases: Cases) -> tuple[Array, Array, Array]:
    routes = stage_one.route(cases)
    return routes.trusted, routes.similarity, routes.nearest


def find_conformal_thresholds(found: Distances, rate: float, strange_share: float, min_trust: float) -> Any:
    """Thresholds that keep `unknown_rate`, and the part of the rate left for strange cases.

    Cases whose descriptions are not trusted are unknown whatever the thresholds are: they come out of the same rate.
    `strange_share` of the rest is for cases that are strange to their classifier.
    """
    share = np.ones(len(found.far)) if found.groups is None else shares(found.groups)
    n, distrusted = float(share.sum()), float(share[np.isinf(found.far)].sum())
    left = rate - distrusted / (n + 1)
    strange = max(0.0, left * strange_share)
    thresholds = conformal_thresholds(found.far, found.wide, rate - strange, found.groups)
    what = "cases" if found.groups is None else "groups"
    if left < 0:
        _warn(
            f"unknown_rate={rate:g} cannot be kept: min_trust={min_trust:g} alone makes {distrusted / n:.1%} of "
            "held-out cases unknown. Lower min_trust or raise the rate; the thresholds make nothing else unknown"
        )
    elif (left - strange) * (n + 1) < 1 - 1e-9:
        besides = " (the rest is for cases that are not trusted or strange)" if distrusted or strange else ""
        enough = int(np.ceil(1 / (left - strange) - 1 - 1e-9)) if left > strange else None
        _warn(
            f"no case is unknown for being far from its memory: {n:.0f} held-out {what} are too few for the "
            f"{left - strange:.2g} of unknown_rate={rate:g} that is for this{besides}. Give "
            + (f"at least {enough} {what}" if enough else f"more {what}")
            + " or a higher rate"
        )
    elif (thresholds <= TOLERANCE).all():
        _warn(
            f"more than unknown_rate={rate:g} of held-out cases are like no memory (similarity 0), so the thresholds "
            "make no case unknown. Give a similarity that falls off more slowly (a smaller gamma), or more cases"
        )
    return thresholds, strange


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=4)
