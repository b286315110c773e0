"""One fit: similarity, memories, thresholds, clusters, local classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from memclf import unknown
from memclf._numbers import Array
from memclf._seeds import seeded
from memclf.cases import Cases, containers
from memclf.cases.chunks import Chunks
from memclf.classifier.former import Former
from memclf.local import pool
from memclf.memory.blocks import Blocks
from memclf.memory.describing import fit_and_describe
from memclf.memory.result import MemorySearchResult
from memclf.memory.search import SearchOptions, search_memories
from memclf.memory.wishes import Wishes
from memclf.protocols import gives_probabilities
from memclf.routing import Routes, fit_thresholds, route_all
from memclf.similarity.base import compare_memories, describe, find_measurements, trust
from memclf.similarity.resolve import prepare_similarity

NEED_PROBABILITIES = "this answer rule needs classifiers that give probabilities (predict_proba)"
PROBABILITIES_HELP = "Give another classifier, or wrap it: CalibratedClassifierCV(...)"


@dataclass(frozen=True)
class FitSettings:
    """The parameters of a memory classifier, as a fit needs them.

    They are those of `MemoryClassifier`, except that `search` is a `SearchOptions`, `answer` an answer rule, and
    `thresholds` is "common" where conformal thresholds follow.
    """

    similarity: Any
    estimator: Any
    threshold: float
    n_memories: Any
    search: SearchOptions
    thresholds: Any
    rule: str
    fallback: Any
    unknown_label: Any
    min_cluster_size: int
    start: str
    answer: Any
    min_trust: float
    random_state: Any
    n_jobs: int | None
    verbose: int | None

    def for_fold(self, n_memories: int | None) -> FitSettings:
        """The settings for a fit on some of the cases, with this number of memories.

        Thresholds by hand are for the memories of the whole, so a fold takes common ones.
        """
        thresholds = self.thresholds if isinstance(self.thresholds, str) else "common"
        state = clone(self.random_state, safe=False)
        return replace(self, n_memories=n_memories, thresholds=thresholds, random_state=state)


class Seeds(NamedTuple):
    """Seeds for the parts of a fit, drawn before any parallel work; None: left to chance."""

    search: int | None
    global_classifier: int | None
    fallback: int | None
    similarity: int | None
    folds: int | None

    @classmethod
    def draw(cls, random_state: Any) -> Seeds:
        """Seeds from the `random_state` of an estimator."""
        if random_state is None:
            return cls(*[None] * 5)
        return cls(*[int(draw) for draw in check_random_state(random_state).randint(2**31 - 1, size=5)])


@dataclass(frozen=True)
class TrainingData:
    """What a fit learns from.

    Attributes
    ----------
    cases : Cases or Chunks
    y : ndarray
    weight : ndarray or None
        Of each case.
    params : dict
        What goes to the ``fit`` of the estimators.
    wishes : Wishes
        Which cases must be memories, and which must not.
    """

    cases: Any
    y: Array
    weight: Array | None
    params: dict[str, Any]
    wishes: Wishes = field(default_factory=Wishes)

    @property
    def counted(self) -> Array:
        """Rows that count: a case without weight is absent."""
        return np.arange(len(self.y)) if self.weight is None else np.flatnonzero(self.weight)

    def take(self, rows: Array, *, square: bool) -> TrainingData:
        """The data of some rows; of a square matrix of similarities also only those columns."""
        cases = self.cases.take(rows)
        return TrainingData(
            cases.take_columns(rows) if square else cases,
            self.y[rows],
            None if self.weight is None else self.weight[rows],
            {name: containers.take_if_per_case(value, rows, len(self.y)) for name, value in self.params.items()},
            self.wishes.take(rows),
        )


@dataclass(frozen=True)
class StageOne:
    """The fitted parts that route cases; `MemoryClassifier` documents them by the same names."""

    similarity: Any
    search_result: MemorySearchResult
    memory_indices: Array
    memories: Any
    descriptions: Any
    labels: Array
    thresholds: Array
    rule: str
    min_trust: float

    def route(self, cases: Cases) -> Routes:
        """Where the cases go, by similarity and trust."""
        Z = describe(self.similarity, cases)
        args = (self.similarity, self.descriptions, self.memory_indices, self.thresholds, self.rule)
        return self.drop_untrusted(cases, route_all(*args, Z))

    def without_cases(self) -> Self:
        """The same without what is held for each training case: what workers need to route others."""
        none = self.labels[:0]
        found = replace(self.search_result, labels=none, similarity=none, uncovered=none)
        return replace(self, search_result=found, labels=none)

    def drop_untrusted(self, cases: Cases, routes: Routes) -> Routes:
        """The same routes, without cases whose description the features themselves do not trust."""
        trusted = trust(self.similarity, cases) if self.min_trust else None
        return routes if trusted is None else routes.drop_untrusted(trusted >= self.min_trust)


@dataclass(frozen=True)
class FittedParts(StageOne):
    """All fitted parts, which `MemoryClassifier` copies to attributes of the same names."""

    measurements: Array | None
    classes: Array
    unknown_label: Any
    cluster_counts: Array
    label_distributions: Array
    frequencies: Array
    pool: pool.Pool
    global_classifier: Any
    fallback: Any
    fallback_classifier: Any
    answer: Any


def fit_memories(settings: FitSettings, data: TrainingData, seeds: Seeds) -> StageOne:
    """Fit the similarity, describe the cases once, and choose memories and their thresholds."""
    similarity = seeded(prepare_similarity(settings.similarity, settings.n_jobs, settings.verbose), seeds.similarity)
    Z = fit_and_describe(
        similarity, data.cases, data.y, data.weight, settings.n_memories, settings.search, settings.n_jobs
    )
    found = search_memories(
        Z,
        similarity,
        settings.threshold,
        settings.n_memories,
        settings.search,
        wishes=data.wishes,
        sample_weight=data.weight,
        random_state=seeds.search,
        n_jobs=settings.n_jobs,
        verbose=settings.verbose,
    )
    counted = data.counted
    return StageOne(
        similarity=similarity,
        search_result=found,
        memory_indices=found.indices,
        memories=data.cases.keep(found.indices),
        descriptions=Z.take(found.indices) if isinstance(Z, Blocks) else containers.take(Z, found.indices),
        labels=found.labels,
        thresholds=fit_thresholds(
            settings.thresholds,
            settings.threshold,
            found.indices,
            found.labels[counted],
            found.similarity[counted],
        ),
        rule=settings.rule,
        min_trust=float(settings.min_trust),
    )


def fit_once(
    settings: FitSettings, data: TrainingData, seeds: Seeds, global_classifier: Any = None, former: Former | None = None
) -> FittedParts:
    """Fit everything that needs no folds; a global classifier that is given is not fitted again.

    `former` holds classifiers that are taken over where they would learn from the same cases.
    """
    return fit_clusters(settings, data, seeds, fit_memories(settings, data, seeds), global_classifier, former)


def fit_clusters(
    settings: FitSettings,
    data: TrainingData,
    seeds: Seeds,
    stage_one: StageOne,
    global_classifier: Any = None,
    former: Former | None = None,
) -> FittedParts:
    """Fit the classifiers of given memories, and what the answer rule needs beside them."""
    counted = data.counted
    classes = _find_classes(data.y, counted)
    label = unknown.label_for(classes, settings.unknown_label)
    if isinstance(settings.fallback, str) and settings.fallback == "unknown":
        unknown.check_free(classes, label)
    cluster, code = stage_one.labels[counted], np.searchsorted(classes, data.y[counted])
    counts = np.zeros((len(stage_one.memory_indices), len(classes)), dtype=np.intp)
    np.add.at(counts, (cluster, code), 1)
    weights = np.zeros(counts.shape)
    np.add.at(weights, (cluster, code), 1.0 if data.weight is None else data.weight[counted])
    distributions, frequencies = smooth_counts(weights), weights.sum(axis=0) / weights.sum()
    constants = settings.answer.make_constants(classes, distributions, frequencies)
    local, unchanged, global_classifier, fallback_classifier = _fit_classifiers(
        settings, data, stage_one, seeds, constants, global_classifier, former
    )
    parts = FittedParts(
        **{name: getattr(stage_one, name) for name in StageOne.__dataclass_fields__},
        measurements=former.measurements if former and former.is_edit else measure_memories(stage_one, data.cases),
        classes=classes,
        unknown_label=label,
        cluster_counts=counts,
        label_distributions=distributions,
        frequencies=frequencies,
        pool=local,
        global_classifier=global_classifier,
        fallback=settings.fallback,
        fallback_classifier=fallback_classifier,
        answer=clone(settings.answer),
    )
    if parts.answer.needs_probabilities and not give_probabilities(parts.pool.estimators, fallback_classifier):
        raise TypeError(f"{NEED_PROBABILITIES}; those that were fitted do not. {PROBABILITIES_HELP}")
    if former and former.is_edit:
        answer = former.answer.refit_local(parts, data.cases, data.y, counted, unchanged, data.weight)
        return replace(parts, answer=answer)
    parts.answer.fit_local(parts, data.cases, data.y, counted, data.weight)
    return parts


def give_probabilities(estimators: Any, fallback: Any) -> bool:
    """Whether every classifier that may answer gives probabilities."""
    answering = [*estimators, *([] if fallback is None or isinstance(fallback, str) else [fallback])]
    return all(map(gives_probabilities, answering))


def smooth_counts(counts: Array) -> Array:
    """Class probabilities of each memory from the counts in its cluster.

    One pseudo-case with the overall class frequencies is added (additive smoothing).
    """
    prior = counts.sum(axis=0) / max(1, counts.sum())
    return np.asarray((counts + prior) / (counts.sum(axis=1, keepdims=True) + 1))


def _find_classes(y: Array, counted: Array) -> Array:
    present = np.unique(y[counted])
    if len(present) < 2:
        without = " with a positive sample_weight" if len(counted) < len(y) else ""
        raise ValueError(
            f"y holds one class only, {present.tolist()[0]!r} (n_samples={len(counted)}{without}); a classifier needs "
            "at least two classes to tell apart"
        )
    return np.unique(y)


def measure_memories(stage_one: StageOne, cases: Cases | Chunks) -> Array | None:
    """What an expert feature measures on the memories when it is given all training cases."""
    if isinstance(cases, Chunks):  # all cases are in no process
        _, measured = find_measurements(stage_one.similarity, stage_one.memories)
        return None if measured is None else np.asarray(measured)
    _, measured = find_measurements(stage_one.similarity, cases)
    return None if measured is None else np.asarray(measured[stage_one.memory_indices])


def _fit_classifiers(
    settings: FitSettings,
    data: TrainingData,
    stage_one: StageOne,
    seeds: Seeds,
    constants: list[Any] | None,
    global_classifier: Any,
    former: Former | None,
) -> tuple[pool.Pool, dict[int, int], Any, Any]:
    """Local classifiers or `constants` instead, the global one if needed, and the fallback.

    Also returns which local classifiers were taken over: the new and the former numbers of their memories.
    """
    template = pool.default_estimator() if settings.estimator is None else settings.estimator
    q, counted, cases, y = len(stage_one.memory_indices), data.counted, data.cases, data.y
    members = [counted[stage_one.labels[counted] == k] for k in range(q)]
    Z = stage_one.descriptions
    likeness = compare_memories(stage_one.similarity, Z, stage_one.memory_indices, Z)
    least = int(settings.min_cluster_size) if settings.answer.fits_local else len(y) + 1  # that no cluster has
    home = pool.assign(members, likeness, least if constants is None else 0)
    templates = pool.templates_for(template, q)
    whole = template.get("default", templates[0]) if isinstance(template, Mapping) else template
    by_global = isinstance(settings.fallback, str) and settings.fallback == "global"
    fallback = None if former is None else former.fallback_classifier
    by_local = constants is None and (settings.start == "global" or bool((home == pool.GLOBAL).any()))
    if global_classifier is None and (by_global or by_local or settings.answer.needs_global):
        global_classifier = pool.fit_whole(whole, cases, y, counted, data.params, seeds.global_classifier)
    if by_global:
        fallback = global_classifier
    elif fallback is None and not isinstance(settings.fallback, str):
        fallback = pool.fit_whole(settings.fallback, cases, y, counted, data.params, seeds.fallback)
    if constants is not None:
        return pool.Pool(constants, home, ["labels"] * q), {}, global_classifier, fallback
    drawn = seeds.global_classifier
    own = None if drawn is None else np.random.default_rng(drawn).integers(2**31 - 1, size=q)
    unchanged = {}
    if former is not None:
        own = own if former.seeds is None else former.seeds
        unchanged = former.find_unchanged(stage_one.memory_indices, members, home, own)
    local = pool.fit_pool(
        cases,
        y,
        members,
        home,
        templates,
        global_classifier,
        continued=whole if settings.start == "global" else None,
        seeds=own,
        params=data.params,
        rows_of_memories=stage_one.memory_indices,
        n_jobs=settings.n_jobs,
        verbose=settings.verbose,
        known={k: (former.pool.estimators[j], former.pool.origins[j]) for k, j in unchanged.items()} if former else {},
    )
    return local, unchanged, global_classifier, fallback
