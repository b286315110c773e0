"""Which contender to use: one rule, stated here and in docs/study_runs.md.

1. Take the contender with the highest mean accuracy over the conditions that count, and all those that it is not surely
   better than (the 95 % interval of the paired difference contains 0).
2. Of these, drop those that are surely worse in balanced accuracy than the best of them.
3. Recommend the simplest of the rest; of equally simple ones the most accurate.

The simplest is recommended because a gain that something simpler has too needs no memory classifier. Always answering
the commonest class and random routing are never recommended: they do not look at the case. The same test cases choose
and measure, so the number of the recommended contender is a little too good.
"""

from __future__ import annotations

from typing import NamedTuple

from memclf.evaluate.intervals import Interval
from memclf.evaluate.results import Results
from memclf.evaluate.store import BASELINE, ModelId

NEVER = ("majority", "random")
#: Families of models from simple to complex, by how their names begin. Models that are not listed come before "sturdy".
SIMPLICITY = (
    *(BASELINE, "prior", "stage1", "measured", "augmented"),
    *("memory", "", "sturdy", "auto", "careful", "ensemble"),
)
MEMORY = ("memory", "sturdy", "auto", "careful")


class Verdict(NamedTuple):
    """What to use.

    `best` has the highest mean accuracy, `level` are those that it is not surely better than, `candidates` is the
    number of contenders that were considered. `gain` is that of `pick` over its baseline. `memory` is the memory
    classifier that a report tells about: `pick`, or the most accurate one if `pick` is none. `dropped` may be as
    accurate as the best, but are surely worse in balanced accuracy.
    """

    pick: ModelId
    best: ModelId
    level: list[ModelId]
    candidates: int
    gain: Interval | None
    memory: ModelId | None
    dropped: list[ModelId]


def judge(results: Results) -> Verdict | None:
    """Choose the contender to use among those that count; None where none has been measured."""
    candidates = [name for name in results.counted if name.model not in NEVER and not is_part(name.model)]
    if not candidates:
        return None
    best = max(candidates, key=lambda name: _mean(results, name))
    level = [name for name in candidates if not _surely_better(results, best, name)]
    fairest = max(level, key=lambda name: _mean(results, name, balanced=True))
    rest = [name for name in level if not _surely_better(results, fairest, name, balanced=True)]
    pick = min(rest, key=lambda name: (_complexity(name), -_mean(results, name)))
    memories = [name for name in candidates if is_memory_classifier(results, name)]
    memory = pick if pick in memories else max(memories, key=lambda name: _mean(results, name), default=None)
    gain = results.own_gain(pick, results.judged)
    dropped = [name for name in level if name not in rest]
    return Verdict(pick, best, [name for name in level if name != pick], len(candidates), gain, memory, dropped)


def is_part(model: str) -> bool:
    """Whether a model belongs to an ablation.

    It has a part more than the paper's way, or a part less or more than the sturdy one.

    >>> is_part("+product"), is_part("sturdy-balance"), is_part("sturdy")
    (True, True, False)
    """
    return model.startswith(("+", "sturdy-", "sturdy+", "sturdy,"))


def is_memory_classifier(results: Results, name: ModelId) -> bool:
    """Whether a contender is a memory classifier.

    Its name says so, or it routes cases and is no control.
    """
    if name.model in NEVER or name.model.startswith("stage1"):
        return False
    return name.model.startswith(MEMORY) or results.measure(name, "oracle_accuracy", results.judged) is not None


def _mean(results: Results, name: ModelId, *, balanced: bool = False) -> float:
    found = results.mean(name, results.judged, balanced=balanced)
    return -1.0 if found is None else found.value


def _surely_better(results: Results, first: ModelId, second: ModelId, *, balanced: bool = False) -> bool:
    apart = results.apart(first, second, results.judged, balanced=balanced)
    return apart is not None and apart.low > 0


def _complexity(name: ModelId) -> int:
    families = [place for place, family in enumerate(SIMPLICITY) if family and name.model.startswith(family)]
    return families[0] if families else SIMPLICITY.index("")
