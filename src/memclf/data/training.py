"""Cases to learn from: images or a table, with target and groups, from whatever the file is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from memclf._numbers import Array
from memclf.data.columns import as_words, list_names, suggest
from memclf.data.images import drop_broken, find_broken, find_paths, read_groups, read_images, say_broken
from memclf.data.labels import check_target, find_label
from memclf.data.tables import SUFFIXES, TableFile
from memclf.exceptions import DataError

Kind = Literal["images", "table", "texts"]

DISTINCT = 0.9  # share of different words from which a column names cases instead of describing them
FEW = 20  # rows; of fewer, words may all be different by chance
DATE = r"\d{4}-\d{2}-\d{2}"
LONG = 6  # words that the texts of a column have on average


@dataclass(frozen=True)
class TrainingCases:
    """Cases to learn from, their labels, and what each belongs to.

    `notes` are sentences on what was left out, for the user. `broken` are the images that were skipped: name and fault.
    """

    cases: Any
    target: Array
    groups: Array | None
    kind: Kind
    path: Path
    notes: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


def read_training(
    path: Path, target: str | None = None, groups: str | None = None, *, skip_broken: bool = False
) -> TrainingCases:
    """Read a folder with one subfolder of images per class, a CSV that lists images, or a table.

    Parameters
    ----------
    path : Path
        A folder, or a .csv, .parquet, .arrow or .feather file. Paths in a CSV file are relative to it.
    target : str or None
        The column with the labels. None: the first of label, class, target, y.
    groups : str or None
        The column that says which cases belong together. It is no description of the cases.
    skip_broken : bool
        Leave out images that cannot be read, instead of an error.
    """
    if not path.exists():
        raise DataError(f"there is no file or folder {path}")
    if path.is_dir():
        if target is not None:
            raise DataError(f"{path} is a folder: its subfolders are the classes, and it has no column {target!r}")
        return _read_images(path, None, groups, skip_broken)
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(
            f"{path} is neither a folder with one subfolder of images per class nor a table; tables end in "
            f"{', '.join(SUFFIXES)}"
        )
    table = TableFile(path)
    label = find_label(table, target)
    if path.suffix.lower() == ".csv" and find_paths(table) is not None:
        return _read_images(path, label, groups, skip_broken)
    return _read_table(table, label, groups)


def _read_images(path: Path, target: str | None, groups: str | None, skip_broken: bool) -> TrainingCases:
    images, labels = read_images(path, target)
    broken = find_broken(images)
    if broken and not skip_broken:
        raise DataError(f"{say_broken(broken, len(images))}. --skip-broken leaves them out")
    found = tuple(broken.values())
    if broken:
        images, _ = drop_broken(images, broken)
    together = None if groups is None else np.asarray(read_groups(images, groups, path))
    notes = (f"{len(found)} of {len(labels)} images were left out, since they cannot be read.",) if found else ()
    y = check_target(images.labels.tolist(), target or "class", path)
    return TrainingCases(images, y, together, "images", path, notes, found)


def _read_table(table: TableFile, target: str, groups: str | None) -> TrainingCases:
    frame, path = table.read(), table.path
    if groups is not None and (groups not in table.names or groups == target):
        why = "is the target" if groups == target else "is no column"
        near = suggest(groups, table.names) if groups != target else ""
        has = list_names(table.names)
        raise DataError(f"{groups!r} {why} of {path}, and cannot be the groups{near}; it has {has}")
    y = check_target(table.read_as_written(target), target, path)
    together = None if groups is None else frame[groups].astype(str).to_numpy(dtype=object)
    frame = frame.drop(columns=[name for name in (target, groups) if name is not None])
    frame, notes = prepare_table(frame, path)
    texts = [name for name in frame.columns if _are_texts(frame[name])]
    if texts and len(texts) == frame.shape[1] == 1:
        return TrainingCases(frame[texts[0]].fillna("").tolist(), y, together, "texts", path, tuple(notes))
    names = [name for name in frame.columns if name in texts or _name_cases(frame[name])]
    if names:
        notes.append(f"Left out {list_names(names)}: nearly every row has another text there, which names the case.")
        frame = frame.drop(columns=names)
    if not frame.shape[1]:
        raise DataError(f"{path} has no column beside {target!r} that says something about a case. {' '.join(notes)}")
    return TrainingCases(frame, y, together, "table", path, tuple(notes))


def prepare_table(frame: Any, path: Path) -> tuple[Any, list[str]]:
    """The columns that can tell cases apart: numbers, dates or words; and notes on the others."""
    import pandas as pd

    made, constant, numbers = {}, [], []
    for name in frame.columns:
        values = _as_kind(frame[name], name, path)
        if values.nunique() < 2:
            constant.append(name)
        elif _are_row_numbers(values):
            numbers.append(name)
        else:
            made[str(name)] = values
    notes = []
    if constant:
        notes.append(f"Left out {list_names(constant)}: the same in every row.")
    if numbers:
        notes.append(f"Left out {list_names(numbers)}: the rows are numbered there, which says nothing about new ones.")
    return pd.DataFrame(made), notes


def _as_kind(values: Any, name: Any, path: Path) -> Any:
    """A column as numbers (yes and no are 1 and 0), dates or words."""
    import pandas as pd

    kind = values.dtype
    if pd.api.types.is_bool_dtype(kind):
        return values.astype(float)
    if pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_datetime64_dtype(kind):
        return values
    if pd.api.types.is_datetime64_any_dtype(kind):
        return values.dt.tz_convert("UTC").dt.tz_localize(None)
    if pd.api.types.is_timedelta64_dtype(kind):
        return values.dt.total_seconds()
    strange = {type(each).__name__ for each in values.dropna() if isinstance(each, (list, dict, np.ndarray, bytes))}
    if strange:
        raise DataError(
            f"column {str(name)!r} of {path} holds values of the type {', '.join(sorted(strange))}; columns hold "
            "numbers, words or dates. Leave it out, or write its parts as columns"
        )
    if set(map(type, values.dropna())) <= {bool}:
        return values.astype(float)
    return _as_dates(as_words(values))


def _as_dates(words: Any) -> Any:
    """Dates, where all words are dates such as 2024-03-31; else the words."""
    import pandas as pd

    if not words.dropna().str.match(DATE).all():
        return words
    found = pd.to_datetime(words, format="ISO8601", errors="coerce", utc=True).dt.tz_localize(None)
    return words if (found.isna() & words.notna()).any() else found


def _is_words(values: Any) -> bool:
    return bool(values.dtype.kind == "O")


def _are_row_numbers(values: Any) -> bool:
    if values.dtype.kind not in "iu" or len(values) < FEW:
        return False
    steps = np.diff(values.to_numpy().astype(np.int64))
    return bool((steps == 1).all())


def _name_cases(values: Any) -> bool:
    """Whether nearly every row has another word: a name or number of the case, or a free text."""
    n = int(values.notna().sum())
    return _is_words(values) and n >= FEW and int(values.nunique()) > DISTINCT * n


def _are_texts(values: Any) -> bool:
    """Whether a column holds long texts, hardly any of them twice."""
    if not _is_words(values):
        return False
    texts = values.dropna()
    return bool(len(texts)) and texts.nunique() > len(texts) / 2 and texts.str.split().str.len().mean() >= LONG
