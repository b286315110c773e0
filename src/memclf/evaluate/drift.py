"""Drift: whether new cases, without labels, are still like those of the training.

Four parts are looked at: which memories the cases go to, how far they lie from them, how many are unknown, and how
strange they are to the local classifiers. `measure_drift` says which were tested how; docs/drift.md what the tests
can see and what they cannot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import betabinom, hypergeom, mannwhitneyu, rankdata
from sklearn.utils.validation import check_is_fitted

from memclf._numbers import Array
from memclf.cases import containers
from memclf.evaluate.kinds import name_cases
from memclf.routing import Routes
from memclf.routing.thresholds import TINY, distance, widths

MIX, DISTANCE, UNKNOWN, COMPETENCE = "mix of memories", "distance", "unknown", "competence"
DRAWS = 4999  # permutations of a test
FEW = 25  # cases of the smaller sample up to which ranks are permuted; the normal distribution is close enough above
#: What a fit knows of its training cases varies more than as many independent cases do: the memories were chosen among
#: them, and held-out ones were measured by fits without their fold. They count as half as many (docs/drift.md).
WORTH = 0.5
LISTED = 10  # cases that moved it


@dataclass(frozen=True)
class Part:
    """One part of a drift: what it was (`before`), what it is (`now`), whether that is chance.

    `measure` says what the two numbers are. `p_value` is None where no test would hold its level; `adjusted` is
    corrected for the number of tests (Holm).
    """

    name: str
    measure: str
    before: float
    now: float
    p_value: float | None
    adjusted: float | None = None
    moved: bool = False


@dataclass(frozen=True)
class MemoryShare:
    """How many of all cases are most similar to a memory, before and now, as shares.

    `surprise` is the difference in standard deviations.
    """

    memory: int
    row: int
    before: float
    now: float
    surprise: float


@dataclass(frozen=True)
class MovedCase:
    """A case that took part in a drift, its nearest memory, and why it is listed."""

    row: int
    name: str
    memory: int
    similarity: float
    threshold: float
    known: bool
    why: str


@dataclass(frozen=True)
class Drift:
    """How new cases differ from those that a classifier was fitted on.

    Attributes
    ----------
    n, n_reference : int
        New cases, and cases that they are compared with.
    reference : {"training", "given"}
        Whether these are known from the fit, or were given.
    level : float
        With this probability at most, some part moves though nothing has.
    parts : tuple of Part
    memories : tuple of MemoryShare
        The most surprising first.
    cases : tuple of MovedCase
        Those that moved it most; none where nothing moved.
    notes : tuple of str
        What was not tested, and why.
    """

    n: int
    n_reference: int
    reference: str
    level: float
    parts: tuple[Part, ...]
    memories: tuple[MemoryShare, ...]
    cases: tuple[MovedCase, ...]
    notes: tuple[str, ...]

    @property
    def moved(self) -> bool:
        """Whether any part moved."""
        return any(part.moved for part in self.parts)

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        tested = [part for part in self.parts if part.adjusted is not None]
        if not self.moved:
            least = min((part.adjusted for part in tested if part.adjusted is not None), default=1.0)
            return f"No drift was found in {self.n:,} cases (smallest adjusted p-value {least:.3f})."
        said = [f"{part.name} ({_say_p(part.adjusted)})" for part in self.parts if part.moved]
        whose = "the training cases" if self.reference == "training" else "the reference"
        return f"These {self.n:,} cases differ from {whose} in: {', '.join(said)}."

    def __str__(self) -> str:
        return self.sentence


def measure_drift(clf: Any, X: Any, reference: Any = None, *, level: float = 0.05) -> Drift:
    """Compare new cases with those that a memory classifier was fitted on.

    Parameters
    ----------
    clf : fitted MemoryClassifier
    X : new cases, without labels
    reference : cases or None
        Cases like those of the training, which the classifier was not fitted on: all tests are exact then, whatever the
        classifier is. None: what the classifier knows from its fit. The mix of memories is compared with the clusters;
        distance and unknown with held-out training cases, which a fit with `unknown_rate` keeps (`distances_`);
        competence is shown but not tested.
    level : float
        With this probability at most, any part is called moved though nothing has, if cases are independent.

    Examples
    --------
    >>> from memclf import MemoryClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> clf = MemoryClassifier(threshold=0.5, unknown_rate=0.05, random_state=0).fit(X, X[:, 0] > 0)
    >>> measure_drift(clf, rng.normal(size=(100, 2))).moved, measure_drift(clf, rng.normal(1.0, size=(100, 2))).moved
    (False, True)
    """
    check_is_fitted(clf)
    if not containers.count(containers.as_container(X)):
        raise ValueError("there are no cases to compare")
    now = _look(clf, X)
    before = _recall(clf) if reference is None else _look(clf, reference)
    if not before.counts.sum():
        raise ValueError("the reference holds no cases")
    rng = np.random.default_rng(0)
    found = [
        _compare_mix(before, now, rng),
        *_compare_distances(before, now, rng),
        *_compare_competence(before, now, rng),
    ]
    parts = _adjust([part for part in found if part is not None], level)
    shares = _compare_shares(clf, before.counts, now.counts)
    return Drift(
        n=len(now.routes or ()),
        n_reference=int(before.counts.sum()),
        reference="training" if reference is None else "given",
        level=level,
        parts=tuple(parts),
        memories=tuple(shares),
        cases=tuple(_list_cases(now, name_cases(containers.as_container(X)), parts, shares)),
        notes=() if reference is not None else tuple(_list_gaps(clf, before, now)),
    )


# ------------------------------------------------------------------------------------------ what is compared


@dataclass(frozen=True)
class _Sample:
    """Cases as the tests see them; None where nothing is known."""

    counts: Array  # of cases nearest to each memory
    worth: float = 1.0  # as how many independent cases one counts
    far: Array | None = None  # distance to the memory, in widths of its cluster
    unknown: tuple[int, int] | None = None  # cases that no memory is similar enough to, of how many
    strange: Array | None = None
    competence: Array | None = None
    routes: Routes | None = None


def _look(clf: Any, X: Any) -> _Sample:
    found = clf.answers(X)
    routes = found.routes
    q = routes.n_memories
    kept = _held_out(clf)
    wide = widths(clf.search_result_.similarity, clf.labels_, q) if kept is None else kept.wide
    far = np.where(routes.trusted, distance(routes.similarity) / wide[routes.nearest], np.inf)
    known = routes.stage_one.known
    strange = routes.strangeness if found.competence is not None else None
    return _Sample(
        counts=np.bincount(routes.nearest, minlength=q),
        far=far,
        unknown=(int((~known).sum()), len(known)),
        strange=strange,
        competence=found.competence,
        routes=routes,
    )


def _held_out(clf: Any) -> Any:
    """Distances of held-out training cases, if the fit kept them for the same memories."""
    kept = vars(clf).get("distances_")  # models of before have none
    return kept if kept is not None and np.array_equal(kept.memories, clf.memory_indices_) else None


def _recall(clf: Any) -> _Sample:
    """The training cases, from the fitted classifier alone."""
    counts, kept = clf.cluster_counts_.sum(axis=1), _held_out(clf)
    if kept is None:
        return _Sample(counts, WORTH)
    far = np.sort(kept.far)
    bounds = np.where(clf.thresholds_ <= TINY, np.inf, distance(clf.thresholds_) / kept.wide)
    unknown = None
    if np.allclose(bounds, bounds[0], rtol=1e-6):  # as they were learned: not set by hand since
        beyond = np.isinf(far) | (far > bounds[0] * (1 + 1e-6))
        unknown = (int(beyond.sum()), len(far))
    every = round(1 / WORTH)
    return _Sample(counts, WORTH, far[every // 2 :: every], unknown)


def _list_gaps(clf: Any, before: _Sample, now: _Sample) -> list[str]:
    """What the fit alone cannot tell."""
    found = []
    remedy = "give cases that the model was not fitted on as reference"
    if before.far is None:
        found.append(
            f"Distance and unknown were not tested: the fit kept no held-out cases (unknown_rate=...); {remedy}."
        )
    elif before.unknown is None:
        found.append(f"Unknown was not tested: thresholds were set by hand; {remedy}.")
    if now.competence is not None:
        found.append(f"Competence was not tested: no test from the fit alone holds its level; {remedy}.")
    kept = _held_out(clf)
    if kept is not None and kept.groups is not None:
        found.append("Training cases came in groups: where new ones do, too, p-values are too small.")
    return found


# ------------------------------------------------------------------------------------------ tests


def _compare_mix(before: _Sample, now: _Sample, rng: np.random.Generator) -> Part:
    """Chi-square of the counts at the memories, against permutations of all cases.

    Where cases of the reference are worth less, the statistic shrinks as the variance of the difference grows.
    """
    total = before.counts + now.counts
    used = total > 0
    total, mine, n = total[used], now.counts[used], int(now.counts.sum())
    expected = n * total / total.sum()
    n_before = before.counts.sum()
    shrunk = (1 / n + 1 / n_before) / (1 / n + 1 / (before.worth * n_before))
    found = shrunk * ((mine - expected) ** 2 / total).sum()
    as_large = 0
    for part in containers.chunks(DRAWS, max(1, 2**20 // len(total))):
        drawn = rng.multivariate_hypergeometric(total, n, size=part.stop - part.start)
        as_large += int((((drawn - expected) ** 2 / total).sum(axis=1) >= found * (1 - 1e-9)).sum())
    share_before, share_now = before.counts / before.counts.sum(), now.counts / n
    apart = float(np.abs(share_before - share_now).sum() / 2)
    return Part(MIX, "share elsewhere", 0.0, apart, (as_large + 1) / (DRAWS + 1))


def _compare_distances(before: _Sample, now: _Sample, rng: np.random.Generator) -> list[Part]:
    if before.far is None or now.far is None:
        return []
    beyond = float(np.mean(now.far > np.median(before.far)))
    p = _test_larger(now.far, before.far, rng)
    parts = [Part(DISTANCE, "share beyond the median", 0.5, beyond, p)]
    if before.unknown is not None and now.unknown is not None:
        (old, n_old), (new, n_new) = before.unknown, now.unknown
        # Thresholds from the fit are a quantile of its held-out cases. The chance to lie beyond it has a beta
        # distribution; at a worth of 1 the number of new cases beyond it has the same p-value as Fisher's exact test.
        a, b = before.worth * (old + 1), before.worth * max(n_old - old, 1)
        by_rank = betabinom.sf(new - 1, n_new, a, b)
        p = float(by_rank if before.worth < 1 else hypergeom.sf(new - 1, n_old + n_new, old + new, n_new))
        parts.append(Part(UNKNOWN, "share like no memory", old / n_old, new / n_new, p))
    return parts


def _compare_competence(before: _Sample, now: _Sample, rng: np.random.Generator) -> list[Part]:
    if now.competence is None or now.strange is None:
        return []
    measure = "median"
    if before.strange is None or before.competence is None:  # of held-out training cases it is a half by definition
        return [Part(COMPETENCE, measure, 0.5, float(np.median(now.competence)), None)]
    new, old = (np.where(np.isnan(each), -np.inf, each) for each in (now.strange, before.strange))
    was, is_now = (float(np.median(each)) for each in (before.competence, now.competence))
    return [Part(COMPETENCE, measure, was, is_now, _test_larger(new, old, rng))]


def _test_larger(new: Array, old: Array, rng: np.random.Generator) -> float:
    """Whether `new` numbers are larger than `old` ones, by their ranks (Mann and Whitney)."""
    small = min(len(new), len(old))
    if small > FEW:
        ranks = rankdata(np.concatenate([new, old]))  # which knows infinite numbers
        found = mannwhitneyu(ranks[: len(new)], ranks[len(new) :], alternative="greater", method="asymptotic")
        return float(found.pvalue)
    ranks = rankdata(np.concatenate([new, old]))
    sign = 1.0 if len(new) == small else -1.0
    mine = ranks[: len(new)] if sign > 0 else ranks[len(new) :]
    drawn = np.array([rng.choice(ranks, small, replace=False, shuffle=False).sum() for _ in range(DRAWS)])
    return float((1 + (sign * drawn >= sign * mine.sum() - 1e-9).sum()) / (DRAWS + 1))


def _adjust(parts: list[Part], level: float) -> list[Part]:
    """Holm's correction for the number of tests."""
    order = sorted((part.p_value, k) for k, part in enumerate(parts) if part.p_value is not None)
    so_far = 0.0
    for rank, (p, k) in enumerate(order):
        so_far = min(1.0, max(so_far, (len(order) - rank) * p))
        parts[k] = replace(parts[k], adjusted=so_far, moved=so_far <= level)
    return parts


