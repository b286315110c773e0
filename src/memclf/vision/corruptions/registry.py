"""The register of corruptions: what is known about each, written beside its function.

A new corruption is a function with `@register(...)` in the file of its family, and its rows in severities.csv.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from memclf.vision.files import Pixels

#: The families in the order of ImageNet-C. Each has a file of its own.
FAMILIES = ("noise", "blur", "weather", "digital")

Function = TypeVar("Function", bound=Callable[..., Pixels])


@dataclass(frozen=True)
class Corruption:
    """A corruption and its metadata.

    Attributes
    ----------
    name : str
        How `corrupt` finds it; the name of its function.
    label : str
        How tables and charts print it.
    family : str
        One of `FAMILIES`.
    function : callable
        ``function(image, [rng,] **parameters)``, with the parameters of severities.csv.
    paper_row : int or None
        Its row in the tables of the paper; None if it is not there.
    extra : bool
        Not one of the fifteen of ImageNet-C. (ImageNet-C itself keeps four more for validation.)
    """

    name: str
    label: str
    family: str
    function: Callable[..., Pixels]
    paper_row: int | None = None
    extra: bool = False

    def takes(self, argument: str) -> bool:
        """Whether the function has an argument of this name."""
        return argument in inspect.signature(self.function).parameters

    @property
    def random(self) -> bool:
        """Whether it draws random numbers."""
        return self.takes("rng")


_registered: list[Corruption] = []


def register(
    family: str, *, label: str | None = None, paper_row: int | None = None, extra: bool = False
) -> Callable[[Function], Function]:
    """Register the decorated function as a corruption; without a label, its name is made one."""

    def add(function: Function) -> Function:
        name = function.__name__
        shown = name.replace("_", " ").capitalize() if label is None else label
        _registered.append(Corruption(name, shown, family, function, paper_row, extra))
        return function

    return add


def registered() -> dict[str, Corruption]:
    """Every corruption by name.

    Those of ImageNet-C come first, by family, in the order in which they are written.
    """
    ordered = sorted(_registered, key=lambda each: (each.extra, FAMILIES.index(each.family)))
    return {each.name: each for each in ordered}
