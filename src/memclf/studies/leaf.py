"""Coffee leaves: severity 0 to 4, from the share of the leaf that is discoloured or brown."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import train_test_split

from memclf import vision
from memclf._numbers import Array
from memclf.exceptions import StudyError
from memclf.similarity import RankSimilarity, TreeSimilarity
from memclf.studies.generated import leaf_pictures
from memclf.studies.generated._common import MARK
from memclf.studies.settings import Settings
from memclf.studies.splits import read_split, refuse_split_without_data
from memclf.studies.study import WORKERS, Study, StudyData, describe_corruptions, describe_feature, make_corrupted

if TYPE_CHECKING:
    from memclf.vision import ImageCollection

TEST_SHARE = 0.2
# Hashes of some files of the public data set, by which it is recognised.
PUBLIC = {
    "2": "2b1d9c62e51867a87cfb380a8eb44f01fb5b8be807dc49f09c6e1ee32346ea4a",
    "3": "78a189c34e3b9e42811e8c3aeb4e3aadc0ea7d495c3cf1215d390ccbbc85bd53",
    "4": "9647806c129dbf3a6bac1dca69fb8fd8b34de7cf51ce70c9c2858e60276357ff",
}
CREDIT = "coffee leaves of Esgario, Krohling and Ventura (esgario/lara2018, MIT)"


def load(settings: Settings) -> StudyData:
    """Real leaves from a folder in the layout of their public repository, or generated ones."""
    refuse_split_without_data(settings.data, settings.split)
    if settings.data is None:
        train = leaf_pictures(settings.n_train, seed=0).loaded(n_jobs=WORKERS)
        test = leaf_pictures(settings.n_test, seed=1).loaded(n_jobs=WORKERS)
        source = "generated"
        note = (
            f"GENERATED leaf-like pictures, not photographs ({len(train):,} for training, {len(test):,} for testing): "
            "the numbers show that everything works, not how well it does on leaves"
        )
    else:
        train, test, how = load_leaves(Path(settings.data), settings.split)
        source, what = describe_source(Path(settings.data))
        note = f"{what}: {len(train):,} training and {len(test):,} test images, {how}"
        if what == CREDIT and "robust" in settings.features:
            note += f"; {describe_teaching(test)}"
    note += describe_feature(settings)
    make = make_corrupted(test, settings)
    return StudyData(train, test, make, source, note=f"{note}; {describe_corruptions(settings)}.")


def features(name: str, literal: bool = False) -> Any:
    if name == "robust":
        return vision.features.LeafColours()
    return vision.features.LeafColours(method="paper", literal=literal)


def similarity(name: str, literal: bool = False) -> Any:
    return TreeSimilarity(features=features(name, literal))


def graded(name: str, n: int, literal: bool = False) -> tuple[Any, dict[str, Any]]:
    return RankSimilarity(features=features(name, literal)), {"n_memories": graded_memories(n)}


def graded_memories(n: int) -> int:
    """The number of memories along the expert's numbers, for n training cases.

    It is about the number of bars in a histogram of n cases. On training folds of the leaves (n = 1,117) 30 to 50 did
    about equally well, 20 and fewer worse.

    >>> graded_memories(1400), graded_memories(120)
    (45, 13)
    """
    return max(2, round(1.2 * n**0.5))


def load_leaves(folder: Path, split: str | None = None) -> tuple[ImageCollection, ImageCollection, str]:
    """Training and test images, and how they were split, in words.

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
    images = vision.ImageCollection.from_csv(listing, path="leaf/{id}.jpg", label="severity")
    ids = np.array([row["id"] for row in (images.info if images.info is not None else [])])
    empty = [name for name, label in zip(ids.tolist(), np.asarray(images.labels).tolist(), strict=True) if label == ""]
    if empty:
        raise StudyError(f"{listing} gives no severity for {len(empty)} images, the first is id {empty[0]}")
    file = Path(split) if split is not None else folder / "split.csv"
    if split is None and not file.is_file():
        second, how = _choose_test(ids, np.asarray(images.labels), is_public(folder))
        first = np.setdiff1d(np.arange(len(ids)), second)
        return images[first], images[np.sort(second)], how
    parts = read_split(file, "id")
    chosen = {name: _rows(ids, parts, name, file) for name in ("train", "test")}
    left = len(ids) - len(chosen["train"]) - len(chosen["test"])
    how = f"split by {file.name}" + (f", which leaves out {left} of the {len(ids)} images" if left else "")
    return images[chosen["train"]], images[chosen["test"]], how


