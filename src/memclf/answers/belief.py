"""Whom to believe: what is learned from opinions about held-out cases, few numbers only.

A classifier's opinion counts as a ratio to the class frequencies, and so do the labels of the memories: what both
know of the frequencies must not count twice. Powers of the two ratios are multiplied, and the frequencies count once.

The larger power is 1 on every case. Otherwise shifted cases, on which all parts fail, would make both powers small: it
is likeliest then that the commonest class is the true one, and rare classes would never be answered. That no part knows
much is said by temperatures instead, one for cases as they are and one for shifted ones. The latter is for learning
only. The former is part of the probabilities; by itself it changes no answer, but where rare classes are weighed up, it
says how far that carries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from memclf._numbers import Array, first_largest
from memclf.answers.base import FLOOR, Opinions
from memclf.answers.samples import Sample

ALONE = 0.0  # cases that a cluster is short of: none, the local classifier answers alone
NEVER = np.inf  # all clusters are too small: the global classifier answers alone
SHRINKAGES = (ALONE, 20.0, 80.0, NEVER)
CLOSENESSES = (16.0, NEVER)
PULL = 1.0  # strength with which both powers are drawn to 1, and fading to none
MOST = 3.0  # no rate is larger
LEAST_POWER = 1e-9  # of the smaller one, while it is learned
ALMOST_NONE = 1e-3  # a part with a smaller power is not asked
HOTTEST = 3.0  # logarithm of the largest temperature
FARTHEST = 50.0  # strangeness and distance beyond the usual; more fades no further
SAME_LOSS = 1e-6  # losses that differ by less are equal: the optimisation ends there


@dataclass(frozen=True)
class Belief:
    """How the opinions about a case make its probabilities.

    Attributes
    ----------
    classifier, labels : float
        The powers of the classifier and of the memories' labels; the larger is 1.
    strangeness, distance : float
        The rates at which they fade, each beside the other: the classifier with strangeness; labels with the distance
        from the memory, and measurements with how odd they are.
    shrinkage : float
        The local classifier's share is n / (n + shrinkage), where n cases are in its cluster; the rest is the global
        classifier's. 0: local alone; infinite: global alone.
    closeness : float
        A memory's labels weigh (its similarity / the largest similarity) to this power; infinite: the nearest alone.
    measured : bool
        In the place of labels of memories stands what a classifier says of the expert's measurements.
    temperature : float
        Makes the probabilities of cases like the training cases honest. Answers depend on it only where rare classes
        are weighed up.
    """

    classifier: float
    labels: float
    strangeness: float = 0.0
    distance: float = 0.0
    shrinkage: float = NEVER
    closeness: float = NEVER
    measured: bool = False
    temperature: float = 1.0

    @property
    def name(self) -> str | None:
        """The one of `PARTS` that it comes down to, if it does."""
        alone = replace(self.reduced(), temperature=1.0)
        return next((name for name, part in PARTS.items() if part == alone), None)

    def reduced(self) -> Belief:
        """The same without what changes nothing where one part has all the power."""
        if self.classifier and self.labels:
            return self
        alone = replace(self, strangeness=0.0, distance=0.0)
        if self.labels:
            return replace(alone, shrinkage=NEVER)
        return replace(alone, closeness=NEVER, measured=False)

    @property
    def asks_local(self) -> bool:
        """Whether the local classifiers take part."""
        return self.classifier > 0 and self.shrinkage < NEVER

    @property
    def asks_global(self) -> bool:
        """Whether the global classifier takes part."""
        return self.classifier > 0 and self.shrinkage > ALONE

    def powers(self, opinions: Opinions) -> tuple[Array, Array]:
        """How much the classifier and the labels count on each case."""
        n = len(opinions.local)
        strange, far = _beyond(opinions.excess, n), _beyond(_unlike(opinions, self), n)
        return _fade(self.classifier, self.labels, self.strangeness * strange, self.distance * far)

    def combine(self, opinions: Opinions) -> Array:
        """Probabilities of shape (cases, classes); classes without training cases have none."""
        classifier, labels = _ratios(opinions, self)
        first, second = self.powers(opinions)
        scores = _log(opinions.prior) + first[:, None] * classifier + second[:, None] * labels
        return np.asarray(softmax(np.where(opinions.prior > 0, scores / self.temperature, -np.inf), axis=1))


#: The parts by themselves: each is one of the opinions as it is.
PARTS = {
    "global": Belief(1.0, 0.0),
    "local": Belief(1.0, 0.0, shrinkage=ALONE),
    "labels": Belief(0.0, 1.0),
    "measurements": Belief(0.0, 1.0, measured=True),
}


def list_parts(opinions: Opinions) -> dict[str, Belief]:
    """Those of `PARTS` that there are: not all cases are measured."""
    return {name: part for name, part in PARTS.items() if not part.measured or opinions.measured is not None}


def mix_classifiers(opinions: Opinions, shrinkage: float) -> Array:
    """The local classifier's probabilities, drawn to the global one's by the cluster's size."""
    if shrinkage == NEVER or opinions.size is None:
        return np.asarray(opinions.whole)
    if shrinkage == ALONE:
        return opinions.local
    share = (opinions.size / (opinions.size + shrinkage))[:, None]
    return np.asarray(share * opinions.local + (1 - share) * np.asarray(opinions.whole))


