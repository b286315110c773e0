"""Distinct descriptions, in a reproducible order: equal descriptions count as one case."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from memclf._numbers import Array
from memclf.cases.containers import count


def distinct(descriptions: Any) -> tuple[Array, Array]:
    """The first case of each distinct description, and for every case the number of its group.

    For numeric descriptions the groups come in an order that depends on the descriptions alone, so whatever
    works through them in order (or draws from them with a seed) does not depend on the order of the rows. Nor does
    the last bit of a description, which differs between processors, change it by more than a swap of neighbours.
    Descriptions that cannot be compared safely (unhashable objects) all count as distinct.

    >>> first, group = distinct(np.array([[1.0], [2.0], [1.0]]))
    >>> len(first), bool(group[0] == group[2])
    (2, True)
    """
    n = count(descriptions)
    if isinstance(descriptions, np.ndarray) and descriptions.dtype.kind in "fiub":
        return _distinct_rows(descriptions.reshape(n, -1))
    if isinstance(descriptions, np.ndarray) and descriptions.dtype.kind in "US" and descriptions.ndim == 1:
        _, first, group = np.unique(descriptions, return_index=True, return_inverse=True)
        return first, group
    if isinstance(descriptions, np.ndarray) and descriptions.dtype == object:
        return _distinct_objects(list(descriptions))
    if sp.issparse(descriptions):
        return _distinct_sparse(sp.csr_array(descriptions, copy=True))
    return np.arange(n), np.arange(n)


def content_keys(rows: Array) -> Array:
    """A 64-bit key per row of numbers; equal rows have equal keys, others practically never."""
    return _mixed(_words(rows.reshape(len(rows), -1)))


def _distinct_rows(rows: Array) -> tuple[Array, Array]:
    words = _words(rows)
    key = _mixed(words)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    if not np.array_equal(words[first[group]], words):  # two rows share a key: practically never
        _, first, group = np.unique(words, axis=0, return_index=True, return_inverse=True)
    some = np.nan_to_num(np.asarray(rows[first], dtype=np.float64))
    return _in_order(np.einsum("ij,j->i", some / _largest(some), _direction(rows.shape[1])), key[first], first, group)


def _in_order(place: Array, key: Array, first: Array, group: Array) -> tuple[Array, Array]:
    """Groups in the order of their places, those at one place by key."""
    order = np.lexsort((key, place))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return first[order], number[group.reshape(-1)]


def _direction(d: int) -> Array:
    """A fixed direction in d dimensions, along which a last bit swaps neighbours at most."""
    return np.random.default_rng(0).uniform(0.5, 1.0, d)


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0)) or 1.0


def _words(values: Array) -> Array:
    """The values as 64-bit patterns that are equal exactly when the values are."""
    if values.dtype.kind != "f":
        return np.ascontiguousarray(values).astype(np.uint64)  # whole numbers beyond 2**53 are no floats
    bits = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
    bits[np.isnan(bits)] = np.nan  # one bit pattern for "missing"
    return bits.view(np.uint64)


def _distinct_sparse(rows: Any) -> tuple[Array, Array]:
    rows.sum_duplicates()
    rows.eliminate_zeros()
    entry = _mixed(np.column_stack([rows.indices.astype(np.uint64), _words(rows.data)]))
    key = np.zeros(rows.shape[0], dtype=np.uint64)
    np.add.at(key, np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), entry)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    if (rows[first[group]] != rows).nnz:  # two rows share a key: practically never
        return np.arange(rows.shape[0]), np.arange(rows.shape[0])
    some = rows[first].astype(np.float64)
    return _in_order(some @ _direction(rows.shape[1]) / _largest(some.data), key[first], first, group)


def _mixed(words: Array) -> Array:
    """A 64-bit key per row that depends on its values only (splitmix64, column by column)."""
    key = np.zeros(len(words), dtype=np.uint64)
    for column in words.T:
        key = (key ^ column) + np.uint64(0x9E3779B97F4A7C15)
        key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        key ^= key >> np.uint64(31)
    return key


def _distinct_objects(items: list[Any]) -> tuple[Array, Array]:
    seen: dict[Any, int] = {}
    first: list[int] = []
    group = np.empty(len(items), dtype=np.intp)
    try:
        for position, item in enumerate(items):
            number = seen.setdefault(_hashable(item), len(first))
            if number == len(first):
                first.append(position)
            group[position] = number
    except TypeError:
        return np.arange(len(items)), np.arange(len(items))
    return np.array(first), group


def _hashable(item: Any) -> Any:
    """A key under which only equal descriptions of equal type fall together."""
    if isinstance(item, dict):
        return ("dict", tuple((key, _hashable(value)) for key, value in item.items()))
    if isinstance(item, (tuple, list)):
        return (type(item), tuple(_hashable(value) for value in item))
    if isinstance(item, np.ndarray) and item.dtype != object:
        return ("array", item.dtype.str, item.shape, item.tobytes())
    return (type(item), item)
