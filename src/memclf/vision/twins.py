"""Pictures that show nearly the same: near-duplicates by a hash of what they look like."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from memclf._numbers import Array
from memclf.vision.files import Pixels

SIDE = 8  # the hash has SIDE * SIDE bits
FEW = 3  # bits in which near-duplicates may differ
FLAT = 8  # bits that are set in a picture with hardly any shape, whose hash says nothing
BLOCK = 1024


def look_hash(image: Pixels) -> int:
    """64 bits that say where a picture gets brighter from left to right.

    Scaling, another format, and a little more light change few of them.
    """
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, (SIDE + 1, SIDE), interpolation=cv2.INTER_AREA).astype(np.int16)
    bits = small[:, 1:] > small[:, :-1]
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def group_twins(hashes: Sequence[int]) -> list[list[int]]:
    """Groups of positions whose hashes are nearly the same, each of two or more.

    >>> group_twins([0b1111_0000_1111_0000_1111, 0b1111_0000_1111_0000_1110, 2**63 + 2**40 - 1])
    [[0, 1]]
    """
    codes = np.array(hashes, dtype=np.uint64)
    found: list[Array] = []
    for start in range(0, len(codes), BLOCK):
        apart = _count_bits(codes[start : start + BLOCK, None] ^ codes[None, :])
        rows, columns = np.nonzero(apart <= FEW)
        found.append(np.stack([rows + start, columns]))
    pairs = np.concatenate(found, axis=1) if found else np.zeros((2, 0), dtype=int)
    shaped = _count_bits(codes)
    plain = (shaped < FLAT) | (shaped > SIDE * SIDE - FLAT)
    pairs = pairs[:, (pairs[0] < pairs[1]) & ~plain[pairs[0]] & ~plain[pairs[1]]]
    graph = coo_array((np.ones(pairs.shape[1]), (pairs[0], pairs[1])), shape=(len(codes), len(codes)))
    _, groups = connected_components(graph, directed=False)
    members: dict[int, list[int]] = {}
    for position, group in enumerate(groups.tolist()):
        members.setdefault(group, []).append(position)
    return [each for each in members.values() if len(each) > 1]


def _count_bits(codes: Array) -> Array:
    """How many bits are set in each number."""
    return np.unpackbits(np.ascontiguousarray(codes)[..., None].view(np.uint8), axis=-1).sum(axis=-1, dtype=np.int16)
