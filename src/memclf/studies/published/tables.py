"""The paper's tables as printed, with our names; the CSV files beside it hold the cells."""

from __future__ import annotations

import csv
from importlib import resources
from typing import NamedTuple

from memclf.report.published import CLEAN, PublishedTable, Side

COLUMNS = {
    "Vanilla": "vanilla",
    "Adversarial": "adversarial",
    "AugMix": "augmix",
    "CutMix": "cutmix",
    "NoisyMix": "noisymix",
    "ManifoldMix": "manifold_mixup",
    "ResNet18": "resnet18",
    "ResNet34": "resnet34",
    "ResNet50": "resnet50",
    "VGG11": "vgg11",
    "VGG16": "vgg16",
}
# Printed names that are not our names written with capitals and spaces.
ROWS = {
    "Clean Accuracy": CLEAN,
    "Elastic": "elastic_transform",
    "JPEG": "jpeg_compression",
    "Blur": "frost",  # leaf feature augmentation only: its memory cells are those of frost in the architecture table
}

_RESNET50 = (
    "The caption names ResNet50 for all columns; Manifold Mixup was trained with PreActResNet18 (a footnote). The "
    "network without augmentation is the ResNet50 column of the architecture table."
)
_FEATURES_JOINED = (
    "The baseline is the network with the expert features joined to its penultimate layer.",
    "The VGG16 baseline column is an exact copy of the VGG11 one, clean row included: one of them was pasted by "
    "mistake, and neither can be relied on.",
)


class _About(NamedTuple):
    """What the CSV file of a table does not say."""

    kind: str
    title: str
    notes: tuple[str, ...]


_TABLES = {
    "color_augmentation": _About(
        "recipe",
        "Colour patches, data augmentation",
        (
            "The caption names AugMix alone; the table also has the network without it. Both use ResNet50.",
            "The text says that AugMix improves the baseline; over all corruptions it loses (72.17 to 64.22). Only "
            "gaussian noise and spatter rise.",
        ),
    ),
    "leaf_data_augmentation": _About(
        "recipe",
        "Leaf disease severity, data augmentation",
        (
            _RESNET50,
            "58.0 % of the authors' test images are of the commonest class; 42 of the 90 baseline cells and 33 of "
            "the 90 memory cells lie below that.",
            "Bold type is wrong in one cell: fog with CutMix, where the baseline is better.",
        ),
    ),
    "leaf_architectures": _About(
        "backbone",
        "Leaf disease severity, architectures",
        (
            "Bold type is wrong in four places: clean with VGG16, contrast and pixelate with ResNet34, and zoom blur "
            "with VGG11, where the worse number is bold.",
        ),
    ),
    "leaf_feature_augmentation": _About(
        "augmented",
        "Leaf disease severity, feature augmentation",
        (
            *_FEATURES_JOINED,
            'The row "Blur" is frost: its memory cells are those of frost in the architecture table.',
            "The memory columns are those of the architecture table.",
        ),
    ),
    "acne_data_augmentation": _About(
        "recipe",
        "Acne lesions, data augmentation",
        (
            _RESNET50,
            "15 of the 18 corruptions: fog, frost and spatter are missing.",
            "12 of the 75 baseline cells and 24 of the 75 memory cells lie above the clean accuracy.",
        ),
    ),
    "acne_architectures": _About(
        "backbone",
        "Acne lesions, architectures",
        (
            "15 of the 18 corruptions: fog, frost and spatter are missing.",
            "The memory cells hardly depend on the corruption (69 to 78), as if the expert features had been taken "
            "from the clean image; 17 of the 75 baseline cells lie above the clean accuracy.",
        ),
    ),
    "acne_feature_augmentation": _About(
        "augmented",
        "Acne lesions, feature augmentation",
        (
            *_FEATURES_JOINED,
            "14 of the 18 corruptions: snow is missing as well as fog, frost and spatter.",
            "The memory columns are those of the architecture table, but for motion blur with ResNet18 (77, there 76).",
            "Bold type is wrong in one cell: clean with ResNet50.",
        ),
    ),
}


def table(name: str) -> PublishedTable:
    """A table of the paper by its name.

    Examples
    --------
    >>> table("leaf_architectures").rows["fog"]["resnet18", "memory"]
    55.0
    """
    if name not in _TABLES:
        raise ValueError(f"the paper's tables are {', '.join(_TABLES)}; got {name!r}")
    file = resources.files("memclf.studies.published") / f"{name}.csv"
    header, *lines = csv.reader(file.read_text(encoding="utf-8").splitlines())
    cells = [_cell(text) for text in header[1:]]
    rows = {_row(line[0]): dict(zip(cells, map(float, line[1:]), strict=True)) for line in lines}
    return PublishedTable(name, *_TABLES[name][:2], rows, _TABLES[name].notes)


def _cell(text: str) -> Side:
    column, side = text.split("_")
    return COLUMNS[column], side


def _row(text: str) -> str:
    return ROWS.get(text, text.lower().replace(" ", "_"))
