"""How much each measurement counts, from comparisons of cases.

The weights have a log-normal prior around equal weights. An answer follows a logistic curve in the difference of two
distances; one answer in twenty is taken for a slip, so that a contradiction cannot pull far. How wide the prior is,
and whether differences or their squares count, is weighed by how well answers are predicted: the mean of two scores,
each answer predicted from those before it (the evidence, in Laplace's approximation, MacKay 1992) and from all others
(in the approximation of one Newton step, Rad and Maleki 2020). The first alone is too bold where there are many
measurements, the second alone too timid where questions were chosen because their answers were open.

The weights stay equal unless the answers, each predicted from all others, are surely more probable with others, and
where answers are fewer than measurements, equal weights still count. So ten answers hardly ever make it worse.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from memclf._numbers import Array

SLIP = 0.05  # chance that an answer is the wrong way round, whatever the cases
# Spreads of the log-weights around equal ones, with their prior chances. The first is as good as equal.
SPREADS = (0.1, 0.3, 0.6, 1.0, 1.6, 2.5)
CHANCES = (0.7, 0.1, 0.08, 0.05, 0.04, 0.03)
MEMBERS = 16  # drawn for each spread
CLEAR = 3.0  # log-odds with which a usual question is answered, by the prior
SURE = 2.0  # by how much it must be better, in all answers together, than with equal weights
FEW = 0.5  # answers for each measurement, at which equal weights still count half
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
    score : float
        Log-probability of the answers, each predicted from others: the mean of two scores.
    held_out, equal : float
        The same, each predicted from all others, by these weights and by equal ones.
    equal_reach : float
        The reach with equal weights.
    members, votes : ndarray
        Weights that the answers leave possible, in the units of the logistic curve, and how much each of them counts.
    """

    weights: Array
    power: int
    reach: float
    score: float
    held_out: float
    equal: float
    equal_reach: float
    members: Array
    votes: Array

    def agrees(self, questions: Questions) -> Array:
        """Whether the weights answer each question as it was answered, of triplets, then of pairs."""
        triplets, pairs, usual = questions.raised(self.power)
        alike = pairs @ self.weights < self.reach * (usual @ self.weights)
        return np.concatenate([triplets @ self.weights > 0, alike == (questions.alike > 0.5)])


def learn(questions: Questions) -> Learned:
    """The weights, the power and the reach that the answers speak for."""
    plain, squared = (_learn(questions, power) for power in (1, 2))
    best = squared if squared.score > plain.score + SQUARES else plain
    if best.held_out < plain.equal + SURE:
        return replace(plain, weights=np.ones_like(plain.weights), reach=plain.equal_reach)
    n, few = len(questions), FEW * len(best.weights)
    return replace(best, weights=(n**2 * best.weights + few**2) / (n**2 + few**2))


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
        chance, slope = give_chances(z)
        fit = float(answers @ np.log(chance) + (1 - answers) @ np.log1p(-chance))
        pull = (answers / chance - (1 - answers) / (1 - chance)) * slope
        each = (pull[:n] @ triplets + pull[n:].sum() * reach * usual - pull[n:] @ pairs) * values
        uphill = np.concatenate([spread * each, [each.sum(), pull[n:].sum() * reach * (usual @ values)]])
        return float(0.5 * u @ u) - fit, u - uphill

    u, before = np.zeros(m + 2), SPREADS[0]
    scores, all_weights, reaches, members, predictions = [], [], [], [], []
    normal = np.random.default_rng(0).normal(size=(MEMBERS, m))
    for spread, prior in zip(SPREADS, CHANCES, strict=True):  # from nearly equal weights to any
        u = np.concatenate([u[:m] * (before / spread), u[m:]])
        before = spread
        best = minimize(loss, u, args=(spread,), jac=True, method="L-BFGS-B", options={"maxiter": 300})
        u = np.asarray(best.x)
        values, reach, z = unpack(u, spread)
        middle = np.concatenate([triplets, reach * usual - pairs]) * values
        jacobian = np.column_stack([spread * middle, z, np.repeat([0.0, reach * (usual @ values)], [n, len(pairs)])])
        predicted, covariance = _predict_each(z, answers, jacobian)
        evidence = 0.5 * float(np.linalg.slogdet(covariance)[1]) - float(best.fun)
        scores.append(np.log(prior) + (float(predicted.sum()) + evidence) / 2)
        predictions.append(predicted)
        all_weights.append(values * (m / values.sum()))
        reaches.append(u[m + 1])
        members.append(values * np.exp(spread * normal @ np.linalg.cholesky(covariance[:m, :m]).T))
    total_score = float(np.logaddexp.reduce(scores))
    share = np.exp(np.array(scores) - total_score)
    weights, reach = share @ np.array(all_weights), float(np.exp(share @ np.array(reaches)))
    held_out = float(np.logaddexp.reduce(np.array(predictions) + np.log(share)[:, None], axis=0).sum())
    equal = float(predictions[0].sum()), float(np.exp(reaches[0]))  # the narrowest spread is as good as equal
    votes = np.repeat(share + 1 / len(SPREADS), MEMBERS) / (2 * MEMBERS)  # no spread is ruled out
    return Learned(weights, power, reach, total_score, held_out, *equal, np.concatenate(members), votes)


def _predict_each(z: Array, answers: Array, jacobian: Array) -> tuple[Array, Array]:
    """Log-probabilities of answers, each predicted from the others, and the covariance."""
    chance, slope = give_chances(z)
    told = slope**2 / (chance * (1 - chance))
    covariance = np.linalg.inv(np.eye(jacobian.shape[1]) + (jacobian * told[:, None]).T @ jacobian)
    own = np.einsum("ij,ij->i", jacobian @ covariance, jacobian)
    without = own / np.maximum(1 - own * told, 0.05)
    pull = (answers / chance - (1 - answers) / (1 - chance)) * slope
    # The mean of a logistic curve over a normal distribution (MacKay 1992).
    chance, _ = give_chances((z - without * pull) / np.sqrt(1 + np.pi / 8 * without))
    return answers * np.log(chance) + (1 - answers) * np.log1p(-chance), covariance


def give_chances(z: Array) -> tuple[Array, Array]:
    """The chance of "yes" at these log-odds, with slips, and its slope."""
    sure = expit(z)
    return SLIP + (1 - 2 * SLIP) * sure, (1 - 2 * SLIP) * sure * (1 - sure)
