"""Cases come as arrays, tables, sparse matrices or lists of anything: counting, picking and keying them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, validate_data

from memclf._numbers import Array


def count(cases: Any) -> int:
    return int(_num_samples(cases))


def take(cases: Any, indices: Array) -> Any:
    """The cases at `indices`, in the same kind of container."""
    if isinstance(cases, np.ndarray):
        return cases[indices]
    return _safe_indexing(cases, indices)


def columns(cases: Any, indices: Array) -> Any:
    """The columns at `indices` of an array or a table."""
    return _safe_indexing(np.asarray(cases) if isinstance(cases, (list, tuple)) else cases, indices, axis=1)


def keep(cases: Any, indices: Array) -> Any:
    """The cases at `indices` as they will be needed later, even when the files they lie in are gone."""
    picked = take(cases, indices)
    return picked.loaded() if hasattr(picked, "loaded") else picked


def read_once(X: Any) -> Any:
    """Cases that lie in files are read once, however often they are looked at in one piece of work."""
    return X.read_once() if hasattr(X, "read_once") else X


def remembering(X: Any) -> Any:
    """Cases about which nothing is computed twice, where they are of a kind that can remember."""
    return X.remembering() if hasattr(X, "remembering") else X


def as_cases(X: Any) -> Any:
    """X itself if single cases can be picked from it, else the array that it can be turned into."""
    if sp.issparse(X):
        return X.tocsr()
    if isinstance(X, (str, bytes, dict)):
        raise TypeError(f"X must hold several cases, got one {type(X).__name__}; wrap a single case in a list")
    return X if hasattr(X, "__getitem__") or not hasattr(X, "__array__") else np.asarray(X)


def match(estimator: Any, X: Any, *, reset: bool = False) -> None:
    """Remember the columns of tables and arrays in training, and hold later ones against them."""
    if getattr(X, "ndim", None) == 2 and not (reset and 0 in X.shape):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    elif reset:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                delattr(estimator, name)


def is_table(cases: Any) -> bool:
    """A data frame (of pandas or polars): named columns, each with its own type."""
    return hasattr(cases, "columns") and hasattr(cases, "shape")


def as_sequence(cases: Any) -> Any:
    """Cases one by one: rows of an array stay rows, rows of a table become dictionaries, the rest is kept."""
    if is_table(cases):
        return object_array(cases.to_dicts() if hasattr(cases, "to_dicts") else cases.to_dict("records"))
    if sp.issparse(cases):
        return cases.tocsr()
    if isinstance(cases, np.ndarray):
        return cases
    return object_array(list(cases))


def object_array(items: list[Any]) -> Array:
    """A 1-d array whose entries are the items themselves, even when they are sequences."""
    array = np.empty(len(items), dtype=object)
    for position, item in enumerate(items):
        array[position] = item
    return array


def shares(groups: Array) -> Array:
    """How much of its group each case is: 1 over the size of the group.

    >>> shares(np.array(["a", "b", "a"]))
    array([0.5, 1. , 0.5])
    """
    _, group, size = np.unique(groups, return_inverse=True, return_counts=True)
    return 1 / size[group.reshape(-1)]


def chunks(n: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most `size` that together make up ``range(n)``."""
    for start in range(0, n, max(1, size)):
        yield slice(start, min(n, start + size))


def distinct(descriptions: Any) -> tuple[Array, Array]:
    """Indices of the first case of each distinct description, and for every case the number of its group.

    For numeric descriptions the groups come in an order that depends on the descriptions alone, so whatever
    works through them in order (or draws from them with a seed) does not depend on the order of the rows. Nor does
    the last bit of a description, which differs between processors, change it by more than a swap of neighbours.
    Descriptions that cannot be told apart safely (unhashable objects) are all kept.

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
    """A fixed direction in d dimensions. Along it, a last bit moves a case past its neighbours at most."""
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
    """A 64-bit key per row that depends on its values only (splitmix64 steps, column after column)."""
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
