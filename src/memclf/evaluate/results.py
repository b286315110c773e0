"""The results of an evaluation: contenders, counted conditions, means, gains, intervals.

They also say what is missing. Everything that shows a mean (terminal, summary.json, report, comparison, `difference`)
takes it from `Results`.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from memclf._numbers import Array
from memclf.evaluate.intervals import Interval, mean_interval, paired_interval
from memclf.evaluate.store import BASELINE, CLEAN, MEASURES, Cases, Condition, ModelId, Store

Training = tuple[str, str]  # recipe and backbone; ("", "") for a model that has neither


class Gap(NamedTuple):
    """A contender with missing rows: how many rows there are, and how many there should be."""

    name: ModelId
    rows: int
    wanted: int


class Results:
    """The answers of a store, arranged for means and paired differences.

    Means must be comparable, so all of them are over the same conditions. In a partial run some contenders lag behind,
    and either they or the conditions that they lack must be left out. The rule: keep those contenders and those
    corrupted conditions that together make the largest number of rows without a hole; of two equal numbers the one
    with more contenders. One contender that has only begun therefore does not throw away what the others have finished.
    What is left out is named: `left_out`, `gaps` and `not_begun`. A contender has finished a condition when all of its
    seeds have. A complete run counts everything.

    Attributes
    ----------
    rows : list of dict
        The rows of the store.
    cases : Cases or None
        The test cases.
    answers : dict
        (model, recipe, backbone, seed, corruption, severity) -> positions in the classes, -1 for unknown.
    settings : dict
        What the run was asked for; {} for an evaluation without a study.
    contenders : dict
        Everyone who took part (`ModelId` without a seed), with the seeds.
    conditions : list of Condition
        All corrupted conditions that occur.
    counted, common : lists
        The contenders and the corrupted conditions that means are taken over.
    """

    def __init__(self, store: Store):
        settings = store.get("settings")
        self.settings: dict[str, Any] = settings if isinstance(settings, dict) else {}
        self.finished: Any = store.get("finished")
        self.rows = store.rows()
        self.cases: Cases | None = store.cases()
        self.answers = store.answers()
        self.contenders = self._find_contenders()
        self.conditions = self._find_conditions()
        self._right = self._judge()
        self.counted, self.common = self._choose()
        self._means: dict[tuple[Any, ...], Interval] = {}

    def _find_contenders(self) -> dict[ModelId, list[int]]:
        """Contenders in the order of the store; a report may put them in another order."""
        seeds: dict[ModelId, set[int]] = {}
        for row in self.rows:
            seeds.setdefault(_who(row), set()).add(row["seed"])
        return {name: sorted(each) for name, each in seeds.items()}

    def _find_conditions(self) -> list[Condition]:
        return list(dict.fromkeys(each for row in self.rows if (each := _under(row)) != CLEAN))

    def _judge(self) -> dict[tuple[ModelId, Condition], Array]:
        """For each case the share of seeds that answered correctly, where all have answered."""
        found = {}
        for (name, seeds), condition in itertools.product(self.contenders.items(), (CLEAN, *self.conditions)):
            given = [self.answers.get((*name._replace(seed=seed), *condition)) for seed in seeds]
            if self.cases is not None and all(each is not None for each in given):
                found[name, condition] = np.mean([each == self.cases.labels for each in given], axis=0)
        return found

    def _choose(self) -> tuple[list[ModelId], list[Condition]]:
        """The contenders and conditions that count; see the class for the rule."""
        done = {name: {each for each in self.conditions if self.has(name, each)} for name in self.contenders}
        if not self.conditions:  # nothing but the clean test set: it is what contenders are compared on
            return [name for name in done if self.has(name, CLEAN)], []
        best: tuple[list[ModelId], list[Condition]] = ([], [])
        for least in sorted({len(each) for each in done.values()} - {0}):
            names = [name for name in done if len(done[name]) >= least]
            shared = [each for each in self.conditions if all(each in done[name] for name in names)]
            if len(names) * len(shared) > len(best[0]) * len(best[1]):
                best = names, shared
        return best

    def restrict(self, conditions: Iterable[Condition]) -> None:
        """Take means over these corrupted conditions only, from now on."""
        wanted = set(conditions)
        self.common = [each for each in self.common if each in wanted]

    # --------------------------------------------------------------------------------------------- means and gains

    @property
    def judged(self) -> list[Condition]:
        """What contenders are compared on: common corrupted conditions, else the clean test set."""
        return self.common or [CLEAN]

    def has(self, name: ModelId, condition: Condition) -> bool:
        """Whether all seeds of a contender have finished a condition."""
        return (name, condition) in self._right

    def scores(self, name: ModelId, conditions: Iterable[Condition]) -> Array:
        """Conditions x cases: the share of the seeds that were right."""
        return np.array([self._right[name, each] for each in conditions])

    def seed_scores(self, name: ModelId, seeds: Iterable[int], conditions: Sequence[Condition]) -> Array:
        """Seeds x cases: the share of the conditions that were answered rightly."""
        truth = None if self.cases is None else self.cases.labels
        return np.array(
            [
                np.mean([self.answers[(*name._replace(seed=seed), *each)] == truth for each in conditions], axis=0)
                for seed in seeds
            ]
        )

    def mean(
        self, name: ModelId, conditions: Sequence[Condition] | None = None, *, balanced: bool = False
    ) -> Interval | None:
        """Accuracy over conditions (None: the common ones); None where some of it is not finished."""
        asked = tuple(self.common if conditions is None else conditions)
        if not asked or not all(self.has(name, each) for each in asked):
            return None
        key = (name, asked, balanced)
        if key not in self._means:  # tables and charts ask for the same means
            self._means[key] = mean_interval(self.scores(name, asked), self._labels(balanced), groups=self.groups)
        return self._means[key]

    def measure(self, name: ModelId, column: str, conditions: Collection[Condition] | None = None) -> float | None:
        """Mean of one column of the rows over conditions (None: the common ones).

        None is returned where it has no meaning.
        """
        asked = set(self.common if conditions is None else conditions)
        found = [row[column] for row in self.rows if _who(row) == name and _under(row) in asked]
        known = [value for value in found if value is not None]
        return float(np.mean(known)) if known else None

    def gain(
        self,
        model: str,
        over: str = BASELINE,
        conditions: Sequence[Condition] | None = None,
        *,
        trainings: Collection[Training] | None = None,
        balanced: bool = False,
    ) -> Interval | None:
        """How much better a model is than another on the same cases, over conditions.

        `conditions=None` stands for the common ones. Contenders of the same recipe and backbone are paired, and the
        differences averaged; `trainings` names those that count (None: all). A model without recipe and backbone is
        paired with every contender of the other. None is returned where there is nothing to compare.
        """
        return self._compare(self._pairs(model, over, trainings), conditions, balanced)

    def own_gain(
        self, name: ModelId, conditions: Sequence[Condition] | None = None, *, balanced: bool = False
    ) -> Interval | None:
        """Gain of one contender over the baseline of its training.

        A contender without a training is compared with all baselines.
        """
        trainings = [name.training] if any(name.training) else None
        if name.model == BASELINE or name not in self.counted:
            return None
        return self.gain(name.model, BASELINE, conditions, trainings=trainings, balanced=balanced)

    def apart(
        self,
        first: ModelId,
        second: ModelId,
        conditions: Sequence[Condition] | None = None,
        *,
        balanced: bool = False,
    ) -> Interval | None:
        """How much better one contender is than another, whatever their trainings are."""
        return self._compare([(first, second)], conditions, balanced)

    def _compare(
        self, pairs: Iterable[tuple[ModelId, ModelId]], conditions: Sequence[Condition] | None, balanced: bool
    ) -> Interval | None:
        asked = self.common if conditions is None else conditions
        known = [pair for pair in pairs if all(self.has(name, each) for name in pair for each in asked)]
        if not known or not asked:
            return None
        mine, others = (np.array([self.scores(pair[k], asked).mean(axis=0) for pair in known]) for k in (0, 1))
        return paired_interval(mine, others, self._labels(balanced), groups=self.groups)

    def baselines(self, name: ModelId) -> list[ModelId]:
        """The baselines that a contender is compared with."""
        found = [each for each in self.contenders if each.model == BASELINE]
        return [each for each in found if name.training in (each.training, ("", ""))]

    def _pairs(self, model: str, over: str, trainings: Collection[Training] | None) -> list[tuple[ModelId, ModelId]]:
        """Counted contenders to be compared with each other.

        They are trained alike with the same seeds, or one of them is not trained at all.
        """
        found = []
        mine, others = ([each for each in self.counted if each.model == name] for name in (model, over))
        for pair in itertools.product(mine, others):
            trained = {each.training for each in pair if any(each.training)}
            if trainings is not None and not trained <= set(trainings):
                continue
            alike = pair[0].training == pair[1].training
            if (alike and self.contenders[pair[0]] == self.contenders[pair[1]]) or (not alike and len(trained) == 1):
                found.append(pair)
        return found

    @property
    def groups(self) -> Array | None:
        """Which cases belong together, if the evaluation said so."""
        return None if self.cases is None else self.cases.groups

    def _labels(self, balanced: bool) -> Array | None:
        return self.cases.labels if balanced and self.cases is not None else None

    # ---------------------------------------------------------------------------------------------- what is missing

    @property
    def left_out(self) -> list[ModelId]:
        """Contenders that have results but lag behind, so that their means are not comparable."""
        return [name for name in self.contenders if name not in self.counted]

    @cached_property
    def gaps(self) -> list[Gap]:
        """Contenders with missing rows."""
        names = _texts(self.settings.get("corruptions"))
        severities = [int(each) for each in _texts(self.settings.get("severities")) if each.isdigit()]
        asked = [Condition(*each) for each in itertools.product(names, severities) if each[0] != CLEAN.corruption]
        wanted = [CLEAN, *dict.fromkeys([*asked, *self.conditions])]
        found = []
        for name, seeds in self.contenders.items():
            keys = [(*name._replace(seed=seed), *each) for seed, each in itertools.product(seeds, wanted)]
            there = sum(key in self.answers for key in keys)
            if there < len(seeds) * len(wanted):
                found.append(Gap(name, there, len(seeds) * len(wanted)))
        return found

    @cached_property
    def not_begun(self) -> dict[str, list[str]]:
        """Recipes, backbones and seeds that the settings ask for and that have no row yet."""
        known = {
            "recipe": {name.recipe for name in self.contenders},
            "backbone": {name.backbone for name in self.contenders},
            "seed": {str(seed) for seeds in self.contenders.values() for seed in seeds},
        }
        asked = {part: _texts(self.settings.get(f"{part}s")) for part in known}
        missing = {part: [each for each in asked[part] if each not in known[part]] for part in known}
        return {part: each for part, each in missing.items() if each and self.rows}

    @property
    def complete(self) -> bool:
        """Whether nothing is missing.

        A study says itself when it has finished; other evaluations do not.
        """
        return bool(self.rows) and not self.gaps and not self.not_begun and bool(self.finished or not self.settings)


def summarise(store: Store) -> dict[str, Any]:
    """Per model: clean and corrupted accuracy and the gain over its baseline, with intervals.

    Means are over the conditions that count (see `Results`). A contender that lags behind has no mean; `missing` says
    what it lacks.
    """
    results = Results(store)
    return {
        "study": store.get("study"),
        "complete": results.complete,
        "n": 0 if results.cases is None else len(results.cases.labels),
        "classes": [] if results.cases is None else results.cases.classes,
        "conditions": len(results.common),
        "models": [_about(results, name) for name in results.contenders],
        "missing": [
            {**_parts(gap.name), "rows": gap.rows, "of": gap.wanted, "counted": gap.name in results.counted}
            for gap in results.gaps
        ],
    }


def difference(store: Store, model: str, other: str, *, balanced: bool = False) -> Interval:
    """How much better one model is than another under corruption, paired on the same cases.

    Models that were trained with several recipes and backbones are compared training by training and averaged; a model
    that has neither (majority, stage 1) is compared with every training. The clean test set counts where nothing else
    was measured.
    """
    results = Results(store)
    known = list(dict.fromkeys(name.model for name in results.contenders))
    for name in (model, other):
        if name not in known:
            raise ValueError(f"no results of {name!r}; there are results of {', '.join(known) or 'none'}")
        if all(each.model != name for each in results.counted):
            raise ValueError(
                f"{name!r} lags behind: it has not finished the {len(results.judged)} conditions that the others have; "
                "finish the evaluation first"
            )
    found = results.gain(model, other, results.judged, balanced=balanced)
    if found is None:
        raise ValueError(f"{model!r} and {other!r} have no recipe, backbone and seeds in common")
    return found


def _about(results: Results, name: ModelId) -> dict[str, Any]:
    clean, corrupted = [CLEAN], results.common if name in results.counted else []
    gains = None
    if name.model != BASELINE and results.baselines(name):
        gains = {"over": BASELINE, "clean": _gain(results, name, clean), "mean": _gain(results, name, corrupted)}
    return {
        **_parts(name),
        "seeds": results.contenders[name],
        "clean": _measures(results, name, clean),
        "mean": _measures(results, name, corrupted),
        "gain": gains,
    }


def _measures(results: Results, name: ModelId, conditions: list[Condition]) -> dict[str, Any] | None:
    plain, balanced = (results.mean(name, conditions, balanced=each) for each in (False, True))
    if plain is None or balanced is None:
        return None
    others = {measure: results.measure(name, measure, conditions) for measure in MEASURES[2:]}
    return {"accuracy": plain._asdict(), "balanced_accuracy": balanced._asdict(), **others}


def _gain(results: Results, name: ModelId, conditions: list[Condition]) -> dict[str, Any] | None:
    plain, balanced = (results.own_gain(name, conditions, balanced=each) for each in (False, True))
    if plain is None or balanced is None:
        return None
    return {"accuracy": plain._asdict(), "balanced_accuracy": balanced._asdict()}


def _parts(name: ModelId) -> dict[str, str]:
    return {"model": name.model, "recipe": name.recipe, "backbone": name.backbone}


def _who(row: dict[str, Any]) -> ModelId:
    return ModelId(row["model"], row["recipe"], row["backbone"])


def _under(row: dict[str, Any]) -> Condition:
    return Condition(row["corruption"], row["severity"])


def _texts(value: Any) -> list[str]:
    """A setting that is a list, as texts."""
    return [str(each) for each in value] if isinstance(value, list | tuple) else []
