"""What an answer rule reads of a fitted memory classifier, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Protocol

import numpy as np

from memclf import unknown
from memclf._numbers import Array
from memclf.local.pool import Pool
from memclf.routing import Routes

ALONE = 0.005  # a part that counts for less is not mentioned
# Opinions with a row per case.
PER_CASE = ("local", "memory", "excess", "whole", "measured", "size", "distance", "oddness")
FLOOR = 1e-4  # no probability counts as smaller: a zero would rule a class out


class Parts(Protocol):
    """The fitted parts that answers are made of. `classifier.fit.FittedParts` has them."""

    @property
    def classes(self) -> Array: ...
    @property
    def pool(self) -> Pool: ...
    @property
    def label_distributions(self) -> Array: ...
    @property
    def frequencies(self) -> Array: ...
    @property
    def global_classifier(self) -> Any: ...
    @property
    def fallback(self) -> Any: ...
    @property
    def fallback_classifier(self) -> Any: ...
    @property
    def unknown_label(self) -> Any: ...


@dataclass(frozen=True)
class Answers:
    """What a memory classifier answers about some cases, and what the answers are made of.

    Attributes
    ----------
    labels : ndarray
        The answers; the unknown label where no memory answers.
    probabilities : ndarray of shape (cases, classes) or None
        All zero for unknown. None where some classifier gives none, or with ``probabilities=False``.
    routes : Routes
        Where the cases were sent.
    local, memory : ndarray of shape (cases, classes) or None
        Where the two answer together: the probabilities of the local classifier alone, and the label distribution of
        the memory alone.
    share, labels_share : ndarray
        How much the classifier and the labels count in each answer. The first is a share of the classifier's usual
        power, the second the power of the labels.
    unbalanced : ndarray or None
        The probabilities before rare classes are weighed up; those of the fallback, where it answers.
    competence : ndarray or None
        For each case the share of held-out training cases that are at least as strange to the classifier.
    """

    labels: Array
    probabilities: Array | None
    routes: Routes
    local: Array | None = field(default=None, repr=False)
    memory: Array | None = field(default=None, repr=False)
    share: Array | None = field(default=None, repr=False)
    labels_share: Array | None = field(default=None, repr=False)
    unbalanced: Array | None = field(default=None, repr=False)
    competence: Array | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Opinions:
    """What an answer rule combines, for each case: classifier, memory, class frequencies.

    Attributes
    ----------
    local : ndarray of shape (cases, classes)
        Probabilities of the local classifiers.
    memory : ndarray of shape (cases, classes)
        Label distributions of the memories that the cases are sent to.
    prior : ndarray of shape (classes,)
        Frequencies of the classes in the training data.
    excess : ndarray of shape (cases,) or None
        How much stranger than usual the cases are; None where strangeness is not measured.
    whole : ndarray of shape (cases, classes) or None
        Probabilities of the global classifier.
    nearby : dict or None
        Label distributions of several memories together, for each way to weigh them by closeness.
    measured : ndarray of shape (cases, classes) or None
        Probabilities of a classifier that sees what the expert's features measure.
    size : ndarray of shape (cases,) or None
        How many training cases the local classifiers learned from.
    distance : ndarray of shape (cases,) or None
        One minus the similarity to the nearest memory.
    oddness : ndarray of shape (cases,) or None
        How unlike those of training cases the measurements are.
    """

    local: Array
    memory: Array
    prior: Array
    excess: Array | None = None
    whole: Array | None = None
    nearby: dict[float, Array] | None = None
    measured: Array | None = None
    size: Array | None = None
    distance: Array | None = None
    oddness: Array | None = None

    def spread(self, columns: Array, n: int) -> Opinions:
        """The same opinions in a table of `n` classes, of which these are at `columns`."""

        def put(P: Array | None) -> Any:
            if P is None:
                return None
            out = np.zeros((*P.shape[:-1], n))
            out[..., columns] = P
            return out

        nearby = None if self.nearby is None else {name: put(P) for name, P in self.nearby.items()}
        parts = {name: put(getattr(self, name)) for name in ("local", "memory", "prior", "whole", "measured")}
        return replace(self, nearby=nearby, **parts)

    def take(self, rows: Array) -> Opinions:
        """The opinions about some of the cases."""
        kept: dict[str, Any] = {name: getattr(self, name) for name in PER_CASE}
        kept = {name: P if P is None else P[rows] for name, P in kept.items()}
        nearby = None if self.nearby is None else {name: P[rows] for name, P in self.nearby.items()}
        return replace(self, nearby=nearby, **kept)

    @classmethod
    def join(cls, several: Sequence[Opinions]) -> Opinions:
        """The opinions about all cases of several, which are those of one fit."""
        first = several[0]

        def put(name: str) -> Any:
            return None if getattr(first, name) is None else np.concatenate([getattr(each, name) for each in several])

        nearby = None
        if first.nearby is not None:
            nearby = {name: np.concatenate([(each.nearby or {})[name] for each in several]) for name in first.nearby}
        return replace(first, nearby=nearby, **{name: put(name) for name in PER_CASE})

    @property
    def fade(self) -> Array:
        """How much the classifier counts on each case, from 1 (usual) to 0 (very strange)."""
        return np.ones(len(self.local)) if self.excess is None else np.exp(-self.excess)

    def terms(self) -> Array:
        """Logarithms to be weighted, of shape (cases, 4, classes).

        They are of the local classifier, of the same as it fades with strangeness, of the memory, and of the class
        frequencies.
        """
        local, memory, prior = (np.log(np.maximum(p, FLOOR)) for p in (self.local, self.memory, self.prior))
        return np.stack([local, local * self.fade[:, None], memory, np.broadcast_to(prior, local.shape)], axis=1)


@dataclass(frozen=True)
class HeldOut:
    """What an answer rule learns from: `Opinions` about cases held out from the fit.

    Attributes
    ----------
    rows : ndarray
        Their rows in the training data.
    opinions : list of Opinions
        About the cases as they are, and about changed versions.
    strangeness : list of ndarray
        For each version how strange the cases are to their classifiers.
    far : bool
        Whether the memories of these cases were held out with them, so that all versions count as changed.
    """

    rows: Array
    opinions: list[Opinions]
    strangeness: list[Array]
    far: bool = False


def empty_labels(parts: Parts, n: int) -> Array:
    """`n` answers, all unknown, of a type that can also hold every class."""
    return unknown.answers(parts.classes, n, parts.unknown_label)


def finish_labels(parts: Parts, labels: Array) -> Array:
    """Where nothing can be unknown, answers have the type of the classes."""
    never_unknown = not (isinstance(parts.fallback, str) and parts.fallback == "unknown")
    return labels.astype(parts.classes.dtype) if never_unknown else labels


def most_probable(chances: dict[Any, float]) -> Any:
    """The class of the largest probability."""
    return max(chances, key=chances.__getitem__)


def check_balance(balance: Any) -> None:
    """Refuse what is no number from 0 to 1."""
    if isinstance(balance, bool) or not isinstance(balance, Real) or not 0 <= float(balance) <= 1:
        raise ValueError(f"balance must be a number from 0 to 1, got {balance!r}")


def balance_probabilities(P: Array, prior: Array, balance: float) -> Array:
    """Probabilities divided by how common the classes are, to the power of `balance`."""
    if not balance:
        return P
    weighed = np.where(prior > 0, P / np.where(prior > 0, prior, 1.0) ** balance, 0.0)
    total = weighed.sum(axis=1, keepdims=True)
    return np.divide(weighed, total, out=np.zeros_like(weighed), where=total > 0)  # unknown stays unknown
