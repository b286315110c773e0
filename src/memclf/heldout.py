"""What is learned on held-out training cases: how far to trust whom, and which thresholds keep a promise.

The training cases are cut into folds. For each, the same memory classifier is fitted without it and then asked about
it, as it is and mildly perturbed. Nothing that a test case could be judged by is learned from cases that the parts
under judgement were fitted to.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from memclf import _cases
from memclf._numbers import TOLERANCE, Array
from memclf._progress import say
from memclf.answer import can_perturb, opinions_about, perturbed, routed, trusting
from memclf.fitting import counted_rows, is_pairwise, stages
from memclf.folds import Folds
from memclf.local import pool
from memclf.local.combine import Combination, Opinions, fit_combination
from memclf.local.competence import Calibration
from memclf.routing import Routes, conformal_thresholds, distance, tell_widths, widths

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier

FOLDS = 10  # of which one at a time is left out to measure distances; only the memories are chosen anew
VERSIONS = 2  # mildly perturbed versions of every held-out case that weights are learned on


@dataclass(frozen=True)
class Distances:
    """How far held-out cases are from the memories, in widths of clusters.

    Attributes
    ----------
    wide : ndarray
        How wide the cluster of each memory is. The same for all, if the whole or what is left without a fold does not
        tell: distances in widths could not be compared then.
    far : ndarray
        Of every held-out case how far it is from its nearest memory, in widths of that memory's cluster, both found
        without it; infinitely far if its description is not trusted. A case that was held out several times counts
        as the last time.
    groups : ndarray or None
        What each of them belongs to, if cases come in groups.
    """

    wide: Array
    far: Array
    groups: Array | None


def _parted(clf: MemoryClassifier, X: Any, rest: Array, held: Array) -> tuple[Any, Any]:
    """Cases to fit on and cases held out; of a square matrix, both with the columns of those to fit on."""
    parts = _cases.take(X, rest), _cases.take(X, held)
    return tuple(_cases.columns(part, rest) for part in parts) if is_pairwise(clf) else parts


def widths_of(clf: MemoryClassifier, counted: Array) -> Array | None:
    """How wide the clusters of a fitted classifier are, as the search found them; None where they do not tell."""
    found, q = clf.search_result_, len(clf.memory_indices_)
    similarity, labels = found.similarity[counted], found.labels[counted]
    return widths(similarity, labels, q) if tell_widths(similarity, q) else None


def _without(
    clf: MemoryClassifier,
    X: Any,
    y: Array,
    weight: Any,
    params: dict[str, Any],
    folds: Folds,
    rest: Array,
    held: Array,
    *,
    local: bool,
) -> tuple[MemoryClassifier, Any, Routes]:
    """The same classifier, fitted without some cases; those cases, and where it sends them."""
    without: MemoryClassifier = clone(clf)
    many = None if clf.n_memories is None else min(len(clf.memory_indices_), len(rest))
    if not isinstance(clf.thresholds, str):  # they are for other memories than those of a fold
        without.thresholds = "common"
    own = {name: pool.part_of(value, rest, len(y)) for name, value in params.items()}
    weights = None if weight is None else weight[rest]
    known, cases = _parted(clf, X, rest, held)
    stages(without, known, y[rest], weights, own, folds.within(rest), local=local, n_memories=many)
    return without, cases, trusting(without, cases, routed(without, without.similarity_.describe(cases)))


def distances(
    clf: MemoryClassifier,
    X: Any,
    y: Array,
    counted: Array,
    weight: Any,
    params: dict[str, Any],
    folds: Folds,
    seed: int | None,
) -> Distances:
    """Choose memories without each fold, and measure how far the fold is from them. No classifier is fitted.

    Memories that are found without a third of the cases can lie quite differently from those of the whole, where
    clusters are small. Without a tenth they do not, so a number of folds means at least ten here.
    """
    far, plain = np.full((2, len(y)), np.nan)
    whole = widths_of(clf, counted)
    cut = folds.at_least(FOLDS, counted).cut(y, counted, seed, classes=False)
    for number, (rest, held) in enumerate(cut):
        say(f"fold {number + 1} of {len(cut)}: memories without {len(held)} cases", clf.verbose)
        without, _, routes = _without(clf, X, y, weight, params, folds, rest, held, local=False)
        wide = widths_of(without, counted_rows(y[rest], None if weight is None else weight[rest]))
        plain[held] = np.where(routes.trusted, distance(routes.similarity), np.inf)
        far[held] = np.inf if wide is None else plain[held] / wide[routes.nearest]
        whole = None if wide is None else whole
    if whole is None:
        whole, far = np.ones(len(clf.memory_indices_)), plain
    seen = ~np.isnan(far)  # a splitter may hold out only some
    return Distances(whole, far[seen], None if folds.groups is None else folds.groups[seen])


def learn(
    clf: MemoryClassifier,
    X: Any,
    y: Array,
    counted: Array,
    weight: Any,
    params: dict[str, Any],
    folds: Folds,
    seed: int | None,
) -> tuple[Calibration | None, Combination | None]:
    """Fit the classifier without each fold, and learn from what it says about the fold."""
    found: list[tuple[Array, list[Opinions], list[Array]]] = []
    cut = folds.cut(y, counted, seed)
    for number, (rest, held) in enumerate(cut):
        say(f"fold {number + 1} of {len(cut)}: fitting without {len(held)} cases", clf.verbose)
        without, cases, routes = _without(clf, X, y, weight, params, folds, rest, held, local=True)
        found.append(_said(clf, without, cases, routes, held))
    return _concluded(clf, found, np.searchsorted(clf.classes_, y), weight, folds.groups)


def conformal(clf: MemoryClassifier, found: Distances) -> tuple[Array, float]:
    """Thresholds that keep the promise of `unknown_rate`, and the share of it that is left for strange cases.

    Cases whose descriptions are not trusted are unknown whatever the thresholds: they come out of the same rate.
    """
    share = np.ones(len(found.far)) if found.groups is None else _cases.shares(found.groups)
    rate, n, distrusted = float(clf.unknown_rate), float(share.sum()), float(share[np.isinf(found.far)].sum())
    left = rate - distrusted / (n + 1)
    strange = 0.0 if clf.competence is None else max(0.0, left / 2)
    thresholds = conformal_thresholds(found.far, found.wide, rate - strange, found.groups)
    what = "cases" if found.groups is None else "groups"
    if left < 0:
        _warn(
            f"unknown_rate={rate:g} cannot be kept: min_trust={clf.min_trust:g} alone makes {distrusted / n:.1%} of "
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


def _said(
    clf: MemoryClassifier, without: MemoryClassifier, X: Any, routes: Routes, held: Array
) -> tuple[Array, list[Opinions], list[Array]]:
    """Opinions about held-out cases as they are and perturbed, in the classes of the whole, and their strangeness."""
    versions = [X]
    if clf.combine != "local" and can_perturb(clf, X):
        versions += [perturbed(clf, X, 1000 + number) for number in range(VERSIONS)]  # other ones than views
    columns = np.searchsorted(clf.classes_, without.classes_)
    said, strange = [], []
    for number, version in enumerate(versions):
        opinions, stranger = opinions_about(without, version, routes if number == 0 else without.route(version))
        spread = [np.zeros((len(held), len(clf.classes_))) for _ in range(2)]
        for wide, narrow in zip(spread, (opinions.local, opinions.memory), strict=True):
            wide[:, columns] = narrow
        prior = np.zeros(len(clf.classes_))
        prior[columns] = opinions.prior
        said.append(Opinions(spread[0], spread[1], prior))
        strange.append(stranger)
    return held, said, strange


def _concluded(
    clf: MemoryClassifier,
    found: list[tuple[Array, list[Opinions], list[Array]]],
    codes: Array,
    weight: Any,
    groups: Array | None,
) -> tuple[Calibration | None, Combination | None]:
    calibration = None
    if clf.competence is not None:
        rows = np.concatenate([held for held, _, _ in found])
        strangeness = np.concatenate([strange[0] for _, _, strange in found])
        calibration = Calibration.of(strangeness, None if groups is None else groups[rows])
    said, truth, shares, usual = [], [], [], []
    for held, opinions, strange in found:
        own = np.ones(len(held)) if weight is None else np.asarray(weight, dtype=float)[held]
        for version, (each, stranger) in enumerate(zip(opinions, strange, strict=True)):
            said.append(replace(each, excess=None if calibration is None else calibration.excess(stranger)))
            truth.append(codes[held])
            shares.append(own if version == 0 else own / (len(opinions) - 1))
            usual.append(version == 0)
    return calibration, fit_combination(clf.combine, clf.guard, said, truth, shares, usual)
