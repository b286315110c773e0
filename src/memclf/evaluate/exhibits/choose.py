"""Which cases the report shows: drawn at random from a seed, within named groups.

They are never chosen for how well they look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from memclf._numbers import Array
from memclf.evaluate.store import CLEAN, Condition

NOISE = "gaussian_noise"

Answers = Mapping[Condition, Array]  # of one contender: positions in the classes, -1 for unknown


class Opening(NamedTuple):
    """The case that opens the report, and how many cases it stands for.

    `flips` cases are answered rightly by the baseline when clean and wrongly under the condition; the memory
    classifier answers `kept` of them rightly.
    """

    condition: Condition
    case: int
    flips: int
    kept: int


def choose_opening(mine: Answers, baseline: Answers, truth: Array, rng: np.random.Generator) -> Opening | None:
    """One case that the baseline answers rightly when clean and wrongly under strong noise.

    Where there is no such noise, the condition is the one that is worst for the baseline. If the memory classifier is
    right on at least half of all such cases, the case is drawn from those on which it is right, otherwise from the
    others: it stands for the majority. If the baseline is never led astray, it is any case.
    """
    both = [condition for condition in baseline if condition in mine and condition != CLEAN]
    if not both or CLEAN not in baseline:
        return None
    right = {condition: answers == truth for condition, answers in baseline.items()}
    noise = sorted(each for each in both if each.corruption == NOISE)[-1:]
    worst = sorted(both, key=lambda each: (right[each].mean(), each))
    order = [*noise, *worst]
    condition = next((each for each in order if (right[CLEAN] & ~right[each]).any()), order[0])
    flips = np.flatnonzero(right[CLEAN] & ~right[condition])
    kept = mine[condition][flips] == truth[flips]
    usual = flips[kept == (2 * kept.sum() >= len(kept))]
    case = int(rng.choice(usual if len(flips) else np.arange(len(truth))))
    return Opening(condition, case, len(flips), int(kept.sum()))


def choose_routes(mine: Answers, truth: Array, n: int, rng: np.random.Generator) -> list[tuple[Condition, int]]:
    """Cases with their conditions: a third clean, the rest over as many corruptions as possible.

    Cases that are answered rightly and wrongly come in turn.
    """
    corrupted = _spread([each for each in sorted(mine) if each != CLEAN], rng)
    n_clean = 0 if CLEAN not in mine else -(-n // 3) if corrupted else n
    used: set[int] = set()
    return [
        *_in_turn(mine, truth, [CLEAN], n_clean, used, rng),
        *_in_turn(mine, truth, corrupted, n - n_clean, used, rng),
    ]


def _in_turn(
    mine: Answers, truth: Array, conditions: list[Condition], n: int, used: set[int], rng: np.random.Generator
) -> Iterator[tuple[Condition, int]]:
    """Cases answered rightly and wrongly in turn, each from the next condition.

    No case comes twice if possible.
    """
    for turn in range(n if conditions else 0):
        start = turn % len(conditions)
        cycle = [*conditions[start:], *conditions[:start]]
        for right, condition in ((right, each) for right in (turn % 2 == 0, turn % 2 == 1) for each in cycle):
            rows = np.flatnonzero((mine[condition] == truth) == right)
            rows = rows[~np.isin(rows, list(used))]
            if len(rows):
                row = int(rng.choice(rows))
                used.add(row)
                yield condition, row
                break


def choose_hardest(
    answers: Iterable[Answers], truth: Array, n: int, rng: np.random.Generator
) -> list[tuple[int, float, list[int]]]:
    """The cases that are answered wrongly most often under corruption.

    Of each case: its row, the share of wrong answers, and the commonest of these. `answers` are those of one model,
    trained in different ways or from different seeds.
    """
    corrupted = [{each: said for each, said in one.items() if each != CLEAN} or one for one in answers]
    if not corrupted:
        return []
    wrong = np.mean([np.mean([said != truth for said in one.values()], axis=0) for one in corrupted], axis=0)
    said = np.concatenate([np.stack(list(one.values())) for one in corrupted])
    lot = rng.permutation(len(wrong))  # decides between cases that are equally hard
    found = []
    for row in lot[np.argsort(-wrong[lot], kind="stable")][:n].tolist():
        if wrong[row] > 0:
            codes, counts = np.unique(said[said[:, row] != truth[row], row], return_counts=True)
            found.append((row, float(wrong[row]), codes[counts == counts.max()].tolist()))
    return found


def choose_members(rows: Array, similarity: Array, n: int, rng: np.random.Generator) -> list[int]:
    """Cases of a cluster: half of them the most similar to the memory, half the least similar."""
    rows = rng.permutation(rows)
    rows = rows[np.argsort(-similarity[rows], kind="stable")]
    half = n // 2
    return [int(row) for row in (rows if len(rows) <= n else [*rows[:half], *rows[-half:]])]


def choose_different(conditions: Iterable[Condition], families: Mapping[str, str]) -> list[Condition]:
    """Conditions of different families: one of each, then the next of each.

    Of each corruption the severity is 3 or the nearest to it. `families` says to which family a corruption belongs; the
    families come in its order, others last.
    """
    by_name: dict[str, list[Condition]] = {}
    for condition in conditions:
        if condition != CLEAN:
            by_name.setdefault(condition.corruption, []).append(condition)
    chosen = {name: min(each, key=lambda c: (abs(c.severity - 3), -c.severity)) for name, each in by_name.items()}
    known = [name for name in families if name in chosen]
    groups: dict[str, list[Condition]] = {family: [] for family in families.values()}
    for name in [*known, *sorted(set(chosen) - set(known))]:
        groups.setdefault(families.get(name, ""), []).append(chosen[name])
    most = max(map(len, groups.values()), default=0)
    return [group[k] for k in range(most) for group in groups.values() if k < len(group)]


def _spread(conditions: list[Condition], rng: np.random.Generator) -> list[Condition]:
    """In random order, but every corruption once before any comes again."""
    drawn = [conditions[k] for k in rng.permutation(len(conditions))]
    seen: dict[str, int] = {}
    rounds = []
    for condition in drawn:
        seen[condition.corruption] = seen.get(condition.corruption, 0) + 1
        rounds.append(seen[condition.corruption])
    return [drawn[k] for k in np.argsort(rounds, kind="stable")]
