"""Which comparisons to ask next: uncertain and different ones, and a few repeats."""

from __future__ import annotations

import numpy as np

from memclf._numbers import Array
from memclf.similarity.judged_weights import SLIP, Learned

CASES = 400  # cases that candidates are drawn from
CANDIDATES = 4000
REPEAT_EVERY = 10  # one question in ten is a repeat


def choose_questions(described: Array, learned: Learned, n: int, seed: int) -> list[tuple[int, int, int]]:
    """The n triplets of described cases whose answers would teach most together.

    One after the other, the candidate is taken whose answer narrows the weights most, given the answers to those
    before it (the D-optimal design of a logistic model).
    """
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(len(described), min(CASES, len(described)), replace=False))
    asked = _draw_triplets(len(rows), max(CANDIDATES, 2 * n), rng)
    some = described[rows]
    near, far = (np.abs(some[asked[:, 0]] - some[asked[:, each]]) ** learned.power for each in (1, 2))
    # A gap tells nothing about its measurement.
    difference = np.nan_to_num(far - near)
    slopes = np.column_stack([difference * learned.sensitivity, difference @ learned.scale])
    sure = 1 / (1 + np.exp(-np.clip(difference @ learned.scale, -50, 50)))
    chance = SLIP + (1 - 2 * SLIP) * sure
    told = ((1 - 2 * SLIP) * sure * (1 - sure)) ** 2 / (chance * (1 - chance))
    slopes *= np.sqrt(told)[:, None]
    covariance = learned.covariance[:-1, :-1]  # without the reach, about which triplets tell nothing
    spread = slopes @ covariance
    gain = np.einsum("ij,ij->i", spread, slopes)
    chosen: list[int] = []
    for _ in range(min(n, len(asked))):
        best = int(np.argmax(gain))
        chosen.append(best)
        spread_best = spread[best] / np.sqrt(1 + gain[best])
        along = slopes @ spread_best
        spread -= along[:, None] * spread_best
        gain = gain - along**2
        gain[chosen] = -np.inf
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
