"""What a local classifier costs in a bound: its errors, and the complexity of its class."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.pipeline import Pipeline

from memclf._numbers import Array
from memclf.bounds import formulas
from memclf.bounds.complexity import (
    always_predicts_one_class,
    class_of,
    last_step,
    learned_steps,
    n_features_of,
    random_labels,
    width_of,
)
from memclf.bounds.function_classes import (
    EXACT,
    GIVEN,
    HEURISTIC,
    UPPER,
    Anything,
    Constants,
    LinearLabels,
    Rademacher,
    Trees,
)
from memclf.bounds.inputs import Inputs
from memclf.cases import containers
from memclf.local import pool

ANYTHING = 0.5  # complexity of all functions with values 0 and 1
SCALES = 60  # powers of two that norms are rounded up to


@runtime_checkable
class HasLinearHead(Protocol):
    """A network whose last layer alone was trained on the cases."""

    def linear_head(self, X: Any) -> tuple[Array, Array, Array]:
        """The input of the last layer for each case, its weights and its biases."""


@dataclass(frozen=True)
class Cost:
    """What a local classifier costs.

    Attributes
    ----------
    wrong : ndarray of bool
        Cases that count as errors; with a margin, also those that are right by less than the margin.
    complexity : float
        Of "the answer is right", which has values 0 and 1: half of that of answers -1 and 1.
    flag, how : str
    union : float
        ln of the number of choices made after seeing the data, as for a norm.
    single : bool
        Whether the class is that of constants because the cluster holds one class only.
    given : str
        What is treated as given although it was learned, if anything.
    """

    wrong: Array
    complexity: float
    flag: str
    how: str
    union: float = 0.0
    single: bool = False
    given: str = ""


def cost_of(inputs: Inputs, k: int, rows: Array, *, singles: bool, margins: bool = True) -> Cost:
    """The cost of a memory's classifier, or of the fallback (k = q), on the cases in some rows.

    `singles`: a cluster of one class costs no more than a constant; otherwise it costs what its classifier would have
    cost. `margins`: errors can be counted up to a margin.
    """
    seen, classes, how = inputs.evidence, inputs.clf.classes_, inputs.complexity
    estimator, constant, fitted = _find_classifier(inputs, k, singles=singles)
    X, codes, wrong = containers.take(seen.X, rows), seen.codes[rows], ~seen.correct[rows]
    n, n_classes = len(rows), len(classes)
    if callable(how):
        how = how(estimator, X)
    if not isinstance(how, str):
        return _cost_given(wrong, how)
    if how == "random labels" and not constant and n:
        found = random_labels(estimator, X, random_state=0)
        return Cost(wrong, found.value / 2, HEURISTIC, found.how)
    last = last_step(estimator)
    width = int(n_features_of(last) or width_of(seen.X))
    family = Constants(n_classes) if constant else class_of(estimator, width, max(n, 1), n_classes)
    if isinstance(family, Constants):
        walk = formulas.mean_largest_walk(np.bincount(codes, minlength=n_classes))
        return Cost(wrong, max(0.0, walk) / max(n, 1), EXACT, f"one of {n_classes} constants", single=constant)
    union = 0.0
    if isinstance(family, Trees) and fitted and last.max_depth is None and last.max_leaf_nodes is None:
        cuts = int(last.tree_.n_leaves) - 1  # its size after fitting, for the price of a union over all sizes
        family, union = replace(family, cuts=cuts), math.log((cuts + 1) * (cuts + 2))
    # The mean number of cases, not n: how to count is decided by what is known before the memories are chosen.
    evenly = max(1, inputs.n // (inputs.q + 1))
    if not isinstance(family, Anything) and width and not _too_wide(family, evenly):
        if not n:
            return Cost(wrong, 0.0, EXACT, "no cases", union)
        counted = formulas.massart(family.log_count(n), n)
        if counted >= ANYTHING:
            cases = f"{n} cases" if n > 1 else "1 case"
            return Cost(wrong, ANYTHING, UPPER, f"{family.what} may label {cases} in every way", union)
        return Cost(wrong, counted, UPPER, f"Massart's lemma, {family.what}", union, given=_treated_as_given(estimator))
    scores = _scores_of(estimator, X, n_classes) if margins and n and fitted else None
    if scores is None:
        name = Anything(type(last).__name__).what
        if not n:  # without cases the power is 0, and the choice of a power is paid for
            return Cost(wrong, 0.0, EXACT, "no cases", _union(0, n_classes))
        if not isinstance(family, Anything) and width:
            return Cost(
                wrong, ANYTHING, UPPER, f"{family.what}: too many for so few cases, so all functions are counted"
            )
        return Cost(wrong, ANYTHING, UPPER, f"{name} so all functions are counted")
    columns = np.searchsorted(classes, estimator.classes_)
    return _by_margin(scores, columns, codes, wrong, n_classes, _treated_as_given(estimator, norms=True))


def _find_classifier(inputs: Inputs, k: int, *, singles: bool) -> tuple[Any, bool, bool]:
    """A branch's classifier, whether it is a constant for one class, and whether it is fitted."""
    clf = inputs.clf
    if k == inputs.q:
        return clf.fallback_, False, True
    home = int(clf.pool_.trained_with[k])
    if home >= 0 and clf.pool_.origins[home] == "constant":
        given = pool.default_estimator() if clf.estimator is None else clf.estimator
        template = pool.templates_for(given, inputs.q)[k]
        if not always_predicts_one_class(template):
            return (clf.estimators_[k], True, True) if singles else (template, False, False)
    return clf.estimators_[k], False, True


