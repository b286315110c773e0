"""Strong changes of rows, on which an answer rule learns whom to believe.

A third of a case's columns are changed, all in the same way: noise, a scale error, values of other cases, or gaps.
Values stay such that an estimator takes them: columns without gaps get none, categories and codes stay in their set,
columns without negative values get none, whole numbers stay whole and within their range.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from memclf._numbers import Array
from memclf.cases import containers

NUMBERS = "biuf"  # kinds of dtypes
FEW = 10  # a column with so few distinct values holds codes, not amounts
GAPS = ("nan", "None", "<NA>", "NaT")
KINDS = ("noise", "scale", "another", "gap")


def can_shift_rows(data: Any) -> bool:
    """Whether `shift_rows` takes the data: a pandas table, a sparse matrix, rows of numbers.

    No square one, since it may hold the similarities of all pairs, and no array of images: noise in single pixels is
    what robustness is measured with. (`ImageCollection.shifted` changes images.)
    """
    if isinstance(data, np.ndarray) or sp.issparse(data):
        fits = data.ndim == 2 and data.dtype.kind in NUMBERS
    else:
        fits = _is_pandas(data)
    return bool(fits and data.shape[0] != data.shape[1])


def shift_rows(data: Any, seed: int) -> Any:
    """The same rows, each changed strongly; what is random hangs on the seed and the row.

    >>> rows = np.arange(60.0).reshape(20, 3)
    >>> int((shift_rows(rows, seed=0) != rows).sum(axis=1).max())
    1
    """
    if sp.issparse(data):
        return _shift_sparse(data, seed)
    columns = [_Column.of(*column) for column in _columns(data)]
    varying = [j for j, column in enumerate(columns) if column.varies]
    kinds = KINDS if any(columns[j].gap is not None for j in varying) else KINDS[:3]
    width = 2 + 2 * len(columns)  # kind, amount, and for each column whether it is chosen and how much
    drawn = np.array([rng.random(width) for rng in _generators(_row_keys(data), seed)]).reshape(-1, width)
    kind = np.array(kinds)[(drawn[:, 0] * len(kinds)).astype(int)]
    choice, quantile = drawn[:, 2::2][:, varying], drawn[:, 3::2][:, varying]
    per_column = np.where(_lowest_third(choice), kind[:, None], "none")
    changed = data.copy()
    for number, j in enumerate(varying):
        source, values = columns[j].shift(per_column[:, number], drawn[:, 1], quantile[:, number])
        if _is_pandas(data):
            column = data.iloc[:, j]
            new = column.array.take(source) if values is None else values
            changed.isetitem(j, type(column)(new, index=data.index, dtype=column.dtype))
        else:
            changed[:, j] = data[source, j] if values is None else values
    return changed


@dataclass(frozen=True)
class _Column:
    """What is known about a column before any of its values changes."""

    values: Array
    order: Array  # the rows by value: what is drawn from them does not depend on the order of the rows
    gap: int | None  # a row without a value
    varies: bool
    amounts: bool  # numbers that can be changed by a little; the others are codes
    whole: bool  # numbers that stay whole, though with gaps they come as floats

    @classmethod
    def of(cls, values: Array, codes: bool, whole: bool) -> _Column:
        if codes:
            words = np.array([str(value) for value in values], dtype=object)
            missing, seen = np.isin(words, GAPS), len(set(words))
            order = np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.intp)
        else:
            missing, order = np.isnan(values), np.argsort(values, kind="stable")
            seen = len(np.unique(values[~missing])) + bool(missing.any())
        gap = int(np.argmax(missing)) if missing.any() else None
        return cls(values, order, gap, seen > 1, not codes and seen > FEW, whole)

    def shift(self, kind: Array, amount: Array, quantile: Array) -> tuple[Array, Array | None]:
        """For each row the row whose value it gets, or new values of all rows."""
        n = len(self.values)
        source = np.where(kind == "none", np.arange(n), self.order[(quantile * n).astype(int)])
        if self.gap is not None:
            source[kind == "gap"] = self.gap
        if not self.amounts:
            return source, None
        old = self.values.astype(np.float64)
        finite = old[self.order][np.isfinite(old[self.order])]
        spread, least, most = finite.std(), finite[0], finite[-1]
        error = np.where(amount < 0.5, old * (1.5 + amount), old + np.where(amount < 0.75, -1.5, 1.5) * spread)
        noisy = old + spread * np.clip(ndtri(quantile), -4, 4)
        new = np.where(kind == "noise", noisy, error)
        new = np.maximum(new, least) if least >= 0 else new
        if self.whole:
            new = np.clip(np.rint(new), least, most)
        moved = np.isin(kind, ("noise", "scale"))
        return source, np.where(moved, new.astype(self.values.dtype), self.values[source])


def _shift_sparse(data: Any, seed: int) -> Any:
    """Of a row's values a third are changed, or replaced by some of another row."""
    rows = data.tocsr(copy=True)
    rows.sum_duplicates()
    n, stops = rows.shape[0], rows.indptr
    sorted_ = np.lexsort((rows.data, rows.indices))  # so that sums do not depend on the order of the rows
    what, where = rows.data[sorted_].astype(np.float64), rows.indices[sorted_]
    mean, square = (np.bincount(where, what**power, rows.shape[1]) / max(n, 1) for power in (1, 2))
    spread = np.sqrt(np.maximum(square - mean**2, 0))
    keys = [rows.indices[a:b].astype(np.int64).tobytes() + rows.data[a:b].tobytes() for a, b in _pairs(stops)]
    order = sorted(range(n), key=keys.__getitem__)
    places, values = [], []
    for (a, b), rng in zip(_pairs(stops), _generators(keys, seed), strict=True):
        where, what, (kind, amount, other) = rows.indices[a:b], rows.data[a:b].astype(np.float64), rng.random(3)
        changed = _lowest_third(rng.random((1, b - a)))[0]
        if kind < 1 / 3:
            what = what + changed * spread[where] * rng.standard_normal(b - a)
        elif kind < 2 / 3:
            what = what * np.where(changed, 1.5 + amount / 2, 1)
        else:
            a, b = stops[order[int(other * n)]], stops[order[int(other * n)] + 1]
            taken = _lowest_third(rng.random((1, b - a)))[0] & ~np.isin(rows.indices[a:b], where)
            where = np.concatenate([where[~changed], rows.indices[a:b][taken]])
            what = np.concatenate([what[~changed], rows.data[a:b][taken]])
        places.append(where)
        values.append(what)
    return _as_sparse(rows, places, values)


