"""The kinds of bounds, one class each: the terms, and what they assume. `KINDS` lists them.

A new kind is a class here with its formulas in `formulas`; a new kind of term gets a look in `terms`. The command line,
the report and the pictures read `KINDS`. docs/theory.md derives the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from memclf._numbers import Array
from memclf.bounds import assumptions, formulas
from memclf.bounds.inputs import Inputs
from memclf.bounds.local_cost import ANYTHING, Cost
from memclf.bounds.result import Assumption, Bound, MemoryTerm, Term
from memclf.bounds.terms import (
    CHOICE,
    CONFIDENCE,
    GIVEN_UP,
    HELD_OUT_ERRORS,
    LOCAL,
    SELECTOR,
    SIMILARITY,
    THRESHOLDS,
    TRAINING_ERRORS,
)

KAPPA = 1.0  # covers the constant answer of the branch for unknown; see docs/theory.md


@dataclass(frozen=True)
class Parts:
    """The terms of a bound, what each memory adds, and the costs of the local classifiers.

    `value`: where it is not the sum of the terms, to the last digit.
    """

    terms: list[Term]
    memories: list[MemoryTerm]
    costs: list[Cost]
    value: float | None = None


class Kind:
    """A kind of bound."""

    name: ClassVar[str]
    #: What the bound is, for people; the end of a sentence that starts with its name.
    label: ClassVar[str]
    #: Whether it is about the cases that the classifier was fitted on.
    uses_training_cases: ClassVar[bool] = True
    #: Whether `extrapolate` says what the bound would be with more cases.
    extrapolates: ClassVar[bool] = False

    def parts(self, inputs: Inputs) -> Parts:
        raise NotImplementedError

    def assumptions(self, inputs: Inputs, costs: list[Cost]) -> tuple[Assumption, ...]:
        raise NotImplementedError

    def compute(self, inputs: Inputs) -> Bound:
        found = self.parts(inputs)
        value = float(sum(term.value for term in found.terms)) if found.value is None else found.value
        stated = self.assumptions(inputs, found.costs)
        terms, memories = tuple(found.terms), tuple(found.memories)
        return Bound(self.name, value, inputs.delta, inputs.n, inputs.q, terms, memories, stated)

    def extrapolate(self, bound: Bound, n: int, log_similarities: float, *, memories_given: bool) -> float:
        """The value for n cases, more than there are, if shares of errors and of cases stayed as they are.

        `log_similarities`: by how much the ln of the number of similarities grows.
        """
        raise NotImplementedError


# ------------------------------------------------------------------------------------------------------ compression


class Compression(Kind):
    """Given the memories, the other cases are a fresh sample; section 2.4 of the specification.

    docs/theory.md says what is added: fitted thresholds, clusters of one class, margins, and each memory by itself.
    """

    name = "compression"
    label = "from the training cases; memories are some of them, as here, and choosing them is paid for"
    extrapolates = True

    def parts(self, inputs: Inputs) -> Parts:
        seen, n, q = inputs.evidence, inputs.n, inputs.q
        others = n - int(seen.memory.sum())
        if others < 1:
            raise ValueError("every case is a memory, so no case is left to judge the classifier by")
        fitted, branches = inputs.thresholds_fitted, inputs.branches
        home = seen.nearest if fitted else seen.branch
        members = [np.flatnonzero(~seen.memory & (home == k)) for k in branches]
        costs = [inputs.cost(k, rows, singles=True) for k, rows in zip(branches, members, strict=True)]
        wrong = ~seen.correct
        for rows, cost in zip(members, costs, strict=True):
            wrong[rows] |= cost.wrong
        wrong &= ~seen.memory
        shares = [2 * len(rows) / others * cost.complexity for rows, cost in zip(members, costs, strict=True)]
        terms = [
            Term(TRAINING_ERRORS, float(wrong.sum() / others), seen.describe_errors(wrong, others)),
            Term(LOCAL, float(sum(shares)), "2 sum of shares times complexities"),
        ]
        if fitted:
            rough = 2 * sum(math.sqrt(len(rows)) for rows in members) / others
            terms.append(Term(THRESHOLDS, rough, "2 sum of sqrt(cases) / n"))
        union = self._union(inputs, costs)
        confidence = formulas.confidence(union, others)
        terms.append(Term(CHOICE, confidence, f"3 sqrt({union:.1f} / {2 * others})"))
        if inputs.log_similarities:
            union += inputs.log_similarities
            how = f"one of e^{inputs.log_similarities:.1f} similarities, in the same root"
            terms.append(Term(SIMILARITY, formulas.confidence(union, others) - confidence, how))
        memories = []
        for k, rows, cost, share in zip(branches, members, costs, shares, strict=True):
            promise = None
            if k < q and len(rows) and not fitted:
                promise = float(cost.wrong.mean()) + 2 * cost.complexity
                promise += 3 * math.sqrt((union + math.log(q)) / (2 * len(rows)))
            memories.append(_memory_term(k, q, len(rows), int(cost.wrong.sum()), cost, share, promise=promise))
        return Parts(terms, memories, costs)

    @staticmethod
    def _union(inputs: Inputs, costs: list[Cost]) -> float:
        """ln(2 / delta) and ln of everything but the similarity that was chosen after seeing the cases."""
        n, q = inputs.n, inputs.q
        union = math.log(2 / inputs.delta) + sum(cost.union for cost in costs)
        single = any(cost.single for cost in costs)  # which clusters hold one class only was found in the data
        if "memories" in inputs.given:
            return union + (1 + q * single) * math.log(2)
        union += formulas.log_binomial(n, q) + math.log(q * (q + 1))
        union += math.lgamma(q + 1) if inputs.evidence.ties else 0.0
        # The weights 1 / (q (q + 1)) leave 1 / (n + 1).
        return union + (math.log(n + 1) + q * math.log(2) if single else 0.0)

    def assumptions(self, inputs: Inputs, costs: list[Cost]) -> tuple[Assumption, ...]:
        return _training_assumptions(inputs, costs, from_training=True, ties_counted=True)

    def extrapolate(self, bound: Bound, n: int, log_similarities: float, *, memories_given: bool) -> float:
        q, terms = bound.n_memories, {term.name: term.value for term in bound.terms}
        root = terms[CHOICE] + terms.get(SIMILARITY, 0.0)
        union = (root / 3) ** 2 * 2 * (bound.n - q)
        if not memories_given:
            union += formulas.log_binomial(n, q) - formulas.log_binomial(bound.n, q)
        union += log_similarities
        # Counts grow with log n; a class that can follow any labels can still do so with more cases.
        shrink = math.sqrt(bound.n / n * math.log(n) / math.log(bound.n))
        local = sum(each.value * (1 if each.complexity >= ANYTHING else shrink) for each in bound.memories)
        value = terms[TRAINING_ERRORS] + local + terms.get(THRESHOLDS, 0.0) * math.sqrt(bound.n / n)
        return value + formulas.confidence(union, n - q)


def _memory_term(
    k: int,
    q: int,
    cases: int,
    errors: int,
    cost: Cost,
    value: float,
    won: str = "complexity",
    promise: float | None = None,
) -> MemoryTerm:
    memory = None if k == q else k
    return MemoryTerm(memory, cases, errors, cost.complexity, cost.flag, cost.how, float(value), won, promise)


def _training_assumptions(
    inputs: Inputs,
    costs: list[Cost],
    *,
    from_training: bool = False,
    counted: bool = True,
    ties_counted: bool = False,
) -> tuple[Assumption, ...]:
    """What all bounds from training cases assume. `counted`: they pay for a learned similarity and thresholds."""
    return (
        assumptions.same_distribution(),
        assumptions.nothing_tuned(),
        assumptions.local_answers(inputs),
        assumptions.memories(inputs, from_training=from_training),
        assumptions.similarity(inputs, counted=counted),
        assumptions.thresholds(inputs, counted=counted),
        assumptions.complexities(inputs, costs),
        *([assumptions.no_ties(inputs, counted=ties_counted)] if inputs.q > 1 else []),
    )


# ------------------------------------------------------------------------------- cascades, as printed and as repaired


class Branches(Kind):
    """Every classifier and every selector is judged on all cases; sections 2.1 to 2.3 of the specification.

    Each memory adds the smaller of two sides: the share of cases that it answers rightly, which gives the memory up,
    or the complexities of its selector and its classifier.
    """

    factor: ClassVar[int] = 4
    weight: ClassVar[int] = 2  # of a classifier's complexity beside the selector's
    margins: ClassVar[bool] = True  # whether errors may be counted up to a margin

    def branches(self, inputs: Inputs) -> list[int]:
        return inputs.branches

    def selector(self, inputs: Inputs) -> float:
        """The complexity of "goes to memory k"."""
        n, q = inputs.n, inputs.q
        log_count = formulas.log_selectors(
            n, q, thresholds_fitted=inputs.thresholds_fitted, log_similarities=inputs.log_similarities
        )
        log_count += (q - 1) * math.log(2) if inputs.evidence.ties else 0.0  # which rivals come first
        return formulas.massart(log_count, n)

    def confidence(self, inputs: Inputs, costs: list[Cost]) -> Term:
        raise NotImplementedError

    def parts(self, inputs: Inputs) -> Parts:
        seen, n = inputs.evidence, inputs.n
        branches, everything = self.branches(inputs), np.arange(n)
        costs = [inputs.cost(k, everything, singles=False, margins=self.margins) for k in branches]
        wrong = ~seen.correct
        for k, cost in zip(branches, costs, strict=True):
            wrong |= cost.wrong & (seen.branch == k)  # a right answer within the margin counts as wrong
        risk = Term(TRAINING_ERRORS, float(wrong.mean()), seen.describe_errors(wrong, n))
        terms, memories = self._summed(inputs, costs, wrong)
        return Parts([risk, *terms], memories, costs)

    def _summed(self, inputs: Inputs, costs: list[Cost], wrong: Array) -> tuple[list[Term], list[MemoryTerm]]:
        seen, n, q, selector = inputs.evidence, inputs.n, inputs.q, self.selector(inputs)
        sides, memories = [], []
        for k, cost in zip(self.branches(inputs), costs, strict=True):
            right = int((~wrong & (seen.branch == k)).sum())
            rich = self.factor * (selector + self.weight * cost.complexity)
            won = "share" if right / n <= rich else "complexity"
            sides.append((min(right / n, rich), won, rich and self.factor * selector / rich))
            memories.append(_memory_term(k, q, *_counts(inputs, k, wrong), cost, sides[-1][0], won))
        given_up = sum(value for value, won, _ in sides if won == "share")
        selecting = sum(value * part for value, won, part in sides if won == "complexity")
        local = sum(value * (1 - part) for value, won, part in sides if won == "complexity")
        terms = [
            Term(GIVEN_UP, given_up, "share of right answers where it is the smaller side of the minimum"),
            Term(SELECTOR, selecting, f"{self.factor} times {selector:.4f} for each other memory"),
            Term(LOCAL, local, f"{self.factor * self.weight} times the complexity of each other memory"),
            self.confidence(inputs, costs),
        ]
        return terms, memories

    def assumptions(self, inputs: Inputs, costs: list[Cost]) -> tuple[Assumption, ...]:
        return _training_assumptions(inputs, costs)


def _counts(inputs: Inputs, k: int, wrong: Array) -> tuple[int, int]:
    own = inputs.evidence.branch == k
    return int(own.sum()), int((wrong & own).sum())


class Direct(Branches):
    """A product of two functions with values 0 and 1 is no richer than both together."""

    name = "direct"
    label = "from the training cases; for memories that come from elsewhere"
    factor, weight = 2, 1

    def confidence(self, inputs: Inputs, costs: list[Cost]) -> Term:
        norms = sum(cost.union for cost in costs)
        value = formulas.direct_confidence(inputs.n, len(costs), inputs.delta, norms)
        return Term(CONFIDENCE, value, "3 sqrt((q ln 2 + ln(2 / delta)) / 2n)")


class Cascade(Branches):
    """The paper's bound with the theorem on cascades as it should be used."""

    name = "cascade"
    label = "the paper’s bound, repaired"

    def confidence(self, inputs: Inputs, costs: list[Cost]) -> Term:
        norms = sum(cost.union for cost in costs)
        value = formulas.cascade_confidence(inputs.n, inputs.q, inputs.delta, norms, rho=inputs.rho)
        return Term(CONFIDENCE, value, "C(n, q + 1, rho, delta)")

    def assumptions(self, inputs: Inputs, costs: list[Cost]) -> tuple[Assumption, ...]:
        text, why = "the theorem on cascades holds with rho for delta", "repaired, not proved here"
        return (
            *_training_assumptions(inputs, costs),
            assumptions.two_classes(inputs),
            Assumption("proof", text, None, why),
        )


