"""A similarity that learns from an expert's judgements how much each measurement counts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from memclf._numbers import Array
from memclf.cases import Cases, Collection, distinct
from memclf.exceptions import JudgementsWarning
from memclf.similarity.base import NumericSimilarity, name_measurements
from memclf.similarity.choices import Choices
from memclf.similarity.judged_questions import choose_questions, mix_in_repeats
from memclf.similarity.judged_weights import Questions, learn
from memclf.similarity.judgements import (
    Consistency,
    Share,
    check_pairs,
    check_triplets,
    count_repeats,
    find_contradictions,
    group_pairs,
    group_questions,
)

FROM_LABELS = 1000  # triplets that are drawn from labels
ENOUGH = 50  # judgements, from which on they must agree with the weights more often than a coin would
CLEARLY = 0.6
FOLDS = 5
ABOUT = 1.1  # weights whose ratio is smaller are about the same


class JudgedSimilarity(NumericSimilarity):
    """Two cases are alike when the measurements agree that count for the expert.

    ``0.5 ** (d / reach_)`` with the distance ``d = sum(weights_ * (|a - b| / scales_) ** power_)``. The weights, the
    power (1 or 2) and the reach are learned from answers to two kinds of questions: are these two cases alike, and is
    this case more like the one or the other. Weights stay equal until the answers, each predicted from the others, are
    surely better predicted by other weights.

    Parameters
    ----------
    features, n_jobs, verbose
        See `Similarity`: what is measured of a case. Measurements may have gaps (NaN).

    Attributes
    ----------
    weights_ : ndarray
        How much each measurement counts; 1 on the mean, 0 for one that did not vary in training.
    scales_ : ndarray
        The mean difference of two training cases in each measurement.
    usual_ : ndarray of shape (2, n_measurements)
        The mean difference, and the mean squared difference, of two training cases on these scales.
    power_ : 1 or 2
        Whether differences or squared differences count.
    reach_ : float
        The distance at which the similarity is 0.5. With judged pairs it is where the expert begins to call two cases
        not alike; without, the mean distance of two training cases.
    measurements_ : list of str
        The names of the measurements.
    learned_from_ : {"equal weights", "labels", "judgements"}
        What the weights come from.
    judgements_ : list of dict
        All judgements, with the cases that they are about.

    Notes
    -----
    A measurement that one of two cases lacks counts as their usual difference, one that both lack as none.

    Judgements survive `sklearn.base.clone` and further fits, unlike what other estimators have learned: the expert
    gives them once, and a memory classifier clones its similarity and fits the clone to training cases and class
    labels. The judged cases are kept with them and measured again in each fit.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> similarity = JudgedSimilarity().fit(X)
    >>> triplets = [(i, j, k) if abs(X[i, 0] - X[j, 0]) < abs(X[i, 0] - X[k, 0]) else (i, k, j)
    ...             for i, j, k in similarity.questions(X, 20)]
    >>> similarity.judge(X, triplets=triplets).weights_.round()
    array([2., 0.])
    """

    label = "the measurements agree that count for the expert, as judgements have taught"
    allow_nan = True
    judgements_: Any = ()
    _measured: list[Array] | None = None  # of the judged cases, by the features as they are fitted

    def __init__(self, features: Any = None, *, n_jobs: int | None = None, verbose: int | None = None):
        self.features = features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def judge(self, X: Any, pairs: Iterable[Any] = (), triplets: Iterable[Any] = ()) -> Self:
        """Add judgements about cases of X, and learn from all judgements so far. Returns self.

        Parameters
        ----------
        X : cases
            If the similarity is not fitted yet, it is fitted to them first.
        pairs : list of (i, j, alike)
            Rows i and j of X are alike (True or 1), not alike (False or 0) or something between.
        triplets : list of (i, j, k)
            Row i is more like row j than like row k.
        """
        cases = Cases.of(X)
        two, three = check_pairs(pairs, len(cases)), check_triplets(triplets, len(cases))
        if not self.__sklearn_is_fitted__():
            self.fit(cases)
        if not len(two) and not len(three):
            return self
        rows = np.unique(np.concatenate([two[:, :2].ravel(), three.ravel()])).astype(np.intp)
        two[:, :2], three = np.searchsorted(rows, two[:, :2]), np.searchsorted(rows, three)
        kept = cases.keep(rows)
        kept = kept.remembered() if isinstance(kept, Collection) else kept  # fits of all folds measure them once
        block = {"cases": kept, "pairs": two, "triplets": three}
        measured = [*self._measure_judged(), self._rows(cases.take(rows))]
        self.judgements_ = [*self.judgements_, block]
        self._measured = measured
        self._learn(None)
        return self

    def questions(self, X: Any, n: int) -> list[tuple[int, int, int]]:
        """The n comparisons (i, j, k) that are worth asking next: is row i more like row j or k?

        The answers to half of them are uncertain and would teach different things; the others are random, so that it
        can be told how well the weights predict. Every tenth repeats an earlier one the other way round, so that
        `consistency_` can tell how far the expert agrees with himself.
        """
        check_is_fitted(self)
        described = self.describe(X)
        if not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n must be the number of questions, 1 or more; got {n!r}")
        if len(described) < 3:
            raise ValueError(f"a question needs three different cases, and X has {len(described)}")
        active = self._find_active()
        if not active.any():
            raise ValueError("no measurement varies between the training cases, so there is nothing to ask about")
        rows, pairs, triplets = self._collect()
        asked = len(pairs) + len(triplets)
        new = choose_questions(described[:, active], learn(self._ask(rows, pairs, triplets)), n, seed=asked)
        place = {row.tobytes(): number for number, row in reversed(list(enumerate(described)))}
        found = [place.get(row.tobytes(), -1) for row in rows]
        known = [(found[i], found[j], found[k]) for i, j, k in triplets.tolist()]
        return mix_in_repeats(new, [each for each in known if min(each) >= 0][asked // 10 :], n)

    @property
    def consistency_(self) -> Consistency:
        """How often the expert agrees with himself, and how well held-out judgements are predicted."""
        check_is_fitted(self)
        rows, pairs, triplets = self._collect()
        question, first = group_questions(triplets)
        pair = group_pairs(pairs)
        again, pairs_again = count_repeats(question, first), count_repeats(pair, pairs[:, 2])
        repeats = Share(again.count + pairs_again.count, again.total + pairs_again.total)
        if len(np.unique(question)) + len(np.unique(pair)) < 2 * FOLDS or not self._find_active().any():
            return Consistency(repeats, Share(0, 0))
        asked, right = self._ask(rows, pairs, triplets), 0.0
        for fold in range(FOLDS):  # all answers to one question are held out together
            out, pairs_out = question % FOLDS == fold, pair % FOLDS == fold
            right += float(learn(asked.take(~out, ~pairs_out)).agrees(asked.take(out, pairs_out)).sum())
        return Consistency(repeats, Share(right, len(asked)))

    @property
    def sentence(self) -> str:
        """What counts how much, and where that comes from, in words."""
        check_is_fitted(self)
        count = sum(len(each["pairs"]) + len(each["triplets"]) for each in self.judgements_)
        source = {"labels": "the labels", "judgements": f"{count} judgement{'s' if count > 1 else ''}"}
        order = [m for m in np.argsort(-self.weights_, kind="stable") if self.weights_[m] > 0]
        if len(order) < 2:
            return f"{self.measurements_[order[0]] + ' alone' if order else 'No measurement'} varies in training cases."
        if self.learned_from_ == "equal weights":
            return f"The {len(order)} measurements that vary count the same (equal weights)."
        if np.ptp(self.weights_[order]) == 0:
            said = f"{source[self.learned_from_]} {'does' if count == 1 else 'do'} not surely say otherwise"
            return f"The {len(order)} measurements that vary count the same ({said})."
        most, others = order[0], [order[1], order[len(order) // 2], order[-1]][: len(order) - 1]
        if self.weights_[most] < ABOUT * self.weights_[order[-1]]:
            learned = f"learned from {source[self.learned_from_]}"
            return f"The {len(order)} measurements that vary count about the same ({learned})."
        ratios = [
            f"{self.weights_[most] / self.weights_[m]:.1f} times as much as {self.measurements_[m]}"
            if self.weights_[most] < 20 * self.weights_[m]
            else f"over 20 times as much as {self.measurements_[m]}"
            for m in dict.fromkeys(others)
        ]
        said = " and ".join(filter(None, [", ".join(ratios[:-1]), ratios[-1]]))
        return f"{self.measurements_[most]} counts {said} (learned from {source[self.learned_from_]})."

    def compare(self, A: Any, B: Any) -> Array:
        weights = self.weights_ / self.reach_
        factor = weights ** (1 / self.power_)
        metric = "cityblock" if self.power_ == 1 else "sqeuclidean"
        gaps = (np.isnan(A).any(axis=0) | np.isnan(B).any(axis=0)) & (weights > 0)
        whole = ~gaps & (weights > 0)
        distance = cdist(A[:, whole] * factor[whole], B[:, whole] * factor[whole], metric)
        for m in np.flatnonzero(gaps).tolist():
            distance += weights[m] * self._differences(A[:, None, m], B[None, :, m], m)
        return np.asarray(np.exp2(-distance))

    def contributions(self, a: Array, b: Array) -> Array:
        """What each measurement adds to the similarity of two descriptions, against usual cases.

        Positive where the two differ less than two training cases do on the mean. The sum is their similarity less that
        of two usual cases, `usual_similarity`. The shares are those of Aumann and Shapley.
        """
        weights = self.weights_ / self.reach_
        apart = np.array([self._differences(x, y, m) for m, (x, y) in enumerate(zip(a, b, strict=True))])
        less = weights * (self.usual_[self.power_ - 1] - apart)
        log_ratio = np.log(2) * less.sum()
        slope = np.expm1(log_ratio) / log_ratio if abs(log_ratio) > 1e-12 else 1.0
        return np.asarray(self.usual_similarity * slope * np.log(2) * less)

    @property
    def usual_similarity(self) -> float:
        """The similarity of two cases at the mean distance of training cases."""
        return float(np.exp2(-(self.weights_ @ self.usual_[self.power_ - 1]) / self.reach_))

    def _differences(self, a: Array, b: Array, m: int) -> Array:
        """Differences in one measurement, to the power; gaps as in the notes of the class."""
        apart = np.abs(a - b) ** self.power_
        gap = np.where(np.isnan(a) & np.isnan(b), 0.0, self.usual_[self.power_ - 1, m])
        return np.asarray(np.where(np.isnan(apart), gap, apart))

    def _fit(self, F: Any, y: Any, sample_weight: Any) -> None:
        weight = np.ones(len(F)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        spreads = np.array([_spread(column, weight) for column in F.T]).reshape(-1, 2)
        active = spreads[:, 0] > 0
        self.scales_ = np.where(active, spreads[:, 0], 1.0)
        self.usual_ = np.array([active.astype(np.float64), spreads[:, 1] / self.scales_ / self.scales_])
        self.measurements_ = name_measurements(self, F.shape[1])
        self._measured = None
        self._learn(None if y is None or self.judgements_ else self._ask_labels(F, y, weight))

    def _describe(self, F: Any) -> Array:
        return np.asarray(F / self.scales_)

    def _choices(self, n: int) -> Choices:
        why = f"its scales were taken from the cases and its weights from {self.learned_from_}, and that is not counted"
        return Choices(0.0, False, (why,))

    def _learn(self, from_labels: Questions | None) -> None:
        """Set the weights, from judgements if there are any."""
        active = self._find_active()
        self.weights_ = active.astype(np.float64)
        self.power_, self.reach_, self.learned_from_ = 1, float(max(active.sum(), 1)), "equal weights"
        rows, pairs, triplets = self._collect()
        asked = self._ask(rows, pairs, triplets) if self.judgements_ else from_labels
        if asked is None or not active.any():
            return
        problem = find_contradictions(pairs, triplets) if self.judgements_ else ""
        learned = learn(asked)
        right = float(learned.agrees(asked).mean())
        if not problem and right < CLEARLY and len(asked) >= ENOUGH:
            problem = (
                f"the best weights agree with {100 * right:.0f} % of these {len(asked)} judgements, hardly more than a "
                "coin would: they contradict each other, or the expert goes by something that is not measured."
            )
        if problem:
            if self.judgements_:
                warnings.warn(f"{problem} Equal weights are kept.", JudgementsWarning, stacklevel=3)
            return
        self.weights_[active] = learned.weights
        self.power_, self.learned_from_ = learned.power, "judgements" if self.judgements_ else "labels"
        self.reach_ = float(learned.reach * (self.weights_ @ self.usual_[learned.power - 1]))

    def _ask(self, rows: Array, pairs: Array, triplets: Array) -> Questions:
        """Judgements as differences of the measurements that vary."""
        active = self._find_active()

        def apart(a: Array, b: Array) -> Array:
            x, y = rows[a][:, active], rows[b][:, active]
            both = np.isnan(x) & np.isnan(y)
            return np.where(both, 0.0, np.abs(x - y))

        i, j, k = triplets.T
        first, second = pairs[:, :2].astype(np.intp).T
        usual = self.usual_[:, active]
        return Questions(apart(i, j), apart(i, k), apart(first, second), pairs[:, 2], usual[0], usual[1])

    def _ask_labels(self, F: Array, y: Any, weight: Array) -> Questions | None:
        """Triplets of training cases: two of one class, and one of another."""
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        first, group = distinct(np.column_stack([F, np.unique(y, return_inverse=True)[1]]))
        labels = y[first]
        counts = np.bincount(group, weights=weight)
        classes = [rows for each in np.unique(labels) if len(rows := np.flatnonzero(labels == each)) > 1]
        if not classes or len(np.unique(labels)) < 2:
            return None
        rng = np.random.default_rng(0)
        drawn = []
        for number in range(FROM_LABELS):
            own = classes[number % len(classes)]
            i, j = rng.choice(own, 2, replace=False, p=counts[own] / counts[own].sum())
            others = np.flatnonzero(labels != labels[i])
            drawn.append((i, j, rng.choice(others, p=counts[others] / counts[others].sum())))
        return self._ask(self._describe(F[first]), np.empty((0, 3)), np.array(drawn))

    def _collect(self) -> tuple[Array, Array, Array]:
        """Descriptions of the distinct judged cases, and pairs and triplets that name these."""
        described = [self._describe(each) for each in self._measure_judged()]
        starts = np.cumsum([0, *map(len, described)])
        m = len(self.scales_)
        rows = np.concatenate([np.empty((0, m)), *described])
        pairs, triplets = [np.empty((0, 3))], [np.empty((0, 3), dtype=np.intp)]
        first, group = distinct(rows) if len(rows) else (np.empty(0, dtype=np.intp),) * 2
        for start, block in zip(starts, self.judgements_, strict=False):
            places = group[start + block["pairs"][:, :2].astype(np.intp)].reshape(-1, 2)
            pairs.append(np.column_stack([places, block["pairs"][:, 2]]))
            triplets.append(group[start + block["triplets"]].reshape(-1, 3))
        return rows[first], np.concatenate(pairs), np.concatenate(triplets)

    def _measure_judged(self) -> list[Array]:
        """The measurements of the judged cases, block by block."""
        if self._measured is None:
            try:
                self._measured = [self._rows(Cases.of(each["cases"])) for each in self.judgements_]
            except ValueError as error:
                raise ValueError(f"the judged cases are of another kind than the training cases: {error}") from error
        return self._measured

    def _find_active(self) -> Array:
        return np.asarray(self.usual_[0] > 0)

    def __sklearn_is_fitted__(self) -> bool:
        return "weights_" in vars(self)

    def __sklearn_clone__(self) -> Self:
        copy = type(self)(**{name: clone(each, safe=False) for name, each in self.get_params(deep=False).items()})
        if self.judgements_:
            copy.judgements_ = list(self.judgements_)
        return copy


def _spread(column: Array, weight: Array) -> tuple[float, float]:
    """The mean difference and the mean squared difference of two cases in one measurement."""
    known = np.isfinite(column)
    values, weight = column[known], weight[known]
    size = np.abs(values).max() if len(values) else 0.0
    if size == 0:
        return 0.0, 0.0
    order = np.argsort(values, kind="stable")
    values, weight = values[order] / size, weight[order] / weight.sum()
    values = values - values[len(values) // 2]
    before = np.cumsum(weight) - weight / 2
    mean = float(weight @ values)
    gap = 4 * float(weight @ ((before - 0.5) * values))  # Gini's mean difference
    return max(gap, 0.0) * size, 2 * float(weight @ (values - mean) ** 2) * size * size
