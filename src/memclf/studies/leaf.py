"""Coffee leaves: how severely a leaf is affected, 0 to 4, from the share of it that is discoloured or brown."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from memclf._numbers import Array
from memclf.exceptions import StudyError
from memclf.similarity import RankSimilarity, TreeSimilarity
from memclf.studies.generated import leaf_pictures
from memclf.studies.generated.drawn import MARK
from memclf.studies.settings import Settings
from memclf.studies.splits import read_split
from memclf.studies.study import WORKERS, Study, corrupting, where_corrupted
from memclf.studies.variants import graded_memories
from memclf.vision import ImageCollection
from memclf.vision.features import LeafColours

TEST_SHARE = 0.2
# Some files of the public data set, by which it is known.
PUBLIC = {
    "2": "2b1d9c62e51867a87cfb380a8eb44f01fb5b8be807dc49f09c6e1ee32346ea4a",
    "3": "78a189c34e3b9e42811e8c3aeb4e3aadc0ea7d495c3cf1215d390ccbbc85bd53",
    "4": "9647806c129dbf3a6bac1dca69fb8fd8b34de7cf51ce70c9c2858e60276357ff",
}
CREDIT = "coffee leaves of Esgario, Krohling and Ventura (esgario/lara2018, MIT)"


def leaf_study(settings: Settings) -> Study:
    """Real leaves from a folder in the layout of their public repository, or generated ones."""
    if settings.data is None:
        if settings.split is not None:
            raise StudyError("--split says which images of --data are for testing; give the folder too")
        train = leaf_pictures(settings.n_train, seed=0).loaded(n_jobs=WORKERS)
        test = leaf_pictures(settings.n_test, seed=1).loaded(n_jobs=WORKERS)
        source = "generated"
        note = (
            f"GENERATED leaf-like pictures, not photographs ({len(train):,} for training, {len(test):,} for testing): "
            "the numbers show that everything works, not how well it does on leaves"
        )
    else:
        train, test, how = load_leaves(Path(settings.data), settings.split)
        source, what = whose(Path(settings.data))
        note = f"{what}: {len(train):,} training and {len(test):,} test images, {how}"
        if what == CREDIT:
            note += f"; {taught(test)}"

    def features(name: str) -> Any:
        return LeafColours(method="taught" if name == "robust" else "paper")

    def similarity(name: str) -> Any:
        return TreeSimilarity(features=features(name))

    def graded() -> tuple[Any, dict[str, Any]]:
        return RankSimilarity(features=features("robust")), {"n_memories": graded_memories(len(train))}

    return Study(
        name="leaf",
        title="Coffee-leaf severity",
        train=train,
        test=test,
        similarity=similarity,
        graded=graded,
        features=features,
        make=corrupting(test, settings),
        source=source,
        note=f"{note}; {where_corrupted(settings)}.",
        question="How severely is a coffee leaf affected, from 0 (healthy) to 4?",
        published=("leaf_data_augmentation", "leaf_architectures", "leaf_feature_augmentation"),
    )


def load_leaves(folder: Path, split: str | None = None) -> tuple[ImageCollection, ImageCollection, str]:
    """Training and test images, and in words how they were told apart.

    Parameters
    ----------
    folder : path
        Holds ``dataset-full.csv`` (columns `id` and `severity`) and ``leaf/ID.jpg``.
    split : path or None
        A CSV file with the columns `id` and `split` ("train" or "test"). None: ``split.csv`` of the folder if there is
        one, else a stratified fifth is for testing.
    """
    listing = folder / "dataset-full.csv"
    if not folder.is_dir():
        raise StudyError(f"there is no folder {folder}")
    if not listing.is_file():
        raise StudyError(
            f"{folder} holds no dataset-full.csv; the leaf study reads the layout of the public repository: "
            "dataset-full.csv with the columns id and severity, and the images as leaf/ID.jpg"
        )
    images = ImageCollection.from_csv(listing, path="leaf/{id}.jpg", label="severity")
    ids = np.array([row["id"] for row in (images.info if images.info is not None else [])])
    empty = [name for name, label in zip(ids.tolist(), np.asarray(images.labels).tolist(), strict=True) if label == ""]
    if empty:
        raise StudyError(f"{listing} gives no severity for {len(empty)} images, the first is id {empty[0]}")
    file = Path(split) if split is not None else folder / "split.csv"
    if split is None and not file.is_file():
        free = np.flatnonzero(~np.isin(ids, outlined()))  # the expert feature has learned nothing from these
        share = min(0.5, TEST_SHARE * len(ids) / len(free))
        second = train_test_split(free, test_size=share, random_state=0, stratify=np.asarray(images.labels)[free])[1]
        first = np.setdiff1d(np.arange(len(ids)), second)
        return images[first], images[np.sort(second)], "a stratified fifth for testing"
    parts = read_split(file, "id")
    chosen = {name: _rows(ids, parts, name, file) for name in ("train", "test")}
    left = len(ids) - len(chosen["train"]) - len(chosen["test"])
    how = f"split by {file.name}" + (f", which leaves out {left} of the {len(ids)} images" if left else "")
    return images[chosen["train"]], images[chosen["test"]], how


def whose(folder: Path) -> tuple[str, str]:
    """Whether the leaves are real, and whose they are, in words."""
    if (folder / MARK).is_file():
        return "generated", f"GENERATED leaf-like pictures in {folder}, not photographs"
    for name, digest in PUBLIC.items():
        file = folder / "leaf" / f"{name}.jpg"
        if file.is_file() and sha256(file.read_bytes()).hexdigest() == digest:
            return "real", CREDIT
    return "real", f"leaves in {folder}"


def outlined() -> list[str]:
    """Ids of the leaves whose outlines `LeafColours` has been taught with."""
    return files("memclf.studies").joinpath("outlined_leaves.txt").read_text().split()


def taught(test: ImageCollection) -> str:
    """What the expert feature has had that the networks have not, in words."""
    ids = {row["id"] for row in (test.info if test.info is not None else [])}
    found = len(ids & set(outlined()))
    among = f"{found} of them are TEST images here" if found else "none of them a test image"
    return (
        "the expert feature (in memory, stage1 and augmented) was taught by outlines of 300 leaves of this data set, "
        f"{among}, which the baseline has not seen"
    )


def _rows(ids: Array, parts: dict[str, str], name: str, file: Path) -> Array:
    rows = np.flatnonzero([parts.get(each) == name for each in ids.tolist()])
    if not len(rows):
        raise StudyError(f"{file} names no image of the data for {name!r}")
    return rows
