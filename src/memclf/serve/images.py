"""Images that a client sends: checked by their headers, decoded with their batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from memclf.cases import Collection
from memclf.exceptions import ImageError
from memclf.serve.limits import Limits
from memclf.serve.problems import Problem
from memclf.vision.files import COMMON_FORMATS, Pixels, decode_image, encode_png, read_size
from memclf.vision.images import ImageCollection


class Upload(NamedTuple):
    """An image as it was sent. Files are called by their positions, not by their names."""

    content: bytes
    position: int


class Decoded(NamedTuple):
    """An image of which the pixels are known."""

    pixels: Pixels
    kind: None = None


class Images:
    """Reads images for a fitted classifier of images."""

    def __init__(self, clf: Any, limits: Limits):
        self._limits = limits
        memories = clf.memories_
        self._shape = None if isinstance(memories, Collection) else memories.shape[1:]

    def check(self, content: bytes, position: int) -> tuple[Upload, int]:
        """The image undecoded, and how many pixels it has by its header."""
        size = read_size(content)
        if size is None:
            raise Problem("no-image", f"file {position} must be a {', '.join(COMMON_FORMATS)} file")
        width, height = size
        if width * height > self._limits.pixels:
            raise Problem(
                "many-pixels",
                f"file {position} has {width} x {height} pixels, more than {self._limits.pixels:,}; send a smaller one",
            )
        if self._shape is not None and (height, width) != self._shape[:2]:
            wanted = f"{self._shape[1]} x {self._shape[0]}"
            raise Problem("bad-case", f"file {position} has {width} x {height} pixels; this model takes {wanted} only")
        return Upload(content, position), width * height

    def load(self, upload: Upload) -> Decoded:
        """The pixels of an image."""
        try:
            name = f"file {upload.position}"
            return Decoded(decode_image(upload.content, name, max_pixels=self._limits.pixels, formats=COMMON_FORMATS))
        except ImageError as error:
            raise Problem("bad-case", str(error)) from None

    def take(self, images: list[Decoded]) -> Any:
        """Images as the classifier takes them."""
        pixels = [each.pixels for each in images]
        return ImageCollection(pixels) if self._shape is None else np.stack(pixels)

    def show(self, image: Any) -> bytes:
        """A memory as the content of a PNG file."""
        return encode_png(np.asarray(image))
