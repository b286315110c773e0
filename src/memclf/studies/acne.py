"""Acne lesions: comedone, papule or pustule, nodule, from crops around lesions or from photographs of faces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from joblib import Parallel, delayed

from memclf.exceptions import ImageError, StudyError
from memclf.similarity import TreeSimilarity
from memclf.studies.generated import skin_photographs
from memclf.studies.generated.drawn import MARK
from memclf.studies.settings import Settings
from memclf.studies.splits import PARTS, checked_part, read_rows, read_split
from memclf.studies.study import WORKERS, Study, corrupting, where_corrupted
from memclf.vision import ImageCollection
from memclf.vision.features import LesionFeatures
from memclf.vision.features.lesion import BOX, Box, box_of, cut_box, given_box, marked_lesions
from memclf.vision.files import Pixels, window

MARGIN = 3.0  # side of a crop, in sides of the lesion's box
LEAST = 48  # pixels of a crop's side
KINDS = ("photograph", "crop")
LOOKED_AT = 50  # images, to see whether boxes are small
SMALL = 1 / 6  # of the side of a crop; boxes are a third of it in crops as they are cut here
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
    left_out = ""
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
        train, photographs, lesions, left_out = load_lesions(Path(settings.data), settings.split)
        about = lesions if lesions is not None else photographs.info
        source, what = whose(
            Path(settings.data), [str(row.get("face")) for row in (about if about is not None else [])]
        )
    test = photographs if lesions is None else crops(photographs, lesions)
    note = f"{what}; {len(train):,} training and {len(test):,} test lesions; {where_corrupted(settings)}"
    note += f"; {left_out}" if left_out else ""
    if lesions is not None:
        note += "; photographs are corrupted whole, lesions cropped afterwards"
    elif narrow := _small_boxes(test):
        note += f"; {narrow}"

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
        graded=None,  # on training folds the paper's three memories did better than one per leaf of a larger tree
        features=features,
        make=corrupting(test, settings) if lesions is None else _cropping(photographs, lesions, settings),
        source=source,
        note=f"{note}.",
        question="Is an acne lesion a comedone, a papule or pustule, or a nodule?",
        published=("acne_data_augmentation", "acne_architectures", "acne_feature_augmentation"),
    )


def whose(folder: Path, faces: list[str]) -> tuple[str, str]:
    """Whether the lesions are real, and whose they are, in words."""
    if (folder / MARK).is_file():
        return "generated", f"GENERATED skin with lesions in {folder}, not photographs"
    if all(face.startswith("levle") for face in faces):  # as the photographs of ACNE04 are called
        return "real", CREDIT
    return "real", f"lesions in {folder}"


class Lesions(NamedTuple):
    """Training crops, test images and, if those are photographs, the lesions on them; what was left out, in words."""

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
        if strange := sorted(set(parts) - {row["file"].strip() for row in rows}):
            raise StudyError(f"{split} names {strange[0]}, which {listing} does not list ({len(strange)} such files)")
        rows = [{**row, "split": parts.get(row["file"].strip(), "")} for row in rows]
    elif any("split" not in row for row in rows):
        raise StudyError(f"{listing} has no column split (train or test); add it or give --split FILE")
    else:
        rows = [{**row, "split": checked_part(row["split"], f"file {row['file']}", listing)} for row in rows]
    for row in rows:
        if row.get("mask"):
            row["mask"] = str(folder / row["mask"])
    parts_of = {name: [row for row in rows if row["split"] == name] for name in PARTS}
    for name, found in parts_of.items():
        if not found:
            raise StudyError(f"{split or listing} names no lesion for {name!r}")
    how = _left_out(rows, split)
    for column in ("file", "face"):
        named = [{str(row.get(column) or "") for row in parts_of[name]} for name in ("train", "test")]
        if both := sorted((named[0] & named[1]) - {""}):
            raise StudyError(f"the {column} {both[0]} is in both train and test; keep it in one of them")
    if not _are_photographs(rows, listing):
        return Lesions(_as_crops(folder, parts_of["train"]), _as_crops(folder, parts_of["test"]), None, how)
    train = crops(_photographs(folder, parts_of["train"]), parts_of["train"])
    return Lesions(train, _photographs(folder, parts_of["test"]), parts_of["test"], how)


def _left_out(rows: list[Lesion], split: str | None) -> str:
    """What a split file does not mention, in words."""
    left = sum(row["split"] == "" for row in rows)
    return f"{Path(split).name} leaves out {left:,} of the {len(rows):,} lesions" if left and split else ""


def _are_photographs(rows: list[Lesion], listing: Path) -> bool:
    """Whether files show more than a lesion and what is around it, as the listing says or as it looks."""
    kinds = {row.get("kind", "").strip().lower() for row in rows}
    if kinds == {""}:
        return len({row["file"] for row in rows}) < len(rows)
    if len(kinds) > 1 or not kinds <= set(KINDS):
        raise StudyError(f"the column kind of {listing} holds {' or '.join(KINDS)}, the same in all rows")
    return kinds == {"photograph"}


def _small_boxes(test: ImageCollection) -> str:
    """A warning if what are said to be crops look like photographs with one lesion each."""
    boxes = [given_box(row) for row in (test.info if test.info is not None else ())][:LOOKED_AT]
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


def _cropping(
    photographs: ImageCollection, lesions: list[Lesion], settings: Settings
) -> Callable[[str, int], ImageCollection]:
    """Corrupts each photograph once, then cuts the lesions out."""

    def make(corruption: str, severity: int) -> ImageCollection:
        corrupted = photographs.corrupted(corruption, severity, preset=settings.preset, at=settings.corrupt_at)
        return crops(corrupted, lesions)

    return make
