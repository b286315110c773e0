"""Random numbers for images: a generator for each image and purpose, and fast ways to draw.

Noise is drawn as 16 random bits per value that look up a table of quantiles. For pixels of 8 bits that is as good as
drawing floats, and several times faster.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from memclf._numbers import Array

Key = str | int | bytes

BLOCK = 1 << 15  # values looked up at a time: what is between stays in the processor's cache


def generator(seed: int, key: Key | None, name: str, severity: int, image: Array) -> np.random.Generator:
    """A generator for one image under one condition: the same on any worker, in any order.

    Without a key, the image's own pixels are its key. Python's `hash` would differ from process to process.
    """
    if key is None:
        kind, own = "pixels", hashlib.sha256(np.ascontiguousarray(image)).digest() + repr(image.shape).encode()
    elif isinstance(key, bytes):
        kind, own = "bytes", key
    elif isinstance(key, (str, int, np.integer)) and not isinstance(key, bool):
        kind, own = (
            ("text", key.encode("utf-8", "surrogateescape"))
            if isinstance(key, str)
            else ("number", str(int(key)).encode())
        )
    else:
        raise TypeError(f"key must be a string, a whole number, bytes or None, got {key!r}")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"seed must be a whole number, got {seed!r}")
    digest = hashlib.blake2b(digest_size=16)
    for part in (str(int(seed)).encode(), name.encode(), str(severity).encode(), kind.encode(), own):
        digest.update(len(part).to_bytes(8, "little") + part)  # with lengths, so that parts cannot run into each other
    return np.random.Generator(np.random.SFC64(int.from_bytes(digest.digest(), "little")))


def bits(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.uint16]:
    """16 random bits per value."""
    size = int(np.prod(shape))
    raw = rng.bit_generator.random_raw((size + 3) // 4)
    return np.asarray(raw, dtype="<u8").view("<u2")[:size].reshape(shape)


def look_up(table: NDArray[Any], index: NDArray[np.uint16]) -> NDArray[Any]:
    """``table[index]``, block by block."""
    found = np.empty(index.shape, dtype=table.dtype)
    flat_index, flat = index.reshape(-1), found.reshape(-1)
    for start in range(0, index.size, BLOCK):
        part = slice(start, start + BLOCK)
        table.take(flat_index[part], out=flat[part], mode="wrap")  # no index is too large; "wrap" writes in place
    return found


def signed_unit(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Uniform on (-1, 1), in steps of 2**-15 and symmetric about 0."""
    values = bits(rng, shape).view(np.int16).astype(np.float32)
    values += np.float32(0.5)
    values *= np.float32(2**-15)
    return values


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Standard normal; the tails end at 4.3, where about 1 in 65,000 values would lie beyond."""
    return look_up(_quantiles(), bits(rng, shape))


@cache
def _quantiles() -> NDArray[np.float32]:
    return normal_quantiles().astype(np.float32)


def normal_quantiles() -> NDArray[np.float64]:
    """The 65,536 values of a standard normal that 16 bits stand for."""
    return np.asarray(ndtri((np.arange(65536) + 0.5) / 65536))
