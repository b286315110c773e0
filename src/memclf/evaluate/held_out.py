"""Evaluate contenders on held-out folds: every case is answered by fits that did not see it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from memclf._numbers import Array
from memclf._progress import track
from memclf.cases import Collection, containers
from memclf.cases.executors import Here, find_executor, naming_worker
from memclf.classifier import MemoryClassifier
from memclf.classifier.folds import FoldPlan
from memclf.evaluate import metrics
from memclf.evaluate.grid import Coder
from memclf.evaluate.kinds import name_cases
from memclf.evaluate.store import CLEAN, Cases, ModelId, Row, Store

#: Makes an unfitted contender for this number of training cases.
Make = Callable[[int], Any]
#: Makes more contenders from those that were fitted on a fold, as `StageOne` of a memory classifier.
Derive = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def evaluate_held_out(
    contenders: Mapping[str, Make],
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: Any = None,
    derive: Derive = lambda fitted: {},
    random_state: int = 0,
    verbose: int | None = None,
) -> Store:
    """Let contenders answer every case by fits that did not see it, and store the answers.

    The folds are the same for all contenders, so that differences are paired. Intervals do not know that the fits share
    training cases: they are for these cases answered by such fits. With a client of a Dask cluster, every fold is a
    task of its workers. The cases travel to them; of images in files only paths, and the rows in their memory.

    Parameters
    ----------
    contenders : mapping from name to a function of the number of training cases
        It returns an unfitted classifier. Memory classifiers are given the groups.
    X, y : all cases and their labels
    cv, groups : as in `MemoryClassifier`
    derive : function of the fitted contenders of a fold
        It returns more contenders, which need no fit.
    random_state : int
        Draws the folds.
    verbose : int or None

    Returns
    -------
    Store
        In memory; `Results(store)` has means and paired intervals.
    """
    X, y = containers.as_container(X), np.asarray(column_or_1d(y))
    n, classes = len(y), np.unique(y)
    plan = FoldPlan.create(cv, groups, n)
    folds = plan.split(y, np.arange(n), random_state)
    work, executor = _Work(X, y, plan.groups, classes, contenders, derive), find_executor()
    if isinstance(executor, Here):
        tracked = track(folds, total=len(folds), what="held-out folds", verbose=verbose)
        answered = [_answer_fold(work, rest, held) for rest, held in tracked]
    else:
        sent = replace(work, X=X.packed()) if isinstance(X, Collection) else work  # described cases stay described
        # One argument, so that Dask does not look for its own values among the cases.
        there = executor.put(lambda: sent)
        handles = executor.start(_answer_there, [(there, rest, held) for rest, held in folds])
        answered = executor.get(handles, what="held-out folds", verbose=verbose)
    said: dict[str, Array] = {}
    for (_, held), codes in zip(folds, answered, strict=True):
        for name, found in codes.items():
            said.setdefault(name, np.full(n, -1))[held] = found
    found = np.unique(np.concatenate([held for _, held in folds]))
    keys, codes = np.array(name_cases(X)), np.searchsorted(classes, y)
    together = None if plan.groups is None else plan.groups[found]
    cases = Cases(keys[found].tolist(), codes[found], classes.tolist(), together)
    return store_answers({name: answers[found] for name, answers in said.items()}, cases)


@dataclass(frozen=True)
class _Work:
    """What all folds share."""

    X: Any
    y: Array
    groups: Array | None
    classes: Array
    contenders: Mapping[str, Make]
    derive: Derive


def _answer_there(work: Callable[[], _Work], rest: Array, held: Array) -> dict[str, Array]:
    with naming_worker():
        return _answer_fold(work(), rest, held)


def _answer_fold(work: _Work, rest: Array, held: Array) -> dict[str, Array]:
    """Answers to the cases `held` by contenders fitted on `rest`, as positions in the classes."""
    fitted: dict[str, Any] = {}
    for name, make in work.contenders.items():
        model = make(len(rest))
        grouped = work.groups is not None and isinstance(model, MemoryClassifier)
        extra = {"groups": work.groups[rest]} if grouped and work.groups is not None else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the fit on all cases says it once, not once per fold
            fitted[name] = model.fit(containers.take(work.X, rest), work.y[rest], **extra)
    return {
        name: Coder(model, work.classes)(model.predict(containers.take(work.X, held)))
        for name, model in {**fitted, **work.derive(fitted)}.items()
    }


def store_answers(said: Mapping[str, Array], cases: Cases) -> Store:
    """A store in memory with the answers of contenders to the same cases.

    Answers are positions in the classes, -1 for unknown.
    """
    store, truth = Store(), np.asarray(cases.labels)
    store.put_cases(cases.keys, truth, cases.classes, cases.groups)
    for name, answers in said.items():
        selective = metrics.selective_accuracy(truth, answers)
        row = Row(
            study="",
            **ModelId(name, seed=0)._asdict(),
            **CLEAN._asdict(),
            n=len(truth),
            accuracy=metrics.accuracy(truth, answers),
            balanced_accuracy=metrics.balanced_accuracy(truth, answers),
            coverage=metrics.coverage(truth, answers),
            selective_accuracy=None if np.isnan(selective) else selective,
        )
        store.add(row, answers)
    return store


def keep_answered(store: Store, model: str) -> Store:
    """The same answers, about those cases alone that one contender did not call unknown."""
    cases = store.cases()
    if cases is None:
        raise ValueError("the store holds no cases")
    said = {key[0]: answers for key, answers in store.answers().items()}
    kept = np.flatnonzero(said[model] >= 0)
    together = None if cases.groups is None else cases.groups[kept]
    fewer = Cases([cases.keys[k] for k in kept], cases.labels[kept], cases.classes, together)
    return store_answers({name: answers[kept] for name, answers in said.items()}, fewer)
