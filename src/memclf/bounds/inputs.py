"""What every kind of bound is computed from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from memclf.bounds.evidence import Evidence, FittedMemoryClassifier, fits_thresholds
from memclf.similarity.base import choices_of
from memclf.similarity.choices import Choices

#: What the user can declare as fixed before the cases were seen.
GIVEN = ("similarity", "thresholds", "memories", "inputs")


@dataclass(frozen=True)
class Inputs:
    """A fitted classifier, the evidence, and the options of `generalization_bound`."""

    clf: FittedMemoryClassifier
    evidence: Evidence
    delta: float
    complexity: Any
    given: frozenset[str]

    @property
    def n(self) -> int:
        return self.evidence.n

    @property
    def q(self) -> int:
        return self.evidence.q

    @cached_property
    def choices(self) -> Choices:
        """How many similarities training could have produced."""
        return choices_of(self.clf.similarity_, self.n)

    @property
    def log_similarities(self) -> float:
        """ln of the number of similarities that the bound must count."""
        return 0.0 if "similarity" in self.given else self.choices.log_count

    @property
    def thresholds_fitted(self) -> bool:
        """Whether the bound must count fitted thresholds."""
        return "thresholds" not in self.given and fits_thresholds(self.clf)

    @property
    def branches(self) -> list[int]:
        """The numbers of the memories, and q if the fallback has a classifier."""
        return list(range(self.q + (self.clf.fallback_ is not None)))
