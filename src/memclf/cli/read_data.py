"""Reading cases and labels from files, in the form that a fitted classifier takes."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from memclf._numbers import Array
from memclf.cases import Collection, containers
from memclf.exceptions import MissingExtraError

LABELS = ("label", "class", "target", "y")  # columns that may hold the labels, the first that exists counts


def read_cases(clf: Any, path: Path, label: str | None = None) -> tuple[Any, Array]:
    """Cases and labels for a fitted memory classifier.

    Parameters
    ----------
    clf : MemoryClassifier
        Its memories show what kind of cases it takes, its classes what type the labels have.
    path : Path
        A CSV table; a .npz file with the arrays X and y; for classifiers of images a folder with one subfolder per
        class, or a CSV file that lists images.
    label : str or None
        Name of the column (in a .npz file: of the array) with the labels; None: the first of label, class, target and
        y that there is.
    """
    suffix = path.suffix.lower()
    if not path.exists():
        raise ValueError(f"there is no file or folder {path}")
    images, memories = _takes_images(clf), clf.memories_
    if suffix == ".npz":
        X, labels = _read_arrays(path, label or "y")
        if containers.is_table(memories):
            raise ValueError(f"the classifier was fitted on a table, and {path} names no columns; give a .csv file")
        if images:
            from memclf.vision import ImageCollection

            X = ImageCollection(X)
    elif images and (path.is_dir() or suffix == ".csv"):
        X, labels = read_images(path, label)
    elif suffix == ".csv" and (containers.is_table(memories) or np.ndim(memories) == 2):
        X, labels = _read_table(clf, path, label)
    else:
        wanted = "a folder with one subfolder per class, a .csv file that lists images" if images else "a .csv table"
        raise ValueError(f"{path} cannot be read as cases; this classifier takes {wanted} or a .npz file with X and y")
    return X, match_labels(labels, clf.classes_, path)


def match_labels(labels: Sequence[Any] | Array, classes: Array, path: Path) -> Array:
    """Labels in the type of the classes: a file may write the class 1 as "1" or 1.0."""
    known: dict[Any, Any] = {str(each): each for each in classes.tolist()}
    if classes.dtype.kind in "iuf":
        known |= {float(each): each for each in classes.tolist()}
    found = [known.get(str(each), known.get(_as_float(each))) for each in labels]
    unknown = {str(each): None for each, label in zip(labels, found, strict=True) if label is None}
    if unknown:
        raise ValueError(
            f"{path} holds labels that the classifier does not know: {', '.join(map(repr, list(unknown)[:5]))}"
            f"{', ...' if len(unknown) > 5 else ''}; its classes are {', '.join(map(repr, classes.tolist()))}"
        )
    return np.array(found, dtype=classes.dtype)


def _as_float(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _read_arrays(path: Path, label: str) -> tuple[Any, Array]:
    try:
        with np.load(path, allow_pickle=False) as found:  # a pickle runs code
            missing = [name for name in ("X", label) if name not in found]
            if missing:
                raise ValueError(f"{path} holds no array {missing[0]!r}; it holds {', '.join(map(repr, found.files))}")
            X, labels = found["X"], found[label]
    except (EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no .npz file: {error}") from error
    if X.ndim == 0 or labels.shape != X.shape[:1]:
        raise ValueError(f"{path} needs one label for each case; X has shape {X.shape} and {label} {labels.shape}")
    return X, labels


# ------------------------------------------------------------------------------------------------------------ tables


def _read_table(clf: Any, path: Path, label: str | None) -> tuple[Any, Array]:
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(f'{path} needs pandas: pip install "memclf[tables]"') from error
    try:
        names = [str(name) for name in pd.read_csv(path, nrows=0).columns]
    except ValueError as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from error
    wanted = list(clf.memories_.columns) if containers.is_table(clf.memories_) else None
    label = label or next((each for each in LABELS if each in names and each not in (wanted or ())), None)
    if label is None or label not in names:
        said = f"no column {label!r}" if label else f"none of the columns {', '.join(LABELS)}; say --label NAME"
        hint = "; columns must be separated by commas" if len(names) == 1 and ";" in names[0] else ""
        raise ValueError(f"{path} has {said}; it has {_listed(names)}{hint}")
    # Labels by themselves and as they are written: pandas would take "NA" for nothing and "01" for 1.
    labels = pd.read_csv(path, usecols=[label], dtype=str, keep_default_na=False)[label].to_numpy()
    if wanted is None:
        return _check_numbers(clf, pd.read_csv(path).drop(columns=label), path), labels
    if missing := [name for name in wanted if name not in names or name == label]:
        raise ValueError(f"{path} lacks columns that the classifier was fitted on: {_listed(missing)}")
    types = clf.memories_.dtypes.to_dict()
    dates = {name: kind for name, kind in types.items() if kind.kind in "mM"}  # which pandas reads as words first
    try:
        others = {name: kind for name, kind in types.items() if name not in dates}
        frame = pd.read_csv(path, usecols=wanted, dtype=others).astype(dates)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} does not have the types that the classifier was fitted on: {error}") from error
    return frame[wanted], labels


def _check_numbers(clf: Any, frame: Any, path: Path) -> Array:
    words = [name for name in frame.columns if frame[name].dtype.kind not in "iufb"]
    if words:
        raise ValueError(f"{path} holds something else than numbers in the columns {_listed(words)}")
    wide = np.shape(clf.memories_)[1]
    if frame.shape[1] != wide:
        raise ValueError(
            f"{path} has {frame.shape[1]} columns beside the label ({_listed(frame.columns)}); the classifier takes "
            f"{wide}"
        )
    memories = clf.memories_
    kind = memories.dtype if isinstance(memories, np.ndarray) or issparse(memories) else np.dtype(float)
    return frame.to_numpy(dtype=kind if kind.kind == "f" else float)


def _listed(names: Any) -> str:
    shown = [repr(str(name)) for name in names]
    return ", ".join(shown[:8]) + (", ..." if len(shown) > 8 else "")


# ------------------------------------------------------------------------------------------------------------ images


def _takes_images(clf: Any) -> bool:
    """Whether its memories are images: a collection of them, or arrays of pixels."""
    memories = clf.memories_
    pixels = isinstance(memories, np.ndarray) and memories.dtype == np.uint8 and memories.ndim in (3, 4)
    return pixels or isinstance(memories, Collection)


def read_images(path: Path, label: str | None = None, column: str | None = None) -> tuple[Any, Array]:
    """Images and labels, from a folder of folders or a CSV file that lists images.

    `column` names the column with the paths of the images; None: the first of the usual names that there is.
    """
    from memclf.vision import ImageCollection

    if path.is_dir():
        found = ImageCollection.from_folder(path)
    else:
        found = ImageCollection.from_csv(path, path=column, label=label)
    if found.labels is None:
        how = "one subfolder per class" if path.is_dir() else f"one of the columns {', '.join(LABELS)}, or --label NAME"
        raise ValueError(f"{path} has no labels: {how} would tell them")
    return found, found.labels
