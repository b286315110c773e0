"""From routes to answers: by the local classifiers alone, or where they do not have the last word.

For the latter, gathers the opinions about each case: its local classifier's, its memory's labels, and how strange the
case is to the classifier. `memclf.local.combine` makes one answer of them.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from memclf import _cases
from memclf._numbers import Array
from memclf.local import competence, pool
from memclf.local.combine import Opinions
from memclf.routing import Routes, route_all

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier


ENOUGH = 10  # cases that tell what is usual; a smaller cluster is told by all training cases


def gives_probabilities(clf: MemoryClassifier) -> bool:
    """Whether every classifier that may answer gives probabilities."""
    if hasattr(clf, "estimators_"):
        answering = [*clf.estimators_, *([] if clf.fallback_ is None else [clf.fallback_])]
    else:
        given = clf.estimator
        if isinstance(given, Mapping):
            given = list(given.values())
        answering = list(given) if isinstance(given, Sequence) else [given]
        answering += [] if isinstance(clf.fallback, str) else [clf.fallback]
    return all(each is None or hasattr(each, "predict_proba") for each in answering)


def label_distributions(counts: Array) -> Array:
    """Class probabilities of each memory from the counts in its cluster, and one case more of average make."""
    prior = counts.sum(axis=0) / max(1, counts.sum())
    return np.asarray((counts + prior) / (counts.sum(axis=1, keepdims=True) + 1))


def fit_detectors(clf: MemoryClassifier, X: Any, y: Array, counted: Array) -> list[Any]:
    """For each memory a detector that knows what the memory's classifier was trained on; None where it is blind."""
    wanted = competence.detector_for(clf.competence)
    q = len(clf.estimators_)
    if wanted is None:
        return [None] * q
    home, found = clf.pool_.trained_with, {}
    for k in np.unique(home):
        rows = counted if k == pool.GLOBAL else counted[home[clf.labels_[counted]] == k]
        rows = rows if len(rows) >= ENOUGH else counted
        estimator = clf.estimators_[int(np.flatnonzero(home == k)[0])]
        R = competence.rows_for(wanted, estimator, clf.global_, _cases.take(X, rows), functools.partial(perturbed, clf))
        found[k] = None if R is None else clone(wanted).learn(R, y[rows])
    if all(detector is None for detector in found.values()):
        warnings.warn(
            f"competence={clf.competence!r} finds nothing to look at: neither embeddings nor rows of numbers. With "
            "mixed columns, make the estimator a pipeline whose first steps turn them into numbers",
            stacklevel=4,
        )
    return [found[k] for k in home]


def strangeness(clf: MemoryClassifier, X: Any, memory: Array) -> Array:
    """How strange each case is to the classifier of its memory; NaN where nobody can tell."""
    out = np.full(len(memory), np.nan)
    groups: dict[int, list[int]] = {}
    for k, detector in enumerate(clf.detectors_):
        if detector is not None:
            groups.setdefault(id(detector), []).append(k)
    for members in groups.values():
        rows = np.flatnonzero(np.isin(memory, members))
        if len(rows):
            k = members[0]
            some, change = _cases.take(X, rows), functools.partial(perturbed, clf)
            R = competence.rows_for(clf.detectors_[k], clf.estimators_[k], clf.global_, some, change)
            out[rows] = np.nan if R is None else clf.detectors_[k].judge(R)
    return out


def routed(clf: MemoryClassifier, Z: Any) -> Routes:
    """Where described cases go."""
    return route_all(clf.similarity_, clf.descriptions_, clf.memory_indices_, clf.thresholds_, clf.rule, Z)


def trusting(clf: MemoryClassifier, X: Any, routes: Routes) -> Routes:
    """The same routes, but for cases whose description the features themselves do not trust."""
    trust = clf.similarity_.trust(X) if clf.min_trust and hasattr(clf.similarity_, "trust") else None
    return routes if trust is None else routes.trusting(trust >= clf.min_trust)


def recognising(clf: MemoryClassifier, X: Any, routes: Routes) -> Routes:
    """The same routes, but for cases that are too strange to their classifiers. Looks only if that can matter."""
    calibration = getattr(clf, "calibration_", None)  # what is fitted to a fold has none
    if calibration is None or not clf.declines_strange or routes.strangeness is not None:
        return routes
    strange = strangeness(clf, X, routes.nearest)
    return routes.recognising(~clf.too_strange(calibration.competence(strange)), strange)


def balanced(P: Array, prior: Array, balance: float) -> Array:
    """Probabilities in relation to how common the classes are, to the power of `balance`."""
    if not balance:
        return P
    weighed = np.where(prior > 0, P / np.where(prior > 0, prior, 1.0) ** balance, 0.0)
    total = weighed.sum(axis=1, keepdims=True)
    return np.divide(weighed, total, out=np.zeros_like(weighed), where=total > 0)  # unknown stays unknown


def membership(clf: MemoryClassifier, X: Any, routes: Routes) -> Array:
    """How much each case (row) belongs to each memory: the share of its mild views that are sent there."""
    weights = _one_hot(routes.nearest, routes.n_memories)
    for number in range(1, 1 + clf.views):
        found = routed(clf, clf.similarity_.describe(perturbed(clf, X, number)))
        weights += _one_hot(found.nearest, routes.n_memories)
    return weights / weights.sum(axis=1, keepdims=True)


