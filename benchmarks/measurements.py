"""How far ready measurements get beside the features that were made for leaves and lesions.

    python benchmarks/measurements.py leaf|acne [folder] [--images 450]
    python benchmarks/measurements.py spots [folder] --images 60

A forest is fitted on the numbers of training images, clean, and asked about held-out training images (three folds; the
lesions of a face are in one fold), clean and under six corruptions at severity 3. Test images are not touched. Nothing
is taught: the measurements are those of `memclf measure --words`, of the automatic foreground and of the picture.

`spots`: how the share of blobs of each kind ranks outlined leaves (leaf_masks), beside the expert's share of symptoms.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedGroupKFold, train_test_split

from memclf.vision import ImageCollection
from memclf.vision.features import (
    ColourOf,
    CountOf,
    LeafColours,
    LesionFeatures,
    Measurements,
    PlaceOf,
    ShapeOf,
    SharpnessOf,
    TextureOf,
    read_paintings,
)
from memclf.vision.features.measures.count import KINDS

SHARED = Path(__file__).parents[1] / ".." / "shared" / "data"
CORRUPTIONS = ("gaussian_noise", "defocus_blur", "fog", "brightness", "contrast", "jpeg_compression")


def vocabulary(of: str, regions=None) -> Measurements:
    """All ready measurements of one part."""
    given = {"regions": regions}
    shape = [] if of == "picture" else [ShapeOf(of, **given)]
    counts = [CountOf(of, **given, kind=kind) for kind in ("dark", "bright", "red", "yellow")]
    places = [PlaceOf(of, **given, part=part) for part in ("darkest", "reddest")]
    return Measurements(
        [ColourOf(of, **given), *shape, TextureOf(of, **given), *counts, *places, SharpnessOf(of, **given)]
    )


def read(what: str, folder: Path) -> tuple[ImageCollection, list[str]]:
    """Training images, and the group that each belongs to."""
    if what == "acne":
        images = ImageCollection.from_csv(folder / "lesions.csv", where={"split": "train"})
        return images, [images.info_of(k)["face"] for k in range(len(images))]
    with open(folder / "split.csv", newline="") as file:
        split = {row["id"]: row["split"] for row in csv.DictReader(file)}
    with open(folder / "dataset-full.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if split.get(row["id"]) == "train"]
    rows = [row for row in rows if row["predominant_stress"] in set("01234")]
    paths = [folder / "leaf" / f"{row['id']}.jpg" for row in rows]
    return ImageCollection(paths, [row["predominant_stress"] for row in rows]), [row["id"] for row in rows]


def rank_spots(folder: Path, n: int) -> None:
    """Rank correlation of the share of blobs of each kind with the share of outlined symptoms."""
    images, outlines = read_paintings(folder, ["background", "leaf", "symptom"])
    rows = np.random.default_rng(0).choice(len(images), n, replace=False)
    truth = [np.mean(outlines[i] == 3) / np.mean(outlines[i] > 1) for i in rows]
    for kind in KINDS:
        found = CountOf("foreground", kind=kind).transform(images[rows])
        rank = spearmanr(found[:, 1], truth)[0] if np.ptp(found[:, 1]) else 0.0
        print(f"{kind:7s} {rank:5.2f}, none on {np.mean(found[:, 0] == 0):.0%} of {n} leaves")


def main() -> None:
    parser = argparse.ArgumentParser(description="Ready measurements beside features that were made for the data.")
    parser.add_argument("what", choices=["leaf", "acne", "spots"])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--images", type=int, default=450)
    asked = parser.parse_args()
    if asked.what == "spots":
        return rank_spots(asked.folder or SHARED / "leaf_masks", asked.images)
    images, groups = read(asked.what, asked.folder or SHARED / asked.what)
    kept, _ = train_test_split(np.arange(len(images)), train_size=asked.images, stratify=images.labels, random_state=0)
    images, groups = images[kept].loaded(), np.array(groups)[kept]
    y = images.labels
    folds = list(StratifiedGroupKFold(3, shuffle=True, random_state=0).split(y, y, groups))
    print(f"{len(y)} training images, {len(np.unique(y))} classes, largest {np.unique(y, return_counts=True)[1].max()}")
    if asked.what == "leaf":
        made = LeafColours()
        contenders = {"LeafColours": made, "LeafColours with details": made}
    else:
        made = LesionFeatures()
        contenders = {
            "LesionFeatures": made,
            "LesionFeatures with details": made,
            "ready, of the lesion's box": vocabulary("lesion", made),
        }
    contenders |= {"ready, of the foreground": vocabulary("foreground"), "ready, of the picture": vocabulary("picture")}
    print(f"{'accuracy / balanced, in %':32s}{'clean':>14s}" + "".join(f"{name[:13]:>14s}" for name in CORRUPTIONS))
    for name, features in contenders.items():
        look = features.inspect if name.endswith("details") else features.transform
        start = time.perf_counter()
        clean = look(images)
        pace = len(y) / (time.perf_counter() - start)
        versions = [clean, *(look(images.corrupted(each, 3)) for each in CORRUPTIONS)]
        said = [np.empty(len(y), dtype=y.dtype) for _ in versions]
        for train, test in folds:
            forest = RandomForestClassifier(300, min_samples_leaf=2, random_state=0).fit(
                np.nan_to_num(clean[train]), y[train]
            )
            for answers, rows in zip(said, versions, strict=True):
                answers[test] = forest.predict(np.nan_to_num(rows[test]))
        cells = [f"{100 * accuracy_score(y, each):.1f} / {100 * balanced_accuracy_score(y, each):.1f}" for each in said]
        print(f"{name:32s}" + "".join(f"{cell:>14s}" for cell in cells) + f"   {pace:.0f} images/s", flush=True)


if __name__ == "__main__":
    main()
