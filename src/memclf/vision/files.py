"""One image file, or one array, as uint8 pixels of height x width x 3."""

from __future__ import annotations

import io
import os
import sys
import threading
from numbers import Integral
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from memclf._numbers import Array
from memclf.exceptions import ImageError, MissingExtraError

Pixels = NDArray[np.uint8]

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".gif", ".ppm", ".pgm"})
#: The formats of these suffixes, and all that is tried where a stranger sends an image: others of Pillow run programs.
COMMON_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
MAX_PIXELS = 80_000_000
MAX_BYTES = 256 * 2**20

_pillow = threading.Lock()


def read_image(path: str | os.PathLike[str], *, max_pixels: int = MAX_PIXELS, max_bytes: int = MAX_BYTES) -> Pixels:
    """Read one image file as a uint8 array of height x width x 3, upright; errors name the file.

    A path with a protocol (``s3://bucket/leaf.jpg``) is read through fsspec, which needs the extra `cluster`.
    """
    path = str(path)
    content = _read_url(path, max_bytes) if "://" in path else _read_file(Path(path), max_bytes)
    return decode_image(content, path, max_pixels=max_pixels)


def decode_image(content: bytes, name: str, *, max_pixels: int = MAX_PIXELS, formats: Any = None) -> Pixels:
    """The content of an image file as a uint8 array of height x width x 3; see `read_image`.

    `formats` are the only ones that are tried, as `COMMON_FORMATS`; None: all that Pillow knows.
    """
    if not content:
        raise ImageError(f"{name} is empty")
    try:
        with _open(content, max_pixels, formats) as image:
            width, height = image.size
            if width * height > max_pixels:
                raise ImageError(f"{name} has {width} x {height} pixels, more than max_pixels={max_pixels:,}")
            upright = ImageOps.exif_transpose(image)
            return _pillow_to_rgb(image if upright is None else upright, image.format, name)
    except ImageError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageError(f"{name} has more pixels than max_pixels={max_pixels:,}: {error}") from error
    except UnidentifiedImageError as error:
        tiff = ", or a TIFF of a kind that Pillow cannot read, such as 32-bit colour: pass it as an array" * (
            name.lower().endswith((".tif", ".tiff"))
        )
        raise ImageError(f"{name} is not an image of a known format{tiff}") from error
    except Exception as error:  # decoders fail in many ways on broken files
        raise ImageError(f"{name} is broken or truncated: {error}") from error


def read_size(content: bytes) -> tuple[int, int] | None:
    """Width and height by the header of an image, undecoded; None if its format is not common."""
    try:
        with _open(content, sys.maxsize, COMMON_FORMATS) as image:
            return image.size
    except Exception:  # decoders fail in many ways on broken files
        return None


def encode_png(image: Pixels) -> bytes:
    """An image as the content of a PNG file."""
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "PNG")
    return stream.getvalue()


def _read_file(path: Path, max_bytes: int) -> bytes:
    try:
        _check_size(path, path.stat().st_size, max_bytes)
        return path.read_bytes()
    except OSError as error:
        raise ImageError(f"{path} cannot be read: {error.strerror or error}") from error


def _read_url(url: str, max_bytes: int) -> bytes:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingExtraError("paths with a protocol need fsspec: pip install 'memclf[cluster]'") from error
    try:
        system, path = url_to_fs(url)
        _check_size(url, int(system.size(path) or 0), max_bytes)
        return bytes(system.cat_file(path))
    except (OSError, ValueError, ImportError) as error:  # nothing there, no such protocol, or its package is missing
        raise ImageError(f"{url} cannot be read: {type(error).__name__}: {error}") from error


