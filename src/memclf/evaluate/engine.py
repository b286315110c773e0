"""Evaluate contenders under conditions: one tidy row for each pair.

The cases of a condition are made once and go to all contenders.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, column_or_1d

from memclf._numbers import Array
from memclf._progress import in_words, say
from memclf.cases import Collection, containers
from memclf.classifier import MemoryClassifier
from memclf.evaluate import exhibits
from memclf.evaluate.conditions import Conditions, Make
from memclf.evaluate.contender import Contender
from memclf.evaluate.describe import describe_model, list_settings, list_versions
from memclf.evaluate.grid import Grid
from memclf.evaluate.kinds import describe_data, has_own_names, kind_of, name_cases
from memclf.evaluate.store import Condition, Row, Store
from memclf.exceptions import StoreError

RESULTS = "results.sqlite"


class Watcher(Protocol):
    """An object that is told how far an evaluation is."""

    def begins(self, condition: Condition, done: int, total: int) -> None: ...

    def finished(self, row: Row) -> None: ...


def evaluate(
    contenders: Mapping[str, Any] | Sequence[Contender],
    X: Any,
    y: Any,
    conditions: Iterable[Condition | tuple[str, int]] | Mapping[tuple[str, int], Any] = (),
    *,
    make: Make | None = None,
    preset: str | None = None,
    at: tuple[int, int] | None = None,
    store: Store | str | os.PathLike[str] | None = None,
    study: str = "",
    title: str = "",
    groups: Any = None,
    show: bool = True,
    watcher: Watcher | None = None,
    verbose: int | None = None,
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
    preset : str or None
        Which table of severities corruptions use, as in ``X.corrupted(..., preset=...)``. For images only.
    at : (height, width) or None
        The size at which images are corrupted, as in ``X.corrupted(..., at=...)``. None: their own. For images only.
    store : Store, path of a folder, or None
        Where rows land as they are finished. What it holds already is not repeated. A folder keeps them in its
        ``results.sqlite``, beside all that ``memclf.report.build(folder)`` shows.
    study : str
        A name for the rows.
    title : str
        The title of the report.
    groups : array of shape (n,) or None
        Which test cases belong together, as lesions of one face do: intervals then resample groups, not cases.
    show : bool
        Write single cases for the report (memories, routes, hard cases) into the folder of the store.
    watcher : Watcher or None
        Told about every condition that begins and every row that is finished.
    verbose : int
        Print on standard error how far it is.

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
    started = time.monotonic()
    if isinstance(contenders, BaseEstimator):
        raise TypeError(f"contenders must be a mapping from names to classifiers: {{'mine': {contenders!r}}}")
    if isinstance(contenders, Mapping):
        contenders = [Contender(name, estimator) for name, estimator in contenders.items()]
    if len({each.name for each in contenders}) < len(contenders):
        raise ValueError("two contenders have the same model, recipe, backbone and seed")
    for each in contenders:
        if isinstance(each.estimator, MemoryClassifier):
            check_is_fitted(each.estimator)
    store = _as_store(store)
    X, y = containers.as_container(X), np.asarray(column_or_1d(y))
    if len(y) != containers.count(X):
        raise ValueError(f"there are {containers.count(X)} test cases and {len(y)} labels")
    if groups is not None and len(groups) != len(y):
        raise ValueError(f"there are {len(y)} test cases and {len(groups)} entries in groups")
    making = Conditions(X, conditions, make, preset, at)
    classes = _classes(contenders, y)
    codes = np.searchsorted(classes, y)
    _put_cases(store, X, codes, classes, groups)
    making.check_same(store)
    _put_facts(store, X, contenders, title, study)
    finished = store.finished()
    todos = {each: [one for one in contenders if (one.name, each) not in finished] for each in making.all}
    grid = Grid(making, codes, classes, study, {each: todo for each, todo in todos.items() if todo})
    fresh = 0
    for number, condition in enumerate(making.all):
        if not todos[condition]:
            continue
        if watcher is not None:
            watcher.begins(condition, number, len(making.all))
        spent = time.monotonic() - started
        left = "" if not fresh else f", {in_words(spent / fresh * (len(making.all) - number))} left"
        say(f"condition {number + 1} of {len(making.all)}: {condition}{left}", verbose)
        for row, answers, routes in grid.measure(condition, store):
            store.add(row, answers, routes)
            if watcher is not None:
                watcher.finished(row)
        fresh += 1
    if show and store.path is not None and store.path.name == RESULTS:
        _write_exhibits(store.path.parent, store, contenders, X, making, anew=fresh > 0)
    store.put("seconds", (store.get("seconds") or 0.0) + time.monotonic() - started)
    wanted, names = set(making.all), {each.name for each in contenders}
    rows = [row for row in store.rows() if (row["corruption"], row["severity"]) in wanted]
    return [row for row in rows if (row["model"], row["recipe"], row["backbone"], row["seed"]) in names]


def _as_store(store: Store | str | os.PathLike[str] | None) -> Store:
    if store is None or isinstance(store, Store):
        return Store() if store is None else store
    path = Path(store)
    if path.suffix in (".sqlite", ".db") or path.is_file():
        raise ValueError(f"store={str(path)!r} is a file; pass a folder, or Store({str(path)!r})")
    return Store(path / RESULTS)


def _put_cases(store: Store, X: Any, codes: Array, classes: Array, groups: Any) -> None:
    """Note the test cases; other ones are refused, also where names do not tell them apart."""
    if not has_own_names(X):
        content = joblib.hash(
            [joblib.hash(X[position]) for position in range(len(X))] if isinstance(X, Collection) else X
        )
        if store.get("content") not in (None, content):
            raise StoreError(f"{store.path or 'this store'} holds results on other test cases; use a new file")
        store.put("content", content)
    store.put_cases(name_cases(X), codes, classes.tolist(), groups)


def _put_facts(store: Store, X: Any, contenders: Sequence[Contender], title: str, study: str) -> None:
    """What the report tells about the evaluation as a whole."""
    kind = kind_of(X)
    if title or not (study or store.get("title")):
        store.put("title", title or f"Evaluation on {containers.count(X):,} {'rows' if kind == 'table' else kind}")
    if store.get("started") is None:
        store.put("started", datetime.now(UTC).isoformat(timespec="seconds"))
        store.put("versions", list_versions())
    store.put("data", {"kind": kind, "note": describe_data(X)})
    if isinstance(X, Collection):
        store.put("corruption_labels", X.corruption_labels())
    models = {tuple(each["name"]): each for each in store.get("models") or []}
    for each in contenders:
        about = {"description": describe_model(each.estimator), "settings": list_settings(each.estimator)}
        models[each.name] = {"name": [*each.name], **about}
    store.put("models", list(models.values()))


def _write_exhibits(
    folder: Path, store: Store, contenders: Sequence[Contender], X: Any, making: Conditions, *, anew: bool
) -> None:
    """Write single cases for the report, of the memory classifier that its verdict is about.

    An error here is a warning: results are never lost for them.
    """
    shown = exhibits.choose_contender(store, contenders)
    if shown is None or not (anew or not (folder / exhibits.FILE).is_file()):
        return
    try:
        exhibits.write_exhibits(folder, store, shown, X, make=making.make)
    except Exception as error:
        warnings.warn(
            f"the report will show no single cases: {type(error).__name__}: {error}. All results are kept", stacklevel=3
        )


def _classes(contenders: Sequence[Contender], y: Array) -> Array:
    """All labels that are true or can be answered."""
    # Any object with `predict` may be measured; only scikit-learn's classifiers say which labels they know.
    found = [np.asarray(each.estimator.classes_) for each in contenders if hasattr(each.estimator, "classes_")]
    return np.unique(np.concatenate([np.unique(y), *found]))