def _cost_given(wrong: Array, complexity: Any) -> Cost:
    """The cost for a complexity that the user gave."""
    found = complexity if isinstance(complexity, Rademacher) else Rademacher(float(complexity), GIVEN)
    if not found.value >= 0:
        raise ValueError(f"a complexity is at least 0, got {complexity!r}")
    return Cost(wrong, min(found.value / 2, ANYTHING), found.flag, found.how or "as given")


def _treated_as_given(estimator: Any, *, norms: bool = False) -> str:
    """The steps before a classifier that make its class of functions larger, in words."""
    learned = learned_steps(estimator, norms=norms)
    return f"the steps {', '.join(learned)} before the local classifiers" if learned else ""


def _union(power: int, n_classes: int) -> float:
    """ln of the choice of a power of two, and of the classes of a local classifier."""
    return math.log((power + 1) * (power + 2)) + (n_classes * math.log(2) if n_classes > 2 else 0.0)


def _too_wide(family: Any, evenly: int) -> bool:
    """Whether linear scores can label the cases in every way, so that counting fails.

    It depends only on numbers that are known before any case is seen.
    """
    return isinstance(family, LinearLabels) and formulas.massart(family.log_count(evenly), evenly) >= ANYTHING


@dataclass(frozen=True)
class _Scores:
    """Scores of a class with a norm: one column for each class, or one for two classes.

    `unit` is the complexity of one score of norm 1.
    """

    values: Array
    norm: float
    unit: float
    how: str
    given: str = ""


def _scores_of(estimator: Any, X: Any, n_classes: int) -> _Scores | None:
    n = containers.count(X)
    last = last_step(estimator)
    if isinstance(estimator, HasLinearHead):
        rows, weight, bias = estimator.linear_head(X)
        return _linear(rows, weight, bias, "last layer of the network", "the network below its last layer")
    rows = estimator[:-1].transform(X) if isinstance(estimator, Pipeline) and len(estimator) > 1 else X
    if isinstance(last, LinearClassifierMixin):  # other `coef_` may be one for each pair of classes
        rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows, dtype=float)
        weight = last.coef_.toarray() if sp.issparse(last.coef_) else np.atleast_2d(last.coef_)
        bias = np.broadcast_to(np.asarray(last.intercept_, dtype=float), len(weight))
        return _linear(rows, weight, bias, "linear scores", "")
    if type(last).__name__ == "SVC" and len(last.classes_) == 2 and n_classes == 2:
        return _kernel(last, rows)
    if type(last).__name__ == "MLPClassifier" and last.activation in ("relu", "identity"):
        norms = [math.sqrt((W**2).sum() + (b**2).sum() + 1) for W, b in zip(last.coefs_, last.intercepts_, strict=True)]
        norms[-1] = math.sqrt((last.coefs_[-1] ** 2).sum() + (last.intercepts_[-1] ** 2).sum())
        size = math.sqrt(float((np.asarray(rows, dtype=float) ** 2).sum()) + n)
        # Several scores at once: the root mean square of the supremum in place of its mean costs the 2.
        several = 2 if last.n_outputs_ > 1 else 0
        unit = size * (math.sqrt(2 * len(norms) * math.log(2) + several) + 1) / n
        return _Scores(_mlp_scores(last, rows), float(np.prod(norms)), unit, f"Frobenius norms of {len(norms)} layers")
    return None


