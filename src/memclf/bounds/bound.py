"""What theory promises about a fitted memory classifier, computed from the classifier itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from memclf.bounds.kinds import HELD_OUT, KINDS, TRAINING_KINDS, by_branches, compression, held_out, thresholds_fitted
from memclf.bounds.local import COMPLEXITY
from memclf.bounds.premises import GIVEN, learned_similarity, premises
from memclf.bounds.result import Bound
from memclf.bounds.seen import Seen, look

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier


def generalization_bound(
    clf: MemoryClassifier,
    X: Any,
    y: Any,
    delta: float = 0.05,
    kind: str = "compression",
    *,
    complexity: Any = "auto",
    given: Iterable[str] = (),
    rho: float | None = None,
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
        "compression" is valid for what `fit` does, memories being training cases, and for any number of classes.
        "direct" is for memories from an independent pool; "cascade" is the paper's bound repaired, "paper-min" and
        "paper" are as printed. "held-out" needs no theory of learning: a binomial interval from cases that were not
        used for anything.
    complexity : "auto", "random labels", number, `Rademacher` or function
        Of the local classifiers. "auto": what follows from their kind and settings. "random labels": what they
        make of random labels, a heuristic. A function gets the estimator and its cases and returns a number or a
        `Rademacher`; both are for answers -1 and 1.
    given : names among "similarity", "thresholds", "memories", "inputs"
        What was fixed before these cases were seen, though the classifier cannot know: a similarity learned on
        other cases, memories from an independent pool, and what the local classifiers see (a frozen network
        below the last layer, the first steps of a pipeline).
    rho : float or None
        The margin in the cascade bound; None: 1 / (q + 1).

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
    (found,) = bounds_of(clf, X, y, [kind], delta, complexity=complexity, given=given, rho=rho)
    if isinstance(found, Bound):
        return found
    raise found


def bounds_of(
    clf: MemoryClassifier,
    X: Any,
    y: Any,
    kinds: Iterable[str] = TRAINING_KINDS,
    delta: float = 0.05,
    *,
    complexity: Any = "auto",
    given: Iterable[str] = (),
    rho: float | None = None,
) -> list[Bound | ValueError]:
    """`generalization_bound` of several kinds, looking at the cases once. A kind that is not defined is an error."""
    check_fitted(clf)
    kinds, given = list(kinds), given if isinstance(given, str) else set(given)
    for kind in kinds:
        _check(delta, kind, complexity, given)
    seen = {held: look(clf, X, y, held_out=held, given=given) for held in {kind == HELD_OUT for kind in kinds}}
    found: list[Bound | ValueError] = []
    for kind in kinds:
        try:
            found.append(_bound(clf, seen[kind == HELD_OUT], kind, delta, complexity, set(given), rho))
        except ValueError as error:
            found.append(error)
    return found


def _bound(
    clf: MemoryClassifier, seen: Seen, kind: str, delta: float, complexity: Any, given: set[str], rho: float | None
) -> Bound:
    if kind == HELD_OUT:
        return held_out(seen, delta)
    if kind == "compression":
        bound, costs = compression(clf, seen, delta, complexity, given)
    else:
        bound, costs = by_branches(clf, seen, delta, kind, complexity, given, rho)
    similarity = learned_similarity(clf.similarity_, seen.n)
    fitted = thresholds_fitted(clf, given)
    return replace(
        bound,
        assumptions=premises(
            clf,
            kind,
            delta=delta,
            given=given,
            similarity=similarity,
            thresholds_fitted=fitted,
            costs=costs,
            ties=seen.ties,
            among=seen.among,
        ),
    )


def check_fitted(clf: Any) -> None:
    if not hasattr(clf, "cluster_counts_") and not hasattr(clf, "search_result_") and not hasattr(clf, "rule"):
        raise TypeError(f"bounds are about memory classifiers; got {clf!r}")
    check_is_fitted(clf, "cluster_counts_")


def _check(delta: float, kind: str, complexity: Any, given: Iterable[str]) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}; got {kind!r}")
    if isinstance(delta, bool) or not isinstance(delta, Real) or not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1, got {delta!r}")
    if isinstance(given, str) or (strange := sorted(set(given) - set(GIVEN))):
        wrong = given if isinstance(given, str) else ", ".join(map(repr, strange))
        raise ValueError(f"given must be a list of names among {', '.join(map(repr, GIVEN))}; got {wrong}")
    if isinstance(complexity, str) and complexity not in COMPLEXITY:
        raise ValueError(f"complexity must be {' or '.join(map(repr, COMPLEXITY))}, a number or a function")
