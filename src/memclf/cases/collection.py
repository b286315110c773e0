"""Collections: cases with their own methods for reading, caching and changing them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

from memclf.cases.computation import Computation
from memclf.cases.memory import Memory


class Collection(ABC):
    """Base of cases with their own reading, caching and changing, such as images in files."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: Any) -> Any: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Any]: ...

    @abstractmethod
    def remembered(self, memory: Memory | None = None) -> Self:
        """The same cases, each read and described once; `memory` (None: a new one) holds the rows."""

    @abstractmethod
    def compute_once(self, what: Computation, compute: Callable[[Self], Any]) -> Any:
        """``compute(cases)``, one row per case; rows in the memory are not computed again."""

    def packed(self) -> Self:
        """The same cases, which take what is in their memory along to other processes."""
        return self

    @abstractmethod
    def loaded(self) -> Self:
        """The same cases, held in memory: they outlive the files they come from."""

    @abstractmethod
    def joined(self, other: Any) -> Self:
        """These cases and others, which need not be a collection yet."""

    @abstractmethod
    def wrap(self, case: Any) -> Self:
        """A collection of one case."""

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
        """Label, family and row in reports of each corruption, by name; {} if there are none."""
        return {}

    @abstractmethod
    def perturbed(self, *, seed: int) -> Self:
        """The same cases, each changed mildly; another seed gives other changes."""

    @abstractmethod
    def shifted(self, *, seed: int) -> Self:
        """The same cases, each changed strongly; another seed gives other changes."""
