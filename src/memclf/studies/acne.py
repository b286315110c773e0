"""Acne lesions: comedone, papule or pustule, nodule, from crops around lesions or from photographs of faces."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from memclf.exceptions import StudyError
from memclf.similarity import TreeSimilarity
from memclf.studies.generated import skin_photographs
from memclf.studies.settings import Settings
from memclf.studies.study import WORKERS, Study, corrupting, where_corrupted
from memclf.vision import ImageCollection
from memclf.vision.features import LesionFeatures
from memclf.vision.files import Pixels, read_image, window

BOX = ("x0", "y0", "x1", "y1")
MARGIN = 3.0  # side of a crop, in sides of the lesion's box
LEAST = 48  # pixels of a crop's side
HIDDEN = (
    "label",
    "fine_label",
    "mask",
    "box_area",
    "face_median_box_area",
)  # not for a crop's info, or not as they are
CREDIT = (
    "lesion crops from ACNE04 photographs with public boxes (CC BY 4.0, noisy labels; a stand-in for the paper's "
    "private data)"
)

Lesion = dict[str, Any]


def acne_study(settings: Settings) -> Study:
    """Real lesions from a folder with ``lesions.csv``, or generated skin."""
    lesions: list[Lesion] | None
    if settings.data is None:
        if settings.split is not None:
            raise StudyError("--split says which lesions of --data are for testing; give the folder too")
        train = crops(*skin_photographs(settings.n_train, seed=0))
        photographs, lesions = skin_photographs(settings.n_test, seed=1)
        photographs = photographs.loaded(n_jobs=WORKERS)  # drawn once, not for every condition
        source = "generated"
        what = (
            "GENERATED skin with lesions, not photographs: the numbers show that everything works, not how well it "
            "does on skin"
        )
    else:
        train, photographs, lesions = load_lesions(Path(settings.data), settings.split)
        source, what = "real", CREDIT
    test = photographs if lesions is None else crops(photographs, lesions)
    note = f"{what}; {len(train):,} training and {len(test):,} test lesions; {where_corrupted(settings)}"
    if lesions is not None:
        note += "; photographs are corrupted whole, lesions cropped afterwards"

    def features(name: str) -> Any:
        return LesionFeatures()

    def similarity(name: str) -> Any:
        return TreeSimilarity(features=features(name))

    return Study(
        name="acne",
        title="Acne lesions",
        train=train,
        test=test,
        similarity=similarity,
        features=features,
        make=corrupting(test, settings) if lesions is None else _cropping(photographs, lesions, settings),
        source=source,
        note=f"{note}.",
    )


def load_lesions(
    folder: Path, split: str | None = None
) -> tuple[ImageCollection, ImageCollection, list[Lesion] | None]:
    """Training crops, test images and, if those are photographs of several lesions each, the lesions on them.

    Parameters
    ----------
    folder : path
        Holds ``lesions.csv``: `file` (relative to the folder), `split` ("train" or "test"), `label`, `face`, and the
        box `x0`, `y0`, `x1`, `y1` in pixels of that file. A file that is listed more than once is a photograph.
        More columns (`mask`, `box_area`, `face_median_box_area`) are for `LesionFeatures`.
    split : path or None
        Another CSV file with the columns `file` and `split`.
    """
    listing = folder / "lesions.csv"
    rows = _rows_of(listing, ("file", "label"))
    if split is not None:
        parts = {row["file"]: row["split"] for row in _rows_of(Path(split), ("file", "split"))}
        rows = [{**row, "split": parts.get(row["file"], "")} for row in rows]
    elif any("split" not in row for row in rows):
        raise StudyError(f"{listing} has no column split (train or test); add it or give --split FILE")
    for row in rows:
        if row.get("mask"):
            row["mask"] = str(folder / row["mask"])
    parts_of = {name: [row for row in rows if row["split"] == name] for name in ("train", "test")}
    for name, found in parts_of.items():
        if not found:
            raise StudyError(f"{listing} names no lesion for {name!r}")
    whole = len({row["file"] for row in rows}) < len(rows)
    if not whole:
        return _as_crops(folder, parts_of["train"]), _as_crops(folder, parts_of["test"]), None
    train = crops(_photographs(folder, parts_of["train"]), parts_of["train"])
    return train, _photographs(folder, parts_of["test"]), parts_of["test"]


def _rows_of(file: Path, needed: tuple[str, ...]) -> list[Lesion]:
    try:
        with open(file, newline="", encoding="utf-8-sig") as stream:
            rows: list[Lesion] = list(csv.DictReader(stream))
    except OSError as error:
        raise StudyError(f"{file} cannot be read: {error.strerror}") from error
    missing = [name for name in needed if not rows or name not in rows[0]]
    if missing:
        raise StudyError(f"{file} needs the columns {', '.join(needed)}; {', '.join(missing)} is missing")
    return rows


def _as_crops(folder: Path, rows: list[Lesion]) -> ImageCollection:
    info = [{name: value for name, value in row.items() if name not in ("label", "fine_label")} for row in rows]
    files = [row["file"] for row in rows]
    return ImageCollection([folder / f for f in files], [row["label"] for row in rows], info=info, keys=files)


def _photographs(folder: Path, rows: list[Lesion]) -> ImageCollection:
    files = list(dict.fromkeys(row["file"] for row in rows))
    return ImageCollection([folder / f for f in files], keys=files)


def crops(photographs: ImageCollection, lesions: list[Lesion]) -> ImageCollection:
    """A square around each lesion, three times as wide as its box; its info holds the box within the crop."""
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
    return [_crop(photograph, lesion) for lesion in lesions]


def _crop(photograph: Pixels, lesion: Lesion) -> tuple[Pixels, Lesion]:
    mask = _mask(lesion, photograph)
    x0, y0, x1, y1 = _box(lesion, mask)
    side = max(LEAST, round(MARGIN * max(x1 - x0, y1 - y0)))
    left, top = (x0 + x1 - side) // 2, (y0 + y1 - side) // 2
    info = {name: value for name, value in lesion.items() if name not in HIDDEN}
    info |= {"x0": x0 - left, "y0": y0 - top, "x1": x1 - left, "y1": y1 - top}
    info["area"] = (x1 - x0) * (y1 - y0) if mask is None else int(mask[y0:y1, x0:x1].sum())
    if mask is not None:
        info["mask"] = window(mask.astype(np.uint8), left, top, side).astype(bool)
    return window(photograph, left, top, side), info


def _mask(lesion: Lesion, photograph: Pixels) -> NDArray[np.bool_] | None:
    given = lesion.get("mask")
    if given is None or (isinstance(given, str) and not given):
        return None
    mask = read_image(given).max(axis=2) > 127 if isinstance(given, str) else np.asarray(given, dtype=bool)
    if mask.shape != photograph.shape[:2]:
        raise StudyError(f"the mask of {lesion['file']} is {mask.shape}, the photograph {photograph.shape[:2]}")
    return mask


def _box(lesion: Lesion, mask: NDArray[np.bool_] | None) -> tuple[int, int, int, int]:
    if all(str(lesion.get(name, "")).strip() for name in BOX):
        x0, y0, x1, y1 = (round(float(lesion[name])) for name in BOX)
    elif mask is not None and mask.any():
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        x0, y0, x1, y1 = int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
    else:
        raise StudyError(f"a lesion of {lesion['file']} has neither a box ({', '.join(BOX)}) nor a mask")
    if x1 <= x0 or y1 <= y0:
        raise StudyError(f"a lesion of {lesion['file']} has the empty box {(x0, y0, x1, y1)}")
    return x0, y0, x1, y1


def _cropping(
    photographs: ImageCollection, lesions: list[Lesion], settings: Settings
) -> Callable[[str, int], ImageCollection]:
    """Corrupts each photograph once, then cuts the lesions out."""

    def make(corruption: str, severity: int) -> ImageCollection:
        corrupted = photographs.corrupted(corruption, severity, preset=settings.preset, at=settings.corrupt_at)
        return crops(corrupted, lesions)

    return make
