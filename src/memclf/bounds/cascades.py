"""Bounds for memories that are independent of the training cases, the paper's among them."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from memclf._numbers import Array
from memclf.bounds import assumptions, formulas
from memclf.bounds.base import Kind, Parts, count_errors, memory_term
from memclf.bounds.inputs import Inputs
from memclf.bounds.local_cost import Cost, cost_of
from memclf.bounds.result import Assumption, MemoryTerm, Term
from memclf.bounds.terms import CONFIDENCE, GIVEN_UP, LOCAL, SELECTOR, TRAINING_ERRORS

KAPPA = 1.0  # covers the constant answer of the branch for unknown; see docs/theory_kinds.md


class Branches(Kind):
    """Bounds that measure every classifier and every selector on all cases.

    See sections 2.1 to 2.3 of the specification.
    Each memory adds the smaller of two sides: the share of cases that it answers rightly, which gives the memory up,
    or the complexities of its selector and its classifier.
    """

    factor: ClassVar[int] = 4
    weight: ClassVar[int] = 2  # of a classifier's complexity beside the selector's
    margins: ClassVar[bool] = True  # whether errors can be counted up to a margin

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
        costs = [cost_of(inputs, k, everything, singles=False, margins=self.margins) for k in branches]
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
            memories.append(memory_term(k, q, *count_errors(inputs, k, wrong), cost, sides[-1][0], won))
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
        return assumptions.of_training_cases(inputs, costs)


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
        value = formulas.cascade_confidence(inputs.n, inputs.q, inputs.delta, norms)
        return Term(CONFIDENCE, value, "C(n, q + 1, rho, delta)")

    def assumptions(self, inputs: Inputs, costs: list[Cost]) -> tuple[Assumption, ...]:
        text, why = "the theorem on cascades holds with rho for delta", "repaired, not proved here"
        return (
            *assumptions.of_training_cases(inputs, costs),
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
            *assumptions.of_training_cases(inputs, costs, counted=False),
            assumptions.two_classes(inputs),
            assumptions.small_delta(inputs),
            Assumption("proof", "the printed derivation is right", False, "docs/theory_kinds.md lists its errors"),
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
            memory_term(k, q, *count_errors(inputs, k, wrong), cost, 4 * (2 * cost.complexity + selector))
            for k, cost in zip(self.branches(inputs), costs, strict=True)
        ]
        return terms, memories
