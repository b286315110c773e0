"""Generated pictures of coffee leaves with known severity."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memclf._numbers import Array
from memclf.studies.generated._common import Drawn, class_of, generator, indices, mark, write_csv
from memclf.studies.generated.leaf_drawing import (
    Shape,
    Symptoms,
    draw_picture,
    draw_shape,
    draw_symptoms,
)

if TYPE_CHECKING:
    from memclf.vision import ImageCollection

SEVERITIES = (274, 966, 345, 106, 56)  # how many leaves of each severity the real data has
LIMITS = (0.001, 0.05, 0.10, 0.15)  # affected shares of the leaf at which the next severity begins
STRESSES = {"miner": 1, "rust": 2, "phoma": 3, "cercospora": 4}  # with their numbers in the real data
STRESS_FREQUENCIES = (0.28, 0.38, 0.2, 0.14)
COLUMNS = ("id", "predominant_stress", *STRESSES, "severity")


class Leaf(NamedTuple):
    """What is known about a leaf before it is drawn."""

    severity: int
    share: float
    stresses: tuple[str, ...]  # the predominant one first; none if the leaf counts as healthy


def leaf_pictures(n: int, *, height: int = 256, width: int = 512, seed: int = 0) -> ImageCollection:
    """The first n pictures of an endless series, labelled with severities 0 to 4.

    One leaf each, on light ground, with spots as leaf miner, rust, phoma and cercospora leave them. Severities are as
    frequent as in the real data and mean the same: less than 0.1 % of the leaf affected, up to 5, 10, 15 %, and more.
    `info` holds the true share. Pictures are drawn when they are looked at.

    Parameters
    ----------
    n : int
        How many.
    height, width : int
        Of a picture, in pixels, at least 32 x 64.
    seed : int
        Another seed gives other pictures.

    Examples
    --------
    >>> leaves = leaf_pictures(4)
    >>> leaves.labels.tolist(), leaves[0].shape, round(leaves.info[0]["share"], 3)
    ([1, 1, 2, 1], (256, 512, 3), 0.015)
    """
    from memclf.vision import ImageCollection

    _check_size(height, width)
    numbers = indices(n, seed)
    planned = [plan(seed, index)[0] for index in numbers]
    return ImageCollection(
        [Drawn(leaf_picture, height, width, seed, index) for index in numbers],
        np.array([leaf.severity for leaf in planned], dtype=np.int64),
        info=[{"share": leaf.share} for leaf in planned],
        keys=[f"leaf-{index:05d}" for index in numbers],
    )


def leaf_paintings(n: int, *, height: int = 256, width: int = 512, seed: int = 0) -> list[Array]:
    """What each pixel of `leaf_pictures` shows: 1 background, 2 leaf, 3 symptom.

    These are paintings without a gap, as `memclf.vision.features.TaughtRegions` takes them.

    Parameters
    ----------
    n, height, width, seed
        As for `leaf_pictures`.

    Examples
    --------
    >>> [painting.shape for painting in leaf_paintings(2, height=64, width=128)]
    [(64, 128), (64, 128)]
    """
    _check_size(height, width)
    return [_leaf_painting(height, width, seed, index) for index in indices(n, seed)]


def _leaf_painting(height: int, width: int, seed: int, index: int) -> Array:
    _, shape, symptoms, mirrored = draw_leaf(height, width, seed, index)
    regions = 1 + shape.leaf.astype(np.uint8) + (symptoms.mask & shape.leaf)
    return np.ascontiguousarray(regions[mirrored])


def leaf_picture(height: int, width: int, seed: int, index: int) -> Array:
    """One picture, height x width x 3."""
    rng, shape, symptoms, mirrored = draw_leaf(height, width, seed, index)
    return np.ascontiguousarray(draw_picture(rng, shape, symptoms)[mirrored])


def plan(seed: int, index: int) -> tuple[Leaf, np.random.Generator]:
    """The facts about a leaf, and the random generator to draw it with."""
    rng = generator(seed, index)
    severity = class_of(seed, index, SEVERITIES)
    if severity == 0:
        share = 0.0 if rng.random() < 0.5 else rng.uniform(0, 0.0008)
    elif severity == 1:  # slight damage is more frequent than nearly 5 %
        share = float(np.exp(rng.uniform(np.log(0.002), np.log(0.049))))
    elif severity == 4:
        share = 0.152 + 0.3 * rng.beta(1, 2.5)
    else:
        share = rng.uniform(LIMITS[severity - 1], LIMITS[severity])
    names = rng.choice(list(STRESSES), size=2 if rng.random() < 0.35 else 1, replace=False, p=STRESS_FREQUENCIES)
    return Leaf(severity, share, tuple(str(name) for name in names)), rng


def write_leaves(
    folder: str | os.PathLike[str],
    n_train: int,
    n_test: int,
    *,
    height: int = 256,
    width: int = 512,
    seed: int = 0,
) -> Path:
    """Write pictures in the layout of the real data and return the folder.

    ``dataset-full.csv`` (id, predominant_stress, one column per stress, severity), ``leaf/ID.jpg``, and
    ``split.csv`` (id, split: train or test).
    """
    pictures = leaf_pictures(n_train + n_test, height=height, width=width, seed=seed)
    from PIL import Image

    folder = Path(folder)
    (folder / "leaf").mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for index, picture in enumerate(pictures):
        leaf, _ = plan(seed, index)
        present = leaf.stresses if leaf.severity else ()
        flags = {name: int(name in present) for name in STRESSES}
        first = STRESSES[present[0]] if present else 0
        split = "train" if index < n_train else "test"
        rows.append({"id": index, "predominant_stress": first, **flags, "severity": leaf.severity, "split": split})
        Image.fromarray(picture).save(folder / "leaf" / f"{index}.jpg", quality=95)
    write_csv(folder / "dataset-full.csv", rows, COLUMNS)
    write_csv(folder / "split.csv", rows, ("id", "split"))
    mark(folder)
    return folder


def draw_leaf(
    height: int, width: int, seed: int, index: int
) -> tuple[np.random.Generator, Shape, Symptoms, tuple[slice, slice]]:
    """Shape, symptoms and mirroring of a leaf, and the generator for drawing the rest."""
    leaf, rng = plan(seed, index)
    shape = draw_shape(rng, height, width)
    mirrored = tuple(slice(None, None, -1 if turn else 1) for turn in rng.random(2) < 0.5)
    return rng, shape, draw_symptoms(rng, shape, leaf.share, leaf.stresses), mirrored  # type: ignore[return-value]


def _check_size(height: int, width: int) -> None:
    if height < 32 or width < 64:
        raise ValueError(f"a leaf needs at least 32 x 64 pixels, got height {height} and width {width}")
