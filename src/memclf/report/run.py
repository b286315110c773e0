"""A run folder as the report sees it: what was asked for, what was answered, what is missing.

Nothing here needs the data set, the models or torch: the store of a run holds every answer that was given.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memclf._numbers import Array
from memclf.bounds import Bound
from memclf.evaluate.intervals import DRAWS, Interval, mean_interval, paired_interval
from memclf.evaluate.store import CLEAN, Cases, Condition, opened
from memclf.report import words
from memclf.report.published import PublishedTable, read_published

ABOUT = (
    "settings",
    "study",
    "title",
    "question",
    "source",
    "source_note",
    "generated_note",
    "started",
    "finished",
    "command",
    "versions",
    "seconds",
    "data",
    "models",
)
# They have neither recipe nor backbone.
UNPAIRED = ("majority", "stage1", "stage1-paper", "stage1-sturdy", "stage1-balanced")


class Contender(NamedTuple):
    """A model with what it was trained with; all seeds together."""

    model: str
    recipe: str = ""
    backbone: str = ""


class Promised(NamedTuple):
    """The bounds of one memory classifier, and why some kinds of them are missing."""

    name: Contender
    bounds: list[Bound]
    missing: dict[str, str]


class Run:
    """What a run folder holds.

    Attributes
    ----------
    folder : Path
    about : dict
        What the runner noted: study, title, source, settings, command, versions, times. Absent keys are None.
    rows : list of dict
        The tidy rows.
    cases : Cases or None
    answers : dict
        (model, recipe, backbone, seed, corruption, severity) -> positions in the classes, -1 for unknown.
    exhibits : dict
        Pictures for the report, {} when there are none.
    promised : list of Promised
        Bounds of the memory classifiers, [] when there are none.
    published : list of PublishedTable
        The paper's tables of this study, [] when there are none.
    contenders : dict
        Who took part, with the seeds, in the order of the report.
    field, common : lists
        Contenders and corrupted conditions between which there is no hole; means are taken over these.
    parts : list
        Contenders of an ablation, which have a table of their own and stand in no other.
    """

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        with opened(self.folder / "results.sqlite") as store:
            self.about: dict[str, Any] = {key: store.get(key) for key in ABOUT}
            self.rows = store.rows()
            self.cases: Cases | None = store.cases()
            self.answers = store.answers()
        self.exhibits = _read(self.folder / "exhibits.json")
        self.promised = _promised(_read(self.folder / "bounds.json"))
        self.published: list[PublishedTable] = read_published(self.folder)
        self.contenders = _contenders(self.rows)
        self._right = self._judged()
        self._means: dict[tuple[Any, ...], Interval] = {}
        everyone, self.common = self._block()
        self.field = [each for each in everyone if not words.is_part(each.model)]
        self.parts = [each for each in everyone if words.is_part(each.model)]

    # -------------------------------------------------------------------------------------------- what there is

    @property
    def study(self) -> str:
        return str(self.about["study"] or (self.rows[0]["study"] if self.rows else ""))

    @property
    def title(self) -> str:
        return str(self.about["title"] or (f"Study {self.study}" if self.study else "Evaluation"))

    @property
    def settings(self) -> dict[str, Any]:
        found = self.about["settings"]
        return found if isinstance(found, dict) else {}

    def label(self, name: Any) -> str:
        """What a class is called in a sentence: numbers say nothing by themselves."""
        return words.label(name, self.cases is not None and words.numbered(self.cases.classes))

    @property
    def generated(self) -> bool:
        return self.about["source"] == "generated"

    @cached_property
    def conditions(self) -> list[Condition]:
        """All corrupted conditions that occur, as the paper orders them."""
        found = {Condition(row["corruption"], row["severity"]) for row in self.rows if row["corruption"] != CLEAN}
        return sorted(found, key=lambda each: (words.place(each.corruption), each.severity))

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Recipes and backbones for which both the baseline and the memory classifier can be compared."""
        return [
            (each.recipe, each.backbone)
            for each in self.field
            if each.model == "memory" and Contender("baseline", each.recipe, each.backbone) in self.field
        ]

    @property
    def corruptions(self) -> list[str]:
        """Of the conditions that means are taken over."""
        return list(dict.fromkeys(each.corruption for each in self.common))

    @property
    def severities(self) -> str:
        """The severities that means are taken over, in words."""
        found = {tuple(c.severity for c in self.common if c.corruption == name) for name in self.corruptions}
        if len(found) > 1:
            return "severities that are not the same for all corruptions"
        return words.severities(next(iter(found), ()))

    @property
    def five(self) -> bool:
        """Whether every corruption has been run at all five severities, as in the paper."""
        return len(self.common) == 5 * len(self.corruptions) and {each.severity for each in self.common} <= {
            *words.FIVE
        }

    @property
    def crossed(self) -> bool:
        """Whether every corruption has every severity, without which severities cannot be held against each other."""
        return len(self.common) == len(self.corruptions) * len({each.severity for each in self.common})

    def only(self, conditions: Iterable[Condition]) -> None:
        """From now on take means over no other corrupted conditions than these."""
        wanted = set(conditions)
        self.common = [each for each in self.common if each in wanted]

    def called(self, pair: tuple[str, str]) -> str:
        """Recipe and backbone, as far as there is more than one of them in the run."""
        recipes, backbones = ({name[k] for name in self.contenders if any(name[1:])} for k in (1, 2))
        parts = [words.recipe(pair[0])] if len(recipes) > 1 or len(backbones) < 2 else []
        parts += [words.backbone(pair[1])] if len(backbones) > 1 else []
        return " · ".join(part for part in parts if part)

    # ----------------------------------------------------------------------------------------------- who was right

    def _judged(self) -> dict[tuple[Contender, Condition], Array]:
        """Share of the seeds that answered each case rightly, where every seed has been."""
        if self.cases is None:
            return {}
        labels, found = self.cases.labels, {}
        for name, seeds in self.contenders.items():
            for condition in (Condition(), *self.conditions):
                given = [self.answers.get((*name, seed, *condition)) for seed in seeds]
                if all(each is not None for each in given):
                    found[name, condition] = np.mean([each == labels for each in given], axis=0)
        return found

    def _block(self) -> tuple[list[Contender], list[Condition]]:
        """Contenders and corrupted conditions that all of them have finished: what means are taken over.

        In a complete run that is all of both. In a partial one contenders that lag behind are left out when that
        leaves more to be compared: the largest number of rows without a hole.
        """
        done = {name: {each for each in self.conditions if (name, each) in self._right} for name in self.contenders}
        best: tuple[list[Contender], list[Condition]] = ([], [])
        for least in sorted({len(each) for each in done.values()} - {0}):
            names = [name for name in done if len(done[name]) >= least]
            shared = [each for each in self.conditions if all(each in done[name] for name in names)]
            if len(names) * len(shared) > len(best[0]) * len(best[1]):
                best = names, shared
        return best

    def has(self, contender: Contender, condition: Condition) -> bool:
        return (contender, condition) in self._right

    def scores(self, contender: Contender, conditions: Iterable[Condition]) -> Array:
        """Conditions x cases: share of the seeds that were right."""
        return np.array([self._right[contender, each] for each in conditions])

    def mean(
        self,
        contender: Contender,
        conditions: Sequence[Condition] | None = None,
        *,
        balanced: bool = False,
        draws: int = DRAWS,
    ) -> Interval | None:
        """Accuracy over conditions (None: all that are in common), or None where it is not known."""
        asked = tuple(self.common if conditions is None else conditions)
        if not asked or not all(self.has(contender, each) for each in asked):
            return None
        key = (contender, asked, balanced, draws)
        if key not in self._means:  # tables and charts ask for the same ones
            self._means[key] = mean_interval(
                self.scores(contender, asked), self._labels(balanced), groups=self._groups, draws=draws
            )
        return self._means[key]

    def measure(self, contender: Contender, name: str, conditions: Sequence[Condition] | None = None) -> float | None:
        """Mean of one column of the rows; None where it has no meaning."""
        asked = set(self.common if conditions is None else conditions)
        rows = [row for row in self.rows if (row["model"], row["recipe"], row["backbone"]) == contender]
        found = [row[name] for row in rows if (row["corruption"], row["severity"]) in asked]
        known = [value for value in found if value is not None]
        return float(np.mean(known)) if known else None

    def gain(
        self,
        pairs: Sequence[tuple[str, str]],
        conditions: Sequence[Condition] | None = None,
        *,
        model: str = "memory",
        over: str = "baseline",
        balanced: bool = False,
        draws: int = DRAWS,
    ) -> Interval | None:
        """How much better a model is than another on the same cases, mean over conditions and over the pairs.

        `conditions` None: all that are in common. None is returned where there is nothing to compare.
        """
        asked = self.common if conditions is None else conditions
        duels = [(self.contender(model, pair), self.contender(over, pair)) for pair in pairs]
        duels = [duel for duel in duels if all(self.has(name, each) for name in duel for each in asked)]
        if not duels or not asked:
            return None
        mine, others = ([self.scores(duel[k], asked).mean(axis=0) for duel in duels] for k in (0, 1))
        labels = self._labels(balanced)
        return paired_interval(np.array(mine), np.array(others), labels, groups=self._groups, draws=draws)

    def contender(self, model: str, pair: tuple[str, str]) -> Contender:
        """The model that stands beside this pair; some have neither recipe nor backbone."""
        return Contender(model) if model in UNPAIRED else Contender(model, *pair)

    @property
    def _groups(self) -> Array | None:
        return None if self.cases is None else self.cases.groups

    def _labels(self, balanced: bool) -> Array | None:
        return self.cases.labels if balanced and self.cases is not None else None

    # ------------------------------------------------------------------------------------------------ what is missing

    @cached_property
    def gaps(self) -> list[tuple[Contender, int, int]]:
        """Contenders with missing rows: who, how many rows are there, how many there should be."""
        wanted = self._wanted()
        found = []
        for name, seeds in self.contenders.items():
            there = sum((*name, seed, *each) in self.answers for seed, each in itertools.product(seeds, wanted))
            if there < len(seeds) * len(wanted):
                found.append((name, there, len(seeds) * len(wanted)))
        return found

    def _wanted(self) -> list[Condition]:
        """Conditions that the settings ask for, if they say so, and all that occur."""
        names = _texts(self.settings, "corruptions", "corruption")
        severities = [int(each) for each in _texts(self.settings, "severities", "severity") if each.isdigit()]
        asked = [Condition(name, severity) for name in names if name != CLEAN for severity in severities]
        return [Condition(), *dict.fromkeys([*asked, *self.conditions])]

    @cached_property
    def partial(self) -> list[str]:
        """Sentences on what is missing; empty when the run is complete."""
        found = []
        if not self.rows:
            found.append("No condition has been finished yet.")
        elif self.settings and not self.about["finished"]:  # an evaluation of one's own never says that it is done
            found.append("The run has not come to its end.")
        counts: dict[tuple[int, int], list[str]] = {}
        for name, there, wanted in self.gaps:
            counts.setdefault((there, wanted), []).append(self.full_name(name))
        found += [f"{there} of {wanted} rows: {'; '.join(names)}." for (there, wanted), names in counts.items()]
        for kind, given, say in (("recipe", 1, words.recipe), ("backbone", 2, words.backbone)):
            asked = _texts(self.settings, f"{kind}s", kind)
            missing = [each for each in asked if self.rows and each not in {name[given] for name in self.contenders}]
            if missing:
                found.append(f"Not begun: {words.listed(say(each) for each in missing)}.")
        seeds = {seed for seeds in self.contenders.values() for seed in seeds}
        missing = [each for each in _texts(self.settings, "seeds", "seed") if each.isdigit() and int(each) not in seeds]
        if missing and self.rows:
            found.append(f"Seeds not begun: {words.listed(missing)}.")
        return found

    def full_name(self, name: Contender) -> str:
        parts = (words.model(name.model), words.recipe(name.recipe), words.backbone(name.backbone))
        return " · ".join(part for part in parts if part)

    # ------------------------------------------------------------------------------------------------------ pictures

    def picture(self, path: Any) -> Path | None:
        """The file of a picture that exhibits.json names, if it is there and inside the run folder."""
        if not isinstance(path, str) or not path:
            return None
        file = (self.folder / path).resolve()
        return file if file.is_file() and file.is_relative_to(self.folder.resolve()) else None


