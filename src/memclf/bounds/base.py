"""What all kinds of bounds have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from memclf._numbers import Array
from memclf.bounds.inputs import Inputs
from memclf.bounds.local_cost import Cost
from memclf.bounds.result import Assumption, Bound, MemoryTerm, Term


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
    #: Whether `extrapolate` gives the value for more cases.
    extrapolates: ClassVar[bool] = False

    def parts(self, inputs: Inputs) -> Parts:
        """The terms, and what each memory adds to them."""
        raise NotImplementedError

    def assumptions(self, inputs: Inputs, costs: list[Cost]) -> tuple[Assumption, ...]:
        """What must hold for the bound; `costs` are those of the local classifiers."""
        raise NotImplementedError

    def compute(self, inputs: Inputs) -> Bound:
        """The bound."""
        found = self.parts(inputs)
        value = float(sum(term.value for term in found.terms)) if found.value is None else found.value
        stated = self.assumptions(inputs, found.costs)
        terms, memories = tuple(found.terms), tuple(found.memories)
        return Bound(self.name, value, inputs.delta, inputs.n, inputs.q, terms, memories, stated)

    def extrapolate(self, bound: Bound, n: int, log_similarities: float, *, memories_given: bool) -> float:
        """The value for n cases, more than there are, if the shares of errors and cases stay.

        `log_similarities`: by how much the ln of the number of similarities grows.
        """
        raise NotImplementedError


def memory_term(
    k: int,
    q: int,
    cases: int,
    errors: int,
    cost: Cost,
    value: float,
    won: str = "complexity",
    promise: float | None = None,
) -> MemoryTerm:
    """What memory k adds; k = q is the fallback's classifier."""
    memory = None if k == q else k
    return MemoryTerm(memory, cases, errors, cost.complexity, cost.flag, cost.how, float(value), won, promise)


def count_errors(inputs: Inputs, k: int, wrong: Array) -> tuple[int, int]:
    """How many cases memory k answers, and how many of them are wrong."""
    own = inputs.evidence.branch == k
    return int(own.sum()), int((wrong & own).sum())
