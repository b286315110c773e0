"""Fitting classifiers on cases in chunks: one task for each, on one worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import Cases, containers
from memclf.cases.chunks import Chunks
from memclf.local.one import Job, fit_one, fit_whole


def fit_jobs_on_chunks(chunks: Chunks, jobs: list[Job], verbose: int | None) -> list[tuple[Any, str]]:
    """The local classifiers and how they came about; cases go from worker to worker."""
    executor = chunks.executor
    # The global classifier goes to every worker once, not with every job.
    begins = {id(job.begin): None if job.begin is None else executor.put(job.begin) for job in jobs}
    piles = chunks.piles([job.rows for job in jobs])
    calls = [
        (replace(job, begin=None, rows=job.rows[:0]), begins[id(job.begin)], pile)
        for job, pile in zip(jobs, piles, strict=True)
    ]
    return executor.get(executor.start(_fit_on_pile, calls), what="fitting local classifiers", verbose=verbose)


def fit_whole_on_chunks(
    estimator: Any, chunks: Chunks, y: Array, rows: Array, params: dict[str, Any], seed: int | None
) -> Any:
    """The estimator trained on everything that counts, on one worker."""
    own = {name: containers.take_if_per_case(value, rows, len(y)) for name, value in params.items()}
    call = (estimator, chunks.pieces(rows), y[rows], own, seed)
    (fitted,) = chunks.executor.get(chunks.executor.start(_fit_whole_on_pieces, [call]))
    return fitted


def call_on_rows(chunks: Chunks, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """``work(cases, ...)`` for each call, which begins with ascending rows, on one worker each."""
    piles = chunks.piles([rows for rows, *_ in calls])
    started = [(work, pile, *arguments) for pile, (_, *arguments) in zip(piles, calls, strict=True)]
    return chunks.executor.get(chunks.executor.start(_call_on_pile, started))


def _call_on_pile(work: Callable[..., Any], pile: list[Any], *arguments: Any) -> Any:
    return work(Cases.of(containers.stack(pile)), *arguments)


def _fit_on_pile(job: Job, begin: Any, pile: list[Any]) -> tuple[Any, str]:
    cases = Cases.of(containers.stack(pile))
    return fit_one(replace(job, begin=begin), cases.given_to(job.template))


def _fit_whole_on_pieces(estimator: Any, pieces: list[Any], y: Array, params: dict[str, Any], seed: int | None) -> Any:
    return fit_whole(estimator, Cases.of(containers.stack(pieces)), y, np.arange(len(y)), params, seed)
