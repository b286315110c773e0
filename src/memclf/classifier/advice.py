"""Warnings about a fit that will hardly do what the user wants."""

from __future__ import annotations

import warnings

import numpy as np

from memclf.cases import Cases
from memclf.cases.chunks import Chunks
from memclf.classifier.fit import FittedParts
from memclf.exceptions import MemoriesWarning
from memclf.similarity.base import trust

ENOUGH_TO_JUDGE = 50  # distinct cases from which on few or many memories are worth a warning


def warn_of_useless_memories(parts: FittedParts, n_memories: int | None, unknown_rate: float | None) -> None:
    """Warn when the memories stand for single cases, or one stands for all."""
    q, n, every = len(parts.memory_indices), parts.search_result.n_distinct, len(parts.labels)
    if n == 1 and every >= ENOUGH_TO_JUDGE:
        warnings.warn(
            f"all {every} cases have the same description, so similarity tells nothing apart. Look at what the "
            "similarity describes",
            MemoriesWarning,
            stacklevel=3,
        )
    if n_memories is not None or n < ENOUGH_TO_JUDGE:
        return
    if q > n / 2:
        follows, remedy = "each local classifier learns from one or two cases", ""
        if unknown_rate is None:
            follows, remedy = "most new cases will be unknown", ", or give unknown_rate=0.05"
        warnings.warn(
            f"{q} of {n} distinct cases became memories: at threshold={parts.search_result.threshold:g} hardly any two "
            f"cases are alike, so {follows}. Lower the threshold, give a similarity that falls off more slowly, fix "
            f"n_memories{remedy}",
            MemoriesWarning,
            stacklevel=3,
        )
    elif q == 1:
        warnings.warn(
            f"one memory covers all {n} distinct cases, so this is the plain model, trained once on everything. Raise "
            "the threshold, or fix n_memories",
            MemoriesWarning,
            stacklevel=3,
        )


def warn_of_idle_trust(parts: FittedParts, cases: Cases | Chunks) -> None:
    """Warn when `min_trust` is set and the features have no measure of trust."""
    if not parts.min_trust:
        return
    first = np.arange(1)
    some = cases.take(first) if isinstance(cases, Cases) else cases.keep(first)  # what is taken is described once
    if trust(parts.similarity, some) is None:
        warnings.warn(
            f"min_trust={parts.min_trust:g} has no effect: the features of the similarity cannot tell how far to trust "
            "them. Give features with a method trust(X), or leave min_trust at 0",
            stacklevel=3,
        )
