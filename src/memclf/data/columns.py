"""Whether a table has the columns that a classifier was fitted on, in names and types."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from memclf.cases import containers
from memclf.exceptions import DataError

SHOWN = 8  # names that a message lists


class ColumnDifference(NamedTuple):
    """Columns of the training data that are missing, and columns that it did not have."""

    missing: list[str]
    new: list[str]

    def __str__(self) -> str:
        parts = [
            f"missing {_count(self.missing)}: {list_names(self.missing)}" if self.missing else "",
            f"new {_count(self.new)}: {list_names(self.new)}" if self.new else "",
        ]
        return "; ".join(part for part in parts if part)


def compare_columns(clf: Any, names: Iterable[Any]) -> ColumnDifference:
    """Which columns of its training table a fitted classifier would miss, and which are new."""
    wanted, given = list(clf.memories_.columns), list(names)
    missing = [str(name) for name in wanted if name not in given]
    return ColumnDifference(missing, [str(name) for name in given if name not in wanted])


def match_columns(clf: Any, frame: Any, what: object = "the table") -> Any:
    """The columns that a fitted classifier takes, in their order and with their types.

    Columns that training did not have are left out. A gap is allowed wherever the estimators bear it.

    Parameters
    ----------
    clf : MemoryClassifier
        Fitted on a table, or on an array of numbers: then all columns of the frame are taken, as an array.
    frame : pandas table
    what : str
        How a message calls the frame: the path of its file.

    Raises
    ------
    DataError
        It names the columns that are missing and those that are new, or the column and the first value of another type.
    """
    memories = clf.memories_
    if not containers.is_table(memories):
        return _as_array(clf, frame, what)
    found = compare_columns(clf, frame.columns)
    if found.missing:
        raise DataError(f"{what} has other columns than the training data: {found}")
    import pandas as pd

    matched = {name: _match_type(frame[name], memories[name], name, what) for name in memories.columns}
    return pd.DataFrame(matched, index=frame.index)


def _match_type(values: Any, trained: Any, name: Any, what: object) -> Any:
    """A column in the type of training, wider where its gaps or fractions need it."""
    import pandas as pd

    kind = trained.dtype
    if pd.api.types.is_datetime64_any_dtype(kind):
        found = pd.to_datetime(values, errors="coerce", format="ISO8601")
        _refuse_first(values, found, name, "dates (as 2024-03-31)", what)
        return found.astype(kind)
    if pd.api.types.is_bool_dtype(kind) or pd.api.types.is_numeric_dtype(kind):
        found = pd.to_numeric(values, errors="coerce")
        _refuse_first(values, found, name, "numbers", what)
        _refuse_first(values, found.replace([np.inf, -np.inf], np.nan), name, "finite numbers", what)
        whole = bool(found.notna().all()) and bool((found == np.floor(found.astype(float))).all())
        return found.astype(kind if whole or kind.kind == "f" else float)
    if isinstance(kind, pd.CategoricalDtype):
        words = all(isinstance(each, str) for each in kind.categories)
        return (as_words(values) if words else values).astype(kind)
    return as_words(values) if all(isinstance(each, str) for each in trained.dropna()) else values


def as_words(values: Any) -> Any:
    """Whatever is no gap as text: a category "1" may come as a number, beside gaps as 1.0."""
    return values.astype(object).map(_as_word, na_action="ignore")


def _as_word(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _refuse_first(values: Any, found: Any, name: Any, wanted: str, what: object) -> None:
    wrong = values[found.isna() & values.notna()]
    if len(wrong):
        first = wrong.tolist()[0]  # as Python shows it
        raise DataError(
            f"column {str(name)!r} of {what} must hold {wanted}, as in training; row {wrong.index[0]} holds "
            f"{first!r:.60}" + (f", and {len(wrong) - 1} more rows do not" if len(wrong) > 1 else "")
        )


def _as_array(clf: Any, frame: Any, what: object) -> Any:
    words = [name for name in frame.columns if frame[name].dtype.kind not in "iufb"]
    if words:
        raise DataError(f"{what} holds something else than numbers in the columns {list_names(words)}")
    wide = np.shape(clf.memories_)[1]
    if frame.shape[1] != wide:
        raise DataError(
            f"{what} has {frame.shape[1]} columns beside the label ({list_names(frame.columns)}); the classifier takes "
            f"{wide}"
        )
    memories = clf.memories_
    kind = memories.dtype if isinstance(memories, np.ndarray) or issparse(memories) else np.dtype(float)
    return frame.to_numpy(dtype=kind if kind.kind == "f" else float)


def list_names(names: Iterable[Any]) -> str:
    """Names in quotes, the first of many."""
    shown = [repr(str(name)) for name in names]
    return ", ".join(shown[:SHOWN]) + (f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else "")


def _count(names: list[str]) -> str:
    return "column" if len(names) == 1 else f"columns ({len(names)})"


def suggest(name: str | None, names: Iterable[Any]) -> str:
    """The end of a message about a column that is not there: the one that may be meant.

    >>> suggest("ouctome", ["age", "Outcome"]), suggest("ward", ["age"])
    ("; did you mean 'Outcome'?", '')
    """
    written = {str(each).lower(): str(each) for each in names}
    near = get_close_matches((name or "").lower(), written, n=1)
    return f"; did you mean {written[near[0]]!r}?" if near else ""
