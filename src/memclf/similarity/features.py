"""Fitting the features of a similarity and computing them once for each case, in steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import TransformerMixin, clone
from sklearn.pipeline import Pipeline

from memclf._progress import track
from memclf.cases import Cases, containers
from memclf.protocols import Collects, transforms


def fill_in(part: Any, **given: Any) -> None:
    """Set parameters of a part that the user left open (None or 0)."""
    own = part.get_params(deep=False)
    part.set_params(**{name: value for name, value in given.items() if name in own and own[name] in (None, 0)})


def fit_features(features: Any, cases: Cases, y: Any, **given: Any) -> Any:
    """A fitted copy of a transformer; `given` are parameters for features with own workers.

    The steps of a pipeline are fitted as `Pipeline.fit` does it, except that what a step computes about a case is
    cached, so that describing the same cases does not compute it again.
    """
    fitted = clone(features)
    steps = list_steps(fitted)
    for step in steps:
        if issubclass(type(step), Collects):
            fill_in(step, **given)
    if len(steps) < 2:
        fitted.fit(cases.given_to(steps[0] if steps else fitted), y)
        return fitted
    rows = cases.given_to(steps[0])
    for number, step in enumerate(steps[:-1], start=1):
        # What a `fit_transform` of its own gives may differ from what `transform` gives.
        if isinstance(step, TransformerMixin) and type(step).fit_transform is not TransformerMixin.fit_transform:
            rows = step.fit_transform(rows, y)
        else:
            step.fit(rows, y)
            rows = compute_rows(steps[:number], cases)
    steps[-1].fit(rows, y)
    return fitted


def compute_features(features: Any, cases: Cases, *, n_jobs: int | None = None, verbose: int | None = None) -> Any:
    """One row of features per case, computed once if the cases have a cache."""
    steps = list_steps(features)
    if cases.remembers or any(issubclass(type(step), Collects) for step in steps):
        return compute_rows(steps, cases, n_jobs=n_jobs, verbose=verbose)
    return extract(features, cases.data, n_jobs=n_jobs, verbose=verbose)


def compute_rows(steps: list[Any], cases: Cases, **how: Any) -> Any:
    """What some steps, one after the other, make of the cases."""
    if not steps:
        return cases.data
    *before, last = steps
    if issubclass(type(last), Collects) and not before:  # its collection has a cache
        return last.transform(cases.given_to(last))
    if any(issubclass(type(step), Collects) for step in before):  # rows may depend on all cases of a call
        return extract(last, compute_rows(before, cases, **how), **how)
    return cases.remember(tuple(steps), lambda some: extract(last, compute_rows(before, some, **how), **how))


def list_steps(features: Any) -> list[Any]:
    """The transformers of a pipeline, with those of inner pipelines; all else is one step.

    A pipeline with a memory of its own, and whatever is in other compositions, is one step.
    """
    if not isinstance(features, Pipeline) or features.memory is not None:
        return [features]
    return [step for _, each in features.steps if each not in (None, "passthrough") for step in list_steps(each)]


def extract(features: Any, X: Any, *, n_jobs: int | None = None, verbose: int | None = None) -> Any:
    """Features of all cases, in parallel chunks, in the order of the cases."""
    n = containers.count(X)
    workers = effective_n_jobs(n_jobs)
    if workers == 1 and not verbose:
        return _extract_chunk(features, X)
    parts = list(containers.chunks(n, -(-n // (8 * workers))))
    run = Parallel(n_jobs=n_jobs, return_as="generator")
    jobs = (delayed(_extract_chunk)(features, containers.take(X, np.arange(n)[part])) for part in parts)
    return containers.stack(list(track(run(jobs), total=len(parts), what="describing", verbose=verbose)))


def _extract_chunk(features: Any, X: Any) -> Any:
    if transforms(features):
        return features.transform(X)
    try:
        return containers.object_array([features(case) for case in containers.as_sequence(X)])
    except Exception as error:
        error.add_note("features= a plain function takes one case; wrap one of a batch: FunctionTransformer(function)")
        raise
