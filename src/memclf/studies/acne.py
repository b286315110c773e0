"""Acne lesions: comedone, papule or pustule, nodule; from crops or photographs of faces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memclf import vision
from memclf.similarity import TreeSimilarity
from memclf.studies.generated import skin_photographs
from memclf.studies.generated._common import MARK
from memclf.studies.settings import Settings
from memclf.studies.splits import refuse_split_without_data
from memclf.studies.study import WORKERS, Study, StudyData, describe_corruptions, make_corrupted

CREDIT = (
    "lesion crops from ACNE04 photographs with public boxes (CC BY 4.0, noisy labels; a stand-in for the paper's "
    "private data)"
)


def load(settings: Settings) -> StudyData:
    """Real lesions from a folder with ``lesions.csv``, or generated skin."""
    from memclf.studies.lesions import Lesion, crops, load_lesions, make_crops, warn_of_small_boxes  # they need OpenCV

    refuse_split_without_data(settings.data, settings.split)
    lesions: list[Lesion] | None
    left_out = ""
    if settings.data is None:
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
        source, what = describe_source(
            Path(settings.data), [str(row.get("face")) for row in (about if about is not None else [])]
        )
    test = photographs if lesions is None else crops(photographs, lesions)
    note = f"{what}; {len(train):,} training and {len(test):,} test lesions; {describe_corruptions(settings)}"
    note += f"; {left_out}" if left_out else ""
    if lesions is not None:
        note += "; photographs are corrupted whole, lesions cropped afterwards"
    elif warning := warn_of_small_boxes(test):
        note += f"; {warning}"
    make = make_corrupted(test, settings) if lesions is None else make_crops(photographs, lesions, settings)
    return StudyData(train, test, make, source, note=f"{note}.")


def describe_source(folder: Path, faces: list[str]) -> tuple[str, str]:
    """Whether the lesions are real, and where they come from, in words."""
    if (folder / MARK).is_file():
        return "generated", f"GENERATED skin with lesions in {folder}, not photographs"
    if all(face.startswith("levle") for face in faces):  # as the photographs of ACNE04 are called
        return "real", CREDIT
    return "real", f"lesions in {folder}"


def features(name: str, literal: bool = False) -> Any:
    return vision.features.LesionFeatures()


def similarity(name: str, literal: bool = False) -> Any:
    return TreeSimilarity(features=features(name))


ACNE = Study(
    name="acne",
    title="Acne lesions",
    question="Is an acne lesion a comedone, a papule or pustule, or a nodule?",
    load=load,
    features=features,
    similarity=similarity,
    graded=None,  # on training folds the paper's three memories did better than one per leaf of a larger tree
    feature_names=("robust",),  # which is the paper's
    scales={
        "quick": {"image_size": (96, 96), "n_train": 40, "n_test": 16},
        "full": {"n_train": 120, "n_test": 50},
        "paper": {
            "corruptions": ("acne15",),
            "image_size": (300, 300),  # to which the paper resizes a lesion's crop
            "n_train": 36,
            "n_test": 27,  # the paper says 26, and 63 faces altogether
        },
    },
    published=("acne_data_augmentation", "acne_architectures", "acne_feature_augmentation"),
)
