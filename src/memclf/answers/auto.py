"""Beyond the paper: believe the global classifier, the local ones, the memories, or all.

Who is believed is learned on held-out training cases of two kinds: as they are, and shifted, because the field is not
the lab. Where one part alone does best, it answers alone, and the others are not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from memclf._numbers import Array
from memclf.answers.base import (
    ALONE,
    HeldOut,
    Opinions,
    Parts,
    most_probable,
)
from memclf.answers.belief import (
    CLOSENESSES,
    NEVER,
    PARTS,
    learn_belief,
    mix_classifiers,
    read_description,
)
from memclf.answers.choice import TOGETHER, choose, try_beliefs
from memclf.answers.local import list_classes, name_classifier
from memclf.answers.measured import TreesAndCurves, ask_measured, fit_measured
from memclf.answers.nearby import count_by_weight, labels_by_closeness
from memclf.answers.product import ProductAnswer, say_balance, say_outcome, say_strange
from memclf.answers.samples import draw_samples
from memclf.cases import Cases
from memclf.local import pool
from memclf.local.competence import Calibration, detector_for
from memclf.routing import Routes

#: What the user wants to be good at -> how far rare classes may be weighed up.
METRICS = {"accuracy": (0.0,), "both": (0.0, 0.25, 0.5, 0.75, 1.0), "balanced_accuracy": (0.5, 0.75, 1.0)}
#: Who may be believed -> how a sentence calls it.
NAMES = {
    "global": "the global classifier",
    "local": "local classifiers",
    "labels": "labels of the memories",
    "measurements": "the expert's measurements",
    "together": "all together",
}
WORDS = {
    "accuracy": "accuracy",
    "both": "mean of accuracy and balanced accuracy",
    "balanced_accuracy": "balanced accuracy",
}
NOT_SURELY = ", since no part alone is ahead by two standard errors"
FADED = 0.5  # share of its usual say below which the sentence tells that a part counts for less


class AutoAnswer(ProductAnswer):
    """Believes classifiers and memories as far as held-out and shifted training cases teach.

    Parameters
    ----------
    metric : "accuracy", "balanced_accuracy" or "both"
        What the answers should be good at. For the second, rare classes are weighed up. "both": as far as costs no
        more than one point of accuracy on held-out cases as they are.
    competence : "mahalanobis", "neighbours", "energy", Detector or None
        How to measure whether a local classifier may be trusted on a case; see `memclf.local.competence`.

    Attributes
    ----------
    believed_ : "global", "local", "labels", "measurements" or "together"
        Who answers: the classifier that was trained on everything, those of the clusters, the labels of the
        memories (stage 1 alone), a classifier on all that the expert's features measure, or a product. A part answers
        alone only where it is surely better.
    belief_ : Belief
        The powers in the product.
    balance_ : float
        How far rare classes are weighed up, from 0 to 1.
    scores_ : dict
        Of each of these the `metric` on held-out cases, the mean of those as they are and shifted ones; "both" is
        the mean of accuracy and balanced accuracy.
    measured_ : TreesAndCurves or None
        Answers from what the expert's features measure, where it is believed.
    odd_ : Mahalanobis or None
        Tells how unlike those of training cases the measurements of a case are.
    detectors_, calibration_, strange_rate_
        As in `ProductAnswer`.
    distances_ : Calibration
        How far held-out cases are from their memories.
    oddness_ : Calibration or None
        How odd the measurements of held-out cases are.
    """

    needs_global = True
    strong = True

    def __init__(self, metric: str = "both", competence: Any = "mahalanobis"):
        self.metric = metric
        self.competence = competence

    @property
    def balance(self) -> float:  # type: ignore[override]
        """How far rare classes are weighed up, from 0 to 1; before the fit, about as far as will be."""
        return float(vars(self).get("balance_", np.median(METRICS[self.metric])))

    @property
    def inspects(self) -> bool:  # type: ignore[override]
        """Whether the expert's measurements are believed."""
        return vars(self).get("measured_") is not None

    @property
    def describes(self) -> bool:  # type: ignore[override]
        """Whether measurements or the labels of several memories are believed."""
        return self.inspects or ("belief_" in vars(self) and self.belief_.closeness < NEVER)

    def check(self) -> None:
        """Refuse parameters that mean nothing."""
        detector_for(self.competence)
        if not (isinstance(self.metric, str) and self.metric in METRICS):
            raise ValueError(f"metric must be one of {', '.join(map(repr, METRICS))}; got {self.metric!r}")

    # --------------------------------------------------------------------------------------------------- learning

    def fit_local(self, parts: Any, cases: Cases, y: Array, counted: Array, weight: Array | None = None) -> Self:
        """Fit detectors, and a classifier on what the expert's features measure, if there are any."""
        self.measured_, self.odd_ = fit_measured(parts, cases, y, counted, weight)
        self.label_weights_ = count_by_weight(parts, y, counted, weight)
        return super().fit_local(parts, cases, y, counted, weight)

    def refit_local(
        self, parts: Any, cases: Cases, y: Array, counted: Array, unchanged: Mapping[int, int], weight: Array | None
    ) -> Self:
        new = super().refit_local(parts, cases, y, counted, unchanged, weight)
        new.label_weights_ = count_by_weight(parts, y, counted, weight)
        return new

    def observe(self, parts: Parts, cases: Cases, routes: Routes) -> tuple[Opinions, Array]:
        """What all parts say about the cases, and how strange these are."""
        opinions = self._ask(parts, cases, routes, local=True, whole=True, measured=True, closenesses=CLOSENESSES)
        return opinions, self._strangeness(parts, cases, routes, opinions.local)

    def _ask(
        self,
        parts: Any,
        cases: Cases,
        routes: Routes,
        *,
        local: bool,
        whole: bool,
        measured: bool,
        closenesses: tuple[float, ...],
    ) -> Opinions:
        shape = (len(routes), len(parts.classes))
        memory = parts.label_distributions[routes.nearest]
        said, said_by_all = np.zeros(shape), None
        if local:
            said = pool.ask(parts.pool.estimators, routes.nearest, cases, "predict_proba", said, parts.classes)
        if whole:
            branch = np.zeros(len(routes), dtype=np.intp)
            out = np.zeros(shape)
            said_by_all = pool.ask([parts.global_classifier], branch, cases, "predict_proba", out, parts.classes)
        wanted = [each for each in closenesses if each < NEVER]
        # Models of before have nothing that tells how odd measurements are.
        classifier, odd = (self.measured_, vars(self).get("odd_")) if measured else (None, None)
        told, oddness = ask_measured(classifier, odd, parts, cases)
        return Opinions(
            said,
            memory,
            parts.frequencies,
            whole=said_by_all,
            nearby=labels_by_closeness(parts, cases, wanted, self._labels_of(parts)) if wanted else None,
            measured=told,
            size=_sizes(parts)[routes.nearest] if local else None,
            distance=1 - routes.similarity,
            oddness=oddness,
        )

    def _labels_of(self, parts: Any) -> Array:
        # Models of before know numbers of cases, not their weights.
        return np.asarray(vars(self).get("label_weights_", parts.cluster_counts), dtype=float)

    def learn(self, held: list[HeldOut], codes: Array, weight: Array | None, groups: Array | None) -> Self:
        """Learn whom to believe, and what strangeness and distance mean. Returns self."""
        plain = [each for each in held if not each.far]
        if self.competence is not None:
            rows = np.concatenate([each.rows for each in plain])
            strange = np.concatenate([each.strangeness[0] for each in plain])
            self.calibration_ = Calibration.of(strange, None if groups is None else groups[rows])
        self.distances_ = Calibration.of(np.concatenate([each.opinions[0].distance for each in plain]))
        odd = [each.opinions[0].oddness for each in plain if each.opinions[0].oddness is not None]
        self.oddness_ = Calibration.of(np.concatenate(odd)) if odd else None
        samples = draw_samples(held, codes, weight, groups, self.compare_with_usual)
        trials = try_beliefs(samples, METRICS[self.metric])
        best = choose(trials, self.metric)
        self.balance_ = best.balance
        self.scores_ = {
            name: choose([t for t in trials if t.name == name], self.metric).score(self.metric)
            for name in NAMES
            if any(t.name == name for t in trials)
        }
        self.belief_ = PARTS[best.name] if best.name in PARTS else learn_belief(samples).reduced()
        self.believed_ = self.belief_.name or TOGETHER  # all together may come down to one part
        if not self.belief_.measured:
            self.measured_ = self.odd_ = self.oddness_ = None
        return self

    def compare_with_usual(self, opinions: Opinions, strange: Array | None) -> Opinions:
        """The opinions with strangeness and distance beyond the usual."""
        told = super().compare_with_usual(opinions, strange)
        if opinions.oddness is not None and self.oddness_ is not None:
            told = replace(told, oddness=self.oddness_.excess(opinions.oddness))
        return replace(told, distance=self.distances_.excess(np.asarray(opinions.distance)))

    # -------------------------------------------------------------------------------------------------- answering

    def gather(self, parts: Parts, cases: Cases, routes: Routes) -> tuple[Opinions, Array | None]:
        """The opinions of those who are believed, and how strange the cases are, if it matters."""
        belief = self.belief_
        opinions = self._ask(
            parts,
            cases,
            routes,
            local=belief.asks_local,
            whole=belief.asks_global,
            measured=belief.measured,
            closenesses=(belief.closeness,),
        )
        if self.calibration_ is None or not (self.strange_rate_ or belief.strangeness):
            return opinions, None
        return opinions, self._strangeness(parts, cases, routes, opinions.local if belief.asks_local else None)

    def combine(self, opinions: Opinions) -> Array:
        """Probabilities of shape (cases, classes), before rare classes are weighed up."""
        return self.belief_.combine(opinions)

    def tell_shares(self, opinions: Opinions) -> dict[str, Any]:
        """What the answers are made of, as `Answers` has it."""
        belief = self.belief_
        first, second = belief.powers(opinions)
        return {
            "local": mix_classifiers(opinions, belief.shrinkage) if belief.classifier else None,
            "memory": read_description(opinions, belief),
            "share": first / belief.classifier if belief.classifier else first,
            "labels_share": second,
        }

    def list_asked(self, parts: Parts) -> list[Any]:
        """The classifiers that are believed."""
        local = list(parts.pool.estimators) if self.belief_.asks_local else []
        return [*local, *([parts.global_classifier] if self.belief_.asks_global else [])]

    def classifier_for(self, parts: Parts, memory: int) -> Any:
        """The classifier that speaks for a memory: the global one, where no local one takes part."""
        return super().classifier_for(parts, memory) if self.belief_.asks_local else parts.global_classifier

    def find_problems(self, n_memories: int) -> list[str]:
        """Names of fitted attributes that cannot belong to this number of memories."""
        told = vars(self).get("measured_")
        whole = told.is_whole() if isinstance(told, TreesAndCurves) else True  # models of before have a forest
        weights = vars(self).get("label_weights_")  # models of before have none
        sound = {
            "answer_.detectors_": len(self.detectors_) == n_memories,
            "answer_.measured_": whole,
            "answer_.label_weights_": weights is None or len(weights) == n_memories,
        }
        return [name for name, good in sound.items() if not good]

    def say(self, item: Any) -> str:
        """Who is believed, why, and what they say, for the sentence of an `Explanation`."""
        return f"{self._say_opinions(item)}{say_balance(item, self.balance)}; believed: {self.say_who()}"

    def _say_opinions(self, item: Any) -> str:
        told = most_probable(item.labels)
        labelled = f"{self._name_reading()} {told!r} ({item.labels[told]:.2f})"
        if item.local is None:  # no classifier takes part
            return f"{labelled}; its cluster holds {list_classes(item)}"
        said = most_probable(item.local)
        speaks = f"{self._name_classifier(item)} says {said!r} ({item.local[said]:.2f})"
        odd = ""
        if self.belief_.measured and item.labels_share < FADED * self.belief_.labels:
            odd = "; the measurements count for less, since they are unlike those of training cases"
        if self.believed_ in PARTS or item.labels_share < ALONE:
            return f"{speaks}{odd}; its cluster holds {list_classes(item)}"
        why = f"{speaks} {'and' if said == told else 'but'} {labelled}, together {say_outcome(item)}"
        if item.share < FADED and item.competence is not None:
            return f"{why}; the classifier counts for less, since the case is {say_strange(item)}"
        return why + odd

    def _name_reading(self) -> str:
        if self.belief_.measured:
            return "the expert's measurements say"
        return f"the labels of {'its cluster' if self.belief_.closeness == NEVER else 'the memories around it'} say"

    def _name_classifier(self, item: Any) -> str:
        if not self.belief_.asks_local:
            return f"the global {item.classifier}"
        return f"its {name_classifier(item)}{', drawn to the global one,' if self.belief_.asks_global else ''}"

    def say_who(self) -> str:
        """Who is believed, and the scores behind it."""
        right = ", ".join(f"{NAMES[name]} {100 * share:.1f} %" for name, share in self.scores_.items())
        who = NAMES[self.believed_] + (NOT_SURELY if self.believed_ == TOGETHER else "")
        return f"{who} ({WORDS[self.metric]} on held-out and shifted training cases: {right})"


def _sizes(parts: Any) -> Array:
    """For each memory the number of cases that its classifier learned from."""
    counts, home = parts.cluster_counts.sum(axis=1), parts.pool.trained_with
    return np.array([counts.sum() if k == pool.GLOBAL else counts[home == k].sum() for k in home])
