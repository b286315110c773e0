"""Pictures for pages: thumbnails that are made once, and copies of a moderate size."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from memclf.exceptions import ImageError
from memclf.vision.files import Pixels

SMALL, LARGE = 176, 1024  # pixels of the longer side
QUALITY = 84
KEPT = "no-cache"  # of pictures by row: another file may have the row when the folder has changed


def shrink(image: Pixels, side: int) -> Pixels:
    """The picture with a longer side of at most so many pixels."""
    height, width = image.shape[:2]
    scale = side / max(height, width)
    if scale >= 1:
        return image
    size = max(1, round(width * scale)), max(1, round(height * scale))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))


def as_jpeg(image: Pixels) -> bytes:
    """The content of a JPEG file."""
    good, content = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    if not good:
        raise ImageError("the picture cannot be written as JPEG")
    return bytes(content)


def as_png(image: Pixels) -> bytes:
    """The content of a PNG file: colours, or colours and opacity."""
    swapped = cv2.cvtColor(image, cv2.COLOR_RGBA2BGRA if image.shape[2] == 4 else cv2.COLOR_RGB2BGR)
    good, content = cv2.imencode(".png", swapped, [cv2.IMWRITE_PNG_COMPRESSION, 3])
    if not good:
        raise ImageError("the picture cannot be written as PNG")
    return bytes(content)


class Thumbnails:
    """Small copies of images in a folder, by the image's path, size and time."""

    def __init__(self, folder: Path):
        self.folder = folder

    def get(self, images: Any, row: int) -> bytes:
        """The thumbnail of an image; it is made if it is not there."""
        target = self.path(images.paths[row], row)
        try:
            return target.read_bytes()
        except OSError:
            return self.make(target, images[row])

    def path(self, source: Path | None, row: int) -> Path:
        """Where the thumbnail of an image file is, or will be."""
        about = [str(row)]
        if source is not None:
            found = os.stat(source)
            about = [str(source), str(found.st_size), str(found.st_mtime_ns)]
        name = hashlib.sha256("\n".join(about).encode()).hexdigest()[:24]
        return self.folder / name[:2] / f"{name}.jpg"

    def make(self, target: Path, image: Pixels) -> bytes:
        """Write a thumbnail and return its content."""
        content = as_jpeg(shrink(image, SMALL))
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.{os.getpid()}")
        part.write_bytes(content)
        part.replace(target)
        return content
