"""Cases that a client sends as JSON: each is checked alone, then they become a table."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from memclf.cases import Collection, containers
from memclf.data.columns import ColumnDifference, list_names
from memclf.exceptions import DataError

LETTERS = 40  # of a wrong value in a message
WHOLE = 2**53  # whole numbers up to here are exact as floats


class Record(NamedTuple):
    """One case that was checked. Only records of the same `kind` become one table."""

    value: Any
    kind: Hashable = None


class Records:
    """What a fitted classifier takes as JSON.

    Parameters
    ----------
    clf : MemoryClassifier
        Its memories show what a case looks like: a row of a table, an array of numbers, or a text.

    Attributes
    ----------
    schema : dict
        JSON Schema of one case.
    """

    def __init__(self, clf: Any):
        memories = clf.memories_
        self._check: Callable[[Any], Record]
        self.join: Callable[[list[Any]], Any]
        if containers.is_table(memories):
            table = _Table(clf)
            self._check, self.join, self.schema = table.check, table.join, table.schema
        elif (isinstance(memories, np.ndarray) and memories.dtype.kind in "iufb") or sp.issparse(memories):
            array = _Array(memories)
            self._check, self.join, self.schema = array.check, array.join, array.schema
        elif not isinstance(memories, Collection) and all(isinstance(each, str) for each in memories):
            self._check, self.join, self.schema = _check_text, list, {"type": "string"}
        else:
            raise DataError(
                f"this classifier was fitted on cases in a {type(memories).__name__}, which cannot be sent as JSON. A "
                "table, an array of numbers or a list of texts can"
            )

    def check(self, case: Any) -> Record:
        """One case as it came from JSON, checked; `DataError` says what is wrong with it."""
        return self._check(case)

    def check_form(self, words: Mapping[str, str]) -> Record:
        """One row of a table as it was typed into a form, checked; an empty field is a gap."""
        columns: Any = self.schema.get("properties", {})
        return self.check({name: _read_word(word, columns.get(name, {})) for name, word in words.items()})

    def take(self, records: Sequence[Record]) -> Any:
        """Records of one kind as the classifier takes them."""
        return self.join([each.value for each in records])


class _Column(NamedTuple):
    """How the values of one column are checked and joined."""

    wanted: str
    kinds: tuple[type, ...]
    schema: dict[str, Any]
    dtype: Any
    read: Callable[[Any], Any] = lambda value: value
    whole: bool = False  # whole numbers: with a gap or a fraction they become floats
    gaps: bool = True


class _Table:
    def __init__(self, clf: Any):
        self._columns = {str(name): _describe_column(name, clf.memories_) for name in clf.memories_.columns}
        self._names = list(clf.memories_.columns)
        self.schema = {
            "type": "object",
            "properties": {name: column.schema for name, column in self._columns.items()},
            "required": list(self._columns),
            "additionalProperties": False,
        }

    def check(self, case: Any) -> Record:
        if not isinstance(case, Mapping):
            raise DataError(
                f"a case must be an object with a value for each of {list_names(self._columns)}; {_got(case)}"
            )
        if case.keys() != self._columns.keys():
            found = ColumnDifference(
                [name for name in self._columns if name not in case],
                [name for name in case if name not in self._columns],
            )
            raise DataError(f"the case has other columns than the training data: {found}")
        values = [_check_value(name, case[name], column) for name, column in self._columns.items()]
        columns = enumerate(zip(self._columns.values(), values, strict=True))
        return Record(values, tuple(j for j, (column, value) in columns if column.whole and not _is_whole(value)))

    def join(self, rows: list[list[Any]]) -> Any:
        import pandas as pd

        made = {}
        for name, column, values in zip(self._names, self._columns.values(), zip(*rows, strict=True), strict=True):
            as_trained = not column.whole or all(map(_is_whole, values))
            made[name] = pd.Series(list(values), dtype=column.dtype if as_trained else float)
        return pd.DataFrame(made)


def _describe_column(name: Any, table: Any) -> _Column:
    import pandas as pd

    kind = table[name].dtype
    word: Any = {"type": ["string", "null"]}
    if pd.api.types.is_bool_dtype(kind):
        return _Column("true or false", (bool,), {"type": "boolean"}, kind, gaps=False)
    if pd.api.types.is_datetime64_any_dtype(kind):
        schema = {"type": ["string", "null"], "format": "date-time"}
        return _Column("a date (as 2024-03-31 or 2024-03-31T12:00:00)", (str,), schema, kind, _date_reader(kind))
    if pd.api.types.is_integer_dtype(kind):
        return _Column("a number", (int, float), {"type": ["number", "null"]}, kind, whole=True)
    if pd.api.types.is_float_dtype(kind):
        return _Column("a number", (int, float), {"type": ["number", "null"]}, kind)
    if isinstance(kind, pd.CategoricalDtype):
        known = kind.categories.tolist()
        wanted = f"one of {list_names(known)}"
        return _Column(wanted, (str, int, float, bool), {"enum": [*known, None]}, kind, _category_reader(known))
    if all(isinstance(each, str) for each in table[name].dropna()):
        return _Column("a text", (str,), word, kind)
    plain = {"type": ["string", "number", "boolean", "null"]}
    return _Column("a text, a number, true or false", (str, int, float, bool), plain, kind)


def _read_word(word: str, schema: Mapping[str, Any]) -> Any:
    """What was typed as the value that JSON would have; `check` refuses what does not fit."""
    word, wanted = word.strip(), schema.get("type", ())
    if not word:
        return None
    if "enum" in schema:
        return {str(value): value for value in schema["enum"]}.get(word, word)
    if "number" in wanted or "boolean" in wanted:
        try:
            return json.loads(word.lower() if word.lower() in ("true", "false") else word)
        except ValueError:
            return word
    return word


def _date_reader(kind: Any) -> Callable[[str], Any]:
    import pandas as pd

    zone = kind.tz if isinstance(kind, pd.DatetimeTZDtype) else None

    def read(value: str) -> Any:
        found = pd.to_datetime(value, format="ISO8601")
        if zone is None:
            return found if found.tz is None else found.tz_convert("UTC").tz_localize(None)
        return found.tz_localize(zone) if found.tz is None else found.tz_convert(zone)

    return read


def _category_reader(known: list[Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if value not in known:
            raise ValueError
        return value

    return read


def _check_value(name: str, value: Any, column: _Column) -> Any:
    if value is None and column.gaps:
        return None
    right = isinstance(value, column.kinds) and (bool in column.kinds or not isinstance(value, bool))
    if right and isinstance(value, (int, float)):
        right = _is_finite(value)
    if right:
        try:
            return column.read(value)
        except (ValueError, OverflowError):
            right = False
    raise DataError(f"column {name!r} must hold {column.wanted}, as in training; {_got(value)}")


class _Array:
    def __init__(self, memories: Any):
        self._shape, self._sparse = memories.shape[1:], sp.issparse(memories)
        self._dtype = memories.dtype if memories.dtype.kind == "f" else np.dtype(float)
        self.schema: dict[str, Any] = {"type": "number"}
        for length in reversed(self._shape):
            self.schema = {"type": "array", "items": self.schema, "minItems": int(length), "maxItems": int(length)}

    def check(self, case: Any) -> Record:
        shape = " x ".join(map(str, self._shape))
        if not isinstance(case, list):
            raise DataError(f"a case must be a list of {shape} numbers; {_got(case)}")
        self._check_numbers(case)
        try:
            found = np.array(case, dtype=self._dtype)
        except (TypeError, ValueError, OverflowError):
            raise DataError(f"a case must be a list of {shape} numbers; got lists of different lengths") from None
        if found.shape != self._shape:
            raise DataError(f"a case must be a list of {shape} numbers; got {' x '.join(map(str, found.shape))}")
        return Record(found)

    def _check_numbers(self, values: Any) -> None:
        for position, value in enumerate(values):
            if isinstance(value, list):
                self._check_numbers(value)
            elif isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
                raise DataError(f"a case must hold numbers; at position {position} {_got(value)}")

    def join(self, rows: list[Any]) -> Any:
        stacked = np.stack(rows)
        return sp.csr_matrix(stacked) if self._sparse else stacked


def _check_text(case: Any) -> Record:
    if not isinstance(case, str):
        raise DataError(f"a case must be a text; {_got(case)}")
    return Record(case)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) <= WHOLE and float(value).is_integer()


def _got(value: Any) -> str:
    if isinstance(value, dict):
        return "got an object"
    if isinstance(value, list):
        return f"got a list of {len(value)}"
    text = repr(value) if isinstance(value, str) else json.dumps(value) if _is_short(value) else "a very large number"
    return f"got {text if len(text) <= LETTERS else text[: LETTERS - 1] + '…'}"


def _is_short(value: Any) -> bool:
    return not isinstance(value, int) or abs(value) <= WHOLE
