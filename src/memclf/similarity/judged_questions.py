"""Which comparisons to ask next: uncertain and different ones, and a few repeats."""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from memclf._numbers import Array
from memclf.similarity.judged_weights import Learned, give_chances

CASES = 400  # cases that candidates are drawn from
CANDIDATES = 2000
FUTURES = 8  # ways in which answers to come are made up
REPEAT_EVERY = 10  # one question in ten is a repeat


def choose_questions(described: Array, learned: Learned, n: int, seed: int) -> list[tuple[int, int, int]]:
    """n triplets of described cases: every other one would teach most, the rest are random.

    One after the other, the candidate is taken about which the weights that are still possible disagree most, each sure
    of its own answer (Houlsby and others 2011). Answers to those before it are made up, in several ways, so that a
    question is not asked again in other words. From such questions alone it is hard to tell how well the weights
    predict, since each is taken because its answer is open; random ones tell.
    """
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(len(described), min(CASES, len(described)), replace=False))
    asked = _draw_triplets(len(rows), max(CANDIDATES, 2 * n), rng)
    some = described[rows]
    near, far = (np.abs(some[asked[:, 0]] - some[asked[:, each]]) ** learned.power for each in (1, 2))
    difference = np.nan_to_num(far - near)  # a gap tells nothing about its measurement
    yes, _ = give_chances(difference @ learned.members.T)
    sure = -entr(yes) - entr(1 - yes)
    votes = np.tile(learned.votes, (FUTURES, 1))
    left = np.ones(len(asked), dtype=bool)
    chosen: list[int] = []
    for number in range(min(n, len(asked))):
        together = yes @ votes.T
        told = (entr(together) + entr(1 - together) + sure @ votes.T).mean(axis=1)
        best = int(np.argmax(np.where(left, told, -np.inf)))
        best = int(rng.choice(np.flatnonzero(left))) if number % 2 else best
        made_up = rng.random(FUTURES) < together[best]
        votes *= np.where(made_up[:, None], yes[best], 1 - yes[best])
        votes /= votes.sum(axis=1, keepdims=True)
        left[best] = False
        chosen.append(best)
    return [(int(i), int(j), int(k)) for i, j, k in rows[asked[chosen]]]


def _draw_triplets(n: int, count: int, rng: np.random.Generator) -> Array:
    """Up to so many different questions (i, j, k) about n cases, with j < k."""
    drawn = rng.integers(0, [n, n - 1, n - 2], (count, 3))
    drawn[:, 1] += drawn[:, 1] >= drawn[:, 0]
    low, high = np.sort(drawn[:, :2], axis=1).T
    drawn[:, 2] += drawn[:, 2] >= low
    drawn[:, 2] += drawn[:, 2] >= high
    drawn[:, 1:] = np.sort(drawn[:, 1:], axis=1)
    return np.unique(drawn, axis=0)


def mix_in_repeats(
    new: list[tuple[int, int, int]], earlier: list[tuple[int, int, int]], n: int
) -> list[tuple[int, int, int]]:
    """n questions; every tenth is an earlier one, of this list if need be, the other way round."""
    mixed: list[tuple[int, int, int]] = []
    fresh, again = iter(new), iter(earlier)
    for number in range(1, n + 1):
        following = None
        if number % REPEAT_EVERY == 0:
            i, j, k = next(again, mixed[number - REPEAT_EVERY])
            following = (i, k, j)
        following = following or next(fresh, None)
        if following is None:
            break
        mixed.append(following)
    return mixed
