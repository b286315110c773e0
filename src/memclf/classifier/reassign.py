"""Clusters of edited memories: which training case goes where when some are gone or new."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from memclf._numbers import Array, first_best, reaches
from memclf.cases import Cases, containers, distinct
from memclf.classifier.fit import smooth_counts
from memclf.classifier.training import Training
from memclf.exceptions import TrainingCasesError
from memclf.memory.columns import BLOCK
from memclf.memory.result import MemorySearchResult
from memclf.routing.thresholds import TINY, distance, tell_widths, widths
from memclf.similarity.base import compared, describe, fit_describe

CLOSE = 1e-6  # by how much a similarity may differ between processors
GIVE = "give them: clf.with_training(X, y)"


def check_training(training: Training | None) -> Training:
    """The training cases of a classifier; an error says how to give them where there are none."""
    if training is None:
        raise TrainingCasesError(
            "this edit fits clusters again and needs the training cases, which are neither pickled nor saved (unless "
            f"with save(..., training=True)); {GIVE}"
        )
    return training


def describe_training(clf: Any) -> tuple[Cases, Any]:
    """The training cases, and the descriptions of all of them."""
    training = check_training(clf.training_)
    cases = Cases.of(training.X).remembering()
    if len(cases) != len(clf.labels_) or len(training.y) != len(clf.labels_):
        raise TrainingCasesError(
            f"the classifier was fitted on {len(clf.labels_)} cases, and here are {len(cases)} with {len(training.y)} "
            f"labels; {GIVE}, those of the fit in their order"
        )
    _check_labels(clf, training)
    if training.descriptions is not None:
        return cases, training.descriptions
    if takes_matrix(clf):  # only a fit knows that the rows are the training cases
        return cases, fit_describe(clone(clf.similarity_), cases, training.y, training.weight)
    return cases, describe(clf.similarity_, cases)


def takes_matrix(clf: Any) -> bool:
    """Whether X is a matrix of similarities, with a column for each training case."""
    return bool(get_tags(clf).input_tags.pairwise)


def _check_labels(clf: Any, training: Training) -> None:
    """Compare the classes in each cluster, and their weights, with those of the fit."""
    weight = np.ones(len(training.y)) if training.weight is None else training.weight
    rows = np.flatnonzero(weight)
    codes = np.minimum(np.searchsorted(clf.classes_, training.y[rows]), len(clf.classes_) - 1)
    counts, weights = np.zeros_like(clf.cluster_counts_), np.zeros(clf.cluster_counts_.shape)
    np.add.at(counts, (clf.labels_[rows], codes), 1)
    np.add.at(weights, (clf.labels_[rows], codes), weight[rows])
    if (clf.classes_[codes] != training.y[rows]).any() or not np.array_equal(counts, clf.cluster_counts_):
        raise TrainingCasesError(f"the labels are not those that the classifier was fitted on; {GIVE}, in their order")
    if not np.allclose(smooth_counts(weights), clf.label_distributions_, atol=CLOSE):
        raise TrainingCasesError(
            "the classifier was fitted with another sample_weight; with_training takes it as fit does"
        )


def list_members(clf: Any, weight: Array | None) -> list[Array]:
    """Rows of the cases of each cluster that count."""
    counted = np.arange(len(clf.labels_)) if weight is None else np.flatnonzero(weight)
    return [counted[clf.labels_[counted] == k] for k in range(len(clf.memory_indices_))]


def assign_cases(
    clf: Any, Z: Any, kept: Array, added: Any, row: int | None, training: Training | None = None
) -> MemorySearchResult:
    """What the search would say about the memories that are kept, and about one that is added.

    Raises an error where similarities to the memories as they were are not those of the fit.
    """
    training = clf.training_ if training is None else training
    old = clf.search_result_
    n, q = containers.count(Z), len(clf.memory_indices_)
    labels, near = np.empty(n, dtype=np.intp), np.empty(n)
    for part in containers.chunks(n, max(1, BLOCK // q)):
        rows = np.arange(part.start, part.stop)
        some = containers.take(Z, rows)
        block = compared(clf.similarity_, clf.descriptions_, some, clf.memory_indices_, rows)
        before = old.similarity[part]
        if (np.abs(block.max(axis=0)[: len(before)] - before) > CLOSE).any():
            raise TrainingCasesError(
                f"these are not the cases that the classifier was fitted on, or not in their order; {GIVE}"
            )
        block = block[kept]
        if row is not None:
            block = np.concatenate([block, compared(clf.similarity_, added, some, np.array([row]), rows)])
        labels[part] = first_best(block)
        near[part] = block[labels[part], np.arange(len(rows))]
    weights = np.ones(n) if training.weight is None else training.weight
    uncovered = np.flatnonzero(~reaches(near, old.threshold) & (weights > 0))
    indices = clf.memory_indices_[kept]
    return replace(
        old,
        indices=indices if row is None else np.append(indices, row),
        labels=labels,
        similarity=near,
        objective=float(near @ weights),
        coverage=1 - len(uncovered) / np.count_nonzero(weights),
        uncovered=uncovered,
        n_evaluations=old.n_evaluations + n * (q + (row is not None)),
    )


def threshold_for(clf: Any, found: MemorySearchResult, counted: Array) -> float:
    """The threshold of the added, last memory, found as those of the others were."""
    labels, similarity = found.labels[counted], found.similarity[counted]
    if clf.unknown_rate is not None:  # as many widths of its cluster away as the others
        far = distance(clf.thresholds_) / _widths(clf.search_result_, counted[counted < len(clf.labels_)])
        return float(np.clip(np.exp(-np.median(far) * _widths(found, counted)[-1]), TINY, 1.0))
    if isinstance(clf.thresholds, str) and clf.thresholds == "tight":
        return float(np.clip(similarity[labels == labels.max()].min(), TINY, 1.0))
    return float(clf.thresholds if isinstance(clf.thresholds, Real) else clf.threshold)


def _widths(found: MemorySearchResult, counted: Array) -> Array:
    similarity, q = found.similarity[counted], len(found.indices)
    return widths(similarity, found.labels[counted], q) if tell_widths(similarity, q) else np.ones(q)


def find_same(Z: Any, own: Any) -> int | None:
    """Position of the first description that is the same as this one; None if there is none."""
    n = containers.count(Z)
    _, group = distinct(containers.stack([Z, own]))
    found = np.flatnonzero(group[:n] == group[n])
    return int(found[0]) if len(found) else None


def find_twins(Z: Any, rows: Array) -> Array:
    """These rows, and all others with the same descriptions."""
    _, group = distinct(Z)
    return np.flatnonzero(np.isin(group, group[rows]))
