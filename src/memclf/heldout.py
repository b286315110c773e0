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
from memclf.routing import conformal_thresholds, distance, tell_widths, widths

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier

VERSIONS = 2  # mildly perturbed versions of every held-out case that weights are learned on


@dataclass(frozen=True)
class Learned:
    """What the folds have taught.

    Attributes
    ----------
    wide : ndarray
        How wide the cluster of each memory is. The same for all, if the whole or what is left without a fold does not
        tell: distances in widths could not be compared then.
    far : ndarray
        Of every held-out case how far it is from its nearest memory, in widths of that memory's cluster, both found
        without it; infinitely far if its description is not trusted. A case that was held out several times counts
        as the last time.
    calibration : Calibration or None
    combination : Combination or None
    """

    wide: Array
    far: Array
    calibration: Calibration | None
    combination: Combination | None


def _parted(clf: MemoryClassifier, X: Any, rest: Array, held: Array) -> tuple[Any, Any]:
    """Cases to fit on and cases held out; of a square matrix, both with the columns of those to fit on."""
    parts = _cases.take(X, rest), _cases.take(X, held)
    return tuple(_cases.columns(part, rest) for part in parts) if is_pairwise(clf) else parts


def widths_of(clf: MemoryClassifier, counted: Array) -> Array | None:
    """How wide the clusters of a fitted classifier are, as the search found them; None where they do not tell."""
    found, q = clf.search_result_, len(clf.memory_indices_)
    similarity, labels = found.similarity[counted], found.labels[counted]
    return widths(similarity, labels, q) if tell_widths(similarity, q) else None


def learn(
    clf: MemoryClassifier,
    X: Any,
    y: Array,
    counted: Array,
    weight: Any,
    params: dict[str, Any],
    folds: Folds,
    seed: int | None,
    *,
    opinions: bool,
) -> Learned:
    """Fit the classifier without each fold and ask it about the fold.

    `opinions`: fit local classifiers too and learn from what they say; otherwise only similarities are wanted.
    """
    n = len(y)
    far, plain = np.full((2, n), np.nan)
    whole = widths_of(clf, counted)
    held_opinions: list[tuple[Array, list[Opinions], list[Array]]] = []
    cut = folds.cut(y, counted, seed)
    for number, (rest, held) in enumerate(cut):
        say(f"fold {number + 1} of {len(cut)}: fitting without {len(held)} cases", clf.verbose)
        without: MemoryClassifier = clone(clf)
        many = None if clf.n_memories is None else min(len(clf.memory_indices_), len(rest))
        if not isinstance(clf.thresholds, str):  # they are for other memories than those of a fold
            without.thresholds = "common"
        own = {name: pool.part_of(value, rest, n) for name, value in params.items()}
        weights = None if weight is None else weight[rest]
        within = folds.within(rest)
        known, cases = _parted(clf, X, rest, held)
        stages(without, known, y[rest], weights, own, within, local=opinions, n_memories=many)
        routes = trusting(without, cases, routed(without, without.similarity_.describe(cases)))
        wide = widths_of(without, counted_rows(y[rest], weights))
        plain[held] = np.where(routes.trusted, distance(routes.similarity), np.inf)
        far[held] = np.inf if wide is None else plain[held] / wide[routes.nearest]
        whole = None if wide is None else whole
        if opinions:
            held_opinions.append(_said(clf, without, cases, routes, held))
    if whole is None:
        whole, far = np.ones(len(clf.memory_indices_)), plain
    far = far[~np.isnan(far)]  # a splitter may hold out only some
    if not opinions:
        return Learned(whole, far, None, None)
    return _concluded(clf, whole, far, held_opinions, np.searchsorted(clf.classes_, y), weight)


def conformal(clf: MemoryClassifier, found: Learned) -> tuple[Array, float]:
    """Thresholds that keep the promise of `unknown_rate`, and the share of it that is left for strange cases.

    Cases whose descriptions are not trusted are unknown whatever the thresholds: they come out of the same rate.
    """
    rate, n, distrusted = float(clf.unknown_rate), len(found.far), int(np.isinf(found.far).sum())
    left = rate - distrusted / (n + 1)
    strange = 0.0 if clf.competence is None else max(0.0, left / 2)
    thresholds = conformal_thresholds(found.far, found.wide, rate - strange)
    if left < 0:
        _warn(
            f"unknown_rate={rate:g} cannot be kept: min_trust={clf.min_trust:g} alone makes {distrusted / n:.1%} of "
            "held-out cases unknown. Lower min_trust or raise the rate; the thresholds make nothing else unknown"
        )
    elif (left - strange) * (n + 1) < 1 - 1e-9:
        besides = ", beside cases that are not trusted and strange ones," if distrusted or strange else ""
        _warn(
            f"no case is unknown for being far from its memory: {n} held-out cases are too few for the "
            f"{left - strange:.2g} of unknown_rate={rate:g} that is for this{besides}. Give more cases or a higher rate"
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
    clf: MemoryClassifier, without: MemoryClassifier, X: Any, routes: Any, held: Array
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
    wide: Array,
    far: Array,
    found: list[tuple[Array, list[Opinions], list[Array]]],
    codes: Array,
    weight: Any,
) -> Learned:
    calibration = None
    if clf.competence is not None:
        calibration = Calibration.of(np.concatenate([strange[0] for _, _, strange in found]))
    said, truth, shares, usual = [], [], [], []
    for held, opinions, strange in found:
        own = np.ones(len(held)) if weight is None else np.asarray(weight, dtype=float)[held]
        for version, (each, stranger) in enumerate(zip(opinions, strange, strict=True)):
            said.append(replace(each, excess=None if calibration is None else calibration.excess(stranger)))
            truth.append(codes[held])
            shares.append(own if version == 0 else own / (len(opinions) - 1))
            usual.append(version == 0)
    return Learned(wide, far, calibration, fit_combination(clf.combine, clf.guard, said, truth, shares, usual))
