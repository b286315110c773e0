"""Labels: which column holds them, and their types."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.data.columns import list_names, suggest
from memclf.data.tables import TableFile
from memclf.exceptions import DataError

LABELS = ("label", "class", "target", "y")  # columns that may hold the labels, the first that exists counts
LISTED = 10  # rows that a message names


def find_label(table: TableFile, label: str | None, but: Collection[str] = ()) -> str:
    """The column with the labels: the one that is asked for, or the first of `LABELS`.

    Columns in `but` are no labels, whatever their names.
    """
    names = table.names
    found = label or next((each for each in LABELS if each in names and each not in but), None)
    if found is None or found not in names:
        said = f"no column {found!r}" if found else f"none of the columns {', '.join(LABELS)}; say --target COLUMN"
        raise DataError(f"{table.path} has {said}{suggest(found, names)}; it has {list_names(names)}{table.hint}")
    return found


def match_labels(labels: Sequence[Any] | Array, classes: Array, path: Path) -> Array:
    """Labels in the type of the classes: a file may write the class 1 as "1" or 1.0."""
    known: dict[Any, Any] = {str(each): each for each in classes.tolist()}
    if classes.dtype.kind in "iuf":
        known |= {float(each): each for each in classes.tolist()}
    found = [known.get(str(each), known.get(_as_float(each))) for each in labels]
    unknown = {str(each): None for each, label in zip(labels, found, strict=True) if label is None}
    if unknown:
        raise DataError(
            f"{path} holds labels that the classifier does not know: {', '.join(map(repr, list(unknown)[:5]))}"
            f"{', ...' if len(unknown) > 5 else ''}; its classes are {', '.join(map(repr, classes.tolist()))}"
        )
    return np.array(found, dtype=classes.dtype)


def check_target(values: Sequence[Any], name: str, path: Path) -> Array:
    """Labels to learn from: whole numbers where all are, else texts.

    Gaps, a single class, and hardly any two rows of one class are errors.
    """
    gaps = [row for row, value in enumerate(values) if value is None or value == "" or value != value]
    if gaps:
        rows = f"{', '.join(map(str, gaps[:LISTED]))}{', ...' if len(gaps) > LISTED else ''}"
        raise DataError(
            f"{len(gaps)} of {len(values)} rows of {path} have no {name!r} (rows {rows}, counted from 0); fill them in "
            "or take them out"
        )
    labels = _parse(values)
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) == 1:
        raise DataError(f"{name!r} of {path} is always {classes.tolist()[0]!r}; a classifier needs two or more classes")
    if np.median(counts) < 2:
        raise DataError(
            f"{name!r} of {path} has {len(classes)} different values in {len(labels)} rows; memclf learns classes, "
            "with several cases of each. Name another column, or replace numbers by ranges such as low and high"
        )
    return labels


def _parse(values: Sequence[Any]) -> Array:
    """Whole numbers if all labels are written as such; "01" is a name."""
    texts = [_as_text(value) for value in values]
    whole = all(text.removeprefix("-").isdecimal() and str(int(text)) == text for text in texts)
    return np.array([int(text) for text in texts] if whole else texts)


def _as_text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _as_float(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
