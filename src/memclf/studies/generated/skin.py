"""Generated photographs of skin with acne lesions of known class, box and outline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memclf._numbers import Array
from memclf.studies.generated._common import Drawn, generator, indices, mark, write_csv
from memclf.studies.generated.skin_drawing import (
    KINDS,
    LENGTH,
    WIDEST,
    Lesion,
    draw_lesion,
    draw_photograph,
    window,
)

if TYPE_CHECKING:
    from memclf.vision import ImageCollection

CLASSES = tuple(KINDS)
FREQUENCIES = (0.4, 0.38, 0.22)
LESIONS = (8, 30)  # on a face
COLUMNS = ("file", "split", "label", "face", "x0", "y0", "x1", "y1")


def skin_photographs(
    n_faces: int, *, size: int = LENGTH, seed: int = 0
) -> tuple[ImageCollection, list[dict[str, Any]]]:
    """Photographs of the first `n_faces` faces, one each, and the lesions on them.

    Skin of all tones from near by, unevenly lit, with 8 to 30 lesions: comedones, papules and pustules, nodules.
    Classes differ in size, redness and glare, and overlap in all of them. Photographs are drawn when they are looked
    at; their keys are "face-000" and so on.

    Parameters
    ----------
    n_faces : int
        How many.
    size : int
        Pixels of a side, at least 128.
    seed : int
        Another seed gives other faces.

    Returns
    -------
    photographs : ImageCollection
        Without labels.
    lesions : list of dict
        `file` (the photograph's key), `number` (on this photograph, from 1: its value in `number_lesions`), `label`,
        `face` (with the seed, since sizes are relative to those of the same face), and the box `x0`, `y0`, `x1`, `y1`
        in pixels of the photograph, x1 and y1 excluded.

    Examples
    --------
    >>> photographs, lesions = skin_photographs(3)
    >>> photographs[0].shape, photographs.key(2), len(lesions)
    ((512, 512, 3), 'face-002', 62)
    """
    from memclf.vision import ImageCollection

    _check_size(size)
    numbers = indices(n_faces, seed)
    photographs = ImageCollection(
        [Drawn(skin_photograph, size, seed, index) for index in numbers],
        keys=[_name(index) for index in numbers],
    )
    return photographs, [lesion for index in numbers for lesion in _listed(size, seed, index)]


def skin_photograph(size: int, seed: int, index: int) -> Array:
    """One photograph, size x size x 3."""
    lesions, rng = plan(size, seed, index)
    return draw_photograph(rng, size, lesions)


def plan(size: int, seed: int, index: int) -> tuple[list[Lesion], np.random.Generator]:
    """The lesions of a face, and the random generator to draw it with."""
    rng = generator(seed, index)
    mix = rng.dirichlet(np.array(FREQUENCIES) * 9)  # every face has its own
    lesions: list[Lesion] = []
    for label in rng.choice(CLASSES, size=rng.integers(LESIONS[0], LESIONS[1] + 1), p=mix):
        for _ in range(100):  # until it is beside the others; one for which there is no room is left out
            lesion = draw_lesion(rng, str(label), size)
            if all(_apart(lesion, other) for other in lesions):
                lesions.append(lesion)
                break
    return lesions, rng


def write_skin(
    folder: str | os.PathLike[str],
    n_train: int,
    n_test: int,
    *,
    size: int = LENGTH,
    seed: int = 0,
    masks: bool = False,
) -> Path:
    """Write photographs in the layout that the acne study reads, and return the folder.

    ``lesions.csv`` (file, split, label, face, x0, y0, x1, y1: one row per lesion) and ``photographs/FACE.jpg``. A
    face is in one split only. With `masks`, also ``masks/FACE.png``, lesions white, and a column `mask`.
    """
    photographs, lesions = skin_photographs(n_train + n_test, size=size, seed=seed)
    from PIL import Image

    folder = Path(folder)
    for name in ("photographs", "masks") if masks else ("photographs",):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for index, photograph in enumerate(photographs):
        Image.fromarray(photograph).save(folder / "photographs" / f"{_name(index)}.jpg", quality=95)
        if masks:
            shown = number_lesions(size, plan(size, seed, index)[0]) > 0
            Image.fromarray(shown.astype(np.uint8) * 255).save(folder / "masks" / f"{_name(index)}.png")
    trained = {_name(index) for index in range(n_train)}
    rows = [
        {
            **lesion,
            "file": f"photographs/{lesion['file']}.jpg",
            "split": "train" if lesion["file"] in trained else "test",
            "mask": f"masks/{lesion['file']}.png",
        }
        for lesion in lesions
    ]
    write_csv(folder / "lesions.csv", rows, (*COLUMNS, "mask") if masks else COLUMNS)
    mark(folder)
    return folder


def _name(index: int) -> str:
    return f"face-{index:03d}"


def _apart(one: Lesion, other: Lesion) -> bool:
    """Whether two outlines cannot touch, even where they reach farthest."""
    return (one.x - other.x) ** 2 + (one.y - other.y) ** 2 > (WIDEST * (one.radius + other.radius)) ** 2


def number_lesions(size: int, lesions: list[Lesion]) -> Array:
    """An array size x size: 0 for skin, else the number of the lesion, from 1."""
    numbered = np.zeros((size, size), dtype=np.uint8)
    for number, lesion in enumerate(lesions, start=1):
        near = window(lesion, size, WIDEST)
        numbered[near.place][near.outward <= 1] = number
    return numbered


def _listed(size: int, seed: int, index: int) -> list[dict[str, Any]]:
    lesions, _ = plan(size, seed, index)
    numbered, listed = number_lesions(size, lesions), []
    for number, lesion in enumerate(lesions, start=1):
        down, across = np.nonzero(numbered == number)
        box = {"x0": across.min(), "y0": down.min(), "x1": across.max() + 1, "y1": down.max() + 1}
        listed.append(
            {"file": _name(index), "number": number, "label": lesion.label, "face": f"{seed}-{index:03d}"}
            | {side: int(value) for side, value in box.items()}
        )
    return listed


def _check_size(size: int) -> None:
    if size < 128:
        raise ValueError(f"lesions need photographs of at least 128 x 128 pixels, got {size}")