def _linear(rows: Array, weight: Array, bias: Array, how: str, given: str) -> _Scores:
    rows, weight = np.asarray(rows, dtype=float), np.column_stack([weight, bias]).astype(float)
    if len(weight) > 1:  # a part that all classes share does not change which is largest
        weight = weight - weight.mean(axis=0)
    rows = np.column_stack([rows, np.ones(len(rows))])
    return _Scores(rows @ weight.T, float(np.linalg.norm(weight)), float(np.linalg.norm(rows)) / len(rows), how, given)


def _kernel(svc: Any, rows: Any) -> _Scores | None:
    """The scores of a support vector machine; the intercept is a constant in the kernel."""
    from sklearn.metrics.pairwise import pairwise_kernels

    if callable(svc.kernel) or svc.kernel not in ("rbf", "poly", "linear"):
        return None
    settings = {"rbf": ("gamma",), "poly": ("gamma", "degree", "coef0"), "linear": ()}[svc.kernel]
    values = {name: svc._gamma if name == "gamma" else getattr(svc, name) for name in settings}
    among = pairwise_kernels(svc.support_vectors_, metric=svc.kernel, **values)
    weight = float(np.ravel(svc.dual_coef_ @ among @ svc.dual_coef_.T)[0]) + float(svc.intercept_[0]) ** 2
    if svc.kernel == "rbf":
        diagonal = float(len(rows))
    else:
        diagonal = sum(pairwise_kernels(row[None], metric=svc.kernel, **values).item() for row in np.asarray(rows))
    unit = math.sqrt(diagonal + len(rows)) / len(rows)
    learned = "the scale of the kernel (give gamma)" if svc.gamma == "scale" and svc.kernel != "linear" else ""
    return _Scores(svc.decision_function(rows)[:, None], math.sqrt(max(weight, 0.0)), unit, "kernel scores", learned)


def _mlp_scores(mlp: Any, rows: Any) -> Array:
    """Scores before the last activation."""
    values = np.asarray(rows, dtype=float)
    for number, (W, b) in enumerate(zip(mlp.coefs_, mlp.intercepts_, strict=True)):
        values = values @ W + b
        if number < len(mlp.coefs_) - 1 and mlp.activation == "relu":
            values = np.maximum(values, 0)
    return values


def _by_margin(found: _Scores, columns: Array, codes: Array, wrong: Array, n_classes: int, steps: str) -> Cost:
    """The cost when right answers by less than a margin count as errors.

    Only the ratio of norm and margin matters. It is rounded up to a power of two, which can be chosen after seeing the
    data for the price of a union over the powers. Power 0 stands for plain errors and the class of all functions.
    """
    margins = _margins(found.values, columns, codes)
    factor = 1.0 if found.values.shape[1] == 1 else 2 * math.sqrt(n_classes)
    best = (float(wrong.mean()) + 2 * ANYTHING, 0, wrong, ANYTHING)
    for power in range(1, SCALES):
        complexity = factor * found.unit * 2.0**power
        if complexity >= ANYTHING:
            break
        counted = wrong | (margins * (2.0**power / max(found.norm, 1e-300)) < 1)
        score = float(counted.mean()) + 2 * complexity
        if score < best[0]:
            best = (score, power, counted, complexity)
    _, power, counted, complexity = best
    union = _union(power, n_classes)
    if not power:
        return Cost(
            counted, complexity, UPPER, f"{found.how}: too large for their margins, so all functions are counted", union
        )
    how = f"{found.how}, errors counted up to a margin of their norm / {2**power}"
    given = " and ".join(each for each in (steps, found.given) if each)
    return Cost(counted, complexity, UPPER, how, union, given=given)


def _margins(values: Array, columns: Array, codes: Array) -> Array:
    """The lead of the true class's score; minus infinity if its class is not known."""
    if values.shape[1] == 1:
        lead = np.where(codes == columns[-1], values[:, 0], -values[:, 0])
        return np.where(np.isin(codes, columns), lead, -np.inf)
    place = np.searchsorted(columns, codes)
    known = np.isin(codes, columns)
    place = np.where(known, np.minimum(place, len(columns) - 1), 0)
    rows = np.arange(len(codes))
    others = values.copy()
    others[rows, place] = -np.inf
    return np.where(known, values[rows, place] - others.max(axis=1), -np.inf)