def _check_size(path: Any, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise ImageError(f"{path} has {size:,} bytes, more than max_bytes={max_bytes:,}")


def _open(content: bytes, max_pixels: int, formats: Any = None) -> Image.Image:
    """Read the header of an image.

    If `max_pixels` is higher than Pillow's own limit, it replaces it.
    """
    with _pillow:
        usual = Image.MAX_IMAGE_PIXELS
        if usual is not None and max_pixels > usual:
            Image.MAX_IMAGE_PIXELS = max_pixels
        try:
            return Image.open(io.BytesIO(content), formats=formats)
        finally:
            Image.MAX_IMAGE_PIXELS = usual


def _pillow_to_rgb(image: Image.Image, file_format: str | None, name: str) -> Pixels:
    if image.mode.startswith("I;16"):
        return as_rgb((np.asarray(image) >> 8).astype(np.uint8), name)
    if image.mode == "I":  # 32-bit TIFF files, and with an older Pillow 16-bit PNG files
        values = np.asarray(image)
        if values.min() < 0 or values.max() > 65535 or (file_format == "TIFF" and 0 < values.max() < 256):
            raise ImageError(
                f"{name} is a 32-bit image with values from {values.min()} to {values.max()}, and which value is white "
                "is not known. Convert it to 8 or 16 bits, or read it yourself and pass an array of floats from 0 to 1"
            )
        return as_rgb((values >> 8).astype(np.uint8), name)
    if image.mode == "F":
        return as_rgb(np.asarray(image), name)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        return as_rgb(np.asarray(image.convert("RGBA")), name)
    return np.asarray(image if image.mode == "RGB" else image.convert("RGB"))


def as_rgb(image: Any, name: str) -> Pixels:
    """One image given as an array, as uint8 of height x width x 3; errors call it by its name."""
    if isinstance(image, str | os.PathLike):
        raise ImageError(
            f"{name} is the path {os.fspath(image)!r}, and pixels are wanted: memclf.vision.read_image(path) reads them"
        )
    image = np.asarray(image)
    if not image.size:
        raise ImageError(f"{name} has shape {image.shape}; an image has at least one pixel")
    if image.dtype != np.uint8:
        image = _to_bytes(image, name)
    if image.ndim == 3 and image.shape[2] == 1:
        image = image[:, :, 0]
    if image.ndim == 2:
        return np.repeat(image[:, :, None], 3, axis=2)
    if image.ndim != 3 or image.shape[2] not in (3, 4):
        channels_first = image.ndim == 3 and image.shape[0] in (1, 3, 4)
        hint = "; its channels seem to come first: np.moveaxis(image, 0, -1) brings them last" if channels_first else ""
        raise ImageError(
            f"{name} has shape {image.shape}; an image is h x w, h x w x 3 (RGB) or h x w x 4 (RGBA){hint}"
        )
    if image.shape[2] == 3:
        return np.ascontiguousarray(image)
    alpha = image[:, :, 3:].astype(np.uint16)
    return ((image[:, :, :3] * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)  # laid on white


def _to_bytes(image: Array, name: str) -> Pixels:
    if image.dtype == bool:
        return image.astype(np.uint8) * np.uint8(255)
    if image.dtype.kind == "f" and image.min() >= 0 and image.max() <= 1:
        return np.rint(image * 255).astype(np.uint8)
    wanted = "images are uint8 from 0 to 255 or floats from 0 to 1"
    if image.dtype.kind not in "fiu":
        raise ImageError(f"{name} holds {image.dtype}; {wanted}")
    low, high = image.min(), image.max()
    remedy = "divide it by the value of white"
    if low >= 0 and high <= 255:
        remedy = "divide it by 255" if image.dtype.kind == "f" else ".astype(np.uint8) makes it one"
    raise ImageError(f"{name} holds {image.dtype} from {low} to {high}; {wanted}: {remedy}")


def as_height_width(size: Any, name: str, least: int) -> tuple[int, int]:
    """Height and width, from one number of pixels or two; errors call the parameter by its name."""
    pair = tuple(size) if isinstance(size, (tuple, list, np.ndarray)) else (size, size)
    if len(pair) != 2 or any(isinstance(s, bool) or not isinstance(s, Integral) or s < least for s in pair):
        raise ValueError(f"{name} must be a number of pixels or (height, width), at least {least}; got {size!r}")
    return int(pair[0]), int(pair[1])


def resize(image: Pixels, size: tuple[int, int]) -> Pixels:
    """The image at this height and width, whatever its proportions."""
    if image.shape[:2] == size:
        return image
    smaller = image.shape[0] >= size[0] and image.shape[1] >= size[1]
    way = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
    return cv2.resize(image, size[::-1], interpolation=way)  # type: ignore[return-value]


def window(image: Pixels, left: int, top: int, side: int) -> Pixels:
    """Cut a square from an image; beyond the edge the image is mirrored."""
    height, width = image.shape[:2]
    beyond = (max(0, -top), max(0, top + side - height), max(0, -left), max(0, left + side - width))
    framed = cv2.copyMakeBorder(image, *beyond, cv2.BORDER_REFLECT_101) if any(beyond) else image
    top, left = top + beyond[0], left + beyond[2]
    return np.ascontiguousarray(framed[top : top + side, left : left + side], dtype=np.uint8)
