"""Changes of rows: strong ones, on which answer rules learn whom to believe, and mild ones.

Strong: a third of a case's columns are changed, all in the same way: noise, a scale error, values of other cases, or
gaps. Mild: all amounts get noise of a tenth of their column's spread. Values stay such that an estimator takes them:
columns without gaps get none, categories and codes stay in their set, columns without negative values get none, whole
numbers stay whole and within their range.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
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
MILD = 0.1  # standard deviations by which mild noise moves an amount
RARE = 0.05  # share of values that become gaps when a column with gaps is changed mildly


def can_shift_rows(data: Any, n: int | None = None) -> bool:
    """Whether `shift_rows` takes the data: a pandas table, a sparse matrix, rows of numbers.

    `n`: how many rows there are in all, where `data` holds only some of them.

    No square one, since it may hold the similarities of all pairs, and no array of images: noise in single pixels is
    what robustness is measured with. (`ImageCollection.shifted` changes images.)
    """
    if isinstance(data, np.ndarray) or sp.issparse(data):
        fits = data.ndim == 2 and data.dtype.kind in NUMBERS
    else:
        fits = _is_pandas(data)
    return bool(fits and (data.shape[0] if n is None else n) != data.shape[1])


def list_kinds(data: Any) -> tuple[str, ...]:
    """The kinds of strong changes that these rows allow: gaps only where there are some."""
    if sp.issparse(data):
        return KINDS[:3]
    columns = [_Column.of(*column) for column in _columns(data)]
    return KINDS if any(column.varies and column.gap is not None for column in columns) else KINDS[:3]


def shift_rows(data: Any, seed: int, kinds: Sequence[str] = KINDS) -> Any:
    """The same rows, each changed strongly; what is random hangs on the seed and the row.

    `kinds` are the kinds of changes that each row's is drawn from; gaps only where there are some.

    >>> rows = np.arange(60.0).reshape(20, 3)
    >>> int((shift_rows(rows, seed=0) != rows).sum(axis=1).max())
    1
    """
    if sp.issparse(data):
        return _shift_sparse(data, seed, kinds)
    columns = [_Column.of(*column) for column in _columns(data)]
    varying = [j for j, column in enumerate(columns) if column.varies]
    gaps = any(columns[j].gap is not None for j in varying)
    kinds = [kind for kind in kinds if kind != "gap" or gaps]
    width = 2 + 2 * len(columns)  # kind, amount, and for each column whether it is chosen and how much
    drawn = np.array([rng.random(width) for rng in _generators(_row_keys(data), seed)]).reshape(-1, width)
    kind = np.array(kinds)[(drawn[:, 0] * len(kinds)).astype(int)]
    choice, quantile = drawn[:, 2::2][:, varying], drawn[:, 3::2][:, varying]
    per_column = np.where(_lowest_third(choice), kind[:, None], "none")
    changed = data.copy()
    for number, j in enumerate(varying):
        _set_column(changed, data, j, columns[j].shift(per_column[:, number], drawn[:, 1], quantile[:, number]))
    return changed


def perturb_rows(data: Any, seed: int) -> Any:
    """The same rows, each changed a little: amounts by a tenth of their column's spread.

    In columns that have gaps, one value in twenty is missing. Categories and codes stay.

    >>> rows = np.arange(60.0).reshape(20, 3)
    >>> bool(np.abs(perturb_rows(rows, seed=0) - rows).max() < rows.std())
    True
    """
    if sp.issparse(data):
        return _perturb_sparse(data, seed)
    columns = [_Column.of(*column) for column in _columns(data)]
    drawn = np.array([rng.random(2 * len(columns)) for rng in _generators(_row_keys(data), seed)])
    drawn = drawn.reshape(-1, 2 * len(columns))
    changed = data.copy()
    for j, column in enumerate(columns):
        missing = (drawn[:, 2 * j] < RARE) & (column.gap is not None)
        kind = np.where(missing, "gap", "noise" if column.amounts else "none")
        if column.varies:
            _set_column(changed, data, j, column.shift(kind, drawn[:, 2 * j], drawn[:, 2 * j + 1], MILD))
    return changed


def _set_column(changed: Any, data: Any, j: int, found: tuple[Array, Array | None]) -> None:
    """Write what `_Column.shift` gives into a column of a copy."""
    source, values = found
    if _is_pandas(data):
        column = data.iloc[:, j]
        new = column.array.take(source) if values is None else values
        changed.isetitem(j, type(column)(new, index=data.index, dtype=column.dtype))
    else:
        changed[:, j] = data[source, j] if values is None else values


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

    def shift(self, kind: Array, amount: Array, quantile: Array, noise: float = 1.0) -> tuple[Array, Array | None]:
        """For each row the row whose value it gets, or new values of all rows.

        `noise` is the strength of noise in standard deviations.
        """
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
        noisy = old + noise * spread * np.clip(ndtri(quantile), -4, 4)
        new = np.where(kind == "noise", noisy, error)
        new = np.maximum(new, least) if least >= 0 else new
        if self.whole:
            new = np.clip(np.rint(new), least, most)
        moved = np.isin(kind, ("noise", "scale"))
        return source, np.where(moved, new.astype(self.values.dtype), self.values[source])


def _perturb_sparse(data: Any, seed: int) -> Any:
    """Every value that is there is changed by about a tenth of itself."""
    rows = data.tocsr(copy=True)
    rows.sum_duplicates()
    keys = _sparse_keys(rows)
    pairs = zip(_pairs(rows.indptr), _generators(keys, seed), strict=True)
    values = [rows.data[a:b] * (1 + MILD * rng.standard_normal(b - a)) for (a, b), rng in pairs]
    return _as_sparse(rows, [rows.indices[a:b] for a, b in _pairs(rows.indptr)], values)


def _sparse_keys(rows: Any) -> list[bytes]:
    return [rows.indices[a:b].astype(np.int64).tobytes() + rows.data[a:b].tobytes() for a, b in _pairs(rows.indptr)]


def _shift_sparse(data: Any, seed: int, kinds: Sequence[str]) -> Any:
    """Of a row's values a third are changed, or replaced by some of another row."""
    rows = data.tocsr(copy=True)
    rows.sum_duplicates()
    n, stops = rows.shape[0], rows.indptr
    sorted_ = np.lexsort((rows.data, rows.indices))  # so that sums do not depend on the order of the rows
    what, where = rows.data[sorted_].astype(np.float64), rows.indices[sorted_]
    mean, square = (np.bincount(where, what**power, rows.shape[1]) / max(n, 1) for power in (1, 2))
    spread = np.sqrt(np.maximum(square - mean**2, 0))
    keys = _sparse_keys(rows)
    kinds = [kind for kind in kinds if kind != "gap"]  # what is not there is no gap
    order = sorted(range(n), key=keys.__getitem__)
    places, values = [], []
    for (a, b), rng in zip(_pairs(stops), _generators(keys, seed), strict=True):
        where, what, (kind, amount, other) = rows.indices[a:b], rows.data[a:b].astype(np.float64), rng.random(3)
        changed = _lowest_third(rng.random((1, b - a)))[0]
        chosen = kinds[int(kind * len(kinds))]
        if chosen == "noise":
            what = what + changed * spread[where] * rng.standard_normal(b - a)
        elif chosen == "scale":
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
