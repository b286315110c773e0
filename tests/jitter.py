"""Numbers as another processor may give them: moved by one unit in the last place, up or down, or not at all.

Three ways of being another processor. As a rule the noise belongs to the similarity: equal ones stay equal, and the
same case compared twice gives the same, as with another `exp`. With `anew`, every comparison draws its own noise: equal
similarities come apart, as with sums whose order depends on the batch. With `described`, descriptions are moved, not
similarities, as with another mean and spread of the training cases. Whole numbers stay: nothing is rounded there.
"""

import functools
import os
from contextlib import contextmanager

import numpy as np

from memclf.similarity import base

VARIABLE = "MEMCLF_JITTER"  # a seed, or "anew:" or "described:" and a seed: the whole suite is run under jitter
HOW = ("", "anew", "described")


class Jitter:
    """A call moves an array of numbers; `moved` counts how many have changed so far."""

    def __init__(self, seed: int, how: str = ""):
        self.seed = np.array([seed + 1], dtype=np.uint64)
        self.rng = np.random.default_rng(seed) if how == "anew" else None
        self.moved = 0

    def __call__(self, block):
        bits = np.array(block, dtype=np.float64).view(np.uint64)
        steps = (self._noise(bits) % np.uint64(3)).astype(np.int64) - 1
        steps[~np.isfinite(block) | (block == np.round(block))] = 0
        self.moved += np.count_nonzero(steps)
        return (bits.view(np.int64) + steps).view(np.float64)  # the next numbers above or below

    def _noise(self, bits):
        if self.rng is not None:
            return self.rng.integers(0, 3, bits.shape, dtype=np.uint64)
        mixed = bits + self.seed * np.uint64(0x9E3779B97F4A7C15)  # splitmix64
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        return mixed ^ (mixed >> np.uint64(31))


@contextmanager
def jittered(seed: int, how: str = ""):
    """Within it, every similarity that search, thresholds and routing see is moved, or every description.

    `compared` is imported by name in several modules; what it looks up itself is looked up in one place.
    """
    jitter = Jitter(seed, how)
    plain, ordering, described = base.checked, base.can_order, (base.Similarity.fit_describe, base.Similarity.describe)
    if how == "described":
        base.Similarity.fit_describe, base.Similarity.describe = (_moved(each, jitter) for each in described)
    else:
        base.checked = lambda similarity, block, shape: jitter(plain(similarity, block, shape))
        base.can_order = lambda similarity: False  # or most similarities would never be seen
    try:
        yield jitter
    finally:
        base.checked, base.can_order = plain, ordering
        base.Similarity.fit_describe, base.Similarity.describe = described


def _moved(method, jitter):
    @functools.wraps(method)
    def moving(self, *args, **kwargs):
        Z = method(self, *args, **kwargs)
        return jitter(Z) if isinstance(Z, np.ndarray) and Z.dtype == np.float64 else Z

    return moving


def wanted():
    """The jitter that the environment asks for, as arguments of `jittered`; None if it asks for none."""
    given = os.environ.get(VARIABLE)
    if not given:
        return None
    how, _, seed = given.rpartition(":")
    if how not in HOW or not seed.isdigit():
        raise ValueError(f"{VARIABLE} must be a seed, as in 3, anew:3 or described:3, got {given!r}")
    return {"seed": int(seed), "how": how}
