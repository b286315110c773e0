"""`corrupt`: one image under one condition."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import numpy as np

from memclf.exceptions import ImageError
from memclf.vision.corruptions import blur, digital, draws, noise, table, weather
from memclf.vision.corruptions.pixels import Pixels

# Those that draw random numbers, and those that do not.
RANDOM: dict[str, Callable[..., Pixels]] = {
    "gaussian_noise": noise.gaussian_noise,
    "shot_noise": noise.shot_noise,
    "impulse_noise": noise.impulse_noise,
    "speckle_noise": noise.speckle_noise,
    "glass_blur": blur.glass_blur,
    "motion_blur": blur.motion_blur,
    "snow": weather.snow,
    "frost": weather.frost,
    "fog": weather.fog,
    "spatter": weather.spatter,
    "elastic_transform": digital.elastic_transform,
}
FIXED: dict[str, Callable[..., Pixels]] = {
    "defocus_blur": blur.defocus_blur,
    "zoom_blur": blur.zoom_blur,
    "gaussian_blur": blur.gaussian_blur,
    "brightness": digital.brightness,
    "contrast": digital.contrast,
    "pixelate": digital.pixelate,
    "jpeg_compression": digital.jpeg_compression,
    "saturate": digital.saturate,
}

#: The corruptions of ImageNet-C: its fifteen, then the four it keeps for validation.
CORRUPTIONS = (
    "gaussian_noise", "shot_noise", "impulse_noise",
    "defocus_blur", "glass_blur", "motion_blur", "zoom_blur",
    "snow", "frost", "fog", "brightness",
    "contrast", "elastic_transform", "pixelate", "jpeg_compression",
    "speckle_noise", "gaussian_blur", "spatter", "saturate",
)  # fmt: skip

#: The eighteen of the paper, in the order of its tables: all but glass blur.
PAPER = (
    "fog", "brightness", "contrast", "elastic_transform", "pixelate", "jpeg_compression",
    "speckle_noise", "gaussian_blur", "spatter", "saturate", "gaussian_noise", "shot_noise",
    "impulse_noise", "defocus_blur", "zoom_blur", "frost", "motion_blur", "snow",
)  # fmt: skip

PRESETS = ("imagenet-c", "imagenet-c-224", "authors-299", "imagenet-64", "tiny-imagenet-64", "cifar-32")
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
        A folder with photographs of frost, instead of those that come with the extra `vision`.

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
    if name == "frost":
        options["texture_dir"] = texture_dir
    if name in FIXED:
        return FIXED[name](pixels, **options)
    return RANDOM[name](pixels, draws.generator(seed, key, name, severity, pixels), **options)


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
    pixels = np.asarray(image)
    if pixels.dtype != np.uint8:
        raise ImageError(f"an image to corrupt must be an array of uint8 from 0 to 255, got {pixels.dtype}")
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] != 3):
        raise ImageError(f"an image to corrupt must be h x w x 3 (RGB) or h x w (grey), got shape {pixels.shape}")
    if min(pixels.shape[:2]) < MIN_SIDE:
        raise ImageError(f"an image to corrupt must be at least {MIN_SIDE} pixels a side, got shape {pixels.shape}")
    return np.ascontiguousarray(pixels)
