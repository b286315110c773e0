"""The two most similar memories of each case, from numbers in the same order.

Few of these numbers are made into similarities.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memclf._numbers import TOLERANCE, Array, TwoBest, two_best
from memclf.cases import containers

IN_CACHE = 2**19  # numbers that are worked on at once: 4 MB, which stay in the caches; with fewer, calls cost more
MOST_ROWS = 256  # memories whose numbers the last bits of a number in single precision can hold
MANTISSA = 23  # bits of such a number
LEAST = 1e-37  # numbers so near to 0 lose bits in single precision, or all of them

#: Writes one number for each memory (row) and case of a block (column) into an array of doubles. They are in the order
#: of the similarities.
Order = Callable[[Array, Array], Array]
#: Makes similarities of such numbers, or of infinity: some rows of them, for the cases at these positions in the block.
#: Of a larger number it makes no smaller similarity.
Finish = Callable[[Array, Array], Array]


def nearest_two_in_blocks(compare_with: Callable[[Array], tuple[Order, Finish]], A: Array, B: Array) -> TwoBest:
    """The two rows of `A` most similar to each row of `B`.

    ``compare_with(block)`` says how with a block of rows of `B`: so many that one number per pair stays in the cache.
    """
    q, n = len(A), len(B)
    rounded = q <= MOST_ROWS
    size = max(1, IN_CACHE // q)
    size = min(n, size - 1 + size % 2)  # columns that are a power of two apart would drive each other from the cache
    room, spare = np.empty(size * q), np.empty(size * q if rounded else 0, dtype=np.float32)
    found = TwoBest(np.empty(n, dtype=np.intp), np.empty(n), np.empty(n, dtype=np.intp), np.empty(n))
    for part in containers.chunks(n, size):
        some = B[part]
        order, finish = compare_with(some)
        shape = (q, len(some)) if rounded else (len(some), q)  # `_three_best` wants the numbers of a case together
        empty = room[: q * len(some)].reshape(shape)
        filled = order(some, empty if rounded else empty.T)
        for whole, each in zip(found, two_best_in_order(filled, finish, spare), strict=True):
            whole[part] = each
    return found


def two_best_in_order(order: Array, finish: Finish, spare: Array | None = None) -> TwoBest:
    """`two_best` of ``finish(order)``, of which as few numbers as possible are computed.

    The three largest numbers of a case say who is first and second, unless their similarities are equal but for
    rounding. They are looked for in single precision, then in double where that leaves a doubt, and then among all
    similarities of the case. `spare` is room for as many numbers in single precision.
    """
    q, n = order.shape
    if q < 3:
        return two_best(finish(order, np.arange(n)))
    found = TwoBest(np.empty(n, dtype=np.intp), np.empty(n), np.empty(n, dtype=np.intp), np.empty(n))
    left = np.arange(n)
    for rounded in (True, False) if q <= MOST_ROWS else (False,):
        block = order if len(left) == n else order[:, left]
        places, top = _three_best_rounded(block, spare) if rounded else _three_best(block)
        values = finish(top, left)
        found.near[left], found.second[left] = places
        found.best[left], found.next[left] = values[:2]
        left = left[~(values[1:] < values[:-1] - TOLERANCE).all(axis=0)]  # also where a number is none
        if not len(left):
            return found
    for whole, each in zip(found, two_best(finish(order[:, left], left)), strict=True):
        whole[left] = each
    return found


def _three_best(order: Array) -> tuple[Array, Array]:
    """Rows of the two largest numbers in each column, and the three largest numbers."""
    rows = np.ascontiguousarray(order.T)  # argmax is fast along rows
    n, q = rows.shape
    flat, starts = rows.reshape(-1), np.arange(n) * q
    places, top = np.empty((2, n), dtype=np.intp), np.empty((3, n))
    for rank in range(3):
        place = rows.argmax(axis=1)
        top[rank] = flat[starts + place]
        if rank < 2:
            places[rank] = place
            flat[starts + place] = -np.inf
    for place, value in zip(places, top, strict=False):  # `rows` may be the numbers that were given
        flat[starts + place] = value
    return places, top


def _three_best_rounded(order: Array, spare: Array | None) -> tuple[Array, Array]:
    """The same, but the third number is a bound that all others keep, however they were rounded.

    The last bits of each number in single precision are overwritten with the number of its row. So a plain maximum,
    which has no branches and is several times as fast as argmax, tells the row as well.
    """
    q, n = order.shape
    mask = 2 ** int(q - 1).bit_length() - 1
    single = (np.empty(order.size, dtype=np.float32) if spare is None else spare[: order.size]).reshape(q, n)
    with np.errstate(over="ignore", under="ignore"):
        single[:] = order
    bits = single.view(np.int32)
    np.bitwise_and(bits, ~mask, out=bits)
    np.bitwise_or(bits, np.arange(q, dtype=np.int32)[:, None], out=bits)
    flat, exact, cases = single.reshape(-1), order.reshape(-1), np.arange(n)
    places, top, largest = np.empty((2, n), dtype=np.intp), np.empty((3, n)), np.empty(n, dtype=np.float32)
    for rank in range(3):
        np.maximum.reduce(single, axis=0, out=largest)
        if rank == 0:
            doubtful = ~np.isfinite(largest)  # too large for single precision; a row's number may make it no number
        row = np.minimum(largest.view(np.int32) & mask, q - 1).astype(np.intp)
        at = row * n + cases
        exact.take(at, out=top[rank], mode="clip")  # lets go of Python's lock, as exact[at] does not
        if rank < 2:
            places[rank] = row
            flat[at] = -np.inf
    # A larger number that the third hides has nearly its size, and each was moved by less than a quarter of this.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        top[2] += np.abs(top[2]) * (4 * (mask + 1) * 2.0**-MANTISSA) + LEAST
    top[2, doubtful | np.isnan(top[2])] = np.inf
    return places, top