def read_description(opinions: Opinions, belief: Belief) -> Array:
    """What the description says: labels of the nearest memory, of all, or measurements."""
    if belief.measured and opinions.measured is not None:
        return opinions.measured
    if belief.closeness == NEVER or opinions.nearby is None:
        return opinions.memory
    return opinions.nearby[belief.closeness]


def _ratios(opinions: Opinions, belief: Belief) -> tuple[Array, Array]:
    """Logarithms of the two opinions in relation to the class frequencies."""
    prior = _log(opinions.prior)
    classifier = _log(mix_classifiers(opinions, belief.shrinkage)) if belief.classifier else prior + 0 * opinions.memory
    return classifier - prior, _log(read_description(opinions, belief)) - prior


def _unlike(opinions: Opinions, belief: Belief) -> Array | None:
    """How unlike all training cases the description is, by which what it says fades."""
    return opinions.oddness if belief.measured and opinions.oddness is not None else opinions.distance


def _beyond(excess: Array | None, n: int) -> Array:
    """Strangeness or distance beyond the usual, as far as it counts: none may be infinite."""
    return np.zeros(n) if excess is None else np.minimum(excess, FARTHEST)


def _log(P: Array) -> Array:
    return np.asarray(np.log(np.maximum(P, FLOOR)))


def learn_belief(samples: list[Sample]) -> Belief:
    """The belief under which held-out cases are likeliest."""
    first = samples[0].opinions
    shrinkages = [each for each in SHRINKAGES if first.size is not None or each == NEVER]
    readings = [(each, False) for each in CLOSENESSES if first.nearby is not None or each == NEVER]
    readings += [(NEVER, True)] if first.measured is not None else []
    ways = [
        Belief(1.0, 1.0, shrinkage=shrinkage, closeness=closeness, measured=measured)
        for shrinkage, (closeness, measured) in product(shrinkages, readings)
    ]
    found = [_fit_powers(samples, each) for each in ways]
    # Where all clusters share a classifier, say, several ways are the same but for the end of the optimisation.
    return found[first_largest(np.array([-loss for loss, _ in found]), SAME_LOSS)][1]


