"""Paintings on disk: label images that say which pixel shows which region.

A painting is an image of whole numbers, of the size of its picture: 0 is not painted, k is the k-th region.
"""

from __future__ import annotations

import csv
import os
import re
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from memclf._numbers import Array
from memclf.exceptions import ImageError
from memclf.vision.features.outline import mask_colours
from memclf.vision.files import IMAGE_SUFFIXES
from memclf.vision.images import ImageCollection

Painting = NDArray[np.integer[Any]]

LEGEND = "legend.csv"
LATER = re.compile(r"(.+)\+(\d+)")  # leaf7+2.png was painted on the picture leaf7 after leaf7.png
COLOUR = re.compile(r"#[0-9a-f]{6}")
CLEAR = -1  # stands for a transparent pixel, which is not painted
FEW = 6  # colours that a message names


def read_paintings(
    folder: str | os.PathLike[str],
    regions: Sequence[str],
    *,
    images: str | os.PathLike[str] | None = None,
    legend: str | os.PathLike[str] | Mapping[Any, str] | None = None,
    first: int | None = None,
) -> tuple[ImageCollection, list[Painting]]:
    """Painted pictures of a folder, and their paintings, for `TaughtRegions.fit`.

    Parameters
    ----------
    folder : path
        Holds PNG files of whole numbers (indexed or grey) or colours, named as their pictures are; or two folders,
        `images` and `masks`. Where there is `leaf7+2.png` beside `leaf7.png`, it is painted over it.
    regions : list or mapping of names
        As given to `TaughtRegions`.
    images : path
        The folder of the pictures, unless it is `images` inside `folder`.
    legend : path or mapping
        Which value (2) or colour ("#ff0000") is which region, as a mapping or a CSV file with lines such as
        ``#ff0000,symptom``. What stands for no region maps to nothing: ``#000000,``. By default `legend.csv` in
        the folder, if there is one; without a legend, colours are refused.
    first : int
        Without a legend, the number that stands for the first region. By default 0 where the folder holds `images`
        and `masks`, whose every pixel has a region, and otherwise 1, with 0 for what was not painted.

    Returns
    -------
    ImageCollection, list of arrays
        In the order of the names of the files.
    """
    folder = Path(folder)
    whole = (folder / "masks").is_dir()
    labels = folder / "masks" if whole else folder
    pictures = _pictures(Path(images) if images is not None else folder / "images")
    meaning = _read_legend(legend, folder, list(regions))
    first = first if first is not None else 0 if whole else 1
    found: dict[str, list[tuple[int, Path]]] = {}
    for path in sorted(labels.glob("*.png")) if labels.is_dir() else []:
        later = LATER.fullmatch(path.stem)
        name, order = (later[1], int(later[2])) if later and path.stem not in pictures else (path.stem, 1)
        if name not in pictures:
            raise ImageError(f"{path} has no picture: there is no image file {name} in {images or folder / 'images'}")
        found.setdefault(name, []).append((order, path))
    if not found:
        raise ImageError(f"{labels} holds no paintings: they are PNG files named as their pictures are")
    names = sorted(found, key=_number_or_name)
    paintings = []
    for name in names:
        layers = [_read_painting(path, list(regions), meaning, first) for _, path in sorted(found[name])]
        painting = layers[0]
        for (_, path), layer in zip(sorted(found[name])[1:], layers[1:], strict=True):
            if layer.shape != painting.shape:
                raise ImageError(f"{path} has shape {layer.shape}, the painting before it {painting.shape}")
            painting = np.where(layer > 0, layer, painting)
        paintings.append(painting)
    return ImageCollection([pictures[name] for name in names]), paintings


def write_painting(folder: str | os.PathLike[str], name: str, painting: Painting) -> Path:
    """Add a painting to a folder, as an indexed PNG file; nothing that is there is changed.

    If the picture was painted before, the new file stands beside the old one (`leaf7+2.png`) and is painted over it
    when both are read. The file appears whole or not at all.
    """
    painting = np.asarray(painting)
    if painting.ndim != 2 or painting.dtype.kind not in "iu" or painting.min() < 0 or painting.max() > 255:
        raise ImageError(
            f"the painting of {name!r} has type {painting.dtype} and shape {painting.shape}; wanted are whole numbers "
            "from 0 to 255, height x width"
        )
    if Path(name).name != name:
        raise ImageError(f"a painting has the name of its picture, without folders; got {name!r}")
    name = Path(name).stem if Path(name).suffix.lower() in IMAGE_SUFFIXES else name
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(painting.astype(np.uint8)).convert("P")
    image.putpalette([0, 0, 0, *(value for colour in mask_colours(255) for value in colour)])
    part = folder / f".{uuid.uuid4().hex}.part"
    image.save(part, format="PNG")
    try:
        for order in range(1, 10**6):
            target = folder / (f"{name}.png" if order == 1 else f"{name}+{order}.png")
            try:
                os.link(part, target)  # fails if the name is taken, unlike a replacement
            except FileExistsError:
                continue
            return target
    finally:
        part.unlink()
    raise ImageError(f"{folder} holds a million paintings of {name!r}")


