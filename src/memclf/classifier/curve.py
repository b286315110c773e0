"""How many memories to take: held-out scores of several numbers, and the fewest good ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf._progress import track
from memclf.answers.base import HeldOut, balance_probabilities
from memclf.cases import Cases
from memclf.cases.chunks import Chunks, map_parts
from memclf.classifier.fit import FitSettings, FittedParts, Seeds, TrainingData, fit_once
from memclf.classifier.folds import FoldPlan
from memclf.classifier.held_out import FEWER_MEMORIES, change_cases, observe

STEP = 1.6  # factor from one number of memories to the next
MOST = 128  # memories, where the user gives no numbers
LEAST_SHARE = 5  # cases per memory at least, on average


@dataclass(frozen=True)
class CurvePoint:
    """What one number of memories gives.

    Attributes
    ----------
    n_memories : int
    score : float
        Share of held-out training cases that are answered rightly. Unknown is not right; where the rate of unknown is
        fixed by `unknown_rate`, or something answers in place of unknown, the nearest memory answers. Rare classes are
        weighed up as the answer rule does (one that learns how far: by the middle of what it may). For rules that learn
        from shifted cases, half of the weight is on these. Weights of cases count.
    behind : float
        How far the score is behind the best one.
    error : float
        Standard error of that difference, both on the same cases. Cases of a group count as one, and so do the versions
        of a case.
    coverage : float
        Share of the cases that the memories were chosen from whose similarity to a memory reaches its threshold.
    unknown : float
        Share of held-out cases that no memory answers.
    """

    n_memories: int
    score: float
    behind: float
    error: float
    coverage: float
    unknown: float


@dataclass(frozen=True)
class SearchCurve:
    """Held-out scores against the number of memories; see `search_curve`."""

    points: tuple[CurvePoint, ...]

    @property
    def best(self) -> CurvePoint:
        """The fewest memories whose score is within one standard error of the best score."""
        return next(point for point in self.points if point.behind <= point.error)

    def to_frame(self) -> Any:
        """A data frame with one row per number of memories (needs pandas)."""
        import pandas as pd

        return pd.DataFrame([vars(point) for point in self.points])

    def __str__(self) -> str:
        lines = [f"{'memories':>8}  {'score':>6}  {'behind':>6}  {'error':>6}  {'coverage':>8}  {'unknown':>7}"]
        for point in self.points:
            chosen = "  <- fewest within one standard error" if point is self.best else ""
            lines.append(
                f"{point.n_memories:8d}  {point.score:6.3f}  {point.behind:6.3f}  {point.error:6.3f}  "
                f"{point.coverage:8.3f}  {point.unknown:7.3f}{chosen}"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, ax: Any = None) -> Any:
        """Draw score, coverage and share of unknown against the number (needs matplotlib)."""
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(6, 4), layout="constrained")[1] if ax is None else ax
        numbers = [point.n_memories for point in self.points]
        scores = np.array([point.score for point in self.points])
        errors = np.array([point.error for point in self.points])
        ax.plot(numbers, scores, "o-", label="score on held-out cases")
        ax.fill_between(numbers, scores - errors, scores + errors, alpha=0.2, label="one standard error to the best")
        ax.plot(numbers, [point.coverage for point in self.points], ":", label="coverage")
        ax.plot(numbers, [point.unknown for point in self.points], "--", label="unknown")
        ax.axvline(self.best.n_memories, color="0.6", lw=1)
        ax.annotate(
            f"{self.best.n_memories}", (self.best.n_memories, self.best.score), (4, 6), textcoords="offset points"
        )
        ax.set(xscale="log", xlabel="memories", ylabel="share of cases", ylim=(0, 1.02))
        ax.set_xticks(numbers, map(str, numbers), minor=False)
        ax.minorticks_off()
        ax.legend(fontsize="small")
        return ax


def search_curve(
    classifier: Any,
    X: Any,
    y: Any,
    numbers: Iterable[int] | None = None,
    *,
    groups: Any = None,
    sample_weight: Any = None,
) -> SearchCurve:
    """Score, coverage and share of unknown against the number of memories, on held-out cases.

    Parameters
    ----------
    classifier : MemoryClassifier
        Not fitted, or fitted: its parameters count, except `n_memories`. ``n_memories="auto"`` takes the best of this.
    X, y : the training cases and their classes
    numbers : numbers of memories, or None
        None: a series from 2 to a fifth of the cases, at most 128.
    groups, sample_weight : array or None
        As in `MemoryClassifier.fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from memclf import MemoryClassifier, search_curve
    >>> from memclf.similarity import RBFSimilarity
    >>> X = np.linspace(0, 4, 80)[:, None]
    >>> y = np.floor(X[:, 0]) % 2
    >>> curve = search_curve(MemoryClassifier(RBFSimilarity(), answer="labels", random_state=0), X, y, [1, 8])
    >>> curve.best.n_memories
    8
    """
    try:
        search = classifier._try_numbers
    except AttributeError:
        raise TypeError(f"search_curve takes a MemoryClassifier; got {type(classifier).__name__}") from None
    if isinstance(classifier, type):
        raise TypeError(f"search_curve takes a classifier with its parameters; got the class {classifier.__name__}")
    return search(X, y, numbers, groups, sample_weight)


def try_numbers(
    settings: FitSettings,
    data: TrainingData,
    plan: FoldPlan,
    numbers: Iterable[int] | None,
    seed: int | None,
    *,
    may_decline: bool,
) -> SearchCurve:
    """Fit without each fold for each number of memories, and score the fold.

    `may_decline`: a case below its threshold is answered unknown, which is not right. Changed versions of cases, from
    which some rules learn, are answered always.
    """
    pairs = plan.split(data.y, data.counted, seed)
    least = min(len(rest) for rest, _ in pairs)
    wanted = _series(least) if numbers is None else _check_numbers(numbers, least)
    versions = [data.cases, *change_cases(settings.answer, data.cases)]
    wholes: dict[int, Any] = {}  # the global classifier of a fold is the same for all numbers
    trials = []
    for number in track(wanted, total=len(wanted), what="trying numbers of memories", verbose=settings.verbose):
        with warnings.catch_warnings():
            if numbers is None:
                warnings.filterwarnings("ignore", message=FEWER_MEMORIES)
            trials.append(_try_number(settings, data, plan.groups, pairs, versions, number, wholes, may_decline))
        if numbers is None and trials[-1].memories < number:  # cases have no more different descriptions
            wanted = [*(each for each in wanted if each < trials[-1].memories), trials[-1].memories]
            break
    best = max(trials, key=lambda trial: trial.score)
    unit = np.arange(len(data.y)) if plan.groups is None else plan.groups
    points = []
    for number, trial in zip(wanted, trials, strict=False):  # of the same number, the first
        apart = np.bincount(_number(unit[trial.rows]), trial.weight * (best.right - trial.right))  # on the same cases
        error = float(np.sqrt(len(apart)) * apart.std())
        points.append(CurvePoint(number, trial.score, best.score - trial.score, error, trial.coverage, trial.unknown))
    return SearchCurve(tuple(points))


@dataclass(frozen=True)
class _Trial:
    rows: Array  # of the training data, as often as a version of the case was asked
    right: Array
    weight: Array
    coverage: float
    unknown: float
    memories: int  # the most in a fold: there may be fewer different cases than was asked for

    @property
    def score(self) -> float:
        return float(self.weight @ self.right)


def _try_number(
    settings: FitSettings,
    data: TrainingData,
    groups: Array | None,
    pairs: list[tuple[Array, Array]],
    versions: list[Cases | Chunks],
    number: int,
    wholes: dict[int, Any],
    may_decline: bool,
) -> _Trial:
    held, answered, known, covered, memories = [], [], [], [], 0
    classes = np.unique(data.y)
    codes = np.searchsorted(classes, data.y)
    for fold, (rest, out) in enumerate(pairs):
        own, cases = settings.for_fold(number), versions[0].take(out)
        parts = fit_once(own, data.take(rest, square=False), Seeds.draw(own.random_state), wholes.get(fold))
        wholes[fold] = parts.global_classifier
        met, said = map(np.concatenate, zip(*map_parts(_answer_always, parts.without_cases(), cases), strict=True))
        if parts.answer.learns:
            held.append(observe(classes, parts, [each.take(out) for each in versions], out))
        else:
            answered.append([(out, (said == data.y[out]).astype(float), 0)])
        memories = max(memories, len(parts.memory_indices))
        covered.append(parts.search_result.coverage)
        known.append(met)
    if held:  # the few numbers that the rule learns are learned on the cases that they are scored on
        rule = parts.answer.learn(held, codes, data.weight, groups)
        answered = [_answer_again(rule, each, codes) for each in held]
    if may_decline:
        for met, ((_, right, _), *_) in zip(known, answered, strict=True):  # of cases as they are
            right *= met
    # Not the balance that the rule has learned: scores of different numbers are compared, so one measure is for all.
    rows, right, weight = _weigh(answered, codes, data.weight, float(settings.answer.balance))
    return _Trial(rows, right, weight, float(np.mean(covered)), 1 - float(np.concatenate(known).mean()), memories)


def _answer_always(parts: FittedParts, cases: Cases) -> tuple[Array, Array]:
    """Whether a memory answers each case, and the answers of the nearest memories.

    A rule that learns gives no answers here."""
    routes = parts.route(cases)
    if parts.answer.learns:
        return routes.known, parts.classes[:0]
    always = replace(parts, fallback="nearest", fallback_classifier=None)
    return routes.known, parts.answer.answer(always, cases, routes, probabilities=False).labels


def _answer_again(rule: Any, held: HeldOut, codes: Array) -> list[tuple[Array, Array, int]]:
    """For each version of held-out cases: rows, whether the answers are right, and number."""
    found = []
    for version, (opinions, strange) in enumerate(zip(held.opinions, held.strangeness, strict=True)):
        P = rule.combine(rule.compare_with_usual(opinions, strange))
        P = balance_probabilities(P, opinions.prior, float(rule.balance))
        found.append((held.rows, (P.argmax(axis=1) == codes[held.rows]).astype(float), version))
    return found


def _weigh(answered: list[Any], codes: Array, given: Array | None, balance: float) -> tuple[Array, Array, Array]:
    """Rows, right or not, and weights that add up to 1, half of it for changed cases."""
    flat = [part for fold in answered for part in fold]
    rows, right = (np.concatenate([each[part] for each in flat]) for part in (0, 1))
    changed = np.concatenate([np.full(len(some), version > 0) for some, _, version in flat])
    given = np.ones(len(codes)) if given is None else given
    frequencies = np.bincount(codes, given) / given.sum()
    weight = given[rows] * frequencies[codes[rows]] ** -balance
    for kind in (False, True):
        weight[changed == kind] /= max(weight[changed == kind].sum(), np.finfo(float).tiny)
    return rows, right, weight / weight.sum()


def _number(values: Array) -> Array:
    """Different values as numbers from 0."""
    return np.asarray(np.unique(values, return_inverse=True)[1]).reshape(-1)


def _check_numbers(numbers: Any, most: int) -> list[int]:
    """Numbers in ascending order, each once."""
    given = list(numbers) if isinstance(numbers, Iterable) else [numbers]
    whole = all(isinstance(each, Integral) and not isinstance(each, bool) for each in given)
    if not (given and whole and all(1 <= int(each) <= most for each in given)):
        raise ValueError(
            f"numbers of memories must be from 1 to {most}, the cases of the smallest fit, and whole; got {numbers!r}"
        )
    return sorted({int(each) for each in given})


def _series(n: int) -> list[int]:
    """Numbers in about equal steps of their logarithms; one memory would be the plain model."""
    most = min(MOST, max(2, n // LEAST_SHARE))
    steps = 2 * STEP ** np.arange(1 + int(np.log(most / 2) / np.log(STEP)))
    return sorted({*np.round(steps).astype(int).tolist(), most})
