"""The paper's rule: the local classifier of the case's memory answers alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from memclf import unknown
from memclf._numbers import Array
from memclf.answers.base import Answers, Parts, empty_labels, finish_labels
from memclf.cases import Cases
from memclf.local import pool
from memclf.protocols import gives_probabilities
from memclf.routing import Routes


class LocalAnswer(BaseEstimator):
    """The local classifier answers alone, as in the paper. Base of all answer rules.

    Attributes
    ----------
    alone : bool
        Whether the local classifiers alone make the answers, as bounds assume.
    learns : bool
        Whether the rule learns from held-out training cases. It then has `observe` and `learn`.
    needs_probabilities : bool
        Whether every classifier must give probabilities.
    needs_global : bool
        Whether the rule asks the global classifier, so that there must be one.
    fits_local : bool
        Whether memories have classifiers of their own; otherwise the global one is theirs.
    inspects : bool
        Whether the rule believes what the expert's features measure.
    describes : bool
        Whether the rule looks at cases as the similarity does: they are then described once for both.
    versions : int
        Changed versions of every held-out case that the rule learns from, where cases can be changed.
    strong : bool
        Whether the changes are strong, as outside the lab, or mild. Where they are strong, cases whose memories are
        held out with them count as changed, too.
    balance : float
        How far rare classes are weighed up, from 0 to 1.
    """

    alone = True
    learns = False
    needs_probabilities = False
    needs_global = False
    fits_local = True
    inspects = False
    describes = False
    versions = 0
    strong = False
    balance = 0.0
    strange_share = 0.0  # the part of `unknown_rate` that is for cases that are strange to their classifier

    def check(self) -> None:
        """Refuse parameters that mean nothing."""

    def make_constants(self, classes: Array, distributions: Array, frequencies: Array) -> list[Any] | None:
        """For each memory a constant in place of a local classifier; None: the estimator is fitted."""
        return None

    def fit_local(self, parts: Any, cases: Cases, y: Array, counted: Array, weight: Array | None = None) -> Self:
        """Learn from the fitted local classifiers and their training cases. Returns self."""
        self.fitted_ = True
        return self

    def refit_local(
        self, parts: Any, cases: Cases, y: Array, counted: Array, unchanged: Mapping[int, int], weight: Array | None
    ) -> Self:
        """The rule for other memories, with what it learned on folds; it is not changed itself.

        `unchanged` has the new and the former number of each memory whose classifier was not fitted again.
        """
        return self

    def drop_strange(self, parts: Parts, cases: Cases, routes: Routes) -> Routes:
        """The same routes, without cases that are too strange to their classifiers to be answered."""
        return routes

    def answer(
        self, parts: Parts, cases: Cases, routes: Routes, *, labels: bool = True, probabilities: bool = True
    ) -> Answers:
        """Call each classifier that has cases once for labels and once for probabilities."""
        estimators = list(parts.pool.estimators)
        nearest = isinstance(parts.fallback, str) and parts.fallback == "nearest"
        branch = routes.nearest if nearest else routes.memory
        if parts.fallback_classifier is not None:
            branch = np.where(routes.known, branch, len(estimators))
            estimators.append(parts.fallback_classifier)
        found = empty_labels(parts, len(routes))
        if labels:
            found = finish_labels(parts, pool.ask(estimators, branch, cases, "predict", found, parts.classes))
        P = None
        if probabilities and all(map(gives_probabilities, estimators)):
            P = unknown.probabilities(len(routes), len(parts.classes))
            P = pool.ask(estimators, branch, cases, "predict_proba", P, parts.classes)
        return Answers(found, P, routes)

    def list_asked(self, parts: Parts) -> list[Any]:
        """The classifiers of which some may be asked about any case."""
        return list(parts.pool.estimators)

    def classifier_for(self, parts: Parts, memory: int) -> Any:
        """The classifier that speaks for a memory."""
        return parts.pool.estimators[memory]

    def count_as_strange(self, routes: Routes, position: int) -> tuple[int | None, int | None]:
        """Numbers of held-out cases: all, and those at least as strange; None: not measured."""
        return None, None

    def find_problems(self, n_memories: int) -> list[str]:
        """Names of fitted attributes that cannot belong to this number of memories."""
        return []

    def say_who(self) -> str:
        """Who answers, in words: for model cards and terminals."""
        return "the classifier of the case's memory"

    def say_fallback(self, item: Any) -> str:
        """What the rule makes of the fallback's probabilities, in words; "" for nothing."""
        return ""

    def say(self, item: Any) -> str:
        """Why the memory's classifier gives this answer, for the sentence of an `Explanation`."""
        return say_classifier(item, item.answer, item.probabilities or {})


def say_classifier(item: Any, said: Any, chances: dict[Any, float], more: str = "") -> str:
    """The answer of a memory's classifier and the classes of its cluster, in words."""
    if item.origin == "constant" and not more:
        if item.cluster_size == 1:
            return f"it is alone in its cluster and is {said!r}"
        return f"all {item.cluster_size} cases of its cluster are {said!r}"
    chance = f" with probability {chances[said]:.2f}" if said in chances else ""
    shared = {
        "merged": " and shares a classifier with the cluster of another memory",
        "handed to global": " and is too small for a classifier of its own, so the global one answers",
    }.get(item.origin, "")
    same = "so" if said == item.answer else repr(said)
    return f"its {name_classifier(item)} says {same}{chance}{more}; its cluster holds {list_classes(item)}{shared}"


def name_classifier(item: Any) -> str:
    """What the memory's classifier is called in a sentence."""
    return "constant classifier" if item.origin == "constant" else item.local_classifier


def list_classes(item: Any) -> str:
    """The classes of a cluster with their numbers of cases."""
    return ", ".join(f"{n} of {label!r}" for label, n in item.cluster_classes.items() if n)
