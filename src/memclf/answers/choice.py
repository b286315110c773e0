"""Who answers: the product of all opinions, or one part, judged on held-out cases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memclf._numbers import Array, first_largest, reaches
from memclf.answers.base import balance_probabilities
from memclf.answers.belief import learn_belief, list_parts
from memclf.answers.samples import Sample, leave_out

TOGETHER = "together"  # the name of the product
SURELY = 2.0  # standard errors by which a part has to be better than the product
GIVEN_AWAY = 0.01  # accuracy that may be given away for balanced accuracy


@dataclass(frozen=True)
class Worth:
    """What a right answer to each held-out case adds to accuracy and balanced accuracy.

    Attributes
    ----------
    accuracy, balanced : ndarray of shape (kinds, cases)
        Kinds are the cases as they are and, if there are any, the shifted ones. Rows add up to 1.
    """

    accuracy: Array
    balanced: Array

    @classmethod
    def of(cls, samples: list[Sample]) -> Worth:
        truth, weight = (np.concatenate([getattr(each, part) for each in samples]) for part in ("truth", "weight"))
        shifted = np.concatenate([np.full(len(each.truth), each.shifted) for each in samples])
        accuracy = np.array([weight * (shifted == kind) for kind in np.unique(shifted)])
        balanced = np.zeros(accuracy.shape)
        for label in np.unique(truth):
            own = accuracy * (truth == label)
            balanced += own / np.maximum(own.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return cls(*(part / part.sum(axis=1, keepdims=True) for part in (accuracy, balanced)))

    def in_score(self, metric: str) -> Array:
        """The worth of each case in the score: the mean over kinds, and perhaps both metrics."""
        wanted = {"accuracy": [self.accuracy], "balanced_accuracy": [self.balanced]}
        return np.asarray(np.mean(wanted.get(metric, [self.accuracy, self.balanced]), axis=(0, 1)))


@dataclass(frozen=True)
class Trial:
    """What a belief gives on held-out cases, with rare classes weighed up by `balance`.

    Attributes
    ----------
    name : str
        A name of `PARTS`, or "together".
    balance : float
    right : ndarray of shape (cases,)
        Whether each held-out case is answered right.
    worth : Worth
        Of the same cases.
    unit : ndarray or None
        What each case belongs to; see `Sample`.
    """

    name: str
    balance: float
    right: Array
    worth: Worth
    unit: Array | None = None

    @property
    def accuracy(self) -> Array:
        """Of each kind of cases."""
        return np.asarray(self.worth.accuracy @ self.right)

    @property
    def balanced(self) -> Array:
        """The balanced accuracy of each kind of cases."""
        return np.asarray(self.worth.balanced @ self.right)

    def score(self, metric: str) -> float:
        """One number: the mean over the kinds of cases, and with "both" over both metrics."""
        return float(self.worth.in_score(metric) @ self.right)

    def surely_beats(self, other: Trial, metric: str) -> bool:
        """Whether the score is higher by more than `SURELY` standard errors of the difference."""
        worth, ahead = self.worth.in_score(metric), self.right - other.right
        mean = float(worth @ ahead)
        errors = worth * (ahead - mean)
        return mean > SURELY * float(np.linalg.norm(errors if self.unit is None else np.bincount(self.unit, errors)))


def try_beliefs(samples: list[Sample], balances: tuple[float, ...]) -> list[Trial]:
    """Each part alone, and all together, with rare classes weighed up in several ways.

    "together" is learned without the fold that it is tried on, and without other versions of its cases.
    """
    learned = {}
    for fold in {each.fold for each in samples}:
        rest = leave_out(samples, fold)
        learned[fold] = learn_belief(rest or samples)
    worth, truth = Worth.of(samples), np.concatenate([each.truth for each in samples])
    unit = None if samples[0].unit is None else np.concatenate([np.asarray(each.unit) for each in samples])
    found, parts = [], list_parts(samples[0].opinions)
    for name in (*parts, TOGETHER):
        chances = [parts.get(name, learned[each.fold]).combine(each.opinions) for each in samples]
        for balance in balances:
            told = zip(samples, chances, strict=True)
            said = [balance_probabilities(P, each.opinions.prior, balance).argmax(axis=1) for each, P in told]
            found.append(Trial(name, balance, (np.concatenate(said) == truth).astype(float), worth, unit))
    return found


def choose(trials: list[Trial], metric: str) -> Trial:
    """The best trial; all together, unless a part alone is surely better.

    What is best on held-out cases by a hair need not be best elsewhere, and several witnesses hardly ever all fail.
    """
    best = _choose_best(trials, metric)
    together = _choose_best([each for each in trials if each.name == TOGETHER] or trials, metric)
    return best if best.surely_beats(together, metric) else together


def _choose_best(trials: list[Trial], metric: str) -> Trial:
    """The best trial; with "both", of those that give hardly any accuracy away.

    Only accuracy on cases as they are can be promised: how common the classes are elsewhere is not known.
    """
    allowed = trials
    if metric == "both":
        best = max(each.accuracy[0] for each in trials)
        allowed = [each for each in trials if reaches(each.accuracy[0], best - GIVEN_AWAY)]
    return allowed[first_largest(np.array([each.score(metric) for each in allowed]))]
