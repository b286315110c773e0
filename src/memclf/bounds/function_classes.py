"""Classes of functions, and the empirical Rademacher complexity of each.

Rad = (1/n) E sup over the class of the sum of eps_i h(x_i), where the eps are random signs: how well the best function
of the class follows pure noise. 0 for a single function, 1 for the class of all functions with values -1 and 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from memclf.bounds import formulas

EXACT, UPPER, HEURISTIC, GIVEN = "exact", "upper bound", "heuristic", "as given"


@dataclass(frozen=True)
class Rademacher:
    """A complexity, and how far it can be trusted.

    It is for functions with values -1 and 1. Bounds need the complexity of "the answer is right", with
    values 0 and 1, which is half as large.

    Attributes
    ----------
    value : float
    flag : {"exact", "upper bound", "heuristic"}
        A heuristic is too small where the learner misses the best function.
    error : float
        Of a heuristic: the half-width of a 95 % interval for the mean of the draws; 0 otherwise.
    how : str
    """

    value: float
    flag: str
    error: float = 0.0
    how: str = ""

    def __str__(self) -> str:
        error = f" ± {self.error:.4f}" if self.error else ""
        return f"{self.value:.4f}{error} ({self.flag}: {self.how})"


class Labellings:
    """A class of functions that can label n cases in finitely many ways."""

    what = "functions"

    def log_count(self, n: int) -> float:
        """ln of the number of ways."""
        raise NotImplementedError(f"{type(self).__name__} must define log_count(n)")

    def rademacher(self, n: int) -> Rademacher:
        """The complexity on n cases."""
        found = 2 * formulas.massart(self.log_count(n), n)  # values -1 and 1 are twice as far apart as 0 and 1
        if found >= 1:
            return Rademacher(1.0, UPPER, how=f"{self.what} may label {n} cases in every way")
        return Rademacher(found, UPPER, how=f"Massart's lemma, {self.what}")


@dataclass(frozen=True)
class Constants(Labellings):
    """Functions that answer the same for every case: one of `n_labels` answers."""

    n_labels: int = 2
    what = "constants"

    def __post_init__(self) -> None:
        if self.n_labels < 1:
            raise ValueError(f"n_labels must be at least 1, got {self.n_labels!r}")

    def log_count(self, n: int) -> float:
        return math.log(self.n_labels)

    def rademacher(self, n: int) -> Rademacher:
        if self.n_labels == 1:
            return Rademacher(0.0, EXACT, how="one constant follows no noise")
        if self.n_labels == 2:
            return Rademacher(formulas.mean_absolute_walk(n) / n, EXACT, how="the constants 1 and -1")
        return super().rademacher(n)


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
    """Decision trees with at most this number of cuts."""

    n_features: int
    cuts: int
    n_classes: int = 2

    def log_count(self, n: int) -> float:
        return formulas.log_trees(n, self.n_features, self.n_classes, self.cuts)

    @property
    def what(self) -> str:  # type: ignore[override]
        cuts = "1 cut" if self.cuts == 1 else f"{self.cuts} cuts"
        return f"trees of at most {cuts} on {self.n_features} feature{'s' if self.n_features != 1 else ''}"


@dataclass(frozen=True)
class Anything(Labellings):
    """All functions: the class of a classifier about which nothing is known."""

    name: str = "functions"

    def log_count(self, n: int) -> float:
        return math.inf

    @property
    def what(self) -> str:  # type: ignore[override]
        return f"{self.name}, of which no class of functions is known,"
