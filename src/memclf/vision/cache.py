"""The pixels that a remembered collection keeps, and the digests of its images."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memclf.cases.digest import digest_content
from memclf.vision.files import Pixels


class PixelCache:
    """Images that were read, up to a number of bytes.

    The first ones stay, since every pass begins with them.
    """

    def __init__(self, max_bytes: int):
        self.max_bytes = max_bytes
        self._images: dict[Hashable, Pixels] = {}
        self._bytes_left = max_bytes
        self._lock = threading.Lock()

    def __reduce__(self) -> Any:  # pixels stay where they are
        return PixelCache, (self.max_bytes,)

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


def digest_image(source: Any, changes: Sequence[Any], key: str | None, info: Any) -> str | None:
    """A digest of what an image is made of: bytes of its file or pixels, changes, and info.

    None if the file cannot be read, or if `info` holds objects without a content of their own.
    """
    try:
        content = source.read_bytes() if isinstance(source, Path) else np.asarray(source)
    except OSError:  # reading the image raises a clear error
        return None
    parts = ["image", content, [repr(change) for change in changes], key if changes else None, info]
    digest, others = digest_content(parts)
    return None if others else digest
