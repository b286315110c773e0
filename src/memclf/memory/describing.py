"""Fitting a similarity and describing the cases that memories are searched among."""

from __future__ import annotations

from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import Cases, containers
from memclf.cases.chunks import Chunks
from memclf.cases.sliced import SlicedRows
from memclf.memory.blocks import Blocks
from memclf.memory.chunk_blocks import ChunkBlocks
from memclf.memory.sampling import Population, merge_keys
from memclf.memory.search import EXACT_CASES, SearchOptions
from memclf.similarity.base import (
    USE_GOWER_FOR_GAPS,
    NumericSimilarity,
    describe,
    fit_describe,
    learns_from_rows,
    positive_weights,
)

SAMPLE_TO_FIT = 100_000  # cases from which a similarity learns its scale, where there are more


def fit_and_describe(
    similarity: Any,
    cases: Cases | Chunks,
    y: Any,
    sample_weight: Any,
    n_memories: int | None,
    options: SearchOptions,
    n_jobs: int | None = None,
) -> Any:
    """The descriptions of all cases; `Blocks` of them where holding them all is a waste.

    Rows of numbers that are the features themselves are described at no cost, again in every pass. What the similarity
    learns from very many of them, it learns from a sample. Descriptions of chunks stay with the chunks.
    """
    if isinstance(cases, Chunks):
        described = _describe_chunks(similarity, cases, y, sample_weight, options)
        exact = options.judges_by_all(len(cases), containers.row_bytes(described.data), n_memories)
        return described.gather() if exact else described
    many = len(cases) > EXACT_CASES and containers.is_rows_of_numbers(cases.data)
    if not (_takes_rows(similarity) and many and options.mode == "corrected"):
        if isinstance(cases.data, SlicedRows):  # read whole: a similarity may look at it row by row
            cases = Cases.of(cases.data[:])
        return fit_describe(similarity, cases, y, sample_weight)
    blocks = Blocks(cases.data, similarity, n_jobs=n_jobs)
    blocks.keep_within(options.max_memory, n_memories)
    if not similarity.allow_nan:
        blocks.check_finite(USE_GOWER_FOR_GAPS)
    counted = np.ones(len(cases)) if sample_weight is None else positive_weights(sample_weight, len(cases))
    some = _draw_to_fit(Population.merged(blocks, counted))
    weights = None if sample_weight is None else counted[some]
    fit_describe(similarity, cases.take(some), containers.take_if_per_case(y, some, len(cases)), weights)
    return Blocks(cases.data, similarity, similarity.describe, n_jobs=n_jobs)


def _describe_chunks(
    similarity: Any, chunks: Chunks, y: Any, sample_weight: Any, options: SearchOptions
) -> ChunkBlocks:
    """The same for chunks: the similarity is fitted on one worker, chunks are described apart."""
    n = len(chunks)
    counted = np.ones(n) if sample_weight is None else positive_weights(sample_weight, n)
    if options.mode != "corrected" and n > EXACT_CASES:
        raise ValueError(
            f"mode={options.mode!r} compares all {n:,} cases in one process, which is meant for up to {EXACT_CASES:,}. "
            "Use mode='corrected' for cases in chunks"
        )
    keys = None
    if _takes_rows(similarity):
        keys = chunks.keys
        if not similarity.allow_nan:
            chunks.check_finite(USE_GOWER_FOR_GAPS)
    if keys is not None and n > EXACT_CASES:
        some = _draw_to_fit(merge_keys(keys, counted))
    elif n > SAMPLE_TO_FIT:
        some = np.sort(np.random.default_rng(0).choice(n, SAMPLE_TO_FIT, replace=False))
    else:
        some = np.arange(n)
    about = containers.take_if_per_case(y, some, n), None if sample_weight is None else counted[some]
    executor, pieces = chunks.executor, chunks.pieces(some)
    if learns_from_rows(similarity):
        # Features are fitted on one worker. They measure the cases where these are.
        (features,) = executor.get(executor.start(_fit_features_on_pieces, [(similarity, pieces, *about)]))
        rows = chunks.take(some).start_on_cases(_measure, (similarity, features))
        started = executor.start(_fit_on_rows, [(similarity, features, rows, *about)])
    else:
        started = executor.start(_fit_on_pieces, [(similarity, pieces, *about)])
    (fitted,) = executor.get(started)
    vars(similarity).update(vars(fitted))
    return ChunkBlocks(chunks, chunks.start_on_cases(_describe_cases, similarity), similarity)


def _takes_rows(similarity: Any) -> bool:
    """Whether rows of numbers are the features of a similarity themselves."""
    return isinstance(similarity, NumericSimilarity) and similarity.features is None


def _draw_to_fit(population: Population) -> Array:
    return np.sort(population.draw(SAMPLE_TO_FIT, np.random.default_rng(0)).rows)


def _fit_on_pieces(similarity: Any, pieces: list[Any], y: Any, sample_weight: Any) -> Any:
    fit_describe(similarity, containers.stack(pieces), y, sample_weight)
    return similarity


def _fit_features_on_pieces(similarity: Any, pieces: list[Any], y: Any, sample_weight: Any) -> Any:
    return similarity.fit_features(Cases.of(containers.stack(pieces)), y, sample_weight)


def _measure(parts: tuple[Any, Any], cases: Cases) -> Any:
    similarity, features = parts
    return similarity.measure(features, cases)


def _fit_on_rows(similarity: Any, features: Any, rows: list[Any], y: Any, sample_weight: Any) -> Any:
    similarity.fit_rows(features, containers.stack(rows), y, sample_weight)
    return similarity


def _describe_cases(similarity: Any, cases: Cases) -> Any:
    Z = describe(similarity, cases)
    if containers.count(Z) != len(cases):
        raise ValueError(f"{type(similarity).__name__} gave {containers.count(Z)} descriptions of {len(cases)} cases")
    return Z
