"""The pixels that a remembered collection keeps, so that no image is read twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable

from memclf.vision.files import Pixels


class PixelCache:
    """Images that were read, up to a number of bytes.

    The first ones stay, since every pass begins with them.
    """

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
