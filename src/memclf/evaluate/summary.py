"""From rows and answers to what people want to know: means over conditions, gains over the baseline, intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.evaluate.intervals import Interval, mean_interval, paired_interval
from memclf.evaluate.store import CLEAN, Store

BASELINE = "baseline"
PLAIN = ("coverage", "selective_accuracy", "routing_stability", "stage1_accuracy", "oracle_accuracy")

Cell = tuple[str, str, str]  # model, recipe, backbone


class Scores:
    """Who was right on which case: the answers of a store, arranged for means and paired differences."""

    def __init__(self, store: Store):
        cases = store.cases()
        self.labels: Array = np.empty(0, dtype=np.int64) if cases is None else cases.labels
        self.classes: list[Any] = [] if cases is None else cases.classes
        self.groups: Array | None = None if cases is None else cases.groups
        self._right = {key: answers == self.labels for key, answers in store.answers().items()}
        self._rows = store.rows()
        self.cells: list[Cell] = list(
            dict.fromkeys((row["model"], row["recipe"], row["backbone"]) for row in self._rows)
        )
        found = dict.fromkeys((row["corruption"], row["severity"]) for row in self._rows)
        self.conditions = [each for each in found if each[0] != CLEAN and self._everywhere(each)]

    def _everywhere(self, condition: tuple[str, int]) -> bool:
        have = {(*_cell(r), r["seed"]) for r in self._rows if _at(r) == condition}
        return have == {(*_cell(r), r["seed"]) for r in self._rows}

    @property
    def whole(self) -> bool:
        """Whether every contender has finished every condition that any has."""
        found = {_at(row) for row in self._rows}
        return bool(found) and all(map(self._everywhere, found))

    def seeds(self, cell: Cell) -> list[int]:
        return sorted({row["seed"] for row in self._rows if _cell(row) == cell})

    def right(self, cell: Cell, conditions: Iterable[tuple[str, int]]) -> Array | None:
        """Of shape (conditions and seeds, cases); None when some of it is not finished."""
        keys = [(*cell, seed, *condition) for condition in conditions for seed in self.seeds(cell)]
        if not keys or any(key not in self._right for key in keys):
            return None
        return np.array([self._right[key] for key in keys])

    def mean(self, cell: Cell, conditions: Iterable[tuple[str, int]], measure: str) -> float | None:
        """Mean of one column of the rows; None where it has no meaning."""
        wanted = set(conditions)
        rows = [r for r in self._rows if _cell(r) == cell and _at(r) in wanted]
        values = [row[measure] for row in rows if row[measure] is not None]
        return float(np.mean(values)) if values else None


def summarise(store: Store) -> dict[str, Any]:
    """Per model: clean accuracy, mean over the corrupted conditions, and gain over its baseline, with intervals.

    Only conditions that every contender has finished are counted, so that means are comparable in a partial run.
    """
    scores = Scores(store)
    return {
        "study": store.get("study"),
        "complete": bool(store.get("finished") if store.get("settings") else scores.whole),
        "n": len(scores.labels),
        "classes": scores.classes,
        "conditions": len(scores.conditions),
        "models": [_about(scores, cell) for cell in scores.cells],
    }


def difference(store: Store, model: str, other: str, *, balanced: bool = False) -> Interval:
    """How much better one model is than another over the corrupted conditions, paired on the same cases.

    Models that were trained with several recipes and backbones are compared cell by cell and averaged; controls that
    have no recipe (majority, stage 1) are compared with every cell. The clean test set counts where nothing else was
    measured.
    """
    scores = Scores(store)
    missing = [name for name in (model, other) if name not in {cell[0] for cell in scores.cells}]
    if missing:
        known = ", ".join(dict.fromkeys(cell[0] for cell in scores.cells)) or "none"
        raise ValueError(f"no results of {missing[0]!r}; there are results of {known}")
    conditions = scores.conditions or [(CLEAN, 0)]
    apart = []
    for cell in (each for each in scores.cells if each[0] == model):
        for rival in (each for each in scores.cells if each[0] == other):
            if cell[1:] == rival[1:] or ("", "") in (cell[1:], rival[1:]):
                right, against = scores.right(cell, conditions), scores.right(rival, conditions)
                if right is not None and against is not None:
                    apart.append(right.mean(axis=0) - against.mean(axis=0))
    if not apart:
        raise ValueError(f"{model!r} and {other!r} have no recipe and backbone in common")
    return mean_interval(np.array(apart), scores.labels if balanced else None, groups=scores.groups)


def _about(scores: Scores, cell: Cell) -> dict[str, Any]:
    clean, corrupted = [(CLEAN, 0)], scores.conditions
    found: dict[str, Any] = {
        **dict(zip(("model", "recipe", "backbone"), cell, strict=True)),
        "seeds": scores.seeds(cell),
        "clean": _measures(scores, cell, clean),
        "mean": _measures(scores, cell, corrupted),
        "gain": None,
    }
    if cell[0] != BASELINE and (baselines := _baselines(scores, cell)):
        gains = {"clean": _gain(scores, cell, baselines, clean), "mean": _gain(scores, cell, baselines, corrupted)}
        found["gain"] = {"over": BASELINE, **gains}
    return found


def _baselines(scores: Scores, cell: Cell) -> list[Cell]:
    """The baseline of the same recipe and backbone; all of them for a control that has neither (majority, stage 1)."""
    found = [each for each in scores.cells if each[0] == BASELINE]
    own = [each for each in found if each[1:] == cell[1:]]
    return own or (found if cell[1:] == ("", "") else [])


def _measures(scores: Scores, cell: Cell, conditions: list[tuple[str, int]]) -> dict[str, Any] | None:
    right = scores.right(cell, conditions)
    if right is None:
        return None
    return {
        "accuracy": _plain(mean_interval(right, groups=scores.groups)),
        "balanced_accuracy": _plain(mean_interval(right, scores.labels, groups=scores.groups)),
        **{measure: scores.mean(cell, conditions, measure) for measure in PLAIN},
    }


def _gain(scores: Scores, cell: Cell, others: list[Cell], conditions: list[tuple[str, int]]) -> dict[str, Any] | None:
    """Over one baseline, seed by seed, or over several, averaged case by case."""
    right = scores.right(cell, conditions)
    rivals = [found for other in others if (found := scores.right(other, conditions)) is not None]
    if right is None or not rivals:
        return None
    if others[0][1:] == cell[1:] and scores.seeds(cell) != scores.seeds(others[0]):
        return None
    mine, against = right.mean(axis=0), np.mean([each.mean(axis=0) for each in rivals], axis=0)
    return {
        "accuracy": _plain(paired_interval(mine, against, groups=scores.groups)),
        "balanced_accuracy": _plain(paired_interval(mine, against, scores.labels, groups=scores.groups)),
    }


def _plain(interval: Interval) -> dict[str, float]:
    return interval._asdict()


def _at(row: dict[str, Any]) -> tuple[str, int]:
    return row["corruption"], row["severity"]


def _cell(row: dict[str, Any]) -> Cell:
    return row["model"], row["recipe"], row["backbone"]
