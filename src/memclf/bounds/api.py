"""Bounds on the risk of a fitted memory classifier: the functions that users call."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

from sklearn.utils.validation import check_is_fitted

from memclf.bounds.complexity import COMPLEXITY
from memclf.bounds.evidence import FittedMemoryClassifier, RoutesCases, collect
from memclf.bounds.inputs import GIVEN, Inputs
from memclf.bounds.kinds import TRAINING_KINDS, kind_named
from memclf.bounds.result import Bound


def generalization_bound(
    clf: FittedMemoryClassifier,
    X: Any,
    y: Any,
    delta: float = 0.05,
    kind: str = "compression",
    *,
    complexity: Any = "auto",
    given: Iterable[str] = (),
) -> Bound:
    """A bound on the risk of a fitted memory classifier, with probability 1 - `delta`.

    Parameters
    ----------
    clf : MemoryClassifier
        Fitted on X and y. (For ``kind="held-out"``: fitted on others.)
    X, y : cases and labels
        The training cases, in the order in which `fit` got them.
    delta : float
        The bound may fail with this probability.
    kind : {"compression", "direct", "cascade", "paper-min", "paper", "held-out"}
        "compression" is valid for what `fit` does, where memories are training cases, and for any number of classes.
        "direct" is for memories from an independent pool; "cascade" is the paper's bound repaired, "paper-min" and
        "paper" are as printed. "held-out" is a binomial interval from cases that were not used for anything.
    complexity : "auto", "random labels", number, `Rademacher` or function
        The complexity of the local classifiers. "auto": from their kind and settings. "random labels": by fitting
        them to random labels, a heuristic. A function gets the estimator and its cases and returns a number or a
        `Rademacher`; both are for answers -1 and 1.
    given : names among "similarity", "thresholds", "memories", "inputs"
        What was fixed before these cases were seen, where the classifier does not record it: a similarity learned on
        other cases, thresholds, memories from an independent pool, and the inputs of the local classifiers (a frozen
        network below the last layer, the first steps of a pipeline).

    Returns
    -------
    Bound

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from memclf import MemoryClassifier
    >>> from memclf.bounds import generalization_bound
    >>> from memclf.similarity import RBFSimilarity
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(at, 0.3, size=(2000, 1)) for at in (0, 5)])
    >>> y = np.repeat([0, 1], 2000)
    >>> clf = MemoryClassifier(RBFSimilarity(gamma=0.1), DummyClassifier(), threshold=0.5, random_state=0).fit(X, y)
    >>> bound = generalization_bound(clf, X, y)
    >>> print(bound.sentence)
    The compression bound for 2 memories and 4,000 cases: of new cases like these at most 17.3 % are answered wrongly or
    not at all (95 % sure).
    >>> bound["choice of memories and confidence"]
    0.15...
    """
    (found,) = bounds_of(clf, X, y, [kind], delta, complexity=complexity, given=given)
    if isinstance(found, Bound):
        return found
    raise found


def bounds_of(
    clf: FittedMemoryClassifier,
    X: Any,
    y: Any,
    kinds: Iterable[str] = TRAINING_KINDS,
    delta: float = 0.05,
    *,
    complexity: Any = "auto",
    given: Iterable[str] = (),
) -> list[Bound | ValueError]:
    """`generalization_bound` of several kinds; the cases are described and answered once.

    A kind that is not defined for this classifier is an error in the list.
    """
    if not isinstance(clf, RoutesCases):
        raise TypeError(f"bounds are about memory classifiers; got {clf!r}")
    check_is_fitted(clf, "cluster_counts_")
    wanted = [kind_named(name) for name in kinds]
    fixed = _check(delta, complexity, given)
    needed = {kind.uses_training_cases for kind in wanted}
    evidence = {training: collect(clf, X, y, held_out=not training, given=fixed) for training in needed}
    found: list[Bound | ValueError] = []
    for kind in wanted:
        try:
            found.append(kind.compute(Inputs(clf, evidence[kind.uses_training_cases], delta, complexity, fixed)))
        except ValueError as error:
            found.append(error)
    return found


def _check(delta: float, complexity: Any, given: Iterable[str]) -> frozenset[str]:
    """Check the options; return `given` as a set."""
    if isinstance(delta, bool) or not isinstance(delta, Real) or not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1, got {delta!r}")
    names = [given] if isinstance(given, str) else list(given)
    if isinstance(given, str) or (unknown := sorted(set(names) - set(GIVEN))):
        wrong = given if isinstance(given, str) else ", ".join(map(repr, unknown))
        raise ValueError(f"given must be a list of names among {', '.join(map(repr, GIVEN))}; got {wrong}")
    if isinstance(complexity, str) and complexity not in COMPLEXITY:
        raise ValueError(f"complexity must be {' or '.join(map(repr, COMPLEXITY))}, a number or a function")
    return frozenset(names)
