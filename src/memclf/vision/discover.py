"""Which images there are: in a folder, in a CSV file with paths, or in a list."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memclf._numbers import Array
from memclf.cases.containers import is_table, object_array
from memclf.exceptions import ImageError
from memclf.vision.files import IMAGE_SUFFIXES

PATH_COLUMNS = ("path", "file", "filename", "image")
LABEL_COLUMNS = ("label", "class", "target", "y")
LISTED = 20  # missing files that a message names


class Listing(NamedTuple):
    """Image files and what is known about them."""

    paths: list[Path]
    labels: Array | None
    info: list[dict[str, Any]] | None
    keys: list[str]


def as_sources(images: Any) -> tuple[Any, list[str] | None]:
    """An array with one entry per image (pixels or a path), and the keys if all are files."""
    if isinstance(images, np.ndarray) and images.dtype != object and images.dtype.kind not in "US":
        if images.ndim == 3 and images.shape[2] in (3, 4):
            raise ImageError(f"an array of shape {images.shape} is one image; wrap it in a list")
        if images.ndim not in (3, 4):
            raise ImageError(f"images come as n x h x w or n x h x w x channels, got an array of shape {images.shape}")
        return images, None
    if is_table(images):
        raise TypeError("images come as arrays or paths, not as a table; write it to a CSV file and use from_csv")
    if isinstance(images, Mapping | Set | bytes) or not isinstance(images, Iterable):
        raise TypeError(
            "images must be an array, a list of arrays or of paths, a folder, or a CSV file; "
            f"got {type(images).__name__} {images!r:.60}"
        )
    entries = list(images)
    for position, entry in enumerate(entries):
        if isinstance(entry, (str, os.PathLike)):
            entries[position] = Path(entry)
        elif not hasattr(entry, "__array__"):  # numpy's own protocol, which tensors and Pillow images follow
            raise TypeError(f"image {position} is of type {type(entry).__name__}; images are arrays or paths of files")
    paths = [entry for entry in entries if isinstance(entry, Path)]
    check_files(paths)
    keys = [path.as_posix() for path in paths]
    return object_array(entries), keys if keys and len(keys) == len(entries) else None


def list_path(path: Path) -> Listing:
    """The images of a folder or a CSV file."""
    if path.is_dir():
        return list_folder(path)
    if path.suffix.lower() == ".csv":
        return list_csv(path)
    if not path.exists():
        raise ImageError(f"there is no file or folder {path}")
    raise ImageError(f"{path} is neither a folder nor a CSV file; wrap a single image's path in a list")


def check_files(paths: Iterable[Path]) -> None:
    """Raise an error that names the paths without a file, at most `LISTED` of them."""
    paths = list(paths)
    missing = [str(path) for path in paths if not path.is_file()]
    if len(missing) == 1:
        raise ImageError(f"there is no file {missing[0]}")
    if missing:
        more = f" and {len(missing) - LISTED} more" if len(missing) > LISTED else ""
        raise ImageError(f"{len(missing)} of {len(paths)} files do not exist: {', '.join(missing[:LISTED])}{more}")


def list_folder(folder: Path, *, labelled: bool = True) -> Listing:
    """The images below a folder.

    Those in subfolders have the name of the first one as their label; if not `labelled`, none has a label.
    """
    if not folder.is_dir():
        raise ImageError(f"there is no folder {folder}")
    found = sorted(
        (path.relative_to(folder).as_posix(), path)
        for path in folder.rglob("*")
        if path.suffix.lower() in IMAGE_SUFFIXES and path.is_file() and not _is_hidden(path.relative_to(folder))
    )
    if not found:
        raise ImageError(f"{folder} holds no images ({', '.join(sorted(IMAGE_SUFFIXES))})")
    keys, paths = [key for key, _ in found], [path for _, path in found]
    loose = [key for key in keys if "/" not in key]
    if len(loose) == len(keys) or not labelled:
        return Listing(paths, None, None, keys)
    if loose:
        raise ImageError(
            f"{folder} holds both class folders and loose images ({loose[0]}), which have no class; "
            "move the loose ones into a class folder, or elsewhere"
        )
    return Listing(paths, np.array([key.split("/")[0] for key in keys]), None, keys)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def list_csv(
    file: Path,
    path: str | None = None,
    label: str | None = None,
    root: Any = None,
    where: dict[str, str] | None = None,
) -> Listing:
    """The images that a CSV file lists; see `ImageCollection.from_csv`."""
    try:
        with open(file, newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream)
            columns = list(reader.fieldnames or [])
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ImageError(f"{file} cannot be read as a CSV file: {error}") from error
    for number, row in enumerate(rows, start=1):
        if None in row or None in row.values():  # as DictReader marks too many and too few values
            raise ImageError(f"row {number} of {file} has more or fewer values than the columns {columns}")
    path = path or next((name for name in PATH_COLUMNS if name in columns), None)
    label = label or next((name for name in LABEL_COLUMNS if name in columns), None)
    if path is None:
        raise ImageError(f"{file} has the columns {columns}; say which one holds the paths: path='...'")
    wanted = [label] if label else []
    for name in [*wanted, *(where or {})]:
        if name not in columns:
            raise ImageError(f"{file} has no column {name!r}; it has {columns}")
    if where:
        rows = [row for row in rows if all(row[name] == str(value) for name, value in where.items())]
    if not rows:
        raise ImageError(f"{file} lists no images" + (f" with {where}" if where else ""))
    try:
        keys = [path.format(**row) if "{" in path else row[path] for row in rows]
    except (AttributeError, KeyError, IndexError, ValueError) as error:
        raise ImageError(f"path={path!r} does not fit the columns {columns} of {file}: {error!r}") from error
    base = file.parent if root is None else Path(root)
    paths = [base / key for key in keys]
    check_files(paths)
    labels = None if label is None else _parse_labels([row[label] for row in rows])
    # Expert features read `info`, which must not hold the label.
    return Listing(paths, labels, [{k: v for k, v in row.items() if k != label} for row in rows], keys)


def _parse_labels(values: list[str]) -> Array:
    """Whole numbers if all labels are written as such; "01" is a name."""
    whole = all(value.removeprefix("-").isdecimal() and str(int(value)) == value for value in values)
    return np.array([int(value) for value in values] if whole else values)