# ------------------------------------------------------------------------------------------ who moved


def _compare_shares(clf: Any, before: Array, now: Array) -> list[MemoryShare]:
    n_before, n_now = before.sum(), now.sum()
    common = (before + now) / (n_before + n_now)
    spread = np.sqrt(common * (1 - common) * (1 / n_before + 1 / n_now))
    apart = now / n_now - before / n_before
    surprise = np.divide(apart, spread, out=np.zeros(len(apart)), where=spread > 0)
    return [
        MemoryShare(
            int(k), int(clf.memory_indices_[k]), float(before[k] / n_before), float(now[k] / n_now), float(surprise[k])
        )
        for k in np.argsort(-np.abs(surprise), kind="stable")
    ]


def _list_cases(now: _Sample, names: list[str], parts: list[Part], shares: list[MemoryShare]) -> list[MovedCase]:
    """The cases behind the parts that moved: the farthest, the strangest, those of one memory."""
    if now.routes is None or now.far is None:
        return []
    moved = {part.name for part in parts if part.moved}
    columns: list[tuple[str, Array]] = []
    if moved & {DISTANCE, UNKNOWN}:
        columns.append(("far from its memory", np.argsort(-now.far, kind="stable")))
    if COMPETENCE in moved and now.strange is not None:
        columns.append(
            ("strange to its classifier", np.argsort(-np.nan_to_num(now.strange, nan=-np.inf), kind="stable"))
        )
    grown = max(shares, key=lambda each: each.surprise)
    if MIX in moved and grown.surprise > 0:
        here = np.flatnonzero(now.routes.nearest == grown.memory)
        nearest_first = here[np.argsort(-now.routes.similarity[here], kind="stable")]
        columns.append((f"memory {grown.memory} has more cases than before", nearest_first))
    found: dict[int, MovedCase] = {}
    for turn in range(LISTED):
        for why, order in columns:
            if turn < len(order) and len(found) < LISTED:
                row = int(order[turn])
                way = now.routes[row]
                about = (way.nearest, way.similarity, way.threshold, way.known)
                found.setdefault(row, MovedCase(row, names[row], *about, why))
    return list(found.values())


def _say_p(p: float | None) -> str:
    if p is None:
        return "not tested"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
