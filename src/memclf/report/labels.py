"""Names of things for people: models, trainings, corruptions, classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

#: Names of the models, in the order in which they are shown, and what each of them is.
MODELS = {
    "baseline": ("Baseline", "one classifier without memories, trained on all training cases"),
    "memory": ("Memory classifier", "routes a case to a memory, whose local classifier answers"),
    "memory-paper": ("Memory classifier, paper’s feature", "the same with the expert feature as the paper has it"),
    "sturdy": (
        "Sturdy memory classifier",
        "graded memories; the softened classifier times the labels of the memory’s cluster, with rare classes favoured "
        "a bit",
    ),
    "auto": (
        "Auto memory classifier",
        "graded memories; believes the network, the memories’ labels, the expert’s measurements or all, as held-out "
        "and shifted training cases teach",
    ),
    "careful": (
        "Careful memory classifier",
        "the sturdy one, but what is unlike the training cases is unknown (at most 5 % of cases like them)",
    ),
    "augmented": ("Feature augmentation", "the network with the expert features joined to its last layer"),
    "majority": ("Majority class", "always answers the commonest training class"),
    "stage1": ("Stage 1 alone", "answers the commonest label of the memory’s cluster, without any classifier"),
    "stage1-paper": ("Stage 1 alone, paper’s feature", "the same with the expert feature as the paper has it"),
    "stage1-sturdy": ("Stage 1 alone, graded", "the same with the graded memories of the sturdy memory classifier"),
    "stage1-balanced": (
        "Stage 1 alone, balanced",
        "the same, but rare classes are weighed up as the sturdy memory classifier does",
    ),
    "measured": ("Measurements alone", "a classifier on all that the expert feature measures; no network, no memories"),
    "ensemble": ("Deep ensemble", "several classifiers like the baseline, whose probabilities are averaged"),
    "prior": ("Baseline × class frequencies", "the baseline, softened (temperature 2), times how common each class is"),
    "prior-balanced": (
        "Baseline × class frequencies, balanced",
        "the same with the frequencies weighed as the sturdy memory classifier does",
    ),
    "random": (
        "Random routing",
        "a memory classifier whose clusters are drawn at random, of the same sizes; a case goes where its name leads",
    ),
}
#: Models that the case studies alone have; an evaluation of one's own may use the same names for something else.
OF_STUDIES = ("memory-paper", "sturdy", "auto", "careful", "augmented", "stage1-paper", "stage1-sturdy", "measured")
#: What is said instead where there is no sturdy memory classifier to be compared with.
WITHOUT_STURDY = {
    "stage1-balanced": "the same, but rare classes are weighed up",
    "prior-balanced": "the same, but rare classes are weighed up",
}
#: Shorter names, where there is little room.
SHORT = {
    "memory": "Memory",
    "memory-paper": "Memory, paper’s feature",
    "sturdy": "Sturdy memory",
    "auto": "Auto memory",
    "careful": "Careful memory",
    "stage1-sturdy": "Stage 1, graded",
    "augmented": "Augmented",
    "stage1-paper": "Stage 1, paper’s feature",
    "stage1-balanced": "Stage 1, balanced",
    "prior-balanced": "Baseline × frequencies, bal.",
    "prior": "Baseline × frequencies",
}
CONTROLS = (
    *("majority", "stage1", "stage1-paper", "stage1-sturdy", "stage1-balanced", "measured"),
    *("prior", "prior-balanced", "random", "ensemble"),
)

#: What is shown for a setting of a study that is None.
UNSET = {
    "data": "generated images",
    "split": "as the data have it",
    "corrupt_at": "the image's own size",
    "local_epochs": "as epochs",
    "schedule": "constant",
    "textures": "those that come with memclf",
}


@dataclass(frozen=True)
class Labels:
    """The labels of one run, as they were noted when it was measured.

    So a report needs neither networks nor images.

    Attributes
    ----------
    recipes, backbones : dict
        Name -> label, in the order of the report.
    corruptions : dict
        Name -> label, in the order of the paper's tables.
    study : bool
        Whether the run is of a case study, whose models have labels of their own.
    """

    recipes: Mapping[str, str] = field(default_factory=dict)
    backbones: Mapping[str, str] = field(default_factory=dict)
    corruptions: Mapping[str, str] = field(default_factory=dict)
    study: bool = True

    @classmethod
    def from_notes(cls, trainings: Any, corruptions: Any, *, study: bool) -> Self:
        """The labels from the notes in a store; what is missing or damaged is called by its name."""
        noted = trainings if isinstance(trainings, dict) else {}
        known = corruptions if isinstance(corruptions, dict) else {}
        found = [(name, each) for name, each in known.items() if isinstance(each, dict) and "label" in each]
        found.sort(key=lambda pair: pair[1].get("row") or len(found))
        shown = {name: str(each["label"]) for name, each in found}
        return cls(dict(noted.get("recipes") or {}), dict(noted.get("backbones") or {}), shown, study)

    def model(self, name: str, *, short: bool = False) -> str:
        """The label of a model.

        In an evaluation of one's own, models that only the studies have are called by their names.
        """
        if name not in MODELS or (name in OF_STUDIES and not self.study):
            return name
        return SHORT.get(name, MODELS[name][0]) if short else MODELS[name][0]

    def role(self, name: str, present: Iterable[str] = ("sturdy",)) -> str:
        """What a model is, in terms of models that are `present`; "" for one of the user's own.

        >>> Labels().role("prior-balanced", ["baseline"])
        'the same, but rare classes are weighed up'
        >>> Labels(study=False).role("sturdy")
        ''
        """
        if self.model(name) == name:
            return ""
        return MODELS[name][1] if "sturdy" in present else WITHOUT_STURDY.get(name, MODELS[name][1])

    def recipe(self, name: str) -> str:
        return self.recipes.get(name, name)

    def backbone(self, name: str) -> str:
        return self.backbones.get(name, name)

    def training(self, name: str) -> str:
        """A recipe or a backbone, whichever it is."""
        return self.recipes.get(name) or self.backbone(name)

    def corruption(self, name: str) -> str:
        """A corruption, or "Clean".

        >>> labels = Labels(corruptions={"jpeg_compression": "JPEG"})
        >>> labels.corruption("jpeg_compression"), labels.corruption("my_fog")
        ('JPEG', 'My fog')
        """
        return self.corruptions.get(name) or name.replace("_", " ").capitalize()

    def condition(self, text: Any) -> str:
        """A corruption and its severity.

        >>> Labels().condition("gaussian_noise 5"), Labels().condition("clean")
        ('Gaussian noise 5', 'Clean')
        """
        name, _, severity = str(text).partition(" ")
        return f"{self.corruption(name)} {severity}".strip()

    def place(self, corruption: str) -> tuple[int, str]:
        """For sorting corruptions: in the noted order, others after them."""
        order = list(self.corruptions)
        return (order.index(corruption) if corruption in order else len(order), corruption)


def are_numbers(classes: Iterable[Any]) -> bool:
    """Whether the classes are called by numbers, which say nothing by themselves.

    >>> are_numbers([0, 1, 2]), are_numbers(["0", "1"]), are_numbers(["mild", "severe"])
    (True, True, False)
    """
    found = [str(each) for each in classes]
    return bool(found) and all(re.fullmatch(r"-?\d+(\.\d+)?", each) for each in found)


def name_class(name: Any, number: bool) -> str:
    """What a class is called in a sentence; `number`: classes are called by numbers here.

    >>> name_class(1, True), name_class("2 or 3", True), name_class("unknown", True), name_class("mild", False)
    ('class 1', 'class 2 or class 3', 'unknown', 'mild')
    """
    if not number or name is None:
        return "–" if name is None else str(name)
    return " or ".join(each if each == "unknown" else f"class {each}" for each in str(name).split(" or "))


def model_order(name: str) -> tuple[int, str]:
    """For sorting models: the contenders first, then the controls."""
    names = list(MODELS)
    return (names.index(name) if name in names else len(names), name)
