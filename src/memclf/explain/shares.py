"""Whose word is an answer: how much the local classifiers and the labels of the memories count in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from memclf._numbers import Array
from memclf.answer import Weighed

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier

EVEN, SURE, OTHER = (0.5, 0.5), (1.0, 0.0), (0.0, 1.0)
LEANING = (np.e / (1 + np.e), 1 / (1 + np.e))  # the logarithms of the two differ by 1


def shares(clf: MemoryClassifier, found: Weighed) -> tuple[Array, Array]:
    """How much the classifiers count in each answer, and how much the labels.

    In a mixture these are shares, which add up to 1. In a product the first is how much of its usual power a
    classifier has, the second the power of the labels.

    Nothing is known here of how opinions are combined: opinions of which the outcome tells who was heard are put in.
    """
    combination, n = clf.combination_, len(found.P)
    if combination is None:
        return np.ones(n), np.zeros(n)

    def outcome(local: tuple[float, float], labels: tuple[float, float], excess: Array | None) -> Array:
        put = replace(
            found.opinions,
            local=np.tile(local, (n, 1)),
            memory=np.tile(labels, (n, 1)),
            prior=np.array(EVEN),
            excess=excess,
        )
        return np.asarray(combination(put, found.competence))

    def power(local: tuple[float, float], labels: tuple[float, float], excess: Array | None) -> Array:
        P = outcome(local, labels, excess)
        return np.asarray(np.log(P[:, 0]) - np.log(P[:, 1]))

    excess = found.opinions.excess
    if clf.combine == "local":
        share = outcome(SURE, OTHER, excess)[:, 0]
        return share, 1 - share
    usual = power(LEANING, EVEN, None if excess is None else np.zeros(n))
    now = power(LEANING, EVEN, excess)
    return np.where(usual > 1e-9, now / np.maximum(usual, 1e-9), 0.0), power(EVEN, LEANING, excess)
