"""How rich a class of functions is on given cases: its empirical Rademacher complexity.

Rad = (1/n) E sup over the class of the sum of eps_i h(x_i), the eps being random signs: how well the best function
of the class follows pure noise. 0 for a single function, 1 for a class with values -1 and 1 that can do anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from memclf import _cases
from memclf._numbers import Array
from memclf._seeds import seeded
from memclf.bounds import formulas

EXACT, UPPER, ESTIMATE, HEURISTIC, GIVEN = "exact", "upper bound", "estimate", "heuristic", "as given"
ENUMERATE = 14  # cases up to which all 2**n rows of signs are gone through
METHODS = ("auto", "closed", "monte carlo", "random labels")


@dataclass(frozen=True)
class Rademacher:
    """A complexity and how far it may be trusted.

    For functions with values -1 and 1, or scores. In bounds the complexities of local classifiers are those of
    "right or not", with values 0 and 1: half of it.

    Attributes
    ----------
    value : float
    flag : {"exact", "upper bound", "estimate", "heuristic"}
        An estimate is right on average; a heuristic is too small where the learner misses the best function.
    error : float
        Monte Carlo error, 0 where nothing was drawn. Of an estimate: one standard error. Of a heuristic: what the mean
        of the draws may be off by, 95 % sure.
    how : str
    """

    value: float
    flag: str
    error: float = 0.0
    how: str = ""

    def __str__(self) -> str:
        error = f" ± {self.error:.4f}" if self.error else ""
        return f"{self.value:.4f}{error} ({self.flag}: {self.how})"


def _at_least(name: str, value: Any, least: float) -> None:
    if not value >= least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}")


# --------------------------------------------------------------------------------- classes that answer with a label


class Labellings:
    """A class of functions that can label n cases in finitely many ways."""

    what = "functions"

    def log_count(self, n: int) -> float:
        """ln of the number of ways."""
        raise NotImplementedError(f"{type(self).__name__} must define log_count(n)")

    def rademacher(self, X: Array, method: str, draws: int, rng: Any) -> Rademacher:
        if method == "monte carlo":
            raise ValueError(f"{type(self).__name__} has no Monte Carlo: its functions cannot be gone through")
        n = len(X)
        found = formulas.massart_signs(self.log_count(n), n)
        if found >= 1:
            return Rademacher(1.0, UPPER, how=f"{self.what} may label {n} cases in every way")
        return Rademacher(found, UPPER, how=f"Massart's lemma, {self.what}")


@dataclass(frozen=True)
class Constants(Labellings):
    """Functions that answer the same for every case: one of `n_labels` answers."""

    n_labels: int = 2
    what = "constants"

    def __post_init__(self) -> None:
        _at_least("n_labels", self.n_labels, 1)

    def log_count(self, n: int) -> float:
        return math.log(self.n_labels)

    def rademacher(self, X: Array, method: str, draws: int, rng: Any) -> Rademacher:
        if self.n_labels == 1:
            return Rademacher(0.0, EXACT, how="one constant follows no noise")
        if self.n_labels == 2:
            return Rademacher(formulas.mean_absolute_walk(len(X)) / len(X), EXACT, how="the constants 1 and -1")
        return super().rademacher(X, method, draws, rng)


@dataclass(frozen=True)
class VC(Labellings):
    """Functions of two answers with this Vapnik-Chervonenkis dimension."""

    dimension: int

    def __post_init__(self) -> None:
        _at_least("dimension", self.dimension, 0)

    def log_count(self, n: int) -> float:
        d = min(self.dimension, n)
        return d * math.log(math.e * n / d) if d else 0.0

    @property
    def what(self) -> str:  # type: ignore[override]
        return f"functions of VC dimension {self.dimension}"


@dataclass(frozen=True)
class LinearLabels(Labellings):
    """The largest of `n_classes` linear scores, of whatever size."""

    width: int
    n_classes: int = 2

    def log_count(self, n: int) -> float:
        return formulas.log_argmax_linear(n, self.width, self.n_classes)

    @property
    def what(self) -> str:  # type: ignore[override]
        return f"linear scores of {self.width} numbers for {self.n_classes} classes"


@dataclass(frozen=True)
class Trees(Labellings):
    """Decision trees of at most this depth, or with at most so many cuts."""

    n_features: int
    depth: int | None = None
    n_classes: int = 2
    cuts: int | None = None

    def log_count(self, n: int) -> float:
        return formulas.log_trees(n, self.n_features, self.n_classes, self.depth, self.cuts)

    @property
    def what(self) -> str:  # type: ignore[override]
        cuts = "1 cut" if self.cuts == 1 else f"{self.cuts} cuts"
        size = f"at most {cuts}" if self.cuts is not None else f"depth {self.depth}"
        return f"trees of {size} on {self.n_features} feature{'s' if self.n_features != 1 else ''}"


@dataclass(frozen=True)
class Anything(Labellings):
    """A learner of which nothing is known."""

    name: str = "functions"

    def log_count(self, n: int) -> float:
        return math.inf

    @property
    def what(self) -> str:  # type: ignore[override]
        return f"{self.name}, of which no class of functions is known,"


@dataclass(frozen=True)
class Finite(Labellings):
    """So many functions with values -1 and 1; or these, given by their values on the cases (one row each)."""

    functions: Any

    def __post_init__(self) -> None:
        if np.ndim(self.functions) != 2:
            _at_least("functions", self.functions, 1)
        elif not np.isin(self.functions, (-1, 1)).all():
            raise ValueError("the functions must have values -1 and 1")

    def log_count(self, n: int) -> float:
        return math.log(len(self.functions) if np.ndim(self.functions) == 2 else float(self.functions))

    @property
    def what(self) -> str:  # type: ignore[override]
        count = len(self.functions) if np.ndim(self.functions) == 2 else self.functions
        return f"{count:,} function{'s' if count != 1 else ''}"

    def rademacher(self, X: Array, method: str, draws: int, rng: Any) -> Rademacher:
        if np.ndim(self.functions) != 2 or method == "closed":
            return super().rademacher(X, method, draws, rng)
        values, n = np.asarray(self.functions, dtype=float), len(X)
        if values.shape[1] != n:
            raise ValueError(f"the functions have {values.shape[1]} values each, but there are {n} cases")
        if n <= ENUMERATE:
            signs = 1.0 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
            return Rademacher(float((signs @ values.T).max(axis=1).mean() / n), EXACT, how="all rows of signs")
        return _drawn(lambda signs: (signs @ values.T).max(axis=1), n, draws, rng, self.what)


# --------------------------------------------------------------------------------- classes that answer with a score


@dataclass(frozen=True)
class Linear:
    """Scores <w, x> with the `order`-norm of w at most `norm`; order 1 or 2."""

    norm: float = 1.0
    order: int = 2

    def __post_init__(self) -> None:
        _at_least("norm", self.norm, 0)

    def rademacher(self, X: Array, method: str, draws: int, rng: Any) -> Rademacher:
        X, n = np.asarray(X, dtype=float), len(X)
        if self.order not in (1, 2):
            raise ValueError(f"order must be 1 or 2, got {self.order!r}")
        dual = 2 if self.order == 2 else np.inf
        if method == "monte carlo":
            return _drawn(
                lambda signs: self.norm * np.linalg.norm(signs @ X, ord=dual, axis=1), n, draws, rng, "linear scores"
            )
        if self.order == 2:
            return Rademacher(self.norm * float(np.linalg.norm(X)) / n, UPPER, how="norm times the root of sum |x|²")
        reach = float(np.linalg.norm(X, axis=0).max(initial=0.0)) * math.sqrt(2 * math.log(2 * X.shape[1])) / n
        return Rademacher(self.norm * reach, UPPER, how="norm times the longest column and a root of log 2d")


@dataclass(frozen=True)
class Kernel:
    """Scores of norm at most `norm` in the space of a kernel. The cases are given by their kernel matrix."""

    norm: float = 1.0

    def __post_init__(self) -> None:
        _at_least("norm", self.norm, 0)

    def rademacher(self, X: Array, method: str, draws: int, rng: Any) -> Rademacher:
        K, n = np.asarray(X, dtype=float), len(X)
        if K.shape != (n, n):
            raise ValueError(f"the cases of a kernel class are its n x n kernel matrix; got shape {K.shape}")
        if method == "monte carlo":
            return _drawn(
                lambda s: self.norm * np.sqrt(np.maximum(0, ((s @ K) * s).sum(axis=1))), n, draws, rng, "kernel scores"
            )
        return Rademacher(self.norm * math.sqrt(float(np.trace(K))) / n, UPPER, how="norm times the root of the trace")


@dataclass(frozen=True)
class Network:
    """Scores of a ReLU network, by the norms of its layers' matrices (biases as a further column; see the docs).

    Parameters
    ----------
    norms : sequence of float
        One per layer, the first layer first.
    by : {"frobenius", "rows", "spectral"}
        Frobenius norms (Golowich, Rakhlin and Shamir); the largest 1-norm of a row (the same paper); or
        spectral norms, with `distances`, the (2,1)-norms of what each layer has moved from its starting point
        (Bartlett, Foster and Telgarsky).
    distances : sequence of float
    width : int
        The widest layer, for "spectral".
    """

    norms: Sequence[float]
    by: str = "frobenius"
    distances: Sequence[float] = ()
    width: int = 0

    def __post_init__(self) -> None:
        if not len(self.norms):
            raise ValueError("a network has at least one layer; norms is empty")
        _at_least("every norm", min(self.norms), 0)

    def rademacher(self, X: Array, method: str, draws: int, rng: Any) -> Rademacher:
        X, n, depth = np.asarray(X, dtype=float), len(X), len(self.norms)
        if method == "monte carlo":
            raise ValueError("a network has no Monte Carlo: nobody can find the best of all networks")
        product, size = float(np.prod(self.norms)), float(np.linalg.norm(X))
        if self.by == "frobenius":
            found = size * (math.sqrt(2 * depth * math.log(2)) + 1) * product / n
        elif self.by == "rows":
            columns = float(np.sqrt((X**2).sum(axis=0)).max())
            found = 2 * product * math.sqrt(depth + 1 + math.log(X.shape[1])) * columns / n
        elif self.by == "spectral":
            if len(self.distances) != depth or self.width < 1:
                raise ValueError("by='spectral' needs one distance per layer and the width of the widest layer")
            ratio = sum((b / s) ** (2 / 3) for b, s in zip(self.distances, self.norms, strict=True)) ** 1.5
            root = math.sqrt(math.log(2 * self.width**2))
            found = 4 / n**1.5 + 18 * math.log(n) / n * size * root * product * ratio
        else:
            raise ValueError(f"by must be 'frobenius', 'rows' or 'spectral', got {self.by!r}")
        return Rademacher(found, UPPER, how=f"{by_norms(self.by)} of {depth} layers")


def by_norms(by: str) -> str:
    return {"frobenius": "Frobenius norms", "rows": "1-norms of rows", "spectral": "spectral norms"}[by]


def _drawn(best: Any, n: int, draws: int, rng: Any, what: str) -> Rademacher:
    """The mean over random signs of what the best function of the class makes of them."""
    parts = []
    for part in _cases.chunks(draws, max(1, 2**22 // n)):
        signs = rng.choice([-1.0, 1.0], size=(part.stop - part.start, n))
        parts.append(best(signs) / n)
    found = np.concatenate(parts)
    error = float(found.std(ddof=1) / math.sqrt(draws)) if draws > 1 else math.inf
    return Rademacher(float(found.mean()), ESTIMATE, error, f"{draws:,} draws of random signs, {what}")


# ------------------------------------------------------------------------------------------------------- estimators


# Steps before a linear classifier or a tree that leave the ways in which it can label cases as they are.
HARMLESS = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"}


def last_step(estimator: Any) -> Any:
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def learned_steps(estimator: Any, *, norms: bool = False) -> list[str]:
    """Steps before a classifier that learn something which its own class of functions could not make up for.

    `norms`: the class is one of scores with a bounded norm, which no step leaves as it is.
    """
    steps = [step for _, step in estimator.steps[:-1]] if isinstance(estimator, Pipeline) else []
    cuts = type(last_step(estimator)).__name__ == "BernoulliNB"  # it cuts every column at a fixed place
    return [
        type(step).__name__
        for step in steps
        if norms or cuts or type(step).__name__ not in HARMLESS or getattr(step, "clip", False)
    ]


def is_constant(estimator: Any) -> bool:
    """Whether an estimator answers the same for every case, by its settings."""
    return isinstance(estimator, DummyClassifier) and estimator.strategy in ("most_frequent", "prior", "constant")


def class_of(estimator: Any, width: int, n: int, n_classes: int = 2) -> Labellings:
    """The class of functions that an estimator picks from, as far as its settings tell; not what it has learned.

    Examples
    --------
    >>> class_of(DecisionTreeClassifier(max_depth=2), width=3, n=100)
    Trees(n_features=3, depth=None, n_classes=2, cuts=3)
    """
    last = last_step(estimator)
    name = type(last).__name__
    if learned_steps(estimator) and not hasattr(last, "n_features_in_"):
        return Anything(name)  # nobody knows yet what the steps before it will make of the cases
    if isinstance(last, DummyClassifier):
        return Constants(n_classes) if is_constant(last) else Anything(name)
    if isinstance(last, DecisionTreeClassifier):
        sizes = [n - 1]  # not min_samples_leaf: the tree may have been grown on other cases than these n
        if last.max_depth is not None:
            sizes.append(2 ** min(last.max_depth, 30) - 1)
        if last.max_leaf_nodes is not None:
            sizes.append(last.max_leaf_nodes - 1)
        return Trees(width, n_classes=n_classes, cuts=max(0, min(sizes)))
    if name in LIFTED:
        return LinearLabels(LIFTED[name](width), n_classes)
    if name == "SVC" and last.kernel == "linear" and n_classes == 2:
        return LinearLabels(width, n_classes)
    if isinstance(last, LinearClassifierMixin):
        return LinearLabels(width, n_classes)
    return Anything(name)


# Classifiers whose scores are linear once a case of d numbers is written as so many others.
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
    draws: int | None = None,
    n_classes: int = 2,
    random_state: Any = None,
) -> Rademacher:
    """The empirical Rademacher complexity of a class of functions, with values -1 and 1 or real ones, on the cases X.

    Parameters
    ----------
    what : class description or classifier
        `Constants`, `Finite`, `VC`, `Trees`, `LinearLabels` for functions that answer with a label; `Linear`,
        `Kernel`, `Network` for scores. Of a classifier the class is read from its kind and settings.
    X : array of shape (n, d)
        The cases; for `Kernel` their kernel matrix; for classifiers and "random labels" whatever they take.
    method : {"auto", "closed", "monte carlo", "random labels"}
        A formula; the mean over random signs, where the best function for given signs can be computed; or, for
        classifiers, training them on random labels, which works for all of them but only says how much noise the
        learner has in fact followed. "auto": exact where possible, else the formula.
    draws : int or None
        Random draws: 1,000, or 10 for random labels.
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
    >>> from memclf.bounds import Linear, rademacher
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> print(rademacher(Linear(norm=1.0), X, method="monte carlo", random_state=0))
    0.0885 ± 0.0014 (estimate: 1,000 draws of random signs, linear scores)
    >>> print(rademacher(DecisionTreeClassifier(max_depth=2), X))
    0.4557 (upper bound: Massart's lemma, trees of at most 3 cuts on 2 features)
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}")
    described = not isinstance(what, type) and hasattr(what, "rademacher")
    if not described and (isinstance(what, type) or not hasattr(what, "fit") or not is_classifier(what)):
        raise TypeError(f"a classifier or one of the classes of memclf.bounds is needed, got {what!r}")
    if n_classes < 2:
        raise ValueError(f"n_classes must be at least 2, got {n_classes!r}")
    cases = _cases.as_cases(X)
    n = _cases.count(cases)
    if n == 0:
        raise ValueError("there are no cases to measure a complexity on (n_samples=0)")
    if draws is not None and draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws!r}")
    if described:
        if isinstance(cases, np.ndarray) and cases.dtype.kind == "f" and not np.isfinite(cases).all():
            raise ValueError("X holds NaN or infinity; a complexity needs finite numbers")
        if method == "random labels":
            raise ValueError("random labels need a classifier to train, not a description of a class")
        signs = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        return what.rademacher(cases, method, draws or 1000, signs)
    if method == "random labels":
        return random_labels(what, cases, draws or 10, random_state)
    width = cases.shape[1] if getattr(cases, "ndim", 0) == 2 else 0
    return rademacher(class_of(what, width, n, n_classes), np.empty((n, 0)), method=method)


def random_labels(estimator: Any, X: Any, draws: int = 10, random_state: Any = None) -> Rademacher:
    """How well a classifier follows random labels of the cases, on average over `draws` of them."""
    n = _cases.count(X)
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
