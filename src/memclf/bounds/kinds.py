"""The bounds themselves, term by term: compression, cascades as printed and as repaired, and held-out cases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from memclf import _cases
from memclf._numbers import Array
from memclf.bounds import formulas
from memclf.bounds.complexity import is_constant
from memclf.bounds.local import Cost, cost_of
from memclf.bounds.premises import learned_similarity
from memclf.bounds.result import Assumption, Bound, MemoryTerm, Term
from memclf.bounds.seen import Seen
from memclf.local import pool

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier

HELD_OUT = "held-out"
TRAINING_KINDS = ("compression", "direct", "cascade", "paper-min", "paper")  # about the cases it was fitted on
KINDS = (*TRAINING_KINDS, HELD_OUT)
KAPPA = 1.0  # covers the constant answer of the branch for unknown; see docs/theory.md


def thresholds_fitted(clf: MemoryClassifier, given: set[str]) -> bool:
    """Whether thresholds depend on the cases, and on anything at all."""
    if "thresholds" in given or (clf.fallback == "nearest" and clf.rule == "argmax_then_check"):
        return False
    return clf._conformal() or (isinstance(clf.thresholds, str) and clf.thresholds == "tight")


def _cost(
    clf: MemoryClassifier, seen: Seen, k: int, rows: Array, complexity: Any, *, singles: bool, margins: bool = True
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


def _leaves(clf: MemoryClassifier, seen: Seen) -> list[int]:
    return list(range(seen.q + (clf.fallback_ is not None)))


# ------------------------------------------------------------------------------------------------------ compression


def compression(
    clf: MemoryClassifier, seen: Seen, delta: float, complexity: Any, given: set[str]
) -> tuple[Bound, list[Cost]]:
    """Section 2.4 of the specification: the cases that are no memories are a fresh sample once the memories are given.

    See docs/theory.md for what is added: fitted thresholds, clusters of one class, margins, and memories one by one.
    """
    n, q = seen.n, seen.q
    others = n - int(seen.memory.sum())
    if others < 1:
        raise ValueError("every case is a memory, so nothing is left to judge the classifier by")
    fitted = thresholds_fitted(clf, given)
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
        Term("errors on the training cases", float(wrong.sum() / others), seen.told(wrong, others)),
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


def _memory_term(
    k: int, q: int, cases: int, errors: int, cost: Cost, value: float, won: str = "complexity", promise: Any = None
) -> MemoryTerm:
    memory = None if k == q else k
    return MemoryTerm(memory, cases, errors, cost.complexity, cost.flag, cost.how, float(value), won, promise)


# ------------------------------------------------------------------------------- cascades, as printed and as repaired


def by_branches(
    clf: MemoryClassifier,
    seen: Seen,
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
    risk = Term("errors on the training cases", float(wrong.mean()), seen.told(wrong, n))
    if kind in ("paper", "paper-min"):
        selector = formulas.massart_printed(n, q) + KAPPA / math.sqrt(n)
    else:
        log_similarity = 0.0 if "similarity" in given else learned_similarity(clf.similarity_, n)[0]
        log_count = formulas.log_selectors(
            n, q, thresholds_fitted=thresholds_fitted(clf, given), log_similarities=log_similarity
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


def _counts(seen: Seen, k: int, wrong: Array) -> tuple[int, int]:
    own = seen.branch == k
    return int(own.sum()), int((wrong & own).sum())


def _added(kind: str, delta: float, n: int, q: int, terms: list[Term], memories: list[MemoryTerm]) -> Bound:
    return Bound(kind, float(sum(term.value for term in terms)), delta, n, q, tuple(terms), tuple(memories))


# --------------------------------------------------------------------------------------------------------- held out


def held_out(seen: Seen, delta: float) -> Bound:
    """What cases that were not used for anything say: the errors among them are binomial."""
    n, q, wrong = seen.n, seen.q, ~seen.correct
    upper = formulas.binomial_upper(int(wrong.sum()), n, delta)
    terms = (
        Term("errors on held-out cases", float(wrong.mean()), seen.told(wrong, n)),
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
