"""Beyond the paper: the classifier's probabilities times its memory's label distribution.

Both are probabilities of the classes. Powers of them are multiplied (a sum of weighted logarithms). The powers are
learned on held-out training cases: how far the labels of the memories can be relied on, and the temperature of the
local classifiers beside them. The stranger a case is to its classifier, the less the classifier counts.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, softmax

from memclf._numbers import Array
from memclf.answers.base import (
    ALONE,
    Answers,
    HeldOut,
    Opinions,
    Parts,
    balance_probabilities,
    check_balance,
    empty_labels,
    finish_labels,
    most_probable,
)
from memclf.answers.local import LocalAnswer, list_classes, name_classifier, say_classifier
from memclf.cases import Cases
from memclf.local import pool
from memclf.local.competence import Calibration, detector_for, fit_detectors, measure_strangeness
from memclf.routing import Routes

STEADY = 1.0  # strength with which the learned temperature is drawn to 1
MOST = 20.0  # no power is larger
STRANGE = 0.05  # competence below which a case is called strange, and not just stranger than usual
COMMON = "in view of how common the classes are"
LOCAL, FADING, MEMORY, PRIOR = range(4)  # the logarithms that are weighted: one of the first two, and the others


class ProductAnswer(LocalAnswer):
    """The product of a local classifier's probabilities and its memory's label distribution.

    Parameters
    ----------
    competence : "mahalanobis", "neighbours", "energy", Detector or None
        How to measure whether a local classifier may be trusted on a case; see `memclf.local.competence`. The less it
        may, the less it counts. None: it counts equally on all cases.
    balance : float
        From 0, the most probable class is answered, to 1, the class that is most probable in relation to how common it
        is: 0 is for accuracy, 1 for balanced accuracy. Probabilities are weighed in the same way, so that the answer
        always has the largest.

    Attributes
    ----------
    weights_ : ndarray of shape (4,)
        The powers of the local classifier (one over its temperature), of the same where it fades with strangeness, of
        the memory's labels, and of the class frequencies. One of the first two is 0.
    detectors_ : list
        For each memory the detector that belongs to its classifier, or None.
    calibration_ : Calibration or None
        What the detectors' numbers mean.
    strange_rate_ : float
        Competence up to which a case is unknown: the part of `unknown_rate` that is for strange cases. 0: none is.
    """

    alone = False
    learns = True
    needs_probabilities = True
    versions = 2

    def __init__(self, competence: Any = "mahalanobis", balance: float = 0.5):
        self.competence = competence
        self.balance = balance

    @property
    def strange_share(self) -> float:  # type: ignore[override]
        """The part of `unknown_rate` that is for cases that are strange to their classifier."""
        return 0.0 if self.competence is None else 0.5

    def check(self) -> None:
        """Refuse parameters that mean nothing."""
        detector_for(self.competence)
        check_balance(self.balance)

    def fit_local(self, parts: Any, cases: Cases, y: Array, counted: Array, weight: Array | None = None) -> Self:
        """Fit a detector beside each local classifier. Returns self."""
        wanted = detector_for(self.competence)
        self.detectors_ = fit_detectors(wanted, parts.pool, parts.global_classifier, cases, y, parts.labels, counted)
        self.calibration_: Calibration | None = None
        self.strange_rate_ = 0.0
        return self

    def refit_local(
        self, parts: Any, cases: Cases, y: Array, counted: Array, unchanged: Mapping[int, int], weight: Array | None
    ) -> Self:
        """The rule with detectors for other memories, and with what it learned on folds."""
        wanted, new = detector_for(self.competence), copy.copy(self)
        known = {k: self.detectors_[former] for k, former in unchanged.items()}
        where = (parts.pool, parts.global_classifier, cases, y, parts.labels, counted)
        new.detectors_ = fit_detectors(wanted, *where, known)
        return new

    def observe(self, parts: Parts, cases: Cases, routes: Routes) -> tuple[Opinions, Array]:
        """What the nearest memories give for the cases, and how strange these are."""
        empty = np.zeros((len(routes), len(parts.classes)))
        local = pool.ask(parts.pool.estimators, routes.nearest, cases, "predict_proba", empty, parts.classes)
        strange = self._strangeness(parts, cases, routes, local)
        return Opinions(local, parts.label_distributions[routes.nearest], parts.frequencies), strange

    def _strangeness(self, parts: Parts, cases: Cases, routes: Routes, local: Array | None = None) -> Array:
        if routes.strangeness is not None:
            return routes.strangeness
        estimators, stand_in = parts.pool.estimators, parts.global_classifier
        return measure_strangeness(self.detectors_, estimators, stand_in, cases, routes.nearest, local, parts.classes)

    def learn(self, held: list[HeldOut], codes: Array, weight: Array | None, groups: Array | None) -> Self:
        """Learn the powers, and what strangeness means, from held-out cases. Returns self.

        Parameters
        ----------
        held : list of HeldOut
            One per fold.
        codes : ndarray
            The true class of each training case, as its position in the classes.
        weight, groups : ndarray or None
            Of each training case.
        """
        if self.competence is not None:
            rows = np.concatenate([each.rows for each in held])
            strange = np.concatenate([each.strangeness[0] for each in held])
            self.calibration_ = Calibration.of(strange, None if groups is None else groups[rows])
        versions, unchanged = [], []
        for each in held:
            own = np.ones(len(each.rows)) if weight is None else np.asarray(weight, dtype=float)[each.rows]
            for number, (opinions, strange) in enumerate(zip(each.opinions, each.strangeness, strict=True)):
                excess = None if self.calibration_ is None else self.calibration_.excess(strange)
                share = own if number == 0 else own / (len(each.opinions) - 1)
                versions.append((replace(opinions, excess=excess).terms(), codes[each.rows], share))
                if number == 0:
                    unchanged.append(versions[-1])
        self.weights_ = learn_weights(versions, unchanged, LOCAL if self.calibration_ is None else FADING)
        return self

    def drop_strange(self, parts: Parts, cases: Cases, routes: Routes) -> Routes:
        """The same routes, without cases that are too strange to their classifiers to be answered."""
        if self.calibration_ is None or not self.strange_rate_ or routes.strangeness is not None:
            return routes
        strange = self._strangeness(parts, cases, routes)
        return routes.drop_strange(self.calibration_.competence(strange) > self.strange_rate_, strange)

    def answer(
        self, parts: Parts, cases: Cases, routes: Routes, *, labels: bool = True, probabilities: bool = True
    ) -> Answers:
        """Call each classifier that takes part once, and combine its probabilities with the labels."""
        opinions, strange = self.gather(parts, cases, routes)
        competence = None
        if self.calibration_ is not None and strange is not None:
            competence = self.calibration_.competence(strange)
            routes = routes.drop_strange(routes.familiar & (competence > self.strange_rate_), strange)
        opinions = self.compare_with_usual(opinions, strange)
        unbalanced = P = self.combine(opinions)
        if not (isinstance(parts.fallback, str) and parts.fallback == "nearest"):
            P = np.where(routes.known[:, None], P, 0.0)
        if parts.fallback_classifier is not None:
            left = np.where(routes.known, -1, 0)
            P = pool.ask([parts.fallback_classifier], left, cases, "predict_proba", P, parts.classes)
            unbalanced = np.where(routes.known[:, None], unbalanced, P)
        P = balance_probabilities(P, opinions.prior, float(self.balance))
        found, known = empty_labels(parts, len(routes)), P.any(axis=1)
        found[known] = parts.classes[P[known].argmax(axis=1)]
        return Answers(
            finish_labels(parts, found),
            P,
            routes,
            unbalanced=unbalanced,
            competence=competence,
            **self.tell_shares(opinions),
        )

    def gather(self, parts: Parts, cases: Cases, routes: Routes) -> tuple[Opinions, Array | None]:
        """The opinions that the answers are made of, and how strange the cases are, if it matters."""
        return self.observe(parts, cases, routes)

    def compare_with_usual(self, opinions: Opinions, strange: Array | None) -> Opinions:
        """The opinions with what is known of how unusual the cases are."""
        if self.calibration_ is None or strange is None:
            return opinions
        return replace(opinions, excess=self.calibration_.excess(strange))

    def combine(self, opinions: Opinions) -> Array:
        """Probabilities of shape (cases, classes), before rare classes are weighed up."""
        return combine(opinions, self.weights_)

    def tell_shares(self, opinions: Opinions) -> dict[str, Any]:
        """What the answers are made of, as `Answers` has it."""
        heard = max(self.weights_[LOCAL], self.weights_[FADING]) > 1e-9
        n = len(opinions.local)
        return {
            "local": opinions.local,
            "memory": opinions.memory,
            "share": opinions.fade if heard else np.zeros(n),
            "labels_share": np.full(n, self.weights_[MEMORY]),
        }

    def count_as_strange(self, routes: Routes, position: int) -> tuple[int | None, int | None]:
        """Numbers of held-out cases: all, and those at least as strange; None: not measured."""
        if self.calibration_ is None or routes.strangeness is None:
            return None, None
        return len(self.calibration_.held), int(self.calibration_.as_strange(routes.strangeness)[position])

    def find_problems(self, n_memories: int) -> list[str]:
        """Names of fitted attributes that cannot belong to this number of memories."""
        sound = {"detectors_": len(self.detectors_) == n_memories, "weights_": np.shape(self.weights_) == (4,)}
        return [f"answer_.{name}" for name, good in sound.items() if not good]

    def say_who(self) -> str:
        """Who answers, in words."""
        return "the classifier of the case's memory and the labels of that memory together"

    def say_fallback(self, item: Any) -> str:
        """What the rule makes of the fallback's probabilities, for the sentence of an `Explanation`."""
        return say_balance(item, float(self.balance))

    def say(self, item: Any) -> str:
        """Why classifier and labels together give this answer, for the sentence of an `Explanation`."""
        return f"{_say_opinions(item)}{say_balance(item, float(self.balance))}"


