"""The Rademacher complexity of a class of functions or of an estimator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from memclf._seeds import seeded
from memclf.bounds.function_classes import (
    HEURISTIC,
    Anything,
    Constants,
    Labellings,
    LinearLabels,
    Rademacher,
    Trees,
)
from memclf.cases import containers

#: How the complexity of a classifier can be found.
COMPLEXITY = ("auto", "random labels")
# Steps that do not change in how many ways a linear classifier or a tree after them can label cases.
HARMLESS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)


def last_step(estimator: Any) -> Any:
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def n_features_of(estimator: Any) -> int | None:
    """How many numbers a fitted estimator takes; None if it is not fitted or takes others."""
    return getattr(estimator, "n_features_in_", None)  # scikit-learn sets it in fit, for matrices only


def width_of(cases: Any) -> int:
    """How many numbers a case has; 0 if the cases are not the rows of a table or a matrix."""
    known = containers.is_table(cases) or sp.issparse(cases) or isinstance(cases, np.ndarray)
    return int(cases.shape[1]) if known and len(cases.shape) == 2 else 0


def learned_steps(estimator: Any, *, norms: bool = False) -> list[str]:
    """The steps before a classifier that make its class of functions larger.

    `norms`: the class is one of scores with a bounded norm, which every step changes.
    """
    steps = [step for _, step in estimator.steps[:-1]] if isinstance(estimator, Pipeline) else []
    cuts = type(last_step(estimator)).__name__ == "BernoulliNB"  # it cuts every column at a fixed place
    return [
        type(step).__name__
        for step in steps
        if norms or cuts or type(step) not in HARMLESS or step.get_params().get("clip", False)
    ]


def always_predicts_one_class(estimator: Any) -> bool:
    """Whether an estimator gives every case the same answer, by its settings."""
    return isinstance(estimator, DummyClassifier) and estimator.strategy in ("most_frequent", "prior", "constant")


def class_of(estimator: Any, width: int, n: int, n_classes: int = 2) -> Labellings:
    """The class of functions that an estimator chooses from, by its settings.

    Examples
    --------
    >>> class_of(DecisionTreeClassifier(max_depth=2), width=3, n=100)
    Trees(n_features=3, cuts=3, n_classes=2)
    """
    last = last_step(estimator)
    name = type(last).__name__
    if learned_steps(estimator) and n_features_of(last) is None:
        return Anything(name)  # the steps before it are not fitted, so its inputs are not known
    if isinstance(last, DummyClassifier):
        return Constants(n_classes) if always_predicts_one_class(last) else Anything(name)
    if isinstance(last, DecisionTreeClassifier):
        sizes = [n - 1]  # not min_samples_leaf: the tree may have been grown on other cases than these n
        if last.max_depth is not None:
            sizes.append(2 ** min(last.max_depth, 30) - 1)
        if last.max_leaf_nodes is not None:
            sizes.append(last.max_leaf_nodes - 1)
        return Trees(width, max(0, min(sizes)), n_classes)
    if name in LIFTED:
        return LinearLabels(LIFTED[name](width), n_classes)
    if name == "SVC" and last.kernel == "linear" and n_classes == 2:
        return LinearLabels(width, n_classes)
    if isinstance(last, LinearClassifierMixin):
        return LinearLabels(width, n_classes)
    return Anything(name)


# Classifiers whose scores are linear in other numbers: how many of them there are for a case of d numbers.
LIFTED = {
    "GaussianNB": lambda d: 2 * d,
    "QuadraticDiscriminantAnalysis": lambda d: d + d * (d + 1) // 2,
    "BernoulliNB": lambda d: d,
    "MultinomialNB": lambda d: d,
    "ComplementNB": lambda d: d,
}


def rademacher(
    what: Any,
    X: Any,
    *,
    method: str = "auto",
    draws: int = 10,
    n_classes: int = 2,
    random_state: Any = None,
) -> Rademacher:
    """The empirical Rademacher complexity of a class of functions on the cases X.

    It is for functions with values -1 and 1.

    Parameters
    ----------
    what : classifier or class description
        Of a classifier the class is read from its kind and settings. Descriptions are `Constants`, `Trees` and
        `LinearLabels`.
    X : cases
        Whatever the classifier takes; of a class description only their number matters.
    method : {"auto", "random labels"}
        "auto": a formula, exact where possible. "random labels": fit the classifier to random labels, which works for
        every classifier but only says how much noise it has followed.
    draws : int
        Random labellings, for "random labels".
    n_classes : int
        For classifiers.
    random_state : int, RandomState or None

    Returns
    -------
    Rademacher

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from memclf.bounds import rademacher
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> print(rademacher(DecisionTreeClassifier(max_depth=2), X))
    0.4557 (upper bound: Massart's lemma, trees of at most 3 cuts on 2 features)
    """
    if method not in COMPLEXITY:
        raise ValueError(f"method must be one of {', '.join(map(repr, COMPLEXITY))}; got {method!r}")
    if not isinstance(what, Labellings) and not (isinstance(what, BaseEstimator) and is_classifier(what)):
        raise TypeError(f"a classifier or one of the classes of memclf.bounds is needed, got {what!r}")
    if n_classes < 2:
        raise ValueError(f"n_classes must be at least 2, got {n_classes!r}")
    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws!r}")
    cases = containers.as_container(X)
    n = containers.count(cases)
    if n == 0:
        raise ValueError("there are no cases to measure a complexity on (n_samples=0)")
    if method == "random labels":
        if isinstance(what, Labellings):
            raise ValueError("random labels need a classifier to fit, not a class of functions")
        return random_labels(what, cases, draws, random_state)
    family = what if isinstance(what, Labellings) else class_of(what, width_of(cases), n, n_classes)
    return family.rademacher(n)


def random_labels(estimator: Any, X: Any, draws: int = 10, random_state: Any = None) -> Rademacher:
    """How well a classifier follows random labels of the cases, on average over `draws` of them."""
    n = containers.count(X)
    random = check_random_state(random_state)
    found = []
    for _ in range(draws):
        signs, seed = random.choice([-1, 1], size=n), int(random.randint(2**31 - 1))
        if len(np.unique(signs)) == 1:  # a constant follows them
            found.append(1.0)
            continue
        fitted = seeded(clone(estimator), seed).fit(X, signs)
        found.append(float((signs * fitted.predict(X)).mean()))
    value = max(0.0, float(np.mean(found)))
    return Rademacher(
        value,
        HEURISTIC,
        math.sqrt(2 * math.log(2 / 0.05) / (n * draws)),
        f"{type(estimator).__name__} fitted to {draws} draws of random labels; not a bound",
    )
