"""What every kind of bound is computed from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from memclf._numbers import Array
from memclf.bounds.complexity import always_predicts_one_class, width_of
from memclf.bounds.evidence import Evidence, FittedMemoryClassifier, fits_thresholds
from memclf.bounds.local_cost import Cost, cost_of
from memclf.cases import containers
from memclf.local import pool
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

    def cost(self, k: int, rows: Array, *, singles: bool, margins: bool = True) -> Cost:
        """The cost of the classifier of a memory, or of the fallback (k = q), on some rows.

        `singles`: a cluster of one class costs no more than a constant; otherwise it costs what its classifier would
        have cost.
        """
        seen, clf = self.evidence, self.clf
        constant, fitted = False, True
        if k == self.q:
            estimator = clf.fallback_
        else:
            template = pool.default_estimator() if clf.estimator is None else clf.estimator
            template = pool.templates_for(template, self.q)[k]
            estimator = clf.estimators_[k]
            home = int(clf.pool_.trained_with[k])
            if home >= 0 and clf.pool_.origins[home] == "constant" and not always_predicts_one_class(template):
                constant, fitted = singles, singles
                estimator = estimator if singles else template
        return cost_of(
            estimator,
            containers.take(seen.X, rows),
            seen.codes[rows],
            seen.correct[rows],
            classes=clf.classes_,
            width=width_of(seen.X),
            evenly=max(1, self.n // (self.q + 1)),
            constant=constant,
            fitted=fitted,
            margins=margins,
            how=self.complexity,
        )
