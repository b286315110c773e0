"""Cases and labels in the form that a fitted classifier takes, as a whole or block by block."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import Collection, containers
from memclf.data.columns import ColumnDifference, compare_columns, list_names, match_columns, suggest
from memclf.data.images import list_images, read_images
from memclf.data.labels import LABELS, find_label, match_labels
from memclf.data.tables import SUFFIXES, TableFile
from memclf.exceptions import DataError, OptionError

ROWS, IMAGES = 4096, 64  # cases of a block
RANGE = 65536  # rows that one task of a cluster reads at most


def read_cases(clf: Any, path: Path, label: str | None = None) -> tuple[Any, Array]:
    """Cases and labels for a fitted memory classifier.

    Parameters
    ----------
    clf : MemoryClassifier
        Its memories show what kind of cases it takes, its classes what type the labels have.
    path : Path
        A table (.csv, .parquet, .arrow, .feather); a .npz file with the arrays X and y; for classifiers of images a
        folder with one subfolder per class, or a CSV file that lists images.
    label : str or None
        Name of the column (in a .npz file: of the array) with the labels; None: the first of label, class, target and
        y that there is.
    """
    suffix = path.suffix.lower()
    if not path.exists():
        raise DataError(f"there is no file or folder {path}")
    if suffix == ".npz":
        X, labels = _read_arrays(path, label or "y")
        if containers.is_table(clf.memories_):
            raise DataError(f"the classifier was fitted on a table, and {path} names no columns; give a .csv file")
        if takes_images(clf):
            from memclf.vision import ImageCollection

            X = ImageCollection(X)
    elif takes_images(clf):
        _check_kind(clf, path)
        X, labels = read_images(path, label)
    else:
        _check_kind(clf, path)
        X, labels = _read_table(clf, TableFile(path), label)
    return X, match_labels(labels, clf.classes_, path)


def read_column(path: Path, name: str, count: int) -> list[Any]:
    """One value for each case that `read_cases` gives: a column, or an array of the .npz file."""
    if path.suffix.lower() == ".npz":
        values = _read_arrays(path, name)[1].tolist()
    elif path.is_dir():
        raise DataError(f"{path} is a folder, and has no column {name!r}; give a .csv file that lists the images")
    else:
        table = TableFile(path)
        if name not in table.names:
            near = suggest(name, table.names)
            raise DataError(f"{path} has no column {name!r}{near}; it has {list_names(table.names)}")
        values = table.read_as_written(name)
    if len(values) != count:
        raise DataError(f"{path} has {len(values)} values of {name!r} for {count} cases")
    return list(values)


def read_unlabelled(clf: Any, path: Path) -> Any:
    """All cases of a file for a fitted memory classifier, labels or not; also one image."""
    if takes_images(clf) and path.is_file() and path.suffix.lower() not in (".csv", ".npz"):
        from memclf.vision import ImageCollection

        return ImageCollection([path])
    if path.suffix.lower() == ".npz":
        return read_cases(clf, path)[0]
    file = CaseFile(clf, path)
    if file.images is not None:
        return file.images
    blocks = [block.cases for block in file.blocks()]
    if not blocks:
        raise DataError(f"{path} has columns and no rows")
    if containers.is_table(clf.memories_):
        import pandas as pd

        return pd.concat(blocks)
    return np.concatenate(blocks)


def takes_images(clf: Any) -> bool:
    """Whether its memories are images: a collection of them, or arrays of pixels."""
    memories = clf.memories_
    pixels = isinstance(memories, np.ndarray) and memories.dtype == np.uint8 and memories.ndim in (3, 4)
    return pixels or isinstance(memories, Collection)


def _check_kind(clf: Any, path: Path) -> None:
    """Raise an error that says what the classifier takes, where that is something else."""
    suffix, images = path.suffix.lower(), takes_images(clf)
    table = not images and (containers.is_table(clf.memories_) or np.ndim(clf.memories_) == 2)
    if (path.is_dir() or suffix == ".csv") if images else (table and suffix in SUFFIXES and path.is_file()):
        return
    wanted = "a folder of images, a .csv file that lists images" if images else f"a table ({', '.join(SUFFIXES)})"
    raise DataError(f"{path} cannot be read as cases; this classifier takes {wanted} or a .npz file with X and y")


def _read_arrays(path: Path, label: str) -> tuple[Any, Array]:
    try:
        with np.load(path, allow_pickle=False) as found:  # a pickle runs code
            missing = [name for name in ("X", label) if name not in found]
            if missing:
                raise DataError(f"{path} holds no array {missing[0]!r}; it holds {', '.join(map(repr, found.files))}")
            X, labels = found["X"], found[label]
    except (EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is no .npz file: {error}") from error
    if X.ndim == 0 or labels.shape != X.shape[:1]:
        raise DataError(f"{path} needs one label for each case; X has shape {X.shape} and {label} {labels.shape}")
    return X, labels


def _read_table(clf: Any, table: TableFile, label: str | None) -> tuple[Any, Array]:
    import pandas as pd

    named = containers.is_table(clf.memories_)
    label = label or _guess_label(clf, table)
    label = find_label(table, label, but=list(clf.memories_.columns) if named else ())
    blocks = [block.drop(columns=label) for block in table.blocks(ROWS, words=_words(clf))]
    if not blocks:
        raise DataError(f"{table.path} has columns and no rows")
    # Labels as they are written: pandas would take "NA" for nothing and "01" for 1.
    labels = containers.object_array(table.read_as_written(label))
    return match_columns(clf, pd.concat(blocks), table.path), labels


def _guess_label(clf: Any, table: TableFile) -> str | None:
    """The only column beside those of training that holds classes and nothing else."""
    if not containers.is_table(clf.memories_) or any(name in table.names for name in LABELS):
        return None
    known = {str(label) for label in clf.classes_.tolist()}
    new = [name for name in table.names if name not in clf.memories_.columns]
    found = [name for name in new if {str(value) for value in table.read_as_written(name)} <= known]
    return found[0] if len(found) == 1 else None


def _drop_label(clf: Any, frame: Any) -> Any:
    """The frame without labels, which an array of numbers would take for one of them."""
    if containers.is_table(clf.memories_) or frame.shape[1] != np.shape(clf.memories_)[1] + 1:
        return frame
    return frame.drop(columns=[name for name in LABELS if name in frame.columns][:1])


def _words(clf: Any) -> list[str]:
    """Columns of the training table that hold words, which a file may write as numbers."""
    if not containers.is_table(clf.memories_):
        return []
    kinds = clf.memories_.dtypes
    return [str(name) for name in kinds.index if kinds[name].kind == "O"]


# -------------------------------------------------------------------------------------------------- block by block


@dataclass(frozen=True)
class Block:
    """Some cases of a file: the position after the last of them, what each is called, the cases."""

    end: int
    names: list[Any]
    cases: Any


class CaseFile:
    """Cases without labels, block by block, in the form that a fitted classifier takes.

    Parameters
    ----------
    clf : MemoryClassifier
    path : Path
        A table, a folder of images, or a CSV file that lists images; for arrays also an .npz file with X.
    id_column : str or None
        The column of a table that names its cases; None: their rows do.

    Attributes
    ----------
    name : "row", "file" or the id column
        What cases are called by.
    images : ImageCollection or None
        All images, if the cases are images.
    count : int or None
        How many there are, None if nothing tells.
    columns : ColumnDifference or None
        Of tables: the columns that are new; none are missing.
    """

    def __init__(self, clf: Any, path: Path, id_column: str | None = None):
        self.clf, self.path, self.id_column = clf, path, id_column
        if not path.exists():
            raise DataError(f"there is no file or folder {path}")
        _check_kind(clf, path)
        self.columns: ColumnDifference | None = None
        self.count: int | None
        self.images = list_images(path) if takes_images(clf) else None
        if self.images is not None:
            if id_column is not None:
                raise OptionError(f"{path} holds images, which are named by their files; leave out --id {id_column}")
            self.name, self.count = "file", len(self.images)
        else:
            self._table = TableFile(path)
            self.name, self.count = id_column or "row", self._table.count()
            if id_column is not None and id_column not in self._table.names:
                near = suggest(id_column, self._table.names)
                raise DataError(f"{path} has no column {id_column!r}{near}; it has {list_names(self._table.names)}")
            if containers.is_table(clf.memories_):
                self.columns = compare_columns(clf, self._table.names)
                if self.columns.missing:
                    raise DataError(f"{path} has other columns than the training data: {self.columns}")

    @property
    def identity(self) -> str:
        """Tells these cases from others: the file with its size and time, and the names of images."""
        about = self.path.stat()
        keys = [] if self.images is None else [str(self.images.key(k)) for k in range(len(self.images))]
        when = [] if self.path.is_dir() else [about.st_size, about.st_mtime_ns]
        return json.dumps([str(self.path.resolve()), *when, *keys])

    def count_blocks(self, start: int = 0) -> int:
        """About how many blocks there are from a position on, for a progress bar."""
        size = ROWS if self.images is None else IMAGES
        total = self.count if self.count is not None else _count_lines(self.path)
        return max(1, -(-(total - start) // size))

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Blocks from this position on."""
        if self.images is not None:
            for at in range(start, len(self.images), IMAGES):
                part = self.images[at : at + IMAGES]
                yield Block(at + len(part), [part.key(position) for position in range(len(part))], part)
            return
        words = _words(self.clf)
        if self.id_column is not None and (self.columns is None or self.id_column in self.columns.new):
            words.append(self.id_column)  # 007 stays 007
        yield from map(self._as_block, self._table.blocks(ROWS, start=start, words=words))

    def ranges(self, start: int = 0) -> list[tuple[int, int]] | None:
        """Ranges of cases that other processes can read by themselves; None if there are none."""
        return None if self.images is not None else self._table.ranges(start, RANGE)

    def read_range(self, start: int, stop: int) -> Iterator[Block]:
        """The blocks of such a range."""
        frame = self._table.read_range(start, stop)
        for at in range(0, len(frame), ROWS):
            yield self._as_block(frame[at : at + ROWS])

    def _as_block(self, frame: Any) -> Block:
        end, names = int(frame.index[-1]) + 1, frame.index.tolist()
        if self.id_column is not None:
            names = [None if name != name else name for name in frame[self.id_column].tolist()]
            if not containers.is_table(self.clf.memories_):
                frame = frame.drop(columns=self.id_column)
        frame = _drop_label(self.clf, frame)
        return Block(end, names, match_columns(self.clf, frame, self.path))


def _count_lines(path: Path) -> int:
    with open(path, "rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(2**20), b""))