def steadiness(clf: MemoryClassifier, X: Any, Z: Any, views: int) -> Array:
    """How similar each described case stays to itself under mild changes, on average over so many of them."""
    kept = np.zeros(_cases.count(X))
    for number in range(1, 1 + views):
        changed = clf.similarity_.describe(perturbed(clf, X, number))
        for i in range(len(kept)):
            here, there = (_cases.take(each, np.array([i])) for each in (Z, changed))
            kept[i] += float(clf.similarity_.compare(here, there)[0, 0]) / views
    return kept


def can_perturb(clf: MemoryClassifier, X: Any) -> bool:
    """Whether cases can be changed a little, to learn from or to see how sure a description is."""
    return callable(clf.perturb) or (clf.perturb == "auto" and hasattr(X, "perturbed"))


def perturbed(clf: MemoryClassifier, X: Any, number: int) -> Any:
    """The cases, changed a little; another number, another change."""
    if not callable(clf.perturb):
        check_can_perturb(clf, X)
        return X.perturbed(seed=number)
    changed = _cases.as_cases(clf.perturb(X, number))
    if not hasattr(changed, "__len__") or _cases.count(changed) != _cases.count(X):
        found = f"{_cases.count(changed)} cases" if hasattr(changed, "__len__") else repr(changed)
        raise ValueError(
            f"perturb must return every case it is given, changed a little: {_cases.count(X)}, not {found}"
        )
    return changed


def check_can_perturb(clf: MemoryClassifier, X: Any) -> None:
    """Complain if something asked for views and cases cannot be changed a little."""
    if not can_perturb(clf, X):
        what = "competence='agreement' needs" if clf.competence == "agreement" else "views and steadiness need"
        raise TypeError(
            f"{what} cases that can be changed a little, and {type(X).__name__} cannot be perturbed by itself: "
            "pass perturb=function(cases, number) that returns the cases, changed differently for every number"
        )


def opinions_about(clf: MemoryClassifier, X: Any, routes: Routes) -> tuple[Opinions, Array]:
    """What the local classifiers and the memories say, and how strange the cases are; all by the nearest memory."""
    shape = (len(routes), len(clf.classes_))
    if clf.views:
        weights = membership(clf, X, routes)
        local = np.zeros(shape)
        for k in np.flatnonzero(weights.any(axis=0)):
            branch = np.where(weights[:, k] > 0, k, -1)
            local += weights[:, [k]] * pool.ask(
                clf.estimators_, branch, X, "predict_proba", np.zeros(shape), clf.classes_
            )
    else:
        weights = _one_hot(routes.nearest, routes.n_memories)
        local = pool.ask(clf.estimators_, routes.nearest, X, "predict_proba", np.zeros(shape), clf.classes_)
    strange = strangeness(clf, X, routes.nearest) if routes.strangeness is None else routes.strangeness
    return Opinions(local, weights @ clf.label_distributions_, clf.frequencies_), strange


def _one_hot(memory: Array, q: int) -> Array:
    return np.eye(q)[memory]


def asked(clf: MemoryClassifier, X: Any, routes: Routes, method: str, out: Array) -> Array:
    """What the local classifiers answer by themselves, as in the paper."""
    estimators = list(clf.estimators_)
    branch = routes.nearest if clf.fallback == "nearest" else routes.memory
    if clf.fallback_ is not None:
        branch = np.where(routes.known, branch, len(estimators))
        estimators.append(clf.fallback_)
    found = pool.ask(estimators, branch, X, method, out, clf.classes_)
    if method == "predict" and clf.fallback != "unknown":  # nothing is unknown: the classes' own type will do
        return found.astype(clf.classes_.dtype)
    return found


@dataclass(frozen=True)
class Weighed:
    """What a memory classifier makes of the opinions about some cases.

    Attributes
    ----------
    opinions : Opinions
    routes : Routes
        In which cases that are too strange go to no memory.
    competence : ndarray or None
        None where nobody looks.
    P : ndarray of shape (cases, classes)
        Probabilities, before rare classes are weighed up.
    """

    opinions: Opinions
    routes: Routes
    competence: Array | None
    P: Array


def weighed(clf: MemoryClassifier, X: Any, routes: Routes) -> Weighed:
    """The opinions about the cases, by the nearest memory, and what they are together."""
    opinions, strange = opinions_about(clf, X, routes)
    competent = None
    if clf.calibration_ is not None:
        competent = clf.calibration_.competence(strange)
        opinions = replace(opinions, excess=clf.calibration_.excess(strange))
        routes = routes.recognising(routes.familiar & ~np.asarray(clf.too_strange(competent)), strange)
    P = opinions.local if clf.combination_ is None else clf.combination_(opinions, competent)
    return Weighed(opinions, routes, competent, P)


def combined(clf: MemoryClassifier, X: Any, routes: Routes) -> Array:
    """Probabilities, made of what local classifiers and memories say; all zero for unknown."""
    X = _cases.remembering(X)  # several look at the same images
    found = weighed(clf, X, routes)
    P, known = found.P, found.routes.known
    if clf.fallback != "nearest":
        P = np.where(known[:, None], P, 0.0)
    if clf.fallback_ is not None:
        P = pool.ask([clf.fallback_], np.where(known, -1, 0), X, "predict_proba", P, clf.classes_)
    return balanced(P, found.opinions.prior, float(clf.balance))