def _choose_test(ids: Array, labels: Array, public: bool) -> tuple[Array, str]:
    """Rows of a stratified fifth, if possible of leaves that have not taught the feature."""
    taught = {*outlined_ids(), *graded_ids()} if public else set()
    free = np.flatnonzero([each not in taught for each in ids.tolist()])
    free = free if len(free) else np.arange(len(ids))
    share = TEST_SHARE * len(ids) / len(free)
    if share >= 1:
        return free, "all images that have not taught the expert feature for testing"
    chosen = train_test_split(free, test_size=share, random_state=0, stratify=labels[free])[1]
    return chosen, "a stratified fifth for testing"


def describe_source(folder: Path) -> tuple[str, str]:
    """Whether the leaves are real, and where they come from, in words."""
    if (folder / MARK).is_file():
        return "generated", f"GENERATED leaf-like pictures in {folder}, not photographs"
    return "real", CREDIT if is_public(folder) else f"leaves in {folder}"


def is_public(folder: Path) -> bool:
    """Whether a folder holds leaves of the public data set."""
    paths = {name: folder / "leaf" / f"{name}.jpg" for name in PUBLIC}
    found = {name: path.read_bytes() for name, path in paths.items() if path.is_file()}
    return any(sha256(content).hexdigest() == PUBLIC[name] for name, content in found.items())


def outlined_ids() -> list[str]:
    """Ids of the leaves whose outlines `LeafColours` was taught with."""
    return files("memclf.studies").joinpath("outlined_leaves.txt").read_text().split()


def graded_ids() -> list[str]:
    """Ids of the leaves, without outlines, whose severity `LeafColours` was taught with."""
    return files("memclf.studies").joinpath("graded_leaves.txt").read_text().split()


def describe_teaching(test: ImageCollection) -> str:
    """What the expert feature was taught with beside the training images, in words."""
    ids = {row["id"] for row in (test.info if test.info is not None else [])}
    found = len(ids & {*outlined_ids(), *graded_ids()})
    among = f"{found} of them are TEST images here" if found else "none of them a test image"
    return (
        "the expert feature (in memory, stage1 and augmented) was taught by outlines of 300 leaves of this data set, "
        f"which the baseline has not seen, and by the severity of {len(graded_ids()):,} others, {among}"
    )


def _rows(ids: Array, parts: dict[str, str], name: str, file: Path) -> Array:
    rows = np.flatnonzero([parts.get(each) == name for each in ids.tolist()])
    if not len(rows):
        raise StudyError(f"{file} names no image of the data for {name!r}")
    return rows


LEAF = Study(
    name="leaf",
    title="Coffee-leaf severity",
    question="How severely is a coffee leaf affected, from 0 (healthy) to 4?",
    load=load,
    features=features,
    similarity=similarity,
    graded=graded,
    scales={
        "quick": {"image_size": (128, 256), "n_train": 400, "n_test": 120},
        "full": {"image_size": (128, 256), "n_train": 1400, "n_test": 350},
        "paper": {
            "features": ("paper",),
            "literal": True,
            "preset": "authors-299",
            "corrupt_at": (1024, 1024),
            "n_train": 1400,
            "n_test": 350,
        },
    },
    painted={"green": "#2e8b3d", "brown": "#7a3b0c", "discoloured": "#f2b705"},
    published=("leaf_data_augmentation", "leaf_architectures", "leaf_feature_augmentation"),
)
