"""Contenders x conditions -> tidy rows: each condition's cases are made once and go to all contenders."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import joblib
import numpy as np
from sklearn.utils.validation import column_or_1d

from memclf import _cases
from memclf._numbers import Array
from memclf._progress import in_words, say
from memclf.evaluate import metrics
from memclf.evaluate.controls import labels_of_memories
from memclf.evaluate.store import Condition, Name, Row, Store
from memclf.routing import Routes

Make = Callable[[str, int], Any]


@dataclass(frozen=True)
class Contender:
    """A fitted classifier with a name. Rows tell contenders apart by model, recipe, backbone and seed."""

    model: str
    estimator: Any
    recipe: str = ""
    backbone: str = ""
    seed: int = 0

    @property
    def name(self) -> Name:
        return Name(self.model, self.recipe, self.backbone, int(self.seed))


class Watcher(Protocol):
    """Somebody who wants to know how far an evaluation is."""

    def begins(self, condition: Condition, done: int, total: int) -> None: ...

    def finished(self, row: Row) -> None: ...


def evaluate(
    contenders: Mapping[str, Any] | Sequence[Contender],
    X: Any,
    y: Any,
    conditions: Iterable[Condition | tuple[str, int]] | Mapping[tuple[str, int], Any] = (),
    *,
    make: Make | None = None,
    store: Store | None = None,
    study: str = "",
    groups: Any = None,
    watcher: Watcher | None = None,
    verbose: int = 0,
) -> list[dict[str, Any]]:
    """Measure classifiers on a test set, clean and under conditions.

    Parameters
    ----------
    contenders : mapping from name to fitted classifier, or list of `Contender`
    X, y : test cases and their labels
    conditions : pairs of corruption and severity, or a mapping from such pairs to the changed cases
        Pairs need images (`ImageCollection`), or `make`. The clean test set always comes first.
    make : function of corruption and severity, or None
        The test cases under a condition, in the same order. None: ``X.corrupted(corruption, severity)``.
    store : Store or None
        Where rows land as they are finished. What it holds already is not repeated.
    study : str
        A name for the rows.
    groups : array of shape (n,) or None
        Which test cases belong together, as lesions of one face do: intervals then resample groups, not cases.
    watcher : Watcher or None
        Told about every condition that begins and every row that is finished.
    verbose : int
        Say on standard error how far it is.

    Returns
    -------
    list of dict
        One row per contender and condition: accuracy, balanced accuracy, coverage, selective accuracy; for memory
        classifiers also the share of cases that keep the memory of their clean version, the accuracy of stage 1
        alone, and that of the local classifiers when cases are routed by their clean version.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> rows = evaluate({"plain": LogisticRegression().fit(X, y)}, X, y, {("drift", 1): X + 1.0})
    >>> [(row["model"], row["corruption"], row["accuracy"]) for row in rows]
    [('plain', 'clean', 1.0), ('plain', 'drift', 0.75)]
    """
    if isinstance(contenders, Mapping):
        contenders = [Contender(name, estimator) for name, estimator in contenders.items()]
    if len({each.name for each in contenders}) < len(contenders):
        raise ValueError("two contenders have the same model, recipe, backbone and seed")
    store = Store() if store is None else store
    X, y = _cases.as_cases(X), np.asarray(column_or_1d(y))
    if len(y) != _cases.count(X):
        raise ValueError(f"there are {_cases.count(X)} test cases and {len(y)} labels")
    classes = _classes(contenders, y)
    codes = np.searchsorted(classes, y)
    if groups is not None and len(groups) != len(y):
        raise ValueError(f"there are {len(y)} test cases and {len(groups)} entries in groups")
    store.put_cases(_keys(X), codes, classes.tolist(), groups)
    made = conditions if isinstance(conditions, Mapping) else {}
    made = {_condition(*key): cases for key, cases in made.items()}
    asked = [_condition(*key) for key in conditions]
    jobs = list(dict.fromkeys([Condition(), *asked]))
    finished = store.finished()
    started, fresh = time.monotonic(), 0
    for number, condition in enumerate(jobs):
        todo = [each for each in contenders if (each.name, condition) not in finished]
        if not todo:
            continue
        if watcher is not None:
            watcher.begins(condition, number, len(jobs))
        left = "" if not fresh else f", {in_words((time.monotonic() - started) / fresh * (len(jobs) - number))} left"
        say(f"condition {number + 1} of {len(jobs)}: {condition}{left}", verbose)
        cases = X if condition == Condition() else made[condition] if condition in made else _made(X, condition, make)
        if _cases.count(cases) != len(y):
            raise ValueError(f"{condition} has {_cases.count(cases)} cases, the clean test set {len(y)}")
        # Several classifiers look at the same images: what one computes about them, the others need not.
        cases = _cases.remembering(cases)
        for contender in todo:
            row, answers, routes = _measured(contender, cases, codes, classes, condition, store, study)
            store.add(row, answers, routes)
            if watcher is not None:
                watcher.finished(row)
        del cases  # before the next ones are made
        fresh += 1
    wanted, names = set(jobs), {each.name for each in contenders}
    rows = [row for row in store.rows() if (row["corruption"], row["severity"]) in wanted]
    return [row for row in rows if (row["model"], row["recipe"], row["backbone"], row["seed"]) in names]


def _condition(name: str, severity: Any) -> Condition:
    if severity != int(severity):
        raise ValueError(f"severities are whole numbers, got {severity!r} for {name!r}; put it into the name instead")
    return Condition(name, int(severity))


def _made(X: Any, condition: Condition, make: Make | None) -> Any:
    if make is not None:
        return _cases.as_cases(make(*condition))
    if not hasattr(X, "corrupted"):
        raise TypeError(
            f"{type(X).__name__} cannot be corrupted by name: pass images (memclf.vision.ImageCollection), a mapping "
            "from (name, severity) to the changed cases, or make=function"
        )
    return X.corrupted(*condition)


def _measured(
    contender: Contender, X: Any, codes: Array, classes: Array, condition: Condition, store: Store, study: str
) -> tuple[Row, Array, Array | None]:
    clf = contender.estimator
    coded = _Coder(clf, classes)
    more: dict[str, Any] = {}
    routes = None
    if hasattr(clf, "predict_routed"):
        found: Routes = clf.route(X)
        routes = found.memory
        said = coded(clf.predict_routed(X, found))
        if hasattr(clf, "cluster_counts_"):
            more["stage1_accuracy"] = metrics.accuracy(codes, coded(labels_of_memories(clf, found)))
        clean = routes if condition == Condition() else store.routes(contender.name)
        if clean is not None:
            more["routing_stability"] = float(np.mean(routes == clean))
            more["oracle_accuracy"] = metrics.accuracy(codes, coded(clf.predict_routed(X, _sent(found, clean))))
    else:
        said = coded(clf.predict(X))
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
    """The same cases, sent to these memories instead, where nobody has looked yet how strange they are."""
    known = memory >= 0
    nearest = np.where(known, memory, routes.nearest)
    return replace(routes, memory=memory, nearest=nearest, known=known, familiar=np.ones_like(known), strangeness=None)


def _classes(contenders: Sequence[Contender], y: Array) -> Array:
    """All labels that are true or can be answered."""
    found = [np.asarray(each.estimator.classes_) for each in contenders if hasattr(each.estimator, "classes_")]
    return np.unique(np.concatenate([np.unique(y), *found]))


class _Coder:
    """Answers of a classifier as positions in the classes; -1 for its unknown, and for what is none of them."""

    def __init__(self, clf: Any, classes: Array):
        self.positions = {label: position for position, label in enumerate(classes.tolist())}
        owner = getattr(clf, "memory_classifier", clf)
        # A test label may be called as its unknown is, but then it cannot mean that class.
        if hasattr(owner, "unknown_label_") and owner.unknown_label_ not in owner.classes_.tolist():
            self.positions.pop(owner.unknown_label_, None)

    def __call__(self, answers: Any) -> Array:
        return np.array([self.positions.get(answer, -1) for answer in np.asarray(answers).tolist()], dtype=np.int64)


def _keys(X: Any) -> list[str]:
    """Names of the cases; those without a name bear a trace of what they are, so that others are told from them."""
    n = _cases.count(X)
    keys = [X.key(i) for i in range(n)] if hasattr(X, "key") else [None] * n
    if not any(key is None for key in keys):
        return [str(key) for key in keys]
    trace = joblib.hash([joblib.hash(image) for image in X] if hasattr(X, "corrupted") else X)[:8]
    return [f"case {i} of {trace}" if key is None else str(key) for i, key in enumerate(keys)]
