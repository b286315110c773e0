"""A run folder as the report reads it: results, notes of the run, pictures and bounds.

Nothing here needs the data set, the models or torch: the store of a run holds every answer that was given.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from memclf.bounds import Bound
from memclf.evaluate.results import Results, Training
from memclf.evaluate.store import BASELINE, CLEAN, Condition, ModelId, Store, open_store
from memclf.evaluate.verdict import Verdict, is_part, judge
from memclf.report import formats
from memclf.report.labels import CONTROLS, Labels, are_numbers, model_order, name_class
from memclf.report.published import PublishedTable, read_published

ABOUT = (
    *("study", "title", "question", "source", "source_note", "generated_note"),
    *(
        "started",
        "finished",
        "command",
        "versions",
        "seconds",
        "data",
        "data_digest",
        "textures_digest",
        "goes_on_from",
        "models",
        "training_labels",
        "corruption_labels",
    ),
)


class RunBounds(NamedTuple):
    """The bounds of one memory classifier, and why some kinds of them are missing."""

    name: ModelId
    bounds: list[Bound]
    missing: dict[str, str]


class Run(Results):
    """The results of a run folder, in the order of the report, and what else the folder holds.

    Attributes
    ----------
    folder : Path
    about : dict
        What the runner noted: study, title, source, command, versions, times. Absent keys are None.
    exhibits : dict
        Pictures for the report, {} when there are none.
    bounds : list of RunBounds
        Bounds of the memory classifiers, [] when there are none.
    labels : Labels
        What recipes, backbones and corruptions are called, as the run noted it.
    published : list of PublishedTable
        The paper's tables of this study, [] when there are none.
    field, parts : lists
        The counted contenders: those that the report compares, and those of an ablation, which has its own table.
    sources : dict
        Contender and seed -> the name of the run that it is from, where several runs are joined.
    """

    def __init__(self, folder: Path, store: Store | None = None):
        """Read a run; `store` holds other results than those of the folder, as of several runs."""
        self.folder = Path(folder)
        with open_store(self.folder / "results.sqlite") if store is None else nullcontext(store) as found:
            super().__init__(found)
            self.about: dict[str, Any] = {key: found.get(key) for key in ABOUT}
        self.sources: dict[ModelId, str] = {}
        self.exhibits = _read(self.folder / "exhibits.json")
        self.published: list[PublishedTable] = read_published(self.folder)
        noted = (self.about["training_labels"], self.about["corruption_labels"])
        self.labels = Labels.from_notes(*noted, study=bool(self.study))
        bounds = _bounds(_read(self.folder / "bounds.json"))
        self.bounds = sorted(bounds, key=lambda each: self._order(each.name))
        self.contenders = {name: self.contenders[name] for name in sorted(self.contenders, key=self._order)}
        self.conditions.sort(key=self._place)
        self.common.sort(key=self._place)
        self.counted.sort(key=self._order)
        self.field = [each for each in self.counted if not is_part(each.model)]
        self.parts = [each for each in self.counted if is_part(each.model)]

    def _order(self, name: ModelId) -> tuple[Any, ...]:
        """For sorting contenders: by training, then by model; controls without a training last."""
        recipes, backbones = list(self.labels.recipes), list(self.labels.backbones)
        return (
            not any(name.training) and name.model in CONTROLS,
            recipes.index(name.recipe) if name.recipe in recipes else -1 if not name.recipe else len(recipes),
            backbones.index(name.backbone) if name.backbone in backbones else len(backbones),
            *name.training,
            model_order(name.model),
        )

    def _place(self, condition: Condition) -> tuple[Any, ...]:
        """For sorting conditions as the paper's tables do."""
        return (self.labels.place(condition.corruption), condition.severity)

    # -------------------------------------------------------------------------------------------- what there is

    @property
    def study(self) -> str:
        return str(self.about["study"] or (self.rows[0]["study"] if self.rows else ""))

    @property
    def title(self) -> str:
        return str(self.about["title"] or (f"Study {self.study}" if self.study else "Evaluation"))

    @property
    def generated(self) -> bool:
        return self.about["source"] == "generated"

    @cached_property
    def verdict(self) -> Verdict | None:
        """Which contender to use; None while there is nothing to compare."""
        return judge(self)

    @property
    def subject(self) -> str:
        """The memory classifier that the report is about, "" if there is none.

        `memclf.evaluate.verdict` chooses it.
        """
        return self.verdict.memory.model if self.verdict is not None and self.verdict.memory is not None else ""

    def trainings(self, model: str) -> list[Training]:
        """Recipes and backbones for which both a model and its baseline can be compared."""
        return [each.training for each in self.field if each.model == model and self.beside(each, BASELINE)]

    def beside(self, name: ModelId, model: str) -> ModelId | None:
        """Another model of the same training, if it is in the field."""
        other = name._replace(model=model)
        return other if other in self.field else None

    @property
    def corruptions(self) -> list[str]:
        """The corruptions that means are taken over."""
        return list(dict.fromkeys(each.corruption for each in self.common))

    def conditions_of(self, corruption: str) -> list[Condition]:
        """The common conditions of one corruption; "clean" is the clean test set."""
        return [each for each in (CLEAN, *self.common) if each.corruption == corruption]

    @property
    def crossed(self) -> bool:
        """Whether every corruption has every severity; without that, severities cannot be compared."""
        return len(self.common) == len(self.corruptions) * len({each.severity for each in self.common})

    @property
    def five(self) -> bool:
        """Whether every corruption has been run at all five severities, as in the paper."""
        return self.crossed and {each.severity for each in self.common} == set(formats.FIVE)

    def steps(self) -> Iterator[tuple[int, list[Condition]]]:
        """For each severity its common conditions; the clean test set is severity 0."""
        yield 0, [CLEAN]
        for level in sorted({each.severity for each in self.common}):
            yield level, [each for each in self.common if each.severity == level]

    # ------------------------------------------------------------------------------------------------- in words

    @property
    def severities(self) -> str:
        """The severities that means are taken over, in words."""
        if not self.crossed:
            return "severities that are not the same for all corruptions"
        return formats.name_severities({each.severity for each in self.common})

    @property
    def size(self) -> str:
        """How many test cases and conditions there are, in words."""
        cases = formats.count(0 if self.cases is None else len(self.cases.keys), "test case")
        if not self.common:
            return cases
        corruptions = formats.count(len(self.corruptions), "corruption")
        levels = "" if self.five else f" at {self.severities}"
        conditions = formats.count(len(self.common), "corrupted condition")
        return f"{cases} under {conditions} ({corruptions}{levels})"

    def label(self, name: Any) -> str:
        """A class as a sentence names it: a bare number becomes "class 3"."""
        return name_class(name, self.cases is not None and are_numbers(self.cases.classes))

    def name_training(self, training: Training) -> str:
        """Recipe and backbone, as far as there is more than one of them in the run."""
        recipes, backbones = ({name[k] for name in self.contenders if any(name.training)} for k in (1, 2))
        parts = [self.labels.recipe(training[0])] if len(recipes) > 1 or len(backbones) < 2 else []
        parts += [self.labels.backbone(training[1])] if len(backbones) > 1 else []
        return " · ".join(part for part in parts if part)

    def name(self, name: ModelId, *, short: bool = False) -> str:
        """A contender, with its training where there are several of them in the run."""
        several = len({each.training for each in self.contenders if any(each.training)}) > 1
        model = self.labels.model(name.model, short=short)
        training = self.name_training(name.training) if several and any(name.training) else ""
        return f"{model} · {training}" if training else model

    def full_name(self, name: ModelId) -> str:
        parts = (self.labels.model(name.model), self.labels.recipe(name.recipe), self.labels.backbone(name.backbone))
        return " · ".join(part for part in parts if part)

    @cached_property
    def partial(self) -> list[str]:
        """Sentences on what is missing; empty when the run is complete."""
        found = []
        if not self.rows:
            found.append("No condition has been finished yet.")
        elif self.settings and not self.finished:
            found.append("The run has not come to its end.")
        counts: dict[tuple[int, int], list[str]] = {}
        for gap in self.gaps:
            counts.setdefault((gap.rows, gap.wanted), []).append(self.full_name(gap.name))
        found += [f"{there} of {wanted} rows: {'; '.join(names)}." for (there, wanted), names in counts.items()]
        if self.left_out:
            names = formats.join_words(self.full_name(name) for name in self.left_out)
            found.append(f"Left out of the means because they lag behind: {names}.")
        for part, missing in self.not_begun.items():
            named = (f"seed {each}" if part == "seed" else self.labels.training(each) for each in missing)
            names = formats.join_words(named)
            found.append(f"Not begun: {names}.")
        return found

    # ------------------------------------------------------------------------------------------------------ pictures

    def picture(self, path: Any) -> Path | None:
        """The file of a picture that exhibits.json names, if it is there and inside the run folder."""
        if not isinstance(path, str) or not path:
            return None
        file = (self.folder / path).resolve()
        return file if file.is_file() and file.is_relative_to(self.folder.resolve()) else None


def _read(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    found = json.loads(file.read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else {}


def _bounds(found: dict[str, Any]) -> list[RunBounds]:
    """What can be understood of ``bounds.json``: a damaged entry does not stop a report."""
    shown = []
    for each in found.get("contenders") or []:
        try:
            name = ModelId(str(each["model"]), str(each["recipe"]), str(each["backbone"]))
            bounds = [Bound.from_dict(bound) for bound in each["bounds"]]
            missing = {str(kind): str(why) for kind, why in (each.get("missing") or {}).items()}
            if not all(math.isfinite(term.value) for bound in bounds for term in bound.terms):
                continue
        except (AttributeError, KeyError, TypeError, ValueError):
            continue
        if bounds:
            shown.append(RunBounds(name, bounds, missing))
    return shown
