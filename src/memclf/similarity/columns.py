"""Columns of tables and matrices: which hold numbers, which hold something else."""

from __future__ import annotations

import datetime
import reprlib
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import Collection, containers

SHOWN = 5  # columns that a message names
TEXT_FEATURES = "for texts CosineSimilarity(features=TfidfVectorizer())"
IMAGE_FEATURES = (
    "for images an expert feature, RBFSimilarity(features=MyFeature()) with a subclass of "
    "memclf.vision.features.ImageFeatures, or a function of one image that returns numbers"
)
OTHER_FEATURES = "a function of one case that returns numbers, or give a function of two cases as similarity"


def columns_of(F: Any) -> dict[Any, Array]:
    """The columns of a table by name, or those of rows by position."""
    if containers.is_table(F):
        return {name: np.asarray(F[name].to_numpy()) for name in F.columns}
    F = np.array([np.ravel(row) for row in F], dtype=object) if np.ndim(F) == 1 else np.asarray(F)
    return {position: F[:, position] for position in range(F.shape[1])}


def is_missing(value: Any) -> bool:
    return value is None or str(value) in ("<NA>", "NaT") or bool(value != value)


def holds_numbers(values: Array) -> bool:
    """Whether a column holds numbers, dates or durations, and gaps; not truth values."""
    if values.dtype.kind in "fiumM":
        return True
    return values.dtype == object and all(
        is_missing(value) or (isinstance(value, (int, float, np.number)) and not isinstance(value, bool))
        for value in values
    )


def describe_other_values(F: Any) -> str:
    """The columns that hold texts or dates, each with the first such value; "" for none.

    >>> describe_other_values([[1, "no"], [2, "yes"]])
    "1 ('no')"
    """
    if not containers.is_table(F):
        F = np.array(F if isinstance(F, np.ndarray) else list(F), dtype=object)
        if F.ndim != 2:
            return ""
    found = []
    for name, values in columns_of(F).items():
        if values.dtype.kind in "biufc":
            continue
        other = next((value for value in values if _is_text_or_date(value)), None)
        found += [] if other is None else [f"{name!r} ({str(other)!r})"]
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(found[:SHOWN]) + more


def describe_other_cases(X: Any) -> tuple[str, str]:
    """What the cases are if they are no rows, and which features fit them; ("", "") for rows.

    >>> describe_other_cases(["a text", "another"])[0], describe_other_cases([[1.0, 2.0]])
    ("a list of texts (first: 'a text')", ('', ''))
    """
    if isinstance(X, Collection) or (isinstance(X, np.ndarray) and X.ndim > 2):
        return f"an array of shape {X.shape}" if isinstance(X, np.ndarray) else type(X).__name__, IMAGE_FEATURES
    first = next(iter(X), None) if isinstance(X, list | tuple) or np.ndim(X) == 1 else None
    if isinstance(first, str):
        return f"a list of texts (first: {reprlib.repr(str(first))})", TEXT_FEATURES
    if isinstance(first, np.ndarray) and first.ndim > 1:
        return f"a list of arrays (first: of shape {first.shape})", IMAGE_FEATURES
    if first is None or isinstance(first, float | int | np.number | list | tuple | np.ndarray):
        return "", ""
    return f"a list of the type {type(first).__name__}", OTHER_FEATURES


def _is_text_or_date(value: Any) -> bool:
    if isinstance(value, (np.datetime64, np.timedelta64, datetime.date, datetime.timedelta)):
        return not is_missing(value)
    if not isinstance(value, (str, bytes)):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False