class PaperMin(Branches):
    """The last but one formula of the paper, as printed."""

    name = "paper-min"
    label = "the paper’s bound, as printed"
    margins = False

    def branches(self, inputs: Inputs) -> list[int]:
        return list(range(inputs.q))

    def selector(self, inputs: Inputs) -> float:
        return formulas.massart_printed(inputs.n, inputs.q) + KAPPA / math.sqrt(inputs.n)

    def confidence(self, inputs: Inputs, costs: list[Cost]) -> Term:
        value = formulas.printed_confidence(inputs.n, inputs.q + 1, inputs.delta, inputs.q)
        return Term(CONFIDENCE, value, "C(n, q + 1, delta), rho = 1 / q")

    def assumptions(self, inputs: Inputs, costs: list[Cost]) -> tuple[Assumption, ...]:
        return (
            *_training_assumptions(inputs, costs, counted=False),
            assumptions.two_classes(inputs),
            assumptions.small_delta(inputs),
            Assumption("proof", "the printed derivation is right", False, "docs/theory.md lists its errors"),
        )


class Paper(PaperMin):
    """The final formula of the paper, as printed."""

    name = "paper"
    label = "the paper’s simpler bound, as printed"

    def confidence(self, inputs: Inputs, costs: list[Cost]) -> Term:
        value = formulas.printed_confidence(inputs.n, inputs.q, inputs.delta, inputs.q)
        return Term(CONFIDENCE, value, "C(n, q, delta), rho = 1 / q")

    def _summed(self, inputs: Inputs, costs: list[Cost], wrong: Array) -> tuple[list[Term], list[MemoryTerm]]:
        q, selector = inputs.q, self.selector(inputs)
        hardest = max(2 * cost.complexity for cost in costs)
        terms = [
            Term(SELECTOR, 4 * q * selector, f"4 q (q (1 + ln n) + {KAPPA:g}) / sqrt n"),
            Term(LOCAL, 4 * q * hardest, "4 q times twice the largest complexity"),
            self.confidence(inputs, costs),
        ]
        memories = [
            _memory_term(k, q, *_counts(inputs, k, wrong), cost, 4 * (2 * cost.complexity + selector))
            for k, cost in zip(self.branches(inputs), costs, strict=True)
        ]
        return terms, memories


