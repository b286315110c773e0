"""How much each measurement counts, from comparisons of cases.

The weights have a log-normal prior around equal weights. An answer follows a logistic curve in the difference of two
distances; one answer in twenty is taken for a slip, so that a contradiction cannot pull far. How wide the prior is,
and whether differences or their squares count, is weighed by how well each answer is predicted from all others, in the
approximation of one Newton step (Rad and Maleki 2020) around Laplace's. Few or contradictory answers leave the weights
equal, many clear ones move them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from memclf._numbers import Array

SLIP = 0.05  # chance that an answer is the wrong way round, whatever the cases
# Spreads of the log-weights around equal ones, with their prior chances. The first is as good as equal.
SPREADS = (0.1, 0.3, 0.6, 1.0, 1.6, 2.5)
CHANCES = (0.7, 0.1, 0.08, 0.05, 0.04, 0.03)
CLEAR = 3.0  # log-odds with which a usual question is answered, by the prior
SQUARES = 1.0  # by how much the log-probability must be better for squared differences


@dataclass(frozen=True)
class Questions:
    """Answered questions as differences of measurements, one row per answer.

    `nearer` and `farther` of a triplet and `apart` of a pair are differences between two cases, measurement by
    measurement, divided by the scales. NaN, where one of the two has a gap, counts as usual. `alike` is the answer
    about each pair; `usual` and `usual_squares` are the mean difference and squared difference of two training cases.
    """

    nearer: Array
    farther: Array
    apart: Array
    alike: Array
    usual: Array
    usual_squares: Array

    def __len__(self) -> int:
        return len(self.nearer) + len(self.apart)

    def take(self, triplets: Array, pairs: Array) -> Questions:
        """Some of the questions."""
        usual = (self.usual, self.usual_squares)
        return Questions(self.nearer[triplets], self.farther[triplets], self.apart[pairs], self.alike[pairs], *usual)

    def raised(self, power: int) -> tuple[Array, Array, Array]:
        """Evidence rows of triplets, distances of pairs, and usual distances, with this power."""
        usual = self.usual if power == 1 else self.usual_squares
        raised = (np.where(np.isnan(each), usual, each**power) for each in (self.nearer, self.farther, self.apart))
        nearer, farther, apart = raised
        return farther - nearer, apart, usual


@dataclass(frozen=True)
class Learned:
    """What answers taught.

    Attributes
    ----------
    weights : ndarray
        One per measurement, 1 on the mean.
    power : 1 or 2
        Whether differences or squared differences count.
    reach : float
        At which distance two cases are as much alike as not, in units of the usual distance.
    score, coin : float
        Log-probability of the answers, each predicted from the others, and of a coin that knows no cases.
    scale, sensitivity, covariance
        Weights in the units of the logistic curve, how they change with their parameters, and how uncertain these are.
    """

    weights: Array
    power: int
    reach: float
    score: float
    coin: float
    scale: Array
    sensitivity: Array
    covariance: Array

    def predict(self, questions: Questions) -> Array:
        """Distance by which an answer is expected: positive for "yes", of triplets, then of pairs."""
        triplets, pairs, usual = questions.raised(self.power)
        return np.concatenate([triplets @ self.weights, self.reach * (usual @ self.weights) - pairs @ self.weights])


def learn(questions: Questions) -> Learned:
    """The weights, the power and the reach that the answers speak for."""
    plain, squared = (_learn(questions, power) for power in (1, 2))
    return squared if squared.score > plain.score + SQUARES else plain


def _learn(questions: Questions, power: int) -> Learned:
    triplets, pairs, usual = questions.raised(power)
    m, n = len(usual), len(triplets)
    answers = np.concatenate([np.ones(n), questions.alike])
    total = np.concatenate([triplets.sum(axis=1), usual.sum() - pairs.sum(axis=1)])
    size = float(np.sqrt(np.mean(total**2))) if len(total) else 0.0
    unit = CLEAR / size if size > 0 else 1.0

    def unpack(u: Array, spread: float) -> tuple[Array, float, Array]:
        values = unit * np.exp(np.clip(u[m] + spread * u[:m], -50, 50))
        reach = float(np.exp(np.clip(u[m + 1], -50, 50)))
        return values, reach, np.concatenate([triplets @ values, reach * (usual @ values) - pairs @ values])

    def loss(u: Array, spread: float) -> tuple[float, Array]:
        values, reach, z = unpack(u, spread)
        chance, slope = _chances(z)
        fit = float(answers @ np.log(chance) + (1 - answers) @ np.log1p(-chance))
        pull = (answers / chance - (1 - answers) / (1 - chance)) * slope
        each = (pull[:n] @ triplets + pull[n:].sum() * reach * usual - pull[n:] @ pairs) * values
        uphill = np.concatenate([spread * each, [each.sum(), pull[n:].sum() * reach * (usual @ values)]])
        return float(0.5 * u @ u) - fit, u - uphill

    u, before = np.zeros(m + 2), SPREADS[0]
    scores, all_weights, reaches, curves = [], [], [], []
    for spread, prior in zip(SPREADS, CHANCES, strict=True):  # from nearly equal weights to any
        u = np.concatenate([u[:m] * (before / spread), u[m:]])
        before = spread
        best = minimize(loss, u, args=(spread,), jac=True, method="L-BFGS-B", options={"maxiter": 300})
        u = np.asarray(best.x)
        values, reach, z = unpack(u, spread)
        middle = np.concatenate([triplets, reach * usual - pairs]) * values
        jacobian = np.column_stack([spread * middle, z, np.repeat([0.0, reach * (usual @ values)], [n, len(pairs)])])
        score, covariance = _predict_each(z, answers, jacobian)
        scores.append(np.log(prior) + score)
        all_weights.append(values * (m / values.sum()))
        reaches.append(u[m + 1])
        curves.append((values, spread * values, covariance))
    total_score = float(np.logaddexp.reduce(scores))
    share = np.exp(np.array(scores) - total_score)
    weights, reach = share @ np.array(all_weights), float(np.exp(share @ np.array(reaches)))
    return Learned(weights, power, reach, total_score, _coin(questions), *curves[int(np.argmax(share))])


def _predict_each(z: Array, answers: Array, jacobian: Array) -> tuple[float, Array]:
    """Log-probability of answers, each predicted from the others, and the parameters' covariance."""
    chance, slope = _chances(z)
    told = slope**2 / (chance * (1 - chance))
    covariance = np.linalg.inv(np.eye(jacobian.shape[1]) + (jacobian * told[:, None]).T @ jacobian)
    own = np.einsum("ij,ij->i", jacobian @ covariance, jacobian)
    without = own / np.maximum(1 - own * told, 0.05)
    pull = (answers / chance - (1 - answers) / (1 - chance)) * slope
    # The mean of a logistic curve over a normal distribution (MacKay 1992).
    chance, _ = _chances((z - without * pull) / np.sqrt(1 + np.pi / 8 * without))
    return float(answers @ np.log(chance) + (1 - answers) @ np.log1p(-chance)), covariance


def _chances(z: Array) -> tuple[Array, Array]:
    """The chance of "yes" at these log-odds, with slips, and its slope."""
    sure = expit(z)
    return SLIP + (1 - 2 * SLIP) * sure, (1 - 2 * SLIP) * sure * (1 - sure)


def _coin(questions: Questions) -> float:
    """Log-probability of the answers if cases play no part: a coin, and the mean rate of pairs."""
    triplets = -np.log(2) * len(questions.nearer)
    if not len(questions.apart):
        return float(triplets)
    rate = float(np.clip(questions.alike.mean(), 1e-3, 1 - 1e-3))
    pairs = len(questions.apart) * (np.log1p(-rate) + rate * logit(rate))
    return float(triplets + pairs - 0.5 * np.log(len(questions.apart)))
