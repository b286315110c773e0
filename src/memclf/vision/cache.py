"""What a remembered collection keeps, so that no image is read twice and nothing is computed twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memclf._numbers import Array
from memclf.vision.files import Pixels


class PixelCache:
    """Images that were read, up to a number of bytes. The first ones stay: every pass begins with them."""

    def __init__(self, max_bytes: int):
        self._images: dict[Hashable, Pixels] = {}
        self._bytes_left = max_bytes
        self._lock = threading.Lock()

    def get(self, key: Hashable, read: Callable[[], Pixels]) -> Pixels:
        """The image of this key; it is read if it is not in the cache."""
        image = self._images.get(key)
        if image is not None:
            return image
        image = read()
        image.setflags(write=False)  # several callers will share it
        with self._lock:
            if key not in self._images and image.nbytes <= self._bytes_left:
                self._bytes_left -= image.nbytes
                self._images[key] = image
        return image


class FeatureCache:
    """Numbers that were computed from images: one row per image, under the key of the computation."""

    def __init__(self, n: int):
        self.n = n
        self._rows: dict[Hashable, Array] = {}
        self._known: dict[Hashable, NDArray[np.bool_]] = {}
        self._lock = threading.RLock()

    def rows(self, key: Hashable, places: Array, compute: Callable[[Any], Array]) -> Array:
        """The rows of the images at these places; `compute` gives those of the positions that are missing."""
        with self._lock:
            known = self._known.setdefault(key, np.zeros(self.n, dtype=bool))
            missing = np.flatnonzero(~known[places])
            if len(missing):
                _, first = np.unique(places[missing], return_index=True)
                missing = missing[np.sort(first)]
                found = np.asarray(compute(missing))
                if key not in self._rows:
                    self._rows[key] = np.empty((self.n, *found.shape[1:]), dtype=found.dtype)
                self._rows[key][places[missing]] = found
                known[places[missing]] = True
            elif key not in self._rows:  # there are no places, so the width of a row is still unknown
                return np.asarray(compute(missing))
            return self._rows[key][places]