# --------------------------------------------------------------------------------------------------------- held out


class HeldOut(Kind):
    """Among cases that were not used for anything, the number of errors is binomial."""

    name = "held-out"
    label = "from the clean test cases, without any theory of learning: an interval for the share of errors"
    uses_training_cases = False

    def parts(self, inputs: Inputs) -> Parts:
        n, q, wrong = inputs.n, inputs.q, ~inputs.evidence.correct
        upper = formulas.binomial_upper(int(wrong.sum()), n, inputs.delta)
        terms = [
            Term(HELD_OUT_ERRORS, float(wrong.mean()), inputs.evidence.describe_errors(wrong, n)),
            Term(CONFIDENCE, upper - float(wrong.mean()), "Clopper and Pearson's interval"),
        ]
        memories = []
        for k in range(q):
            cases, errors = _counts(inputs, k, wrong)
            promise = formulas.binomial_upper(errors, cases, inputs.delta / q) if cases else None
            memories.append(MemoryTerm(k, cases, errors, 0.0, "exact", "held-out cases", errors / n, promise=promise))
        return Parts(terms, memories, [], upper)

    def assumptions(self, inputs: Inputs, costs: list[Cost]) -> tuple[Assumption, ...]:
        return assumptions.same_distribution("these"), assumptions.held_out(inputs)


#: Every kind of bound by name.
KINDS: Mapping[str, Kind] = MappingProxyType(
    {each.name: each for each in (Compression(), Direct(), Cascade(), PaperMin(), Paper(), HeldOut())}
)
#: The kinds that are about the cases that the classifier was fitted on; and those about other cases.
TRAINING_KINDS = tuple(name for name, kind in KINDS.items() if kind.uses_training_cases)
HELD_OUT = HeldOut.name


def kind_named(name: str) -> Kind:
    """The kind of this name; raise if there is none."""
    if not isinstance(name, str) or name not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}; got {name!r}")
    return KINDS[name]
