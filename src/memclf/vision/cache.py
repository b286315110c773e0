"""What is kept about the images of a collection, so that nothing is read or computed twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memclf._numbers import Array

Pixels = NDArray[np.uint8]


class PixelCache:
    """Images that have been read, up to a number of bytes. The first ones stay: every walk begins with them."""

    def __init__(self, max_bytes: int):
        self.images: dict[int, Pixels] = {}
        self.left = max_bytes
        self._lock = threading.Lock()

    def keep(self, row: int, image: Pixels) -> Pixels:
        image.setflags(write=False)  # others will see it too
        with self._lock:
            if row not in self.images and image.nbytes <= self.left:
                self.left -= image.nbytes
                self.images[row] = image
        return image


class FeatureCache:
    """Numbers that were computed about images, one row per image, by the name of what computed them."""

    def __init__(self, n: int):
        self.n = n
        self._rows: dict[str, Array] = {}
        self._known: dict[str, NDArray[np.bool_]] = {}
        self._lock = threading.RLock()
        self._versions: dict[str, FeatureCache] = {}

    def about(self, version: str) -> FeatureCache:
        """FeatureCache about another version of the same images."""
        with self._lock:
            return self._versions.setdefault(version, FeatureCache(self.n))

    def rows(self, name: str, places: Array, compute: Callable[[Any], Array]) -> Array:
        """The rows of the images at these places; `compute` gives those of the positions that are missing."""
        with self._lock:
            known = self._known.setdefault(name, np.zeros(self.n, dtype=bool))
            missing = np.flatnonzero(~known[places])
            if len(missing):
                _, first = np.unique(places[missing], return_index=True)
                missing = missing[np.sort(first)]
                found = np.asarray(compute(missing))
                if name not in self._rows:
                    self._rows[name] = np.empty((self.n, *found.shape[1:]), dtype=found.dtype)
                self._rows[name][places[missing]] = found
                known[places[missing]] = True
            elif name not in self._rows:  # no image was asked for
                return np.asarray(compute(missing))
            return self._rows[name][places]
