"""Stage 1 alone: the labels of the memory's cluster answer, and no classifier is fitted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier

from memclf._numbers import Array
from memclf.answers.base import Answers, balance_probabilities, check_balance
from memclf.answers.local import LocalAnswer, list_classes

DIGITS = 12  # of probabilities: classes that are equal but for rounding are equal, and the first one is answered


class LabelsAnswer(LocalAnswer):
    """The label distribution of the case's memory answers. No local classifier is fitted.

    The estimator of the memory classifier is used as the fallback only (``fallback="global"``). Each memory has a
    constant classifier instead, which gives the label distribution of its own cluster, whatever `min_cluster_size` is.

    Parameters
    ----------
    balance : float
        From 0, the most frequent class of the cluster is answered, to 1, the class that is most frequent in relation to
        how common it is. Probabilities are weighed in the same way.
    """

    def __init__(self, balance: float = 0.0):
        self.balance = balance

    def check(self) -> None:
        """Refuse parameters that mean nothing."""
        check_balance(self.balance)

    def make_constants(self, classes: Array, distributions: Array, frequencies: Array) -> list[Any]:
        """For each memory the constant classifier that gives its label distribution."""
        return [
            DummyClassifier(strategy="prior").fit(np.zeros((len(classes), 1)), classes, sample_weight=row)
            for row in weigh_labels(distributions, frequencies, float(self.balance))
        ]

    def answer(self, parts: Any, cases: Any, routes: Any, **wanted: bool) -> Answers:
        """The answers of the constants, with what explanations need to know about them."""
        found = super().answer(parts, cases, routes, **wanted)
        n, memory = len(routes), parts.label_distributions[routes.nearest]
        return replace(found, memory=memory, share=np.zeros(n), labels_share=np.ones(n))

    def say_who(self) -> str:
        """Who answers, in words."""
        return "the labels of the case's memory (stage 1 alone)"

    def say(self, item: Any) -> str:
        """Which labels answer, for the sentence of an `Explanation`."""
        balanced = f", rare classes weighed up (balance {self.balance:g})" if self.balance else ""
        chance = "" if item.probabilities is None else f", with probability {item.probabilities[item.answer]:.2f}"
        return f"the labels of its cluster ({list_classes(item)}) answer{balanced}{chance}"


def weigh_labels(distributions: Array, frequencies: Array, balance: float) -> Array:
    """Label distributions of memories, in which rare classes are weighed up by `balance`."""
    return np.round(balance_probabilities(distributions, frequencies, balance), DIGITS)
