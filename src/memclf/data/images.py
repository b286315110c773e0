"""Images from a folder with one subfolder per class, or from a CSV file that lists them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases.executors import SAME_PATHS, Here, find_executor, name_worker
from memclf.cases.parts import compute_in_parts
from memclf.data.labels import LABELS
from memclf.data.tables import TableFile
from memclf.exceptions import ClusterError, DataError

PATHS = ("path", "file", "filename", "image")  # columns that may hold paths of images, before all others
PEEKED = 20  # rows that show what kind of table it is
LISTED = 10  # broken images that a message names
PART = 64  # images that one task of a cluster reads


def find_paths(table: TableFile) -> str | None:
    """The column that holds paths of images, None if there is none."""
    from memclf.vision.files import IMAGE_SUFFIXES

    first = next(table.blocks(PEEKED), None)
    if first is None:
        return None
    names = sorted(first.columns, key=lambda name: (name not in PATHS, PATHS.index(name) if name in PATHS else 0))
    for name in names:
        shown = [value for value in first[name] if isinstance(value, str)]
        if shown and all(Path(value).suffix.lower() in IMAGE_SUFFIXES for value in shown):
            return str(name)
    return None


def list_images(path: Path) -> Any:
    """All images below a folder, or those that a CSV file lists, whatever their labels are."""
    from memclf.vision import ImageCollection
    from memclf.vision.discover import list_folder

    if path.is_dir():
        found = list_folder(path, labelled=False)
        return ImageCollection(found.paths, keys=found.keys)
    return ImageCollection.from_csv(path, path=find_paths(TableFile(path)))


def read_images(path: Path, label: str | None = None, column: str | None = None) -> tuple[Any, Array]:
    """Images and labels, from a folder of folders or a CSV file that lists images.

    `column` names the column with the paths; None: the first that holds paths of images.
    """
    from memclf.vision import ImageCollection

    if path.is_dir():
        found = ImageCollection.from_folder(path)
    else:
        found = ImageCollection.from_csv(path, path=column or find_paths(TableFile(path)), label=label)
    if found.labels is None:
        how = (
            "one subfolder per class"
            if path.is_dir()
            else f"one of the columns {', '.join(LABELS)}, or --target COLUMN"
        )
        raise DataError(f"{path} has no labels: {how} would tell them")
    return found, found.labels


def read_groups(images: Any, groups: str, path: Path) -> list[Any]:
    """A column of the CSV file that lists the images."""
    about = images.info_of(0) or {}
    if groups not in about:
        has = ", ".join(map(repr, about)) or "none: it is a folder"
        raise DataError(f"{path} has no column {groups!r} for the groups; it has {has}")
    return [images.info_of(position)[groups] for position in range(len(images))]


def find_broken(images: Any) -> dict[int, str]:
    """Positions of the images that cannot be read, and why; each is decoded once.

    On a cluster the workers decode them. What a worker cannot read and this process can is an error of its own: the
    image is in order, and would be missing from the fit.
    """
    if isinstance(find_executor(), Here):
        return dict(images.broken(n_jobs=-1))
    told = compute_in_parts(_say_faults, images, PART, what="reading images")
    found = {}
    for position in (k for k, each in enumerate(told) if each is not None):
        here = images[[position]].broken()
        if not here:
            worker, fault = told[position]
            raise ClusterError(f"{fault}. That is so on the worker {worker} and not in this process. {SAME_PATHS}")
        found[position] = here[0]
    return found


def _say_faults(images: Any) -> list[tuple[str | None, str] | None]:
    """Of each image that cannot be read the worker that tried, and why; None of the others."""
    faults = images.broken()
    return [(name_worker(), faults[k]) if k in faults else None for k in range(len(images))]


def drop_broken(images: Any, broken: dict[int, str]) -> tuple[Any, Array]:
    """The images without those that are broken, and the positions of those that stay."""
    kept = np.setdiff1d(np.arange(len(images)), list(broken))
    if not len(kept):
        raise DataError(f"none of the {len(images)} images can be read; the first: {next(iter(broken.values()))}")
    return images[kept], kept


def say_broken(broken: dict[int, str], n: int) -> str:
    """One line about images that cannot be read."""
    shown = "; ".join(list(broken.values())[:LISTED])
    more = f"; and {len(broken) - LISTED} more" if len(broken) > LISTED else ""
    return f"{len(broken)} of {n} images cannot be read: {shown}{more}"
