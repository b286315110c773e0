"""A bound: its value, its terms, and what it assumes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from memclf.bounds.picture import draw

VACUOUS = 1.0  # a risk is never larger
SHOWN = 12  # memories in the printed form


@dataclass(frozen=True)
class Term:
    """One summand of a bound."""

    name: str
    value: float
    how: str = ""


@dataclass(frozen=True)
class MemoryTerm:
    """What one memory (or the fallback, whose `memory` is None) adds to a bound.

    Attributes
    ----------
    memory : int or None
    cases, errors : int
        Training cases that go there, and how many of them are answered wrongly; for compression bounds without the
        memories themselves. With a margin, cases that are answered rightly but too closely are errors too.
    complexity : float
        Of the local classifier: how much noise its class of functions can follow.
    flag, how : str
        How far the complexity can be trusted, and where it comes from; see `Rademacher`.
    value : float
        What the memory adds to the bound.
    won : {"share", "complexity"}
        Which side of the minimum was smaller: the share of cases it answers rightly, or the complexities. Bounds
        without a minimum always take the complexity.
    promise : float or None
        A bound on the risk among the cases that go to this memory, where there is one.
    """

    memory: int | None
    cases: int
    errors: int
    complexity: float
    flag: str
    how: str
    value: float
    won: str = "complexity"
    promise: float | None = None


@dataclass(frozen=True)
class Assumption:
    """Something that must hold for a bound. `met` is None where it cannot be computed."""

    name: str
    text: str
    met: bool | None
    why: str = ""

    @property
    def state(self) -> str:
        return {True: "met", False: "not met", None: "for you to judge"}[self.met]


@dataclass(frozen=True)
class Bound:
    """An upper bound on the risk, with probability 1 - `delta`, if its assumptions are met.

    The risk is the share of new cases, drawn like the training cases, that are answered wrongly or not at all. The
    values of `terms` add up to `value`.

    Attributes
    ----------
    kind : str
    value : float
    delta : float
    n, n_memories : int
    terms : tuple of Term
    memories : tuple of MemoryTerm
    assumptions : tuple of Assumption
    """

    kind: str
    value: float
    delta: float
    n: int
    n_memories: int
    terms: tuple[Term, ...]
    memories: tuple[MemoryTerm, ...] = field(default=(), repr=False)
    assumptions: tuple[Assumption, ...] = field(default=(), repr=False)

    @property
    def vacuous(self) -> bool:
        """Whether the bound is 1 or more: no risk exceeds 1, so it limits nothing."""
        return self.value >= VACUOUS

    @property
    def valid(self) -> bool:
        """Whether no assumption is known to be broken."""
        return all(each.met is not False for each in self.assumptions)

    def __getitem__(self, name: str) -> float:
        """The value of a term."""
        for term in self.terms:
            if term.name == name:
                return term.value
        raise KeyError(f"the bound has no term {name!r}; it has {', '.join(repr(term.name) for term in self.terms)}")

    def promise_for(self, memory: int) -> float | None:
        """The bound for the cases of one memory, if there is one."""
        return next((each.promise for each in self.memories if each.memory == memory), None)

    @property
    def sentence(self) -> str:
        """The bound in one sentence."""
        sure = f"{100 * (1 - self.delta):g} % sure"
        many = f"{self.n_memories} {'memory' if self.n_memories == 1 else 'memories'}"
        what = f"{self.kind} bound for {many} and {self.n:,} cases"
        if self.vacuous:
            return f"The {what} is {self.value:,.3f} ({sure}): vacuous, it promises nothing."
        text = f"The {what}: of new cases like these at most {100 * self.value:.1f} % are answered wrongly "
        text += f"or not at all ({sure})"
        return f"{text}." if self.valid else f"{text}, were its assumptions met; they are not."

    def __str__(self) -> str:
        lines = [self.sentence]
        wide = max(len(term.name) for term in self.terms)
        lines += [f"  {term.name.ljust(wide)}  {term.value:8,.4f}  {term.how}".rstrip() for term in self.terms]
        lines.append(f"  {'together'.ljust(wide)}  {self.value:8,.4f}")
        if self.memories:
            lines.append("Memories")
        for each in self.memories[:SHOWN]:
            who = "fallback" if each.memory is None else f"memory {each.memory}"
            close = " or too close" if "margin of" in each.how else ""
            side = " (its share won)" if each.won == "share" else ""
            own = ""
            if each.promise is not None:
                empty = each.promise >= VACUOUS
                own = f"; for its own cases {'nothing is promised' if empty else f'at most {each.promise:.3f}'}"
            lines.append(
                f"  {who}: {each.errors} of {each.cases} wrong{close}; complexity {each.complexity:.4f} ({each.flag}: "
                f"{each.how}); adds {each.value:.4f}{side}{own}"
            )
        if len(self.memories) > SHOWN:
            lines.append(f"  and {len(self.memories) - SHOWN} more")
        lines.append("Assumptions")
        for assumption in self.assumptions:
            why = f" ({assumption.why})" if assumption.why else ""
            lines.append(f"  {assumption.state}: {assumption.text}{why}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        found = asdict(self)
        found["assumptions"] = [{**asdict(each), "state": each.state} for each in self.assumptions]
        return {**found, "vacuous": self.vacuous, "valid": self.valid, "sentence": self.sentence}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The bound that `as_dict` made these plain values of, through JSON or not."""
        values = {name: given[name] for name in ("kind", "value", "delta", "n", "n_memories")}
        parts = {"terms": Term, "memories": MemoryTerm, "assumptions": Assumption}
        for name, kind in parts.items():
            known = {each.name for each in fields(kind)}
            values[name] = tuple(kind(**{k: v for k, v in each.items() if k in known}) for each in given[name])
        return cls(**values)

    def plot(self, axes: Any = None) -> Any:
        """The terms as one stacked bar with 1 marked (needs matplotlib); returns the figure."""
        return draw([self], axes)
