"""Combination: the local classifier's word and the memory's own labels, weighed by what was learned on held-out cases.

Both are probabilities of the classes. A product of powers of them (a sum of weighed logarithms) stays a product of
two opinions, however strange a case is; the weights say whose opinion counts how much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, softmax

from memclf._numbers import Array

COMBINE = ("local", "product", "stacked")
GUARDS = ("soft", "hard")
FLOOR = 1e-4  # no opinion is surer than this: a zero would be a veto
STRICT = 0.05  # competence below which a hard guard lets the memory's labels answer
STEADY = 1.0  # strength with which learned weights are drawn to those of a plain product
MOST = 20.0  # no weight is larger


@dataclass(frozen=True)
class Opinions:
    """What is known about some cases, before it is combined. All but `excess` are of shape (cases, classes).

    Attributes
    ----------
    local : ndarray
        Probabilities of the local classifiers.
    memory : ndarray
        Label distributions of the memories that the cases are sent to.
    prior : ndarray of shape (classes,)
        Frequencies of the classes in the training data.
    excess : ndarray of shape (cases,) or None
        How much stranger than usual the cases are; None where nobody looks.
    """

    local: Array
    memory: Array
    prior: Array
    excess: Array | None = None

    def terms(self) -> Array:
        """Logarithms to be weighed, of shape (cases, terms, classes); see `TERMS`."""
        local, memory, prior = (np.log(np.maximum(p, FLOOR)) for p in (self.local, self.memory, self.prior))
        fade = np.ones(len(local)) if self.excess is None else np.exp(-self.excess)
        return np.stack([local, local * fade[:, None], memory, np.broadcast_to(prior, local.shape)], axis=1)


TERMS = ("local", "local while competent", "memory", "prior")


@dataclass(frozen=True)
class Combination:
    """How opinions become an answer.

    Attributes
    ----------
    combine : {"local", "product", "stacked"}
    guard : {"soft", "hard"}
        For "local" with competence: the memory's labels take over step by step as a case gets stranger, or at once.
    weights : ndarray of shape (4,)
        For "product" and "stacked", of the `TERMS`.
    """

    combine: str
    guard: str
    weights: Array

    def __call__(self, opinions: Opinions, competence: Array | None) -> Array:
        """Probabilities of shape (cases, classes)."""
        if self.combine != "local":
            scores = np.einsum("ntc,t->nc", opinions.terms(), self.weights)
            return np.asarray(softmax(np.where(opinions.prior > 0, scores, -np.inf), axis=1))
        if competence is None or opinions.excess is None:
            return opinions.local
        trusted = np.exp(-opinions.excess) if self.guard == "soft" else (competence >= STRICT).astype(float)
        return trusted[:, None] * opinions.local + (1 - trusted[:, None]) * opinions.memory


def fit_combination(
    combine: str, guard: str, held: list[Opinions], codes: list[Array], weights: list[Array], usual: list[bool]
) -> Combination:
    """Learn from held-out cases.

    For "product" two numbers, one after the other: how far the labels of the memories may be believed by themselves,
    and the temperature of the local classifiers beside them. For "stacked" all weights at once.

    Parameters
    ----------
    held, codes, weights, usual : lists
        Opinions about held-out cases, their true classes as positions, how much each counts, and whether they are as
        usual, not perturbed; one entry per version of the cases.
    """
    if combine == "local":
        return Combination(combine, guard, np.array([1.0, 0.0, 0.0, 0.0]))
    versions = [(each.terms(), truth, share) for each, truth, share in zip(held, codes, weights, strict=True)]
    local = 1 if any(each.excess is not None for each in held) else 0
    start = np.array([0.0, 0.0, 1.0, 0.0])
    start[local] = 1.0
    if combine == "stacked":
        # Among usual cases alone nothing shows why an unfading word is dangerous, so there is none then.
        free = np.array([not local or not all(usual), bool(local), True, True])
        return Combination(combine, guard, _likeliest(versions, start, free))
    alone = [version for version, plain in zip(versions, usual, strict=True) if plain]
    believed = minimize_scalar(lambda share: _loss(alone, _towards_prior(share))[0], bounds=(0, 1), method="bounded").x
    start = _towards_prior(float(believed))
    start[local] = 1.0
    return Combination(combine, guard, _likeliest(versions, start, np.arange(len(TERMS)) == local))


def _towards_prior(share: float) -> Array:
    """The memory's labels, and for the rest the frequencies of the classes."""
    return np.array([0.0, 0.0, share, 1 - share])


Versions = list[tuple[Array, Array, Array]]  # terms, true classes, weights


def _loss(versions: Versions, theta: Array) -> tuple[float, Array]:
    """Mean of minus the logarithm of the true class's probability, and its slope."""
    value, slope, total = 0.0, np.zeros(len(TERMS)), sum(float(share.sum()) for _, _, share in versions)
    for terms, truth, share in versions:
        logs = log_softmax(np.einsum("ntc,t->nc", terms, theta), axis=1)
        rows = np.arange(len(truth))
        value -= float(share @ logs[rows, truth])
        slope += share @ ((np.exp(logs)[:, None, :] * terms).sum(axis=2) - terms[rows, :, truth])
    return value / total, slope / total


def _likeliest(versions: Versions, start: Array, free: Array) -> Array:
    """The weights under which held-out cases are likeliest, drawn a little to where they start."""
    pull = STEADY / sum(len(truth) for _, truth, _ in versions)

    def penalised(values: Array) -> tuple[float, Array]:
        theta = start.copy()
        theta[free] = values
        value, slope = _loss(versions, theta)
        far = values - start[free]
        return value + 0.5 * pull * float(far @ far), slope[free] + pull * far

    bounds = [(-MOST if name == "prior" else 0.0, MOST) for name, kept in zip(TERMS, free, strict=True) if kept]
    theta = start.copy()
    theta[free] = minimize(penalised, start[free], jac=True, bounds=bounds, method="L-BFGS-B").x
    return theta
