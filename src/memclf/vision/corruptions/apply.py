"""`corrupt`: one image under one condition."""

from __future__ import annotations

import operator
import os
from difflib import get_close_matches
from typing import Any

import numpy as np

from memclf.exceptions import ImageError
from memclf.vision import draws
from memclf.vision.corruptions import blur, digital, noise, table, weather  # noqa: F401 (they register)
from memclf.vision.corruptions.registry import registered
from memclf.vision.files import Pixels

#: Every corruption with its label, family and function, by name.
REGISTRY = registered()
#: The names, in the order of ImageNet-C: its fifteen, then the four it keeps for validation.
CORRUPTIONS = tuple(REGISTRY)
#: The eighteen of the paper, in the order of its tables: all but glass blur.
PAPER = tuple(sorted((n for n, each in REGISTRY.items() if each.paper_row), key=lambda n: REGISTRY[n].paper_row or 0))
#: The corruptions of the paper's acne tables: fifteen, of which the table of feature augmentation lacks snow.
ACNE = tuple(name for name in PAPER if name not in ("fog", "frost", "spatter"))
#: Names for several corruptions, which a study takes in place of them.
SETS = {"paper18": PAPER, "acne15": ACNE, "acne14": tuple(name for name in ACNE if name != "snow")}
PRESETS = tuple(table.table())
SEVERITIES = table.SEVERITIES
MIN_SIDE = 32


def corrupt(
    image: Any,
    name: str,
    severity: int,
    seed: int = 0,
    key: draws.Key | None = None,
    preset: str = "imagenet-c",
    *,
    texture_dir: str | os.PathLike[str] | None = None,
) -> Pixels:
    """One image under one corruption.

    Parameters
    ----------
    image : uint8 array of height x width x 3 (RGB), or height x width (grey)
        At least 32 pixels a side. It is not changed.
    name : str
        One of `CORRUPTIONS`.
    severity : int
        1 to 5.
    seed : int
        For another draw of the whole data set.
    key : str, int, bytes or None
        What this image is called. The random draw depends on seed, key, corruption and severity, and on nothing
        else. None: the image's own pixels are its key, so that the same image always gets the same draw.
    preset : str
        Which table of severities, one of `PRESETS`; see the guide.
    texture_dir : path or None
        A folder with photographs of frost, instead of those that come with the extra `corruptions`.

    Returns
    -------
    uint8 array of the same shape.

    Examples
    --------
    >>> image = np.full((64, 64, 3), 128, dtype=np.uint8)
    >>> corrupt(image, "brightness", 3)[0, 0]
    array([204, 204, 204], dtype=uint8)
    >>> noisy = corrupt(image, "gaussian_noise", 1, key="leaf/900.jpg")
    >>> np.array_equal(noisy, corrupt(image, "gaussian_noise", 1, key="leaf/900.jpg"))
    True
    """
    severity = check(name, severity, preset)
    pixels = _check_image(image)
    options: dict[str, Any] = dict(table.parameters(preset, name, severity))
    corruption = REGISTRY[name]
    if corruption.takes("texture_dir"):
        options["texture_dir"] = texture_dir
    if corruption.random:
        options["rng"] = draws.generator(seed, key, name, severity, pixels)
    return corruption.function(pixels, **options)


def check(name: str, severity: int, preset: str = "imagenet-c") -> int:
    """The severity as an int; an error if there is no such corruption, severity or preset."""
    _check_known("corruption", name, CORRUPTIONS)
    _check_known("preset", preset, PRESETS)
    try:
        whole = operator.index(severity)
    except TypeError:
        whole = 0
    if whole not in SEVERITIES or isinstance(severity, bool):
        raise ValueError(f"severity must be 1, 2, 3, 4 or 5, got {severity!r}")
    return whole


def _check_known(what: str, name: str, names: tuple[str, ...]) -> None:
    if name in names:
        return
    plain = str(name).lower().replace(" ", "_")
    close = [known for known in names if plain and known.startswith(plain)]
    close = close or get_close_matches(plain, names, n=1) or get_close_matches(plain.replace("_", "-"), names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"there is no {what} {name!r}.{hint} There are: {', '.join(names)}")


def _check_image(image: Any) -> Pixels:
    if isinstance(image, (str, os.PathLike)):
        raise ImageError(f"an image to corrupt must be an array; read the file first: read_image({os.fspath(image)!r})")
    pixels = np.asarray(image)
    if pixels.dtype != np.uint8:
        raise ImageError(f"an image to corrupt must be an array of uint8 from 0 to 255, got {pixels.dtype}")
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] != 3):
        raise ImageError(f"an image to corrupt must be h x w x 3 (RGB) or h x w (grey), got shape {pixels.shape}")
    if min(pixels.shape[:2]) < MIN_SIDE:
        raise ImageError(
            f"an image to corrupt must be at least {MIN_SIDE} pixels a side, got shape {pixels.shape}. Enlarge it, or "
            "corrupt it at another size: at=(height, width) in ImageCollection.corrupted or evaluate"
        )
    return np.ascontiguousarray(pixels)
