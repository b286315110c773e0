"""The compression bound: valid for memories that are chosen among the training cases."""

from __future__ import annotations

import math

import numpy as np

from memclf.bounds import assumptions, formulas
from memclf.bounds.base import Kind, Parts, memory_term
from memclf.bounds.inputs import Inputs
from memclf.bounds.local_cost import ANYTHING, Cost, cost_of
from memclf.bounds.result import Assumption, Bound, Term
from memclf.bounds.terms import CHOICE, LOCAL, SIMILARITY, THRESHOLDS, TRAINING_ERRORS


class Compression(Kind):
    """Given the memories, the other cases are a fresh sample; section 2.4 of the specification.

    docs/theory_kinds.md explains what is added: fitted thresholds, clusters of one class, margins, and each memory by
    itself.
    """

    name = "compression"
    label = "from the training cases; memories are some of them, as here, and choosing them is paid for"
    extrapolates = True

    def parts(self, inputs: Inputs) -> Parts:
        seen, n, q = inputs.evidence, inputs.n, inputs.q
        others = n - int(seen.memory.sum())
        if others < 1:
            raise ValueError("every case is a memory, so no case is left to test the classifier on")
        fitted, branches = inputs.thresholds_fitted, inputs.branches
        home = seen.nearest if fitted else seen.branch
        members = [np.flatnonzero(~seen.memory & (home == k)) for k in branches]
        costs = [cost_of(inputs, k, rows, singles=True) for k, rows in zip(branches, members, strict=True)]
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
            memories.append(memory_term(k, q, len(rows), int(cost.wrong.sum()), cost, share, promise=promise))
        return Parts(terms, memories, costs)

    @staticmethod
    def _union(inputs: Inputs, costs: list[Cost]) -> float:
        """ln(2 / delta), and ln of all choices made after seeing the cases but the similarity."""
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
        return assumptions.of_training_cases(inputs, costs, from_training=True, ties_counted=True)

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