def _number_or_name(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (10**18, name)


def _pictures(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise ImageError(f"there is no folder {folder}; give the folder of the pictures as images=")
    return {path.stem: path for path in sorted(folder.iterdir()) if path.suffix.lower() in IMAGE_SUFFIXES}


def _read_legend(legend: Any, folder: Path, regions: list[str]) -> dict[str, int] | None:
    """What values and colours mean: "2" or "#ff0000" to the position of a region, from 1, or 0."""
    if legend is None:
        if not (folder / LEGEND).is_file():
            return None
        legend = folder / LEGEND
    if isinstance(legend, Mapping):
        pairs, source = [(str(value), region) for value, region in legend.items()], "the legend"
    else:
        source = str(legend)
        if not Path(legend).is_file():
            raise ImageError(f"there is no legend {source}; it is a file with lines such as #ff0000,symptom")
        with Path(legend).open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.reader(file) if row]
        if wrong := [row for row in rows if len(row) != 2]:
            raise ImageError(f"{source} has a line {','.join(wrong[0])!r}; wanted are lines such as #ff0000,symptom")
        pairs = [(value.strip(), region.strip()) for value, region in rows]
    meaning = {}
    for value, region in pairs:
        value = value.lower()
        if not (value.isdecimal() or COLOUR.fullmatch(value)):
            raise ImageError(f"{source} has {value!r}; wanted is a whole number or a colour such as #ff0000")
        if region and region not in regions:
            raise ImageError(f"{source} has the region {region!r}; the regions are {', '.join(map(repr, regions))}")
        meaning[value] = regions.index(region) + 1 if region else 0
    return meaning


def _read_painting(path: Path, regions: list[str], meaning: dict[str, int] | None, first: int) -> Painting:
    try:
        with Image.open(path) as image:
            by_colour = meaning is not None and any(value.startswith("#") for value in meaning)
            if by_colour:
                values = _read_colours(image)
            elif image.mode in ("P", "L", "1", "I", "I;16"):
                values = np.asarray(image).astype(np.int64)
            else:
                raise ImageError(_ask_for_legend(path, _read_colours(image), regions))
    except ImageError:
        raise
    except Exception as error:  # decoders fail in many ways on broken files
        raise ImageError(f"{path} cannot be read as a PNG file: {error}") from error
    kinds, where = np.unique(values, return_inverse=True)
    if by_colour and meaning is not None:
        meaning = {**meaning, _name_colour(CLEAR): 0}
    if meaning is None:
        places = np.where(kinds < first, 0, kinds - first + 1)
        known = (places <= len(regions)) & (kinds >= min(first, 0))
        wanted = f"{first} to {first + len(regions) - 1}" + (" and 0 for what was not painted" if first > 0 else "")
    else:
        keys = [_name_colour(kind) if by_colour else str(kind) for kind in kinds]
        places = np.array([meaning.get(key, 0) for key in keys])
        known = np.array([key in meaning for key in keys])
        wanted = ", ".join(key for key in meaning if key != _name_colour(CLEAR))
    if not known.all():
        strange = [_name_colour(kind) if by_colour else str(kind) for kind in kinds[~known][:5]]
        kind = "colours" if by_colour else "values"
        hint = "; brushes must have hard edges, since soft ones mix colours" if by_colour and len(kinds) > FEW else ""
        raise ImageError(f"{path} holds the {kind} {', '.join(strange)}, which are no region; known are {wanted}{hint}")
    return places[where].reshape(values.shape).astype(np.int64)


def _read_colours(image: Image.Image) -> Array:
    """The colour of each pixel as one number; `CLEAR` where a layer is transparent."""
    pixels = np.asarray(image.convert("RGBA")).astype(np.int64)
    return np.where(pixels[:, :, 3] < 128, CLEAR, pixels[:, :, :3] @ (65536, 256, 1))


def _name_colour(number: int) -> str:
    return "transparent" if number == CLEAR else f"#{number:06x}"


def _ask_for_legend(path: Path, values: Array, regions: list[str]) -> str:
    kinds, counts = np.unique(values[values != CLEAR], return_counts=True)
    most = np.argsort(-counts, kind="stable")[:FEW]
    shown = [f"{_name_colour(kinds[k])} ({counts[k]:,} pixels)" for k in most]
    first = _name_colour(kinds[most[-1]]) if len(most) else "#ff0000"
    more = f" and {len(kinds) - FEW} more" if len(kinds) > FEW else ""
    return (
        f"{path} is painted in colours: {', '.join(shown) or 'none'}{more}. Say which colour is which region, as in "
        f'legend={{"{first}": "{regions[-1]}", ...}}, or in a file {LEGEND} beside it with lines such as '
        f"{first},{regions[-1]}"
    )


def are_labels(y: Any) -> bool:
    """Whether there is one label per image, and neither outlines nor paintings."""
    if len(y) and all(isinstance(entry, str | os.PathLike) and _names_image(entry) for entry in y):
        raise ValueError(
            "outlines come as arrays, and these are names of files; read them first: "
            "[np.asarray(PIL.Image.open(path)) for path in paths]"
        )
    return not isinstance(y, ImageCollection) and len(y) > 0 and all(np.ndim(entry) == 0 for entry in y)


def _names_image(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() in IMAGE_SUFFIXES


def check_paintings(
    paintings: Any, images: ImageCollection, regions: Sequence[str], *, first: int = 1
) -> list[NDArray[np.uint8]]:
    """Paintings as arrays of whole numbers, one for each image; errors name the image.

    They come back with 1 for the first region. `first` is the number that stands for it in what is given: 0 in
    outlines, where every pixel has a region.
    """
    if len(paintings) != len(images):
        raise ValueError(f"{len(images)} images came with {len(paintings)} paintings; wanted is one for each image")
    if not len(images):
        raise ValueError("there are no paintings: fit needs at least one painted image")
    last = first + len(regions) - 1
    checked, painted = [], np.zeros(last + 1, dtype=bool)
    for position, entry in enumerate(paintings):
        path = images.paths[position]
        name = f"image {position}" + (f" ({path})" if path else "")
        painting = np.asarray(entry)
        if painting.ndim == 3 and (painting == painting[:, :, :1]).all():
            painting = painting[:, :, 0]  # label images are read as grey on three channels
        shape = images[position].shape[:2]
        if painting.ndim == 3 and painting.shape[:2] == shape and painting.shape[2] in (3, 4):
            raise ImageError(
                f"the painting of {name} is a colour image, and nothing says which colour is which region. A painting "
                f"has one whole number per pixel, 0 to {last}; read_paintings(folder, regions, legend=...) "
                "makes it from files"
            )
        if painting.shape != shape:
            raise ImageError(f"the painting of {name} has shape {painting.shape}, the image has {shape}")
        kinds = np.unique(painting)
        if not np.isin(kinds, np.arange(last + 1)).all():
            strange = [kind for kind in kinds.tolist() if kind not in range(last + 1)]
            unpainted = "0 for what is not painted and " if first else ""
            raise ImageError(
                f"the painting of {name} holds {', '.join(map(str, strange[:5]))}; wanted are {unpainted}{first} to "
                f"{last} for the regions {', '.join(regions)}"
            )
        painted[kinds.astype(int)] = True
        checked.append((painting + (1 - first)).astype(np.uint8))
    missing = [name for name, found in zip(regions, painted[first:], strict=True) if not found]
    if missing:
        raise ValueError(
            f"nothing was painted as {' or '.join(map(repr, missing))}; paint at least one stroke of each region "
            f"(the numbers are {', '.join(f'{k} {name}' for k, name in enumerate(regions, first))})"
        )
    return checked


def check_ranges(shares: Any, n: int) -> None:
    """Refuse what is no range of shares for each of `n` images; errors name the range."""
    if len(shares) != n:
        raise ValueError(f"{n} images came with {len(shares)} ranges of shares; wanted is one for each image")
    for position, given in enumerate(shares):
        if np.shape(given) != (2,) or not 0 <= given[0] <= given[1] <= 1:
            raise ValueError(f"shares[{position}] is {given!r}; wanted are two numbers from 0 to 1, in order")
