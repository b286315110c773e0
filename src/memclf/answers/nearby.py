"""The labels of all memories together: those of near clusters count for more."""

from __future__ import annotations

from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import Cases, containers
from memclf.similarity.base import compare_memories, describe

BLOCK = 2**21  # similarities held at once


def labels_by_closeness(parts: Any, cases: Cases, closenesses: list[float], counts: Array) -> dict[float, Array]:
    """Label distributions of all memories together, weighed by closeness in several ways.

    `counts` are the classes in each cluster, by the weights of their cases.
    """
    Z, prior = describe(parts.similarity, cases), parts.frequencies
    found: dict[float, list[Array]] = {each: [] for each in closenesses}
    for part in containers.chunks(len(cases), max(1, BLOCK // len(counts))):
        some = containers.take(Z, np.arange(part.start, part.stop))
        alike = compare_memories(parts.similarity, parts.descriptions, parts.memory_indices, some, part.start).T
        nearness = alike / np.maximum(alike.max(axis=1, keepdims=True), np.finfo(float).tiny)
        for closeness, rows in found.items():
            weighed = nearness**closeness @ counts
            rows.append((weighed + prior) / (weighed.sum(axis=1, keepdims=True) + 1))
    return {closeness: np.concatenate(rows) for closeness, rows in found.items()}


def count_by_weight(parts: Any, y: Array, counted: Array, weight: Array | None) -> Array:
    """How much weight the cases of each class have in each cluster."""
    found = np.zeros(parts.cluster_counts.shape)
    where = parts.labels[counted], np.searchsorted(parts.classes, y[counted])
    np.add.at(found, where, 1.0 if weight is None else weight[counted])
    return found
