"""The stages of a fit: similarity, memories, thresholds, clusters, local classifiers, and what watches over them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_consistent_length, check_random_state, get_tags
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from memclf import _cases, _inputs, answer, unknown
from memclf._numbers import Array, first_best, reaches
from memclf._seeds import seeded
from memclf._settings import BOUND, NEED_PROBABILITIES, PROBABILITIES_HELP
from memclf.folds import Folds
from memclf.local import pool
from memclf.memory.search import search_memories
from memclf.routing import CONFORMAL, fit_thresholds, similarities
from memclf.similarity.base import fit_describe

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier

COVER = 0.7  # the search's threshold when thresholds are conformal and none is given


def stages(
    clf: MemoryClassifier,
    X: Any,
    y: Array,
    sample_weight: Any,
    params: dict[str, Any],
    folds: Folds,
    *,
    local: bool,
    n_memories: Any,
) -> int | None:
    """Similarity, memories and, if `local`, clusters and their classifiers; the seed for whatever comes after."""
    _cases.match(clf, X, reset=True)
    # All seeds are drawn before any parallel work, so results do not depend on the number of workers.
    search_seed, global_seed, fallback_seed, similarity_seed, fold_seed = _seeds(clf)
    clf.similarity_ = _inputs.prepared(clf.similarity, clf.n_jobs, clf.verbose)
    seeded(clf.similarity_, similarity_seed)
    Z = fit_describe(clf.similarity_, X, y, sample_weight)
    if local:
        _check_classes(clf, y, counted_rows(y, sample_weight))
    params = _passed_on(clf, sample_weight, params)
    cover: Any = COVER if clf.threshold == CONFORMAL else clf.threshold
    clf.search_result_ = search_memories(
        Z,
        clf.similarity_,
        cover,
        n_memories=n_memories,
        n_restarts=clf.n_restarts,
        max_swaps=clf.max_swaps,
        mode=clf.mode,
        cover=clf.cover,
        coverage="enforce" if clf.n_memories == BOUND else clf.coverage,
        sample_weight=sample_weight,
        random_state=search_seed,
        verbose=clf.verbose,
    )
    clf.memory_indices_ = clf.search_result_.indices
    clf.labels_ = clf.search_result_.labels
    clf.memories_ = _cases.keep(X, clf.memory_indices_)
    clf.descriptions_ = _cases.take(Z, clf.memory_indices_)
    counted = counted_rows(y, sample_weight)
    clf.thresholds_ = fit_thresholds(
        "common" if clf._conformal() else clf.thresholds,
        cover,
        clf.memory_indices_,
        clf.labels_[counted],
        clf.search_result_.similarity[counted],
        clf.slack,
    )
    if not local:
        return fold_seed
    if clf.crossfit:
        clf.labels_ = crossfit_labels(clf, X, y, counted, sample_weight, folds, fold_seed)
    q = len(clf.memory_indices_)
    clf.cluster_counts_ = np.zeros((q, len(clf.classes_)), dtype=np.intp)
    np.add.at(clf.cluster_counts_, (clf.labels_[counted], np.searchsorted(clf.classes_, y[counted])), 1)
    weights = np.zeros(clf.cluster_counts_.shape)
    weighed = 1.0 if sample_weight is None else sample_weight[counted]
    np.add.at(weights, (clf.labels_[counted], np.searchsorted(clf.classes_, y[counted])), weighed)
    clf.label_distributions_ = answer.label_distributions(weights)
    clf.frequencies_ = weights.sum(axis=0) / weights.sum()
    _fit_classifiers(clf, X, y, counted, params, global_seed, fallback_seed)
    if not clf.answers_locally and not answer.gives_probabilities(clf):  # some tell only now
        raise TypeError(f"{NEED_PROBABILITIES}; those that were fitted do not. {PROBABILITIES_HELP}")
    clf.detectors_ = answer.fit_detectors(clf, X, y, counted)
    ask = getattr(clf.similarity_, "trust", None)  # any object with fit, describe and compare will do
    if clf.min_trust and (ask is None or ask(_cases.take(X, counted[:1])) is None):
        warnings.warn("min_trust has no effect: the features cannot tell whether to trust them", stacklevel=3)
    return fold_seed


def crossfit_labels(
    clf: MemoryClassifier, X: Any, y: Array, counted: Array, weight: Any, folds: Folds, seed: int | None
) -> Array:
    """The memory of each training case, by a similarity that has not learned from that case.

    A case stays where it is if no other memory is more similar. A matrix has learned from nobody.
    """
    labels = clf.labels_.copy()
    if is_pairwise(clf):
        return labels
    for rest, held in folds.cut(y, counted, seed):
        similarity = clone(clf.similarity_, safe=False)  # any object that keeps the contract will do
        fit_describe(similarity, _cases.take(X, rest), y[rest], None if weight is None else weight[rest])
        memories, Z = similarity.describe(clf.memories_), similarity.describe(_cases.take(X, held))
        block = similarities(similarity, memories, clf.memory_indices_, Z)
        stays = reaches(block[labels[held], np.arange(len(held))], block.max(axis=0))  # it may be among the best
        labels[held] = np.where(stays, labels[held], first_best(block))
    return labels


def is_pairwise(clf: MemoryClassifier) -> bool:
    """Whether cases are rows of a square matrix, with a column for each training case."""
    return bool(get_tags(clf).input_tags.pairwise)


def counted_rows(y: Array, sample_weight: Any) -> Array:
    """Rows that count: a case without weight is absent."""
    return np.arange(len(y)) if sample_weight is None else np.flatnonzero(sample_weight)


def checked_target(X: Any, y: Any) -> Array:
    if y is None:
        raise ValueError("MemoryClassifier requires y to be passed, but the target y is None")
    y = np.asarray(column_or_1d(y, warn=True))
    if y.dtype == object:
        kinds = sorted({type(label).__name__ for label in y})
        if len(kinds) > 1:
            raise ValueError(f"labels in y must be of one kind, got a mixture of {', '.join(kinds)}")
    check_classification_targets(y)
    check_consistent_length(X, y)
    return y


def _check_classes(clf: MemoryClassifier, y: Array, counted: Array) -> None:
    clf.classes_ = np.unique(y)
    present = np.unique(y[counted])
    if len(present) < 2:
        without = " with a positive sample_weight" if len(counted) < len(y) else ""
        raise ValueError(
            f"y holds one class only, {present.tolist()[0]!r} (n_samples={len(counted)}{without}); a classifier needs "
            "at least two classes to tell apart"
        )
    clf.unknown_label_ = unknown.label_for(clf.classes_, clf.unknown_label)
    if clf.fallback == "unknown":
        unknown.check_free(clf.classes_, clf.unknown_label_)


def _seeds(clf: MemoryClassifier) -> list[int | None]:
    """Seeds for search, global classifier, fallback, similarity, folds; None: chance, except in greedy search."""
    if clf.random_state is None:
        return [None] * 5
    return [int(draw) for draw in check_random_state(clf.random_state).randint(2**31 - 1, size=5)]


def _passed_on(clf: MemoryClassifier, sample_weight: Any, params: dict[str, Any]) -> dict[str, Any]:
    """What goes to the estimators' fit, by scikit-learn's metadata routing when that is switched on."""
    if sample_weight is not None:
        params = {"sample_weight": sample_weight, **params}
    if not routing_enabled() or not params:
        return params
    return dict(process_routing(clf, "fit", **params).estimator.fit)


def _fit_classifiers(
    clf: MemoryClassifier,
    X: Any,
    y: Array,
    counted: Array,
    params: dict[str, Any],
    global_seed: int | None,
    fallback_seed: int | None,
) -> None:
    template = LogisticRegression(max_iter=1000) if clf.estimator is None else clf.estimator
    q = len(clf.memory_indices_)
    members = [counted[clf.labels_[counted] == k] for k in range(q)]
    likeness = similarities(clf.similarity_, clf.descriptions_, clf.memory_indices_, clf.descriptions_)
    home = pool.assign(members, likeness, int(clf.min_cluster_size), clf.small_clusters)
    templates = pool.templates_for(template, q)
    whole = template.get("default", templates[0]) if isinstance(template, Mapping) else templates[0]
    clf.global_ = None
    if clf.start == "global" or clf.fallback == "global" or (home == pool.GLOBAL).any():
        clf.global_ = pool.fit_whole(whole, X, y, counted, params, global_seed)
    clf.fallback_ = None
    if clf.fallback == "global":
        clf.fallback_ = clf.global_
    elif not isinstance(clf.fallback, str):
        clf.fallback_ = pool.fit_whole(clf.fallback, X, y, counted, params, fallback_seed)
    seeds = None if global_seed is None else np.random.default_rng(global_seed).integers(2**31 - 1, size=q)
    clf.pool_ = pool.fit_pool(
        X,
        y,
        members,
        home,
        templates,
        clf.global_,
        continued=whole if clf.start == "global" else None,
        seeds=seeds,
        params=params,
        rows_of_memories=clf.memory_indices_,
        n_jobs=clf.n_jobs,
        verbose=clf.verbose,
    )
    clf.estimators_ = clf.pool_.estimators