def _contenders(rows: list[dict[str, Any]]) -> dict[Contender, list[int]]:
    """Who took part, with the seeds, in the order of the report."""
    found: dict[Contender, set[int]] = {}
    for row in rows:
        found.setdefault(Contender(row["model"], row["recipe"], row["backbone"]), set()).add(row["seed"])
    return {name: sorted(found[name]) for name in sorted(found, key=_order)}


def _order(name: Contender) -> tuple[Any, ...]:
    recipes, backbones = list(words.RECIPES), list(words.BACKBONES)
    return (
        name.model in UNPAIRED,
        recipes.index(name.recipe) if name.recipe in recipes else -1 if not name.recipe else len(recipes),
        backbones.index(name.backbone) if name.backbone in backbones else len(backbones),
        *name[1:],
        words.rank(name.model),
    )


def _read(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    found = json.loads(file.read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else {}


def _promised(found: dict[str, Any]) -> list[Promised]:
    """What can be understood of ``bounds.json``: a damaged entry does not stop a report."""
    shown = []
    for each in found.get("contenders") or []:
        try:
            name = Contender(*(str(each[part]) for part in Contender._fields))
            bounds = [Bound.from_dict(bound) for bound in each["bounds"]]
            missing = {str(kind): str(why) for kind, why in (each.get("missing") or {}).items()}
            if not all(math.isfinite(term.value) for bound in bounds for term in bound.terms):
                continue
        except (AttributeError, KeyError, TypeError, ValueError):
            continue
        if bounds:
            shown.append(Promised(name, bounds, missing))
    return sorted(shown, key=lambda each: _order(each.name))


def _texts(settings: dict[str, Any], *names: str) -> list[str]:
    """A setting that is a list, under whichever of these names."""
    for name in names:
        value = settings.get(name)
        if isinstance(value, list | tuple) and value:
            return [str(each) for each in value]
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return [str(value)]
    return []