def _fit_powers(samples: list[Sample], plain: Belief) -> tuple[float, Belief]:
    """The best powers and rates for one way to mix and read the opinions, and their loss."""
    together = _Together.of(samples, plain)
    pull = PULL / len(together.truth)
    pulled = np.array([1.0, 1.0, 1.0, 0.0, 0.0])

    def loss(values: Array) -> tuple[float, Array]:
        value, slope = together.loss(values)
        return value + pull * float(pulled @ values**2), slope + 2 * pull * pulled * values

    rates = [(0.0, MOST if together.strange.any() else 0.0), (0.0, MOST)]
    bounds = [(LEAST_POWER - 1, 1 - LEAST_POWER), *rates, (-1.0, HOTTEST), (-1.0, HOTTEST)]
    ends = []
    for tilt in (-0.5, 0.5):  # the loss has a kink where both powers are 1
        begin = np.clip([tilt, 0.1, 0.1, 0.0, 0.0], *np.transpose(bounds))
        ends.append(minimize(loss, begin, jac=True, bounds=bounds, method="L-BFGS-B"))
    best = min(ends, key=lambda each: float(each.fun))
    tilt, strangeness, distance, heat = map(float, best.x[:4])
    first, second = (power if power >= ALMOST_NONE else 0.0 for power in _powers(tilt))
    found = replace(plain, classifier=first, labels=second, strangeness=strangeness, distance=distance)
    return float(best.fun), replace(found, temperature=float(np.exp(heat)))


def _fade(first: float, second: float, strange: Array, far: Array) -> tuple[Array, Array]:
    """Two powers on each case, after both have faded; the larger is 1."""
    faded = first * np.exp(-strange), second * np.exp(-far)
    larger = np.maximum(*faded)
    return faded[0] / larger, faded[1] / larger


def _powers(tilt: float) -> tuple[float, float]:
    """The powers of classifier and labels: -1 is the labels alone, 1 the classifier alone."""
    return min(1.0, 1.0 + tilt), min(1.0, 1.0 - tilt)


@dataclass(frozen=True)
class _Together:
    """All samples in one table, for the loss of powers, rates and temperatures."""

    prior: Array  # logarithms of the class frequencies
    classifier: Array
    labels: Array
    strange: Array
    far: Array
    truth: Array
    weight: Array
    shifted: Array

    @classmethod
    def of(cls, samples: list[Sample], belief: Belief) -> _Together:
        columns = []
        for each in samples:
            told, n = each.opinions, len(each.truth)
            prior = np.where(told.prior > 0, _log(told.prior), -np.inf)
            beyond = _beyond(told.excess, n), _beyond(_unlike(told, belief), n)
            rows = (np.broadcast_to(prior, told.memory.shape), *_ratios(told, belief), *beyond)
            columns.append((*rows, each.truth, each.weight, np.full(n, each.shifted)))
        found = [np.concatenate(column) for column in zip(*columns, strict=True)]
        answerable = np.isfinite(found[0][np.arange(len(found[5])), found[5]])  # a class left out has no chance
        return cls(*(column[answerable] for column in found))

    def loss(self, values: Array) -> tuple[float, Array]:
        """Mean of minus the logarithm of the true class's probability, and its slope.

        `values` are the tilt between the powers, the two rates, and the logarithms of the two temperatures.
        """
        tilt = float(values[0])
        first, second = _fade(*_powers(tilt), values[1] * self.strange, values[2] * self.far)
        scores = self.prior + first[:, None] * self.classifier + second[:, None] * self.labels
        cold = np.exp(-np.where(self.shifted, values[4], values[3]))
        logs, rows, total = log_softmax(scores * cold[:, None], axis=1), np.arange(len(self.truth)), self.weight.sum()
        chances, share = np.exp(logs), self.weight / total

        def mean_less_true(terms: Array) -> Array:
            """The slope of the loss of each case in a number that `terms` are multiplied by."""
            usable = np.where(chances > 0, terms, 0.0)  # a class that was left out has a score of minus infinity
            return np.asarray(cold * ((chances * usable).sum(axis=1) - usable[rows, self.truth]))

        by_first, by_second = mean_less_true(self.classifier), mean_less_true(self.labels)
        heat = -share * mean_less_true(scores)
        by_ratio = share * np.where(first < second, by_first * first, -by_second * second)  # of the powers' logarithms
        slope = [
            by_ratio.sum() / max(1 - abs(tilt), LEAST_POWER),
            -(by_ratio @ self.strange),
            by_ratio @ self.far,
            heat[~self.shifted].sum(),
            heat[self.shifted].sum(),
        ]
        return -float(share @ logs[rows, self.truth]), np.array(slope)
