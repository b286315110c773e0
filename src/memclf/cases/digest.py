"""Digests of content: the same data has the same digest in every process."""

from __future__ import annotations

import datetime
import decimal
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp

from memclf._numbers import Array
from memclf.cases import containers
from memclf.cases.collection import Collection

_DATES = (datetime.date, datetime.time, datetime.timedelta)
PLAIN = (str, bytes, bool, int, float, complex, type(None), np.generic, decimal.Decimal, *_DATES)

Content = tuple[str, list[Any]]  # a digest of what is plain data, and the other objects themselves


def digest_content(value: Any) -> Content:
    """A digest of the plain data in a value, and the objects in it that are no plain data."""
    digest = hashlib.blake2b(digest_size=16)
    others: list[Any] = []
    _feed(value, digest, others)
    return digest.hexdigest(), others


def same_content(one: Content, other: Content) -> bool:
    """Whether the plain data is equal, and the other objects are the same or hold the same."""
    (digest, objects), (other_digest, others) = one, other
    if digest != other_digest or len(objects) != len(others):
        return False
    return all(a is b or joblib.hash(a) == joblib.hash(b) for a, b in zip(objects, others, strict=True))


def digest_cases(data: Any, rows: Array) -> list[str | None]:
    """A digest of each case at these rows; None for a case that is no plain data.

    The index of a table belongs to its rows: a feature may look it up elsewhere.

    >>> first, second = digest_cases(np.array([[1.0], [1.0]]), np.arange(2))
    >>> first == second
    True
    """
    some = containers.take(data, rows)
    if sp.issparse(some):
        some = some.tocsr(copy=True)
        some.sum_duplicates()
        return [_digest_case(["sparse", row]) for row in _sparse_rows(some)]
    if containers.is_table(some):
        return list(_digest_table(some))
    kind = [some.dtype.str, some.shape[1:]] if isinstance(some, np.ndarray) else type(some).__name__
    return [_digest_case([kind, case]) for case in some]


def _digest_table(table: Any) -> Iterator[str | None]:
    indexed = not hasattr(table, "to_dicts")  # polars' tables have no index
    head = [[str(name), repr(dtype)] for name, dtype in zip(table.columns, table.dtypes, strict=True)]
    head += [list(dtype.categories) for dtype in table.dtypes if str(dtype) == "category"]
    columns = [list(table[name]) for name in table.columns]
    for label, *values in zip(table.index if indexed else range(len(table)), *columns, strict=True):
        yield _digest_case([head, label if indexed else None, values])


def _digest_case(case: Any) -> str | None:
    digest, others = digest_content(case)
    return None if others else digest


def _sparse_rows(rows: Any) -> Iterator[Any]:
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        yield [rows.shape[1], rows.indices[start:stop].astype(np.int64), rows.data[start:stop]]


def _feed(value: Any, digest: Any, others: list[Any]) -> None:
    if isinstance(value, PLAIN):
        digest.update(f"{type(value).__name__} {value!r};".encode("utf-8", "backslashreplace"))
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        digest.update(f"array {value.dtype.str} {value.shape};".encode() + value.tobytes())
    elif sp.issparse(value):
        rows = value.tocsr(copy=True)
        rows.check_format(full_check=True)
        rows.sum_duplicates()  # the same matrix may be laid out differently
        for part in (rows.shape, rows.data, rows.indices, rows.indptr):
            _feed(part, digest, others)
    elif containers.is_table(value):
        for name in value.columns:
            _feed([name, np.asarray(value[name])], digest, others)
    elif isinstance(value, Mapping):
        _feed([list(pair) for pair in value.items()], digest, others)
    elif isinstance(value, (set, frozenset)):
        _feed(sorted(digest_content(item)[0] for item in value), digest, others)
    elif isinstance(value, (list, tuple, np.ndarray, Collection)):
        digest.update(f"{type(value).__name__} {len(value)};".encode())
        for item in value:
            _feed(item, digest, others)
    else:
        digest.update(b"object;")
        others.append(value)
