"""Classes of functions, and the empirical Rademacher complexity of each.

Rad = (1/n) E sup over the class of the sum of eps_i h(x_i), where the eps are random signs: how well the best function
of the class follows pure noise. 0 for a single function, 1 for the class of all functions with values -1 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.bounds import formulas
from memclf.cases import containers

EXACT, UPPER, ESTIMATE, HEURISTIC, GIVEN = "exact", "upper bound", "estimate", "heuristic", "as given"
ENUMERATE = 14  # up to this many cases, all 2**n rows of signs are enumerated


@dataclass(frozen=True)
class Rademacher:
    """A complexity, and how far it can be trusted.

    It is for functions with values -1 and 1, or for scores. Bounds need the complexity of "the answer is right", with
    values 0 and 1, which is half as large.

    Attributes
    ----------
    value : float
    flag : {"exact", "upper bound", "estimate", "heuristic"}
        An estimate is right on average; a heuristic is too small where the learner misses the best function.
    error : float
        The Monte Carlo error; 0 where nothing was drawn. Of an estimate: one standard error. Of a heuristic: the
        half-width of a 95 % interval for the mean of the draws.
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


class FunctionClass:
    """A class of functions."""

    def rademacher(self, X: Array, method: str, draws: int, rng: Any) -> Rademacher:
        """The complexity on the cases X; the parameters are those of `memclf.bounds.rademacher`."""
        raise NotImplementedError(f"{type(self).__name__} must define rademacher")


# --------------------------------------------------------------------------------- classes that answer with a label


class Labellings(FunctionClass):
    """A class of functions that can label n cases in finitely many ways."""

    what = "functions"

    def log_count(self, n: int) -> float:
        """ln of the number of ways."""
        raise NotImplementedError(f"{type(self).__name__} must define log_count(n)")

    def rademacher(self, X: Array, method: str, draws: int, rng: Any) -> Rademacher:
        if method == "monte carlo":
            raise ValueError(f"{type(self).__name__} has no Monte Carlo: its functions cannot be listed")
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
    """The label with the largest of `n_classes` linear scores of any size."""

    width: int
    n_classes: int = 2

    def log_count(self, n: int) -> float:
        return formulas.log_argmax_linear(n, self.width, self.n_classes)

    @property
    def what(self) -> str:  # type: ignore[override]
        return f"linear scores of {self.width} numbers for {self.n_classes} classes"


@dataclass(frozen=True)
class Trees(Labellings):
    """Decision trees with at most this depth, or with at most this number of cuts."""

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
    """All functions: the class of a classifier about which nothing is known."""

    name: str = "functions"

    def log_count(self, n: int) -> float:
        return math.inf

    @property
    def what(self) -> str:  # type: ignore[override]
        return f"{self.name}, of which no class of functions is known,"


@dataclass(frozen=True)
class Finite(Labellings):
    """Finitely many functions with values -1 and 1.

    `functions` is their number, or their values on the cases, one row for each function.
    """

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
class Linear(FunctionClass):
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
class Kernel(FunctionClass):
    """Scores of norm at most `norm` in the space of a kernel; X is the kernel matrix."""

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
class Network(FunctionClass):
    """Scores of a ReLU network, by the norms of its layers' matrices; biases are a column.

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
            raise ValueError("a network has no Monte Carlo: the best of all networks cannot be found")
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
    """The mean over random signs of the correlation that the best function of the class reaches."""
    parts = []
    for part in containers.chunks(draws, max(1, 2**22 // n)):
        signs = rng.choice([-1.0, 1.0], size=(part.stop - part.start, n))
        parts.append(best(signs) / n)
    found = np.concatenate(parts)
    error = float(found.std(ddof=1) / math.sqrt(draws)) if draws > 1 else math.inf
    return Rademacher(float(found.mean()), ESTIMATE, error, f"{draws:,} draws of random signs, {what}")
