"""Photographs of frost, from the package torch-uncertainty-assets or from the user's folder."""

from __future__ import annotations

import math
import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np

from memclf.exceptions import ImageError, MissingExtraError
from memclf.vision.files import IMAGE_SUFFIXES, Pixels, read_image

ROOM = 1.1  # a texture is at least so much larger than the image, to leave room for a random crop
CACHED_PIXELS = 4_000_000

# ImageNet-C has six files and draws from the first five, of which the second and third are the same photograph.
# The package holds that photograph once, and as its fifth the one that ImageNet-C never draws.
PACKAGE_CHANCES = {"frost1": 0.2, "frost2": 0.4, "frost3": 0.2, "frost4": 0.2}
ORIGINALS = {f"frost{number}" for number in range(1, 7)}


def frost_crop(
    rng: np.random.Generator,
    height: int,
    width: int,
    *,
    scale: float | None = None,
    side: int | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Pixels:
    """A random piece of a random texture, which is first scaled, or stretched to a square."""
    files, chances = texture_files(folder)
    file = files[int(rng.choice(len(files), p=chances))]
    tall, wide = _size(_texture(file).shape, height, width, scale, side)
    make = _resize if tall * wide <= CACHED_PIXELS else _resize.__wrapped__  # the cache is not for huge images
    texture = make(file, tall, wide)
    top, left = int(rng.integers(tall - height)), int(rng.integers(wide - width))
    return texture[top : top + height, left : left + width]


def texture_files(folder: str | os.PathLike[str] | None = None) -> tuple[list[Path], list[float]]:
    """The photographs to draw from, and the chance of each."""
    return _package_files() if folder is None else _folder_files(Path(folder))


def _size(shape: tuple[int, ...], height: int, width: int, scale: float | None, side: int | None) -> tuple[int, int]:
    tall, wide = shape[:2]
    if side is not None:
        side = max(side, math.ceil(ROOM * max(height, width)))
        return side, side
    factor = max(1.0 if scale is None else scale, ROOM * height / tall, ROOM * width / wide)
    return max(height + 1, math.ceil(tall * factor)), max(width + 1, math.ceil(wide * factor))


def _package_files() -> tuple[list[Path], list[float]]:
    found = find_spec("torch_uncertainty_assets")  # its files are data: nothing of it is imported
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError(
            'frost needs photographs of frost: pip install "memclf[corruptions]", or pass texture_dir with a folder'
        )
    folder = Path(next(iter(found.submodule_search_locations))) / "frost"
    return [folder / f"{name}.jpg" for name in PACKAGE_CHANCES], list(PACKAGE_CHANCES.values())


def _folder_files(folder: Path) -> tuple[list[Path], list[float]]:
    """All images of a folder, equally likely.

    Of ImageNet-C's own six, the five that it draws from.
    """
    if not folder.is_dir():
        raise ImageError(f"textures of frost must be images in a folder, and there is no folder {folder}")
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in IMAGE_SUFFIXES)
    if {path.stem for path in files} == ORIGINALS:
        files = [path for path in files if path.stem != "frost6"]
    if not files:
        raise ImageError(f"the folder {folder} holds no images (.jpg, .png ...), which frost needs as textures")
    return files, [1 / len(files)] * len(files)


@lru_cache(maxsize=16)
def _texture(file: Path) -> Pixels:
    return read_image(file)


@lru_cache(maxsize=16)
def _resize(file: Path, tall: int, wide: int) -> Pixels:
    texture = _texture(file)
    smooth = cv2.INTER_LINEAR if tall < texture.shape[0] else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(texture, (wide, tall), interpolation=smooth))
