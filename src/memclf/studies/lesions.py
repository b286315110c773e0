"""Acne lesions in a folder: read from lesions.csv, as crops or cut out of photographs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from joblib import Parallel, delayed

from memclf.exceptions import ImageError, StudyError
from memclf.studies.settings import Settings
from memclf.studies.splits import PARTS, check_part, read_rows, read_split
from memclf.studies.study import WORKERS
from memclf.vision import ImageCollection
from memclf.vision.features.lesion import BOX, Box, box_of, cut_box, given_box, marked_lesions
from memclf.vision.files import Pixels, window

MARGIN = 3.0  # side of a crop, in sides of the lesion's box
LEAST = 48  # pixels of a crop's side
KINDS = ("photograph", "crop")
CHECKED = 50  # images, to see whether boxes are small
SMALL = 1 / 6  # of the side of a crop; boxes are a third of it in crops as they are cut here
# Columns that the info of a crop does not repeat: the answer, and what is about the whole photograph.
HIDDEN = ("label", "fine_label", "mask", "box_area", "face_median_box_area")

Lesion = dict[str, Any]


class Lesions(NamedTuple):
    """Training crops, test images (crops or photographs with lesions), and what was left out."""

    train: ImageCollection
    test: ImageCollection
    on_photographs: list[Lesion] | None
    left_out: str


def load_lesions(folder: Path, split: str | None = None) -> Lesions:
    """Training crops and test images, from crops or from photographs.

    Parameters
    ----------
    folder : path
        Holds ``lesions.csv``: `file` (relative to the folder), `split` ("train" or "test"), `label`, `face`, and the
        box `x0`, `y0`, `x1`, `y1` in pixels of that file. `kind` ("photograph" or "crop") says what the files are;
        without it all are photographs if any is listed more than once. More columns (`mask`, `box_area`,
        `face_median_box_area`) are for `LesionFeatures`.
    split : path or None
        Another CSV file with the columns `file` and `split`.
    """
    listing = folder / "lesions.csv"
    rows: list[Lesion] = list(read_rows(listing, ("file", "label")))
    if split is not None:
        parts = read_split(Path(split), "file")
        if unknown := sorted(set(parts) - {row["file"].strip() for row in rows}):
            raise StudyError(f"{split} names {unknown[0]}, which {listing} does not list ({len(unknown)} such files)")
        rows = [{**row, "split": parts.get(row["file"].strip(), "")} for row in rows]
    elif any("split" not in row for row in rows):
        raise StudyError(f"{listing} has no column split (train or test); add it or give --split FILE")
    else:
        rows = [{**row, "split": check_part(row["split"], f"file {row['file']}", listing)} for row in rows]
    for row in rows:
        if row.get("mask"):
            row["mask"] = str(folder / row["mask"])
    parts_of = {name: [row for row in rows if row["split"] == name] for name in PARTS}
    for name, found in parts_of.items():
        if not found:
            raise StudyError(f"{split or listing} names no lesion for {name!r}")
    left_out = _describe_left_out(rows, split)
    for column in ("file", "face"):
        named = [{str(row.get(column) or "") for row in parts_of[name]} for name in ("train", "test")]
        if both := sorted((named[0] & named[1]) - {""}):
            raise StudyError(f"the {column} {both[0]} is in both train and test; keep it in one of them")
    if not _are_photographs(rows, listing):
        return Lesions(_as_crops(folder, parts_of["train"]), _as_crops(folder, parts_of["test"]), None, left_out)
    train = crops(_photographs(folder, parts_of["train"]), parts_of["train"])
    return Lesions(train, _photographs(folder, parts_of["test"]), parts_of["test"], left_out)


def _describe_left_out(rows: list[Lesion], split: str | None) -> str:
    """How many lesions a split file leaves out, in words."""
    left = sum(row["split"] == "" for row in rows)
    return f"{Path(split).name} leaves out {left:,} of the {len(rows):,} lesions" if left and split else ""


def _are_photographs(rows: list[Lesion], listing: Path) -> bool:
    """Whether the files are photographs: as the listing says, or if one is listed twice."""
    kinds = {row.get("kind", "").strip().lower() for row in rows}
    if kinds == {""}:
        return len({row["file"] for row in rows}) < len(rows)
    if len(kinds) > 1 or not kinds <= set(KINDS):
        raise StudyError(f"the column kind of {listing} holds {' or '.join(KINDS)}, the same in all rows")
    return kinds == {"photograph"}


def warn_of_small_boxes(test: ImageCollection) -> str:
    """A warning where crops look like photographs with one lesion each, else ""."""
    boxes = [given_box(row) for row in (test.info if test.info is not None else ())][:CHECKED]
    if not boxes or None in boxes:
        return ""
    sides = []
    for number, (x0, y0, x1, y1) in enumerate(cast(list[Box], boxes)):
        sides.append(max(x1 - x0, y1 - y0) / min(test[number].shape[:2]))
    if np.median(sides) >= SMALL:
        return ""
    return (
        "BOXES ARE SMALL beside the images: if these are photographs with one lesion each, say so in a column kind "
        "(photograph), or networks see whole faces"
    )


def _as_crops(folder: Path, rows: list[Lesion]) -> ImageCollection:
    info = [{name: value for name, value in row.items() if name not in ("label", "fine_label")} for row in rows]
    files = [row["file"] for row in rows]
    return ImageCollection([folder / f for f in files], [row["label"] for row in rows], info=info, keys=files)


def _photographs(folder: Path, rows: list[Lesion]) -> ImageCollection:
    files = list(dict.fromkeys(row["file"] for row in rows))
    return ImageCollection([folder / f for f in files], keys=files)


def crops(photographs: ImageCollection, lesions: list[Lesion]) -> ImageCollection:
    """Cut a square around each lesion, three times as wide as its box.

    The info of a crop holds the box within the crop.
    """
    keys = [photographs.key(i) for i in range(len(photographs))]
    own: dict[Any, list[int]] = {key: [] for key in keys}
    for number, lesion in enumerate(lesions):
        own[lesion["file"]].append(number)
    work = Parallel(n_jobs=WORKERS, prefer="threads")(
        delayed(_crops_of)(photographs, i, [lesions[n] for n in own[key]]) for i, key in enumerate(keys)
    )
    cut = dict(zip([n for key in keys for n in own[key]], [pair for part in work for pair in part], strict=True))
    ordered = [cut[n] for n in range(len(lesions))]
    return ImageCollection(
        [image for image, _ in ordered],
        [lesion["label"] for lesion in lesions],
        info=[info for _, info in ordered],
        keys=[f"{lesion['file']}#{number}" for number, lesion in enumerate(lesions)],
    )


def _crops_of(photographs: ImageCollection, position: int, lesions: list[Lesion]) -> list[tuple[Pixels, Lesion]]:
    photograph = photographs[position]
    cut = []
    for number, lesion in enumerate(lesions):
        try:
            cut.append(_crop(photograph, lesion))
        except (ImageError, StudyError) as error:
            raise StudyError(f"lesion {number + 1} of {lesion['file']}: {error}") from error
    return cut


def _crop(photograph: Pixels, lesion: Lesion) -> tuple[Pixels, Lesion]:
    height, width = photograph.shape[:2]
    mask = marked_lesions(lesion, height, width)
    box = given_box(lesion)
    if box is None and mask is None:
        raise StudyError(f"it has neither a box ({', '.join(BOX)}) nor a mask")
    x0, y0, x1, y1 = box_of(mask) if box is None and mask is not None else cast(Box, box)
    inner = cut_box((x0, y0, x1, y1), height, width)
    side = max(LEAST, round(MARGIN * max(x1 - x0, y1 - y0)))
    left, top = (x0 + x1 - side) // 2, (y0 + y1 - side) // 2
    info = {name: value for name, value in lesion.items() if name not in HIDDEN}
    info |= {"x0": x0 - left, "y0": y0 - top, "x1": x1 - left, "y1": y1 - top, "area": (x1 - x0) * (y1 - y0)}
    if mask is not None:
        info["area"] = int(mask[inner[1] : inner[3], inner[0] : inner[2]].sum())
        info["mask"] = window(mask.astype(np.uint8), left, top, side).astype(bool)
        if not info["area"]:
            raise StudyError(f"its mask shows nothing inside the box {(x0, y0, x1, y1)}")
    return window(photograph, left, top, side), info


def make_crops(
    photographs: ImageCollection, lesions: list[Lesion], settings: Settings
) -> Callable[[str, int], ImageCollection]:
    """A function that corrupts each photograph once, then cuts the lesions out."""

    def make(corruption: str, severity: int) -> ImageCollection:
        return crops(photographs.corrupted(corruption, severity, **settings.making()), lesions)

    return make