def _as_sparse(rows: Any, places: list[Array], values: list[Array]) -> Any:
    """A matrix like `rows` with these values in these columns."""
    new = np.concatenate([np.empty(0), *values])
    if rows.nnz and rows.data.min() >= 0:
        new = np.maximum(new, 0)
    if rows.nnz and rows.dtype.kind != "f":
        new = np.clip(np.rint(new), rows.data.min(), rows.data.max())
    stops = np.concatenate([[0], np.cumsum([len(where) for where in places])])
    columns = np.concatenate([np.empty(0, dtype=rows.indices.dtype), *places])
    made = type(rows)((new.astype(rows.dtype), columns, stops), shape=rows.shape)
    made.sort_indices()
    made.eliminate_zeros()
    return made


def _is_pandas(data: Any) -> bool:
    return containers.is_table(data) and type(data).__module__.partition(".")[0] == "pandas"


def _columns(data: Any) -> Iterable[tuple[Array, bool, bool]]:
    """The values of each column, whether they are codes, and whether they are whole numbers."""
    if not _is_pandas(data):
        return [(column, column.dtype.kind == "b", column.dtype.kind in "iu") for column in data.T]
    given = [(np.asarray(data.iloc[:, j]), data.dtypes.iloc[j]) for j in range(data.shape[1])]
    return [(values, str(t) == "category" or values.dtype.kind not in "iuf", t.kind in "iu") for values, t in given]


def _row_keys(data: Any) -> list[bytes]:
    if _is_pandas(data):
        from pandas.util import hash_pandas_object

        data = hash_pandas_object(data, index=False).to_numpy()
    return [row.tobytes() for row in data]


def _generators(keys: list[bytes], seed: int) -> Iterable[np.random.Generator]:
    """A generator for each row, from the seed and the row's values."""
    for key in keys:
        digest = hashlib.blake2b(f"{int(seed)};".encode() + key, digest_size=16)
        yield np.random.Generator(np.random.SFC64(int.from_bytes(digest.digest(), "little")))


def _lowest_third(drawn: Array) -> Array:
    """Of each row the lowest third, at least one."""
    third = max(1, round(drawn.shape[1] / 3))
    return np.asarray(drawn.argsort(axis=1).argsort(axis=1) < third)


def _pairs(stops: Array) -> list[tuple[int, int]]:
    return list(zip(stops[:-1].tolist(), stops[1:].tolist(), strict=True))
