"""What theory promises about a fitted memory classifier, computed from the classifier itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from memclf import _cases
from memclf._numbers import Array
from memclf.bounds import formulas
from memclf.bounds.complexity import is_constant
from memclf.bounds.local import COMPLEXITY, Cost, cost_of
from memclf.bounds.premises import GIVEN, learned_similarity, premises
from memclf.bounds.result import Assumption, Bound, MemoryTerm, Term
from memclf.local import pool

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier

HELD_OUT = "held-out"
TRAINING_KINDS = ("compression", "direct", "cascade", "paper-min", "paper")  # about the cases it was fitted on
KINDS = (*TRAINING_KINDS, HELD_OUT)
MOVED = 0.01  # share of training cases that may be routed otherwise than in `fit`, where similarities are equal
EQUAL = 1e-12  # similarities that differ by less are equal, as in routing
KAPPA = 1.0  # covers the constant answer of the branch for unknown; see docs/theory.md


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
    seen = {held: _look(clf, X, y, held_out=held, given=given) for held in {kind == HELD_OUT for kind in kinds}}
    found: list[Bound | ValueError] = []
    for kind in kinds:
        try:
            found.append(_bound(clf, seen[kind == HELD_OUT], kind, delta, complexity, set(given), rho))
        except ValueError as error:
            found.append(error)
    return found


def _bound(
    clf: MemoryClassifier, seen: _Seen, kind: str, delta: float, complexity: Any, given: set[str], rho: float | None
) -> Bound:
    if kind == HELD_OUT:
        return _held_out(seen, delta)
    if kind == "compression":
        bound, costs = _compression(clf, seen, delta, complexity, given)
    else:
        bound, costs = _by_branches(clf, seen, delta, kind, complexity, given, rho)
    similarity = learned_similarity(clf.similarity_, seen.n)
    fitted = _thresholds_fitted(clf, given)
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


@dataclass(frozen=True)
class _Seen:
    """What a classifier does with the cases of a bound.

    `branch` is the memory whose classifier answers, q for the fallback's classifier, -1 for nobody. `ties`: whether it
    depends on the order of the memories, which the data have a part in, where a case goes or who answers there.
    """

    X: Any
    codes: Array
    branch: Array
    nearest: Array
    correct: Array
    memory: Array
    q: int
    ties: bool
    among: int  # memories that are found among cases which are said to be others

    @property
    def n(self) -> int:
        return len(self.codes)


def _look(clf: MemoryClassifier, X: Any, y: Any, *, held_out: bool, given: Iterable[str]) -> _Seen:
    training = not held_out and "memories" not in given
    X = _cases.remembering(_cases.read_once(_cases.as_cases(X)))
    y = np.asarray(y)
    n, q = _cases.count(X), len(clf.memory_indices_)
    if y.shape != (n,):
        raise ValueError(f"y must hold one label for each of the {n} cases, got shape {y.shape}")
    if training and n != len(clf.labels_):
        raise ValueError(
            f"a bound is about the cases that the classifier was fitted on: {len(clf.labels_)}, not {n}. For other "
            "cases there is the kind held-out."
        )
    if strange := sorted(map(str, set(np.unique(y).tolist()) - set(clf.classes_.tolist()))):
        raise ValueError(f"y holds classes that the classifier does not know: {', '.join(strange)}")
    routes = clf.route(X)
    codes, memory = np.searchsorted(clf.classes_, y), np.zeros(n, dtype=bool)
    if training:
        _check_same(clf, X, routes.nearest, codes)
        memory[clf.memory_indices_] = True
    elif held_out and n == len(clf.labels_) and _moved(clf, routes.nearest, codes) == 0:
        raise ValueError("these are the cases that the classifier was fitted on; 'held-out' is for others")
    branch = routes.nearest if clf.fallback == "nearest" else routes.memory
    if clf.fallback_ is not None:
        branch = np.where(routes.known, branch, q)
    correct = np.asarray(clf.predict_routed(X, routes) == y)
    by_number = isinstance(clf.estimator, (Mapping, Sequence)) or not isinstance(clf.thresholds, (str, Real, Mapping))
    ties = q > 1 and (by_number or bool((routes.margin <= EQUAL).any()))
    here = 0 if training else memories_among(clf, X)
    return _Seen(X, codes, branch, routes.nearest, correct, memory, q, ties, here)


def _moved(clf: MemoryClassifier, nearest: Array, codes: Array) -> float:
    """Share of the cases that do not go where they went in `fit`; 1 if their classes are others."""
    counts = np.zeros(clf.cluster_counts_.shape, dtype=int)
    np.add.at(counts, (clf.labels_, codes), 1)
    if not np.array_equal(counts, clf.cluster_counts_):
        return 1.0
    return float((nearest != clf.search_result_.labels).mean()) if clf.rule == "argmax_then_check" else 0.0


def _check_same(clf: MemoryClassifier, X: Any, nearest: Array, codes: Array) -> None:
    if clf.cluster_counts_.sum() < len(codes):
        raise ValueError("the classifier was fitted with cases of weight 0; bounds are for cases that count alike")
    elsewhere = "they do not fall into its clusters" if _moved(clf, nearest, codes) > MOVED else ""
    if not elsewhere and not same_cases(_cases.take(X, clf.memory_indices_), clf.memories_).all():
        elsewhere = "its memories are not where they were"
    if elsewhere:
        raise ValueError(
            "these are not the cases that the classifier was fitted on, or not in the same order: "
            f"{elsewhere}. For other cases there is the kind held-out."
        )


def same_cases(A: Any, B: Any) -> Array:
    """Which rows of two tables or arrays of numbers are the same, up to rounding; of other cases, all."""
    if any(_cases.is_table(each) for each in (A, B)):
        if list(getattr(A, "columns", ())) != list(getattr(B, "columns", ())):
            return np.ones(_cases.count(A), dtype=bool)
        columns = [(A[name].to_numpy(), B[name].to_numpy()) for name in A.columns]
    elif isinstance(A, np.ndarray) and isinstance(B, np.ndarray) and A.ndim == B.ndim == 2 and A.dtype.kind in "biuf":
        columns = [(A[:, j], B[:, j]) for j in range(A.shape[1])]
    else:
        return np.ones(_cases.count(A), dtype=bool)
    same = np.ones(_cases.count(A), dtype=bool)
    for here, there in columns:
        if here.dtype.kind == "f" or there.dtype.kind == "f":
            same &= np.isclose(here.astype(float), there.astype(float), rtol=1e-9, atol=0.0, equal_nan=True)
        else:
            same &= np.asarray(here == there, dtype=bool) | (here != here) & (there != there)
    return same


def memories_among(clf: MemoryClassifier, X: Any) -> int:
    """How many of the memories are found among tabular cases. Where it cannot be seen, none."""
    n = _cases.count(X)
    comparable = _cases.is_table(X) or (isinstance(X, np.ndarray) and X.ndim == 2)
    if not comparable or not n:
        return 0
    q = len(clf.memory_indices_)
    repeated = (_cases.take(clf.memories_, np.full(n, k)) for k in range(q))
    return sum(bool(same_cases(X, each).any()) for each in repeated)


def _thresholds_fitted(clf: MemoryClassifier, given: set[str]) -> bool:
    """Whether thresholds depend on the cases, and on anything at all."""
    if "thresholds" in given or (clf.fallback == "nearest" and clf.rule == "argmax_then_check"):
        return False
    return clf._conformal() or (isinstance(clf.thresholds, str) and clf.thresholds == "tight")


def _cost(
    clf: MemoryClassifier, seen: _Seen, k: int, rows: Array, complexity: Any, *, singles: bool, margins: bool = True
) -> Cost:
    """Of the classifier of a memory, or of the fallback, on some rows.

    `singles`: a cluster of one class costs no more than a constant; otherwise, what its classifier would have cost.
    """
    single = False
    if k == seen.q:
        estimator = clf.fallback_
    else:
        template = LogisticRegression() if clf.estimator is None else clf.estimator
        template = pool.templates_for(template, seen.q)[k]
        estimator = clf.estimators_[k]
        home = int(clf.pool_.trained_with[k])
        if home >= 0 and clf.pool_.origins[home] == "constant" and not is_constant(template):
            single, estimator = singles, estimator if singles else template
    return cost_of(
        estimator,
        _cases.take(seen.X, rows),
        seen.codes[rows],
        seen.correct[rows],
        classes=clf.classes_,
        width=int(getattr(clf, "n_features_in_", 0)),
        evenly=max(1, seen.n // (seen.q + 1)),
        constant=single,
        margins=margins,
        how=complexity,
    )


def _leaves(clf: MemoryClassifier, seen: _Seen) -> list[int]:
    return list(range(seen.q + (clf.fallback_ is not None)))


# ------------------------------------------------------------------------------------------------------ compression


def _compression(
    clf: MemoryClassifier, seen: _Seen, delta: float, complexity: Any, given: set[str]
) -> tuple[Bound, list[Cost]]:
    """Section 2.4 of the specification: the cases that are no memories are a fresh sample once the memories are given.

    See docs/theory.md for what is added: fitted thresholds, clusters of one class, margins, and memories one by one.
    """
    n, q = seen.n, seen.q
    others = n - int(seen.memory.sum())
    if others < 1:
        raise ValueError("every case is a memory, so nothing is left to judge the classifier by")
    fitted = _thresholds_fitted(clf, given)
    home = seen.nearest if fitted else seen.branch
    leaves = _leaves(clf, seen)
    members = [np.flatnonzero(~seen.memory & (home == k)) for k in leaves]
    costs = [_cost(clf, seen, k, rows, complexity, singles=True) for k, rows in zip(leaves, members, strict=True)]
    wrong = ~seen.correct
    for rows, cost in zip(members, costs, strict=True):
        wrong[rows] |= cost.wrong
    wrong &= ~seen.memory
    parts = [2 * len(rows) / others * cost.complexity for rows, cost in zip(members, costs, strict=True)]
    terms = [
        Term("errors on the training cases", float(wrong.sum() / others), _told(seen, wrong, others)),
        Term("local classifiers", float(sum(parts)), "2 sum of shares times complexities"),
    ]
    if fitted:
        rough = 2 * sum(math.sqrt(len(rows)) for rows in members) / others
        terms.append(Term("fitted thresholds", rough, "2 sum of sqrt(cases) / n"))
    # Everything that was chosen after seeing the cases is paid for by a union, in one root.
    union = math.log(2 / delta) + sum(cost.union for cost in costs)
    single = any(cost.single for cost in costs)  # which clusters hold one class only was found in the data
    if "memories" in given:
        union += (1 + q * single) * math.log(2)
    else:
        union += formulas.log_binomial(n, q) + math.log(q * (q + 1))
        union += math.lgamma(q + 1) if seen.ties else 0.0
        union += (
            math.log(n + 1) + q * math.log(2) if single else 0.0
        )  # what the weights 1 / (q (q + 1)) leave: 1/(n + 1)
    confidence = formulas.confidence(union, others)
    how = f"3 sqrt({union:.1f} / {2 * others})"
    terms.append(Term("choice of memories and confidence", confidence, how))
    log_similarity = 0.0 if "similarity" in given else learned_similarity(clf.similarity_, n)[0]
    if log_similarity:
        union += log_similarity
        how = f"one of e^{log_similarity:.1f} similarities, in the same root"
        terms.append(Term("learned similarity", formulas.confidence(union, others) - confidence, how))
    memories = []
    for k, rows, cost, part in zip(leaves, members, costs, parts, strict=True):
        promise = None
        if k < q and len(rows) and not fitted:
            promise = float(cost.wrong.mean()) + 2 * cost.complexity
            promise += 3 * math.sqrt((union + math.log(q)) / (2 * len(rows)))
        memories.append(_memory_term(k, q, len(rows), int(cost.wrong.sum()), cost, part, promise=promise))
    value = float(sum(term.value for term in terms))
    return Bound("compression", value, delta, n, q, tuple(terms), tuple(memories)), costs


def _told(seen: _Seen, wrong: Array, n: int) -> str:
    """The errors in words: how many, and what else than wrong answers counts as one."""
    unknown = int((wrong & (seen.branch < 0)).sum())
    close = int((wrong & seen.correct).sum())
    said = f"{wrong.sum()} of {n}{' that are no memories' if n < seen.n else ''}"
    said += f", {unknown} of them unknown" if unknown else ""
    return said + (f", {close} of them right by less than a margin" if close else "")


def _memory_term(
    k: int, q: int, cases: int, errors: int, cost: Cost, value: float, won: str = "complexity", promise: Any = None
) -> MemoryTerm:
    memory = None if k == q else k
    return MemoryTerm(memory, cases, errors, cost.complexity, cost.flag, cost.how, float(value), won, promise)


# ------------------------------------------------------------------------------- cascades, as printed and as repaired


def _by_branches(
    clf: MemoryClassifier,
    seen: _Seen,
    delta: float,
    kind: str,
    complexity: Any,
    given: set[str],
    rho: float | None,
) -> tuple[Bound, list[Cost]]:
    """Sections 2.1 to 2.3: every classifier and every selector is judged on all cases; a memory may be given up."""
    n, q = seen.n, seen.q
    everything = np.arange(n)
    leaves = _leaves(clf, seen) if kind in ("cascade", "direct") else list(range(q))
    margins = kind in ("cascade", "direct")
    costs = [_cost(clf, seen, k, everything, complexity, singles=False, margins=margins) for k in leaves]
    wrong = ~seen.correct
    for k, cost in zip(leaves, costs, strict=True):
        wrong |= cost.wrong & (seen.branch == k)  # with a margin, what is right but too close is wrong
    right = [int((~wrong & (seen.branch == k)).sum()) for k in leaves]
    risk = Term("errors on the training cases", float(wrong.mean()), _told(seen, wrong, n))
    if kind in ("paper", "paper-min"):
        selector = formulas.massart_printed(n, q) + KAPPA / math.sqrt(n)
    else:
        log_similarity = 0.0 if "similarity" in given else learned_similarity(clf.similarity_, n)[0]
        log_count = formulas.log_selectors(
            n, q, thresholds_fitted=_thresholds_fitted(clf, given), log_similarities=log_similarity
        )
        log_count += (q - 1) * math.log(2) if seen.ties else 0.0  # which rivals come first
        selector = formulas.massart(log_count, n)
    if kind == "paper":
        hardest = max(2 * cost.complexity for cost in costs)
        terms = [
            risk,
            Term("selector", 4 * q * selector, f"4 q (q (1 + ln n) + {KAPPA:g}) / sqrt n"),
            Term("local classifiers", 4 * q * hardest, "4 q times twice the largest complexity"),
            Term("confidence", formulas.printed_confidence(n, q, delta, q), "C(n, q, delta), rho = 1 / q"),
        ]
        memories = [
            _memory_term(k, q, *_counts(seen, k, wrong), cost, 4 * (2 * cost.complexity + selector))
            for k, cost in zip(leaves, costs, strict=True)
        ]
        return _added(kind, delta, n, q, terms, memories), costs
    factor = 2 if kind == "direct" else 4
    parts, memories = [], []
    for k, cost, correct in zip(leaves, costs, right, strict=True):
        rich = factor * (selector + (1 if kind == "direct" else 2) * cost.complexity)
        won = "share" if correct / n <= rich else "complexity"
        parts.append((min(correct / n, rich), won, rich and factor * selector / rich))
        memories.append(_memory_term(k, q, *_counts(seen, k, wrong), cost, parts[-1][0], won))
    given_up = sum(value for value, won, _ in parts if won == "share")
    selecting = sum(value * part for value, won, part in parts if won == "complexity")
    local = sum(value * (1 - part) for value, won, part in parts if won == "complexity")
    norms = sum(cost.union for cost in costs)
    if kind == "direct":
        confidence = formulas.direct_confidence(n, len(leaves), delta, norms)
        how = "3 sqrt((q ln 2 + ln(2 / delta)) / 2n)"
    elif kind == "cascade":
        confidence, how = formulas.cascade_confidence(n, q, delta, norms, rho=rho), "C(n, q + 1, rho, delta)"
    else:
        confidence, how = formulas.printed_confidence(n, q + 1, delta, q), "C(n, q + 1, delta), rho = 1 / q"
    terms = [
        risk,
        Term("memories given up", given_up, "share of right answers where it is the smaller side of the minimum"),
        Term("selector", selecting, f"{factor} times {selector:.4f} for each other memory"),
        Term(
            "local classifiers", local, f"{'2' if kind == 'direct' else '8'} times the complexity of each other memory"
        ),
        Term("confidence", confidence, how),
    ]
    return _added(kind, delta, n, q, terms, memories), costs


def _counts(seen: _Seen, k: int, wrong: Array) -> tuple[int, int]:
    own = seen.branch == k
    return int(own.sum()), int((wrong & own).sum())


def _added(kind: str, delta: float, n: int, q: int, terms: list[Term], memories: list[MemoryTerm]) -> Bound:
    return Bound(kind, float(sum(term.value for term in terms)), delta, n, q, tuple(terms), tuple(memories))


# --------------------------------------------------------------------------------------------------------- held out


def _held_out(seen: _Seen, delta: float) -> Bound:
    """What cases that were not used for anything say: the errors among them are binomial."""
    n, q, wrong = seen.n, seen.q, ~seen.correct
    upper = formulas.binomial_upper(int(wrong.sum()), n, delta)
    terms = (
        Term("errors on held-out cases", float(wrong.mean()), _told(seen, wrong, n)),
        Term("confidence", upper - float(wrong.mean()), "Clopper and Pearson's interval"),
    )
    memories = []
    for k in range(q):
        own = seen.branch == k
        cases, errors = int(own.sum()), int((wrong & own).sum())
        promise = formulas.binomial_upper(errors, cases, delta / q) if cases else None
        memories.append(MemoryTerm(k, cases, errors, 0.0, "exact", "held-out cases", errors / n, promise=promise))
    assumptions = (
        Assumption(
            "same distribution",
            "new cases are drawn like these, independently; corrupted or shifted ones are not",
            None,
        ),
        Assumption(
            "held out",
            "nothing was learned or chosen by looking at these cases",
            False if seen.among else None,
            f"{seen.among} of the {q} memories, which are training cases, are among them" if seen.among else "",
        ),
    )
    return Bound(HELD_OUT, upper, delta, n, q, terms, tuple(memories), assumptions)
