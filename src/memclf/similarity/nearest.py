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
LEAST = 1e-37  # below this, such numbers have fewer bits

#: The numbers of a block of cases, written into an array with a row for each memory and a column for each case.
Order = Callable[[Array, Array], Array]
#: Such numbers as similarities: a part of the rows, and the positions of the cases in their block.
Finish = Callable[[Array, Array], Array]


def nearest_two_in_blocks(start: Callable[[Array], tuple[Order, Finish]], A: Array, B: Array) -> TwoBest:
    """The two rows of `A` most similar to each row of `B`.

    ``start(block)`` says how they are compared with a block of rows of `B`: so many that one number per pair stays in
    the cache.
    """
    q, n = len(A), len(B)
    rounded = q <= MOST_ROWS
    size = min(n, max(1, (IN_CACHE if rounded else IN_CACHE // 2) // q))  # all are copied where none are rounded
    room, spare = np.empty(size * q), np.empty(size * q if rounded else 0, dtype=np.float32)
    found = TwoBest(np.empty(n, dtype=np.intp), np.empty(n), np.empty(n, dtype=np.intp), np.empty(n))
    for part in containers.chunks(n, size):
        some = B[part]
        order, finish = start(some)
        filled = order(some, room[: q * len(some)].reshape(q, len(some)))
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
    for three_best in (_three_best_rounded, _three_best) if q <= MOST_ROWS else (_three_best,):
        block = order if len(left) == n else order[:, left]
        places, top = three_best(block, spare)
        values = finish(top, left)
        found.near[left], found.second[left] = places
        found.best[left], found.next[left] = values[:2]
        left = left[~(values[1:] < values[:-1] - TOLERANCE).all(axis=0)]  # also where a number is none
        if not len(left):
            return found
    for whole, each in zip(found, two_best(finish(order[:, left], left)), strict=True):
        whole[left] = each
    return found


def _three_best(order: Array, spare: Array | None) -> tuple[Array, Array]:
    """Rows of the two largest numbers in each column, and the three largest numbers."""
    rows = order.T.copy()  # argmax is fast along rows
    n, q = rows.shape
    flat, starts = rows.reshape(-1), np.arange(n) * q
    places, top = np.empty((3, n), dtype=np.intp), np.empty((3, n))
    for rank in range(3):
        places[rank] = rows.argmax(axis=1)
        at = starts + places[rank]
        top[rank] = flat[at]
        flat[at] = -np.inf
    return places[:2], top


def _three_best_rounded(order: Array, spare: Array | None) -> tuple[Array, Array]:
    """The same, but the third number is as large as rounding allows it to be.

    The last bits of each number in single precision are overwritten with the number of its row. So a plain maximum,
    which has no branches and is several times as fast as argmax, tells the row as well.
    """
    q, n = order.shape
    mask = 2 ** int(q - 1).bit_length() - 1
    single = (np.empty(order.size, dtype=np.float32) if spare is None else spare[: order.size]).reshape(q, n)
    with np.errstate(over="ignore"):  # what is too large becomes infinite, then no number, and leaves a doubt
        single[:] = order
    bits = single.view(np.int32)
    np.bitwise_and(bits, ~mask, out=bits)
    np.bitwise_or(bits, np.arange(q, dtype=np.int32)[:, None], out=bits)
    flat, exact, cases = single.reshape(-1), order.reshape(-1), np.arange(n)
    places, top, largest = np.empty((2, n), dtype=np.intp), np.empty((3, n)), np.empty(n, dtype=np.float32)
    for rank in range(3):
        np.maximum.reduce(single, axis=0, out=largest)
        if rank == 0:
            infinite = ~np.isfinite(largest)  # or no number, which a maximum hands on
        row = (largest.view(np.int32) & mask).astype(np.intp)
        at = row * n + cases
        exact.take(at, out=top[rank], mode="clip")  # threads may run beside it, as they may not beside exact[at]
        if rank < 2:
            places[rank] = row
            flat[np.minimum(at, len(flat) - 1)] = -np.inf
    top[2, infinite] = np.nan
    # Overwriting and rounding moved each number by less than half of this.
    top[2] += np.abs(top[2]) * 4 * (mask + 1) * 2.0**-MANTISSA + LEAST
    return places, top
