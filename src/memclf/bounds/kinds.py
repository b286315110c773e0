"""The registry of the kinds of bounds.

A new kind is a class with `name`, `label`, `parts` and `assumptions` that is listed here, and its formulas in
`formulas`; a new kind of term gets a look in `terms`. The command line, the report and the pictures read these.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memclf.bounds import assumptions, formulas
from memclf.bounds.base import Kind, Parts, count_errors
from memclf.bounds.cascades import Cascade, Direct, Paper, PaperMin
from memclf.bounds.compression import Compression
from memclf.bounds.inputs import Inputs
from memclf.bounds.local_cost import Cost
from memclf.bounds.result import Assumption, MemoryTerm, Term
from memclf.bounds.terms import CONFIDENCE, HELD_OUT_ERRORS


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
            cases, errors = count_errors(inputs, k, wrong)
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
