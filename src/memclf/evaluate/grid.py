"""The grid of contenders and conditions: measured here, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from memclf._numbers import Array
from memclf.answers import Answers
from memclf.cases import Cases
from memclf.cases.executors import Here, find_executor
from memclf.classifier import MemoryClassifier
from memclf.evaluate import metrics
from memclf.evaluate.conditions import Conditions
from memclf.evaluate.contender import Contender
from memclf.evaluate.controls import StageOne, labels_of_memories
from memclf.evaluate.store import CLEAN, Condition, Row, Store
from memclf.routing import Routes

Measured = tuple[Row, Array, Array | None]


@runtime_checkable
class Routed(Protocol):
    """A classifier that routes cases to memories before it answers."""

    def route(self, X: Any) -> Routes: ...

    def answers(self, X: Any, routes: Routes | None = None) -> Answers: ...


@dataclass
class Grid:
    """What is to be measured: of each condition some contenders.

    Attributes
    ----------
    making : Conditions
        Makes the cases of a condition.
    codes : ndarray
        The right answers, as positions in the classes.
    classes : ndarray
    study : str
    todo : dict
        Contenders by condition.
    """

    making: Conditions
    codes: Array
    classes: Array
    study: str
    todo: dict[Condition, list[Contender]]
    _started: dict[Condition, Any] = field(default_factory=dict)

    def measure(self, condition: Condition, store: Store) -> Iterator[Measured]:
        """Rows, answers and routes of the contenders under a condition.

        With a client of a cluster, the first changed condition starts all of them as tasks: clean routes are known
        then.
        """
        executor = find_executor()
        if isinstance(executor, Here) or condition == CLEAN:
            yield from self._measure(condition, self._clean_routes(condition, store))
            return
        if condition not in self._started:
            shared = executor.put(self)
            left = [each for each in self.todo if each != CLEAN]
            calls = [(shared, each, self._clean_routes(each, store)) for each in left]
            self._started = dict(zip(left, executor.start(_measure_there, calls), strict=True))
        (found,) = executor.get([self._started.pop(condition)])
        yield from found

    def _clean_routes(self, condition: Condition, store: Store) -> list[Array | None]:
        return [None if condition == CLEAN else store.routes(each.name) for each in self.todo[condition]]

    def _measure(self, condition: Condition, clean: list[Array | None]) -> Iterator[Measured]:
        # Several classifiers look at the same images: what one computes about them, the others need not.
        cases = Cases.of(self.making.make(condition)).remembering()
        for contender, routes in zip(self.todo[condition], clean, strict=True):
            yield measure_one(contender, cases, self.codes, self.classes, condition, routes, self.study)


def _measure_there(grid: Grid, condition: Condition, clean: list[Array | None]) -> list[Measured]:
    return list(grid._measure(condition, clean))


def measure_one(
    contender: Contender,
    cases: Cases,
    codes: Array,
    classes: Array,
    condition: Condition,
    clean: Array | None,
    study: str,
) -> Measured:
    """The row of a contender, its answers and routes; `clean`: its routes of the clean cases."""
    clf = contender.estimator
    coded = Coder(clf, classes)
    more: dict[str, Any] = {}
    routes = None
    if isinstance(clf, Routed):
        found: Routes = clf.route(cases)
        routes = found.memory
        said = coded(clf.answers(cases, found).labels)
        if isinstance(clf, MemoryClassifier):
            more["stage1_accuracy"] = metrics.accuracy(codes, coded(labels_of_memories(clf, found)))
        clean = routes if condition == CLEAN else clean
        if clean is not None:
            more["routing_stability"] = float(np.mean(routes == clean))
            more["oracle_accuracy"] = metrics.accuracy(codes, coded(clf.answers(cases, _sent(found, clean)).labels))
    else:
        said = coded(clf.predict(cases.data))
    selective = metrics.selective_accuracy(codes, said)
    row = Row(
        study=study,
        **contender.name._asdict(),
        **condition._asdict(),
        n=len(codes),
        accuracy=metrics.accuracy(codes, said),
        balanced_accuracy=metrics.balanced_accuracy(codes, said),
        coverage=metrics.coverage(codes, said),
        selective_accuracy=None if np.isnan(selective) else selective,
        **more,
    )
    return row, said, routes


def _sent(routes: Routes, memory: Array) -> Routes:
    """The same cases, sent to these memories instead; their strangeness there is not known."""
    known = memory >= 0
    nearest = np.where(known, memory, routes.nearest)
    return replace(routes, memory=memory, nearest=nearest, known=known, familiar=np.ones_like(known), strangeness=None)


class Coder:
    """Turns answers into positions in the classes; -1 for unknown and for other labels."""

    def __init__(self, clf: Any, classes: Array):
        self.positions = {label: position for position, label in enumerate(classes.tolist())}
        owner = clf.memory_classifier if isinstance(clf, StageOne) else clf
        # A test label may be called as its unknown is, but then it cannot mean that class.
        if isinstance(owner, MemoryClassifier) and owner.unknown_label_ not in owner.classes_.tolist():
            self.positions.pop(owner.unknown_label_, None)

    def __call__(self, answers: Any) -> Array:
        return np.array([self.positions.get(answer, -1) for answer in np.asarray(answers).tolist()], dtype=np.int64)