def combine(opinions: Opinions, weights: Array) -> Array:
    """Probabilities of shape (cases, classes); classes without training cases have none."""
    scores = np.einsum("ntc,t->nc", opinions.terms(), weights)
    return np.asarray(softmax(np.where(opinions.prior > 0, scores, -np.inf), axis=1))


Versions = list[tuple[Array, Array, Array]]  # terms, true classes, weights of the cases


def learn_weights(versions: Versions, unchanged: Versions, local: int) -> Array:
    """The powers under which held-out cases are likeliest.

    Two numbers, one after the other: how far the labels of the memories can be relied on by themselves, from cases as
    they are; and the power of the local classifiers beside them, from all versions of the cases. `local` is the
    position of the latter.
    """
    alone = minimize_scalar(lambda share: _loss(unchanged, _towards_prior(share))[0], bounds=(0, 1), method="bounded")
    theta = _towards_prior(float(alone.x))
    pull = STEADY / sum(len(truth) for _, truth, _ in versions)

    def penalised(values: Array) -> tuple[float, Array]:
        theta[local] = values[0]
        value, slope = _loss(versions, theta)
        far = values - 1.0
        return value + 0.5 * pull * float(far @ far), slope[[local]] + pull * far

    found = minimize(penalised, np.ones(1), jac=True, bounds=[(0.0, MOST)], method="L-BFGS-B")
    theta[local] = found.x[0]
    return theta


