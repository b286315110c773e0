"""The kind of cases in a test set, their names, and the data in one sentence."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from memclf.cases import Collection, containers

Kind = Literal["images", "table", "texts", "cases"]

NAME = 60  # characters of a text that name it
NAMED_COLUMNS = 12
MEASURED = 50  # images whose size is looked at
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".gif", ".ppm")


def kind_of(X: Any) -> Kind:
    """What the cases are: images, rows of a table (or array), texts, or anything else.

    >>> kind_of([[1.0, 2.0]]), kind_of(["a text"]), kind_of([{1, 2}])
    ('table', 'texts', 'cases')
    """
    if isinstance(X, Collection):
        return "images"
    if containers.is_table(X) or sp.issparse(X):
        return "table"
    if isinstance(X, np.ndarray) and X.dtype != object and X.ndim > 1:
        return "table" if X.ndim == 2 else "images"
    first = list(islice(iter(X), MEASURED))
    if first and all(is_image(each) for each in first):
        return "images"
    if first and all(isinstance(each, str) for each in first):
        return "texts"
    numeric = first and all(isinstance(each, (list, tuple, np.ndarray)) and np.ndim(each) == 1 for each in first)
    return "table" if numeric else "cases"


def is_image(case: Any) -> bool:
    """Whether one case is an image: an array of height and width, or the path of an image file."""
    if isinstance(case, (str, Path)):
        return str(case).lower().endswith(SUFFIXES) and Path(case).is_file()
    return isinstance(case, np.ndarray) and case.ndim in (2, 3)


def name_cases(X: Any, positions: Any = None) -> list[str]:
    """What each case is called: its file, its row label or number, or the beginning of the text.

    `positions` are the numbers of cases that have no name of their own, by default 0, 1, 2 …

    >>> name_cases(["a text\\nof two lines"]), name_cases([[1.0], [2.0]], [7, 9])
    (['a text of two lines'], ['row 7', 'row 9'])
    """
    n, kind = containers.count(X), kind_of(X)
    numbers = range(n) if positions is None else positions
    if isinstance(X, Collection):
        keys = [X.key(position) for position in range(n)]
        return [f"image {number}" if key is None else str(key) for key, number in zip(keys, numbers, strict=True)]
    if kind == "texts":
        return [shorten(text, NAME) for text in X]
    if kind == "images":
        named = zip(numbers, X, strict=True)
        return [Path(case).name if isinstance(case, (str, Path)) else f"image {number}" for number, case in named]
    labels = _row_labels(X)
    if labels is not None:
        return [f"row {label}" if isinstance(label, (int, np.integer)) else str(label) for label in labels]
    return [f"{'row' if kind == 'table' else 'case'} {number}" for number in numbers]


def _row_labels(X: Any) -> list[Any] | None:
    """The labels of a pandas table's rows; polars tables and arrays have none."""
    # A list has a method called index, a pandas table an attribute.
    index = getattr(X, "index", None) if containers.is_table(X) else None
    return None if index is None else list(index)


def has_own_names(X: Any) -> bool:
    """Whether names tell these cases from others.

    Names of files do, numbers of rows and beginnings of texts do not.
    """
    return isinstance(X, Collection) and all(X.key(position) is not None for position in range(len(X)))


def shorten(text: Any, length: int) -> str:
    """A text on one line, cut at the end of a word if it is longer.

    >>> shorten("one two three", 9)
    'one two …'
    """
    words = " ".join(str(text).split())
    if len(words) <= length:
        return words
    cut = words[: length - 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut} …"


def describe_data(X: Any) -> str:
    """What the test cases are, in a few words.

    >>> describe_data(["short", "a longer text"])
    'texts of 5 to 13 characters'
    >>> describe_data(np.zeros((4, 2)))
    'rows of 2 columns'
    """
    kind = kind_of(X)
    if kind == "texts":
        return f"texts of {_span([len(text) for text in X])} characters"
    if kind == "table":
        return _describe_table(X)
    if kind == "images":
        return _describe_images(X)
    return f"cases of the type {type(next(iter(X))).__name__}"


def _describe_table(X: Any) -> str:
    names = column_names(X)
    if not containers.is_table(X):
        return f"rows of {len(names)} columns"
    more = f" and {len(names) - NAMED_COLUMNS} more" if len(names) > NAMED_COLUMNS else ""
    return f"rows of a table with {len(names)} columns: {', '.join(names[:NAMED_COLUMNS])}{more}"


def _describe_images(X: Any) -> str:
    arrays = [np.shape(case)[:2] for case in islice(iter(X), MEASURED) if not isinstance(case, (str, Path))]
    if not arrays:
        return "images in files"
    heights, widths = zip(*arrays, strict=True)
    looked = f" (the first {MEASURED})" if len(set(arrays)) > 1 and containers.count(X) > MEASURED else ""
    return f"images, {_span(widths)} pixels wide and {_span(heights)} high{looked}"


def column_names(X: Any) -> list[str]:
    """The names of the columns of a table; those of an array are x0, x1 …"""
    if containers.is_table(X):
        return [str(name) for name in X.columns]
    width = X.shape[1] if sp.issparse(X) or isinstance(X, np.ndarray) else len(X[0])
    return [f"x{column}" for column in range(width)]


def _span(numbers: Any) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"
