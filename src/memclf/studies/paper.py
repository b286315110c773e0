"""The paper's tables, as printed, in our words; the CSV files beside this module hold its cells and nothing else."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources

Side = tuple[str, str]  # (column, "baseline" or "memory")

SIDES = ("baseline", "memory")
CLEAN = "clean"

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
# Where a printed name in small letters, with underscores, is not yet ours.
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

# name -> study, kind, title, notes
_TABLES: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "color_augmentation": (
        "color",
        "recipe",
        "Colour patches, data augmentation",
        (
            "The caption names AugMix alone; the table also has the network without it. Both use ResNet50.",
            "The text says that AugMix improves the baseline; over all corruptions it loses (72.17 to 64.22). Only "
            "gaussian noise and spatter rise.",
        ),
    ),
    "leaf_data_augmentation": (
        "leaf",
        "recipe",
        "Leaf disease severity, data augmentation",
        (
            _RESNET50,
            "58.0 % of the authors' test images are of the commonest class; 42 of the 90 baseline cells and 33 of "
            "the 90 memory cells lie below that.",
            "Bold type is wrong in one cell: fog with CutMix, where the baseline is better.",
        ),
    ),
    "leaf_architectures": (
        "leaf",
        "backbone",
        "Leaf disease severity, architectures",
        (
            "Bold type is wrong in four places: clean with VGG16, contrast and pixelate with ResNet34, and zoom blur "
            "with VGG11, where the worse number is bold.",
        ),
    ),
    "leaf_feature_augmentation": (
        "leaf",
        "augmented",
        "Leaf disease severity, feature augmentation",
        (
            *_FEATURES_JOINED,
            'The row "Blur" is frost: its memory cells are those of frost in the architecture table.',
            "The memory columns are those of the architecture table.",
        ),
    ),
    "acne_data_augmentation": (
        "acne",
        "recipe",
        "Acne lesions, data augmentation",
        (
            _RESNET50,
            "15 of the 18 corruptions: fog, frost and spatter are missing.",
            "12 of the 75 baseline cells and 24 of the 75 memory cells lie above the clean accuracy.",
        ),
    ),
    "acne_architectures": (
        "acne",
        "backbone",
        "Acne lesions, architectures",
        (
            "15 of the 18 corruptions: fog, frost and spatter are missing.",
            "The memory cells hardly depend on the corruption (69 to 78), as if the expert features had been taken "
            "from the clean image; 17 of the 75 baseline cells lie above the clean accuracy.",
        ),
    ),
    "acne_feature_augmentation": (
        "acne",
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


@dataclass(frozen=True)
class PaperTable:
    """One table of the paper: accuracies in per cent, means over five severities, rounded to whole numbers.

    Attributes
    ----------
    name, study, title : str
    kind : {"recipe", "backbone", "augmented"}
        What its columns are: recipes; backbones; backbones whose baseline has the expert features joined to it.
    rows : dict
        Corruption (or "clean") -> (column, "baseline" or "memory") -> per cent, in the order of the paper. A
        corruption that the paper left out has no row.
    notes : tuple of str
        What is known to be wrong with the table, or needs saying beside it.
    """

    name: str
    study: str
    kind: str
    title: str
    rows: dict[str, dict[Side, float]]
    notes: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Recipes or backbones, in the order of the paper."""
        return tuple(column for column, side in self.rows[CLEAN] if side == SIDES[0])

    @property
    def corruptions(self) -> tuple[str, ...]:
        """The rows but for the clean one."""
        return tuple(name for name in self.rows if name != CLEAN)

    def means(self) -> dict[Side, float]:
        """Mean over the corruptions (the clean row left out) for every column and side."""
        names = self.corruptions
        return {cell: sum(self.rows[name][cell] for name in names) / len(names) for cell in self.rows[CLEAN]}

    def gain(self, column: str | None = None) -> float:
        """By how many points the memory classifier's mean is above the baseline's; None: mean over all columns.

        >>> round(table("leaf_data_augmentation").gain("noisymix"), 2)
        7.83
        """
        means = self.means()
        gains = [means[each, "memory"] - means[each, "baseline"] for each in self._chosen(column)]
        return sum(gains) / len(gains)

    def record(self, column: str | None = None) -> tuple[int, int, int]:
        """Corruptions under which the memory classifier is better, equal, worse; None: of all columns together.

        >>> table("color_augmentation").record("vanilla")
        (11, 6, 1)
        """
        rows = [self.rows[name] for name in self.corruptions]
        apart = [row[each, "memory"] - row[each, "baseline"] for row in rows for each in self._chosen(column)]
        return sum(d > 0 for d in apart), sum(d == 0 for d in apart), sum(d < 0 for d in apart)

    def _chosen(self, column: str | None) -> tuple[str, ...]:
        if column is None:
            return self.columns
        if column not in self.columns:
            raise ValueError(f"table {self.name} has the columns {', '.join(self.columns)}; got {column!r}")
        return (column,)


def table(name: str) -> PaperTable:
    """A table of the paper by its name.

    >>> table("leaf_architectures").rows["fog"]["resnet18", "memory"]
    55.0
    """
    if name not in _TABLES:
        raise ValueError(f"the paper's tables are {', '.join(_TABLES)}; got {name!r}")
    study, kind, title, notes = _TABLES[name]
    file = resources.files("memclf.studies") / "paper_tables" / f"{name}.csv"
    header, *lines = csv.reader(file.read_text(encoding="utf-8").splitlines())
    cells = [_cell(text) for text in header[1:]]
    rows = {_row(line[0]): dict(zip(cells, map(float, line[1:]), strict=True)) for line in lines}
    return PaperTable(name=name, study=study, kind=kind, title=title, rows=rows, notes=notes)


def tables_of(study: str) -> list[PaperTable]:
    """The tables of one study (color, leaf, acne): recipes first, then backbones, then feature augmentation.

    >>> [table.kind for table in tables_of("leaf")]
    ['recipe', 'backbone', 'augmented']
    """
    names = [name for name, about in _TABLES.items() if about[0] == study]
    if not names:
        known = dict.fromkeys(about[0] for about in _TABLES.values())
        raise ValueError(f"the paper's studies are {', '.join(known)}; got {study!r}")
    return [table(name) for name in names]


def _cell(text: str) -> Side:
    column, side = text.split("_")
    return COLUMNS[column], side


def _row(text: str) -> str:
    return ROWS.get(text, text.lower().replace(" ", "_"))
