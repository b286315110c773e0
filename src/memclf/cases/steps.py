"""Pipelines that begin as the features of a similarity: what both compute is computed once.

A similarity and an estimator may begin with the same slow transformer, such as an embedding of texts. The rows that the
similarity's features computed are in the cache of the cases. A pipeline takes them from there if its first steps,
fitted to its own cases, equal these features in class, parameters and learned state (see `Computation`). It then holds
the very objects of the features, so that nothing has to be compared when it predicts. Where a step has learned
something else, the pipeline is fitted as scikit-learn does it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn.base import TransformerMixin, clone
from sklearn.pipeline import Pipeline

from memclf.cases.adapter import Cases
from memclf.cases.computation import Computation
from memclf.protocols import FitTransforms

Steps = list[tuple[str, Any]]
Things = tuple[Any, ...]


# ------------------------------------------------------------------------------------------------------------ fitting


def may_be_known(estimator: Any, cases: Cases) -> bool:
    """Whether rows of the first step of an unfitted pipeline may be in the cache, by its class."""
    if type(estimator) is not Pipeline or estimator.memory is not None:  # a memory is a cache of its own
        return False
    if estimator.get_params(deep=False).get("transform_input") is not None:
        return False
    return bool(_list_alike(estimator.steps[0][1], (), cases))


def repeats_known(estimator: Any, cases: Cases, y: Any) -> bool:
    """Whether the first step of a pipeline, fitted to these cases, has rows in the cache."""
    if not may_be_known(estimator, cases):
        return False
    first = clone(estimator.steps[0][1])
    try:
        return Computation(first.fit(cases.data, y)) in _list_alike(first, (), cases)
    except Exception:  # too few cases for it: when the pipeline is fitted to more, it will say so itself
        return False


def fit_first_steps(estimator: Any, cases: Cases, y: Any) -> tuple[Steps, Any, Any]:
    """Fit the first steps of an unfitted pipeline, as far as their rows are in the cache.

    Returns
    -------
    steps : list of (name, step)
        Fitted; those with rows in the cache are the very objects that computed them. [] for most estimators.
    rest : estimator
        Unfitted: a pipeline of the other steps, or the estimator itself.
    X : rows
        What the rest is to be fitted to.
    """
    steps: Steps = []
    X = cases.given_to(estimator)
    if not may_be_known(estimator, cases):
        return steps, estimator, X
    for name, step in estimator.steps[:-1]:
        before = _objects(steps)
        alike = _list_alike(step, before, cases)
        if not alike:
            break
        own = Computation(*before, step.fit(X, y))
        same = next((each.things[-1] for each in alike if each == own), None)
        steps.append((name, step if same is None else same))
        if same is None:  # it has learned something else, so no step after it is known
            X = step.transform(X)
            break
        X = _compute_rows(_objects(steps), cases)
    return steps, Pipeline(estimator.steps[len(steps) :], verbose=estimator.verbose), X


def join_steps(steps: Steps, rest: Any) -> Any:
    """The pipeline of fitted first steps and the fitted rest."""
    return Pipeline([*steps, *rest.steps], verbose=rest.verbose) if steps else rest


# ---------------------------------------------------------------------------------------------------------- predicting


def count_known(estimator: Any, cases: Cases) -> int:
    """How many first steps of a fitted pipeline computed rows that are in the cache."""
    known = cases.computations if type(estimator) is Pipeline else []
    for n in range(len(estimator.steps) - 1 if known else 0, 0, -1):
        if any(_are_same(each.things, _objects(estimator.steps[:n])) for each in known):
            return n
    return 0


def share_first_step(estimators: Iterable[Any], things: list[Any]) -> bool:
    """Whether some pipeline begins with one of these very objects."""
    first = [each.steps[0][1] for each in estimators if type(each) is Pipeline]
    return any(step is thing for step in first for thing in things)


def skip_steps(estimator: Any, cases: Cases, n: int) -> tuple[Any, Any]:
    """A fitted pipeline without its first n steps, and what these make of the cases."""
    if not n:
        return estimator, cases.given_to(estimator)
    rest = estimator.steps[n:]
    return rest[0][1] if len(rest) == 1 else Pipeline(rest), _compute_rows(_objects(estimator.steps[:n]), cases)


def skip_known(estimator: Any, cases: Cases) -> tuple[Any, Any]:
    """A fitted estimator without first steps that have rows in the cache, and what it takes."""
    return skip_steps(estimator, cases, count_known(estimator, cases))


def rows_before_last(pipeline: Pipeline, cases: Cases, n: int | None = None) -> Any:
    """What the last step of a pipeline takes; n first steps (None: known ones) are cached."""
    rest, X = skip_steps(pipeline, cases, count_known(pipeline, cases) if n is None else n)
    return rest[:-1].transform(X) if isinstance(rest, Pipeline) and len(rest) > 1 else X


def _list_alike(step: Any, before: Things, cases: Cases) -> list[Computation]:
    """Computations in the cache by the very objects `before` and then one of the step's class."""
    # What a `fit_transform` of its own gives may differ from what `transform` gives.
    if isinstance(step, FitTransforms) and type(step).fit_transform is not TransformerMixin.fit_transform:
        return []
    return [
        each
        for each in cases.computations
        if type(each.things[-1]) is type(step) and _are_same(each.things[:-1], before)
    ]


def _are_same(things: Things, others: Things) -> bool:
    return len(things) == len(others) and all(a is b for a, b in zip(things, others, strict=True))


def _objects(steps: Steps) -> Things:
    return tuple(step for _, step in steps)


def _compute_rows(things: Things, cases: Cases) -> Any:
    def compute(some: Cases) -> Any:
        X = some.data
        for step in things:
            X = step.transform(X)
        return X

    return cases.remember(things, compute)
