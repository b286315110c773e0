"""``memclf memories``: the cases that a model remembers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memclf.cli.load_model import AsJson, Model, Trusted, load_classifier
from memclf.cli.output import as_cell, check_folder_of, exit_on_error, make_console, make_table, print_json

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier

CLASSES = 3  # of a cluster that are named


def memories(
    model: Model,
    sheet: Annotated[Path | None, typer.Option(help="Images: draw the memories into this PNG file.")] = None,
    as_json: AsJson = False,
    trusted: Trusted = None,
) -> None:
    """Show the cases that a model remembers, those that stand for most cases first.

    A row has the number of the memory, its row in the training data, how many training cases it stands for, the
    similarity from which on it answers (its threshold), the classes of its cases, and the case itself. How often its
    answers are right is shown by memclf evaluate.

    Examples:
        memclf memories MODEL
        memclf memories MODEL --json
        memclf memories MODEL --sheet memories.png
    """
    with exit_on_error(OSError, TypeError, ValueError):
        check_folder_of(sheet)
        clf = load_classifier(model, trusted)
        rows = list_memories(clf)
        if sheet is not None:
            _draw_sheet(clf, rows, sheet)
        _print_memories(rows, len(clf.labels_), for_json=as_json)
        if as_json:
            print_json({"model": str(model), "cases": len(clf.labels_), "memories": rows})
    if sheet is not None:
        typer.echo(f"sheet: {sheet}", err=as_json)


def list_memories(clf: MemoryClassifier) -> list[dict[str, Any]]:
    """One row for each memory: what it is and what it stands for."""
    from memclf.evaluate.exhibits.views import show_in_words
    from memclf.evaluate.kinds import kind_of, name_cases

    names = name_cases(clf.memories_, clf.memory_indices_.tolist())
    shown = show_in_words(clf.memories_, clf.cluster_counts_.argmax(axis=1))
    kind = kind_of(clf.memories_)
    return [
        {
            "memory": k,
            "row": int(clf.memory_indices_[k]),
            "cases": int(counts.sum()),
            "threshold": float(clf.thresholds_[k]),
            "classes": {str(label): int(n) for label, n in zip(clf.classes_, counts, strict=True) if n},
            "classifier": type(clf.estimators_[k]).__name__,
            **({"file": names[k]} if kind == "images" else {"values": shown[k]}),
        }
        for k, counts in enumerate(clf.cluster_counts_)
    ]


def say_classes(classes: dict[str, int]) -> str:
    """The classes of a cluster, the commonest first.

    >>> say_classes({"a": 1, "b": 5, "c": 1, "d": 1})
    '5 of b, 1 of a, 1 of c, ...'
    """
    order = sorted(classes, key=lambda label: -classes[label])
    named = [f"{classes[label]} of {label}" for label in order[:CLASSES]]
    return ", ".join([*named, *(["..."] if len(order) > CLASSES else [])])


def _print_memories(rows: list[dict[str, Any]], cases: int, *, for_json: bool) -> None:
    console = make_console(for_json=for_json)
    numbers = ("memory", "row", "cases", "threshold")
    table = make_table(*numbers, "classes", "remembered case", right=numbers)
    for each in rows:
        case = each.get("file") or ", ".join(f"{name} {value}".strip() for name, value in each["values"].items())
        cells = (each["memory"], each["row"], each["cases"], f"{each['threshold']:.3f}", say_classes(each["classes"]))
        table.add_row(*map(as_cell, (*cells, case)))
    console.print(table)
    noun = "memory stands" if len(rows) == 1 else "memories stand"
    console.print(f"{len(rows):,} {noun} for {cases:,} training cases.")


def _draw_sheet(clf: MemoryClassifier, rows: list[dict[str, Any]], target: Path) -> None:
    from memclf.evaluate.exhibits.views import draw_contact_sheet
    from memclf.evaluate.kinds import kind_of

    if kind_of(clf.memories_) != "images":
        raise ValueError("a sheet shows pictures, and this model remembers no images; leave out --sheet")
    if target.suffix.lower() != ".png":
        raise ValueError(f"a sheet is written as .png, got {target}")
    captions = [[f"memory {each['memory']}, for {each['cases']:,}", say_classes(each["classes"])] for each in rows]
    draw_contact_sheet([clf.memories_[k] for k in range(len(rows))], captions).save(target)
