"""Collections: cases that read, remember and change themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

from memclf.cases.computation import Computation
from memclf.cases.memory import Memory


class Collection(ABC):
    """Cases that know how to read, remember and change themselves, such as images in files."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: Any) -> Any: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Any]: ...

    @abstractmethod
    def remembered(self, memory: Memory | None = None) -> Self:
        """The same cases, each read once and described once. Rows are kept in `memory`, by default in a new one."""

    @abstractmethod
    def compute_once(self, what: Computation, compute: Callable[[Self], Any]) -> Any:
        """``compute(cases)``, one row per case; a remembered collection computes only rows that it does not have."""

    @abstractmethod
    def loaded(self) -> Self:
        """The same cases, held in memory: they outlive the files they come from."""

    @abstractmethod
    def key(self, position: int) -> str | None:
        """The name of a case, None if it has none."""

    @abstractmethod
    def info_of(self, position: int) -> Any:
        """What else is known about a case (a face, a box), None if nothing is."""

    @abstractmethod
    def corrupted(self, name: str, severity: int) -> Self:
        """The same cases under a corruption."""

    def corruption_labels(self) -> dict[str, dict[str, Any]]:
        """The label, family and row (in reports) of each corruption, by name; {} where there are none."""
        return {}

    @abstractmethod
    def perturbed(self, *, seed: int) -> Self:
        """The same cases, each changed mildly; another seed gives other changes."""