def _towards_prior(share: float) -> Array:
    """The labels of the memory to this power, and the class frequencies to the rest."""
    return np.array([0.0, 0.0, share, 1 - share])


def _loss(versions: Versions, theta: Array) -> tuple[float, Array]:
    """Mean of minus the logarithm of the true class's probability, and its slope."""
    value, slope, total = 0.0, np.zeros(len(theta)), sum(float(share.sum()) for _, _, share in versions)
    for terms, truth, share in versions:
        logs = log_softmax(np.einsum("ntc,t->nc", terms, theta), axis=1)
        rows = np.arange(len(truth))
        value -= float(share @ logs[rows, truth])
        slope += share @ ((np.exp(logs)[:, None, :] * terms).sum(axis=2) - terms[rows, :, truth])
    return value / total, slope / total


# ------------------------------------------------------------------------------------------------------- sentences


def _say_opinions(item: Any) -> str:
    if item.answered_by == "labels" and item.origin != "constant":
        return _say_labels(item)
    if item.labels_share < ALONE:
        said = most_probable(item.local)
        more = "" if said == item.outcome else f", {COMMON} {say_outcome(item)}"
        return say_classifier(item, said, item.local, more)
    return _say_together(item)


def _say_labels(item: Any) -> str:
    said, labelled = most_probable(item.local), most_probable(item.labels)
    if labelled == item.outcome:
        why = f"{_labels(item)} answer alone, {say_outcome(item)}"
    else:
        why = f"{_labels(item)} say {labelled!r} ({item.labels[labelled]:.2f}), {COMMON} {say_outcome(item)}"
    strange = item.competence is not None and item.competence <= 0.5  # up to the median nothing is faded
    reason = f"the case is {say_strange(item)}" if strange else "on held-out cases it did not help"
    which = f"which would say {said!r} ({item.local[said]:.2f})"
    return f"{why}; its {name_classifier(item)}, {which}, does not count, since {reason}"


def _say_together(item: Any) -> str:
    said, labelled = most_probable(item.local), most_probable(item.labels)
    joined = "and" if said == labelled else "but"
    why = (
        f"its {name_classifier(item)} says {said!r} ({item.local[said]:.2f}) {joined} {_labels(item)} say "
        f"{labelled!r} ({item.labels[labelled]:.2f}), together {say_outcome(item)}"
    )
    if item.share < 0.5 or (item.share <= 1 - ALONE and said != item.outcome):
        return f"{why}; the classifier counts for less, since the case is {say_strange(item)}"
    return why


def say_balance(item: Any, balance: float) -> str:
    """What weighing up rare classes made of the answer, in words."""
    if not balance or item.probabilities is None or item.answer not in item.probabilities:
        return ""
    still = "still " if item.answer == item.outcome else ""
    chance = f"({item.probabilities[item.answer]:.2f})"
    return f"; rare classes weighed up, balance {balance:g}: {still}{item.answer!r} {chance}"


def say_outcome(item: Any) -> str:
    """What is most probable before rare classes are weighed up, in words."""
    return f"{item.outcome!r} ({item.unbalanced[item.outcome]:.2f})"


def _labels(item: Any) -> str:
    return f"the labels of its cluster ({list_classes(item)})"


def say_strange(item: Any) -> str:
    """How strange a case is to its classifier, in words and as a competence."""
    usual = item.competence is not None and item.competence >= STRANGE
    return f"{'stranger to it than usual' if usual else 'strange to it'} ({say_competence(item)})"


def say_competence(item: Any) -> str:
    """The competence of a case with the numbers behind it."""
    share = f"{item.as_strange} of {item.held_out} held-out training cases are as strange"
    return f"competence {item.competence:.3f}: {share}"
