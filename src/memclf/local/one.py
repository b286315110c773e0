"""Fitting one classifier: fresh, or from the global classifier on."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.validation import has_fit_parameter

from memclf._numbers import Array
from memclf._seeds import seeded
from memclf.cases import Cases, containers
from memclf.cases.steps import fit_first_steps, join_steps, rows_before_last, skip_known
from memclf.exceptions import LocalFitError
from memclf.local.remedies import LARGER_CLUSTERS, remedy_for_data
from memclf.protocols import Continues, fits_in_parts


def fit_whole(estimator: Any, cases: Cases, y: Array, rows: Array, params: dict[str, Any], seed: int | None) -> Any:
    """The estimator trained on everything that counts: the global classifier."""
    if len(rows) < len(y):
        params = {name: containers.take_if_per_case(value, rows, len(y)) for name, value in params.items()}
        cases, y = cases.take(rows), y[rows]
    try:
        X = cases.given_to(estimator) if name_steps(params) else cases
        return _fitted(seeded(clone(estimator), seed), X, y, params)
    except (TypeError, ValueError) as error:
        if remedy := remedy_for_data(cases.data, error):
            error.add_note(f"{type(estimator).__name__} failed on all {len(y)} cases. {remedy}")
        raise


def name_steps(params: dict[str, Any]) -> bool:
    """Whether parameters of `fit` may be for other steps of a pipeline than its last."""
    return bool(params) and (routing_enabled() or any("__" in name for name in params))


@dataclass(frozen=True)
class Job:
    """What one local classifier learns from, besides the cases, and how.

    Attributes
    ----------
    rows : ndarray
        Rows of its training cases, ascending.
    template : classifier
        The unfitted estimator.
    y : ndarray
        Labels of the cases.
    params : dict
        What goes to its ``fit``.
    begin : classifier or None
        The global classifier, where the local one goes on from it.
    seed : int or None
    where : str
        The name of the cluster in messages.
    """

    rows: Array
    template: Any
    y: Array
    params: dict[str, Any]
    begin: Any
    seed: int | None
    where: str


def fit_one(job: Job, X: Any) -> tuple[Any, str]:
    """A local classifier fitted on the cases of its cluster, and how it came about."""
    template, y, params, begin, seed = job.template, job.y, job.params, job.begin, job.seed
    classes = np.unique(y)
    if len(classes) == 1:
        return constant(classes[0]), "constant"
    try:
        if begin is not None:
            local = _continued(begin, X, y, params, seed)
            if local is not None:
                return local, "global"
        local = _fitted(seeded(clone(template), seed), X, y, params)
        rest, first = skip_known(local, Cases.of(X).take(np.array([0])))
        rest.predict(first)  # some fail here only, as neighbours with too few cases
        return local, "fresh"
    except Exception as error:
        counts = ", ".join(f"{c!r}: {int((y == c).sum())}" for c in np.unique(y).tolist())
        remedy = remedy_for_data(Cases.of(X).data, error) or LARGER_CLUSTERS
        raise LocalFitError(
            f"{type(template).__name__} failed on the cluster of {job.where}, {len(y)} cases, classes {{{counts}}}: "
            f"{type(error).__name__}: {str(error).rstrip('. ')}. {remedy}"
        ) from error


def constant(label: Any) -> Any:
    """Answers one class, always. Nothing is trained."""
    return DummyClassifier(strategy="most_frequent").fit(np.zeros((1, 1)), np.array([label]))


def _fitted(estimator: Any, X: Any, y: Array, params: dict[str, Any]) -> Any:
    if "sample_weight" in params and not has_fit_parameter(estimator, "sample_weight") and not routing_enabled():
        if not isinstance(estimator, Pipeline):
            raise TypeError(f"{type(estimator).__name__} does not take sample_weight")
        last = estimator.steps[-1][0]
        params = {f"{last}__{name}": value for name, value in params.items()}
    steps, rest, X = fit_first_steps(estimator, X, y) if isinstance(X, Cases) else ([], estimator, X)
    return join_steps(steps, rest.fit(X, y, **params))


def _continued(begin: Any, X: Any, y: Array, params: dict[str, Any], seed: int | None) -> Any:
    """A copy of the global classifier, trained further on the cluster; None if it cannot be."""
    if isinstance(begin, Continues):  # it has its own method, as networks do
        return begin.continued(X, y, seed=seed, **params)
    if isinstance(begin, Pipeline):  # its last step goes on, on what the steps before it make of the cases
        last = _continued(begin[-1], rows_before_last(begin, Cases.of(X)), y, params, seed)
        return None if last is None else Pipeline([*begin.steps[:-1], (begin.steps[-1][0], last)])
    settings = begin.get_params(deep=False)
    local = copy.deepcopy(begin)
    if "warm_start" in settings and np.array_equal(np.unique(y), begin.classes_):
        more = {}
        if "n_estimators" in settings:  # as many trees again, grown on the cluster
            more["n_estimators"] = 2 * settings["n_estimators"]
        elif isinstance(begin, HistGradientBoostingClassifier):
            more["max_iter"] = 2 * settings["max_iter"]
        return local.set_params(warm_start=True, **more).fit(X, y, **params)
    if fits_in_parts(local):
        return local.partial_fit(X, y, **params)
    return None
