"""The colour patches of the paper: black images with one red, green or blue patch."""

from __future__ import annotations

from typing import Any

from memclf import vision
from memclf.exceptions import StudyError
from memclf.similarity import FunctionSimilarity
from memclf.studies.generated import colour_patches
from memclf.studies.settings import Settings
from memclf.studies.study import WORKERS, Study, StudyData, describe_corruptions, describe_feature, make_corrupted

TRAIN_SEED, TEST_SEED = 0, 1


def load(settings: Settings) -> StudyData:
    """Images that are generated as the paper describes; there are no others."""
    if settings.data or settings.split:
        raise StudyError("the colour study generates its images; --data and --split belong to leaf and acne")
    size = settings.patch_size
    train = colour_patches(settings.n_train, size, seed=TRAIN_SEED).loaded(n_jobs=WORKERS)
    test = colour_patches(settings.n_test, size, seed=TEST_SEED).loaded(n_jobs=WORKERS)
    return StudyData(
        train=train,
        test=test,
        make=make_corrupted(test, settings),
        source="generated",
        note=f"Generated as the paper describes: {len(train):,} training and {len(test):,} test images of "
        f"{size} x {size} pixels with a patch of {size // 10} pixels{describe_feature(settings)}; "
        f"{describe_corruptions(settings)}.",
    )


def features(name: str, literal: bool = False) -> Any:
    return vision.features.PatchColour(method=name)


def similarity(name: str, literal: bool = False) -> Any:
    return FunctionSimilarity(vision.features.same_colour, batched=True, features=features(name))


COLOR = Study(
    name="color",
    title="Colour patches",
    question="Which colour does the patch have: red, green or blue?",
    load=load,
    features=features,
    similarity=similarity,
    scales={
        "quick": {
            "features": ("robust", "paper"),
            "n_train": 150,
            "n_test": 90,
            "patch_size": 250,
            "image_size": (96, 96),
            "augmented": False,
            "sturdy": False,  # its clusters hold one colour each, so there is nothing to weigh
        },
        "full": {
            "features": ("robust", "paper"),
            "n_train": 900,
            "n_test": 300,
            "recipes": ("vanilla", "augmix"),
            "epochs": 4,
            "augmented": False,
        },
        "paper": {
            "features": ("robust", "paper"),
            "recipes": ("vanilla", "augmix"),
            "backbones": ("resnet50",),
            "epochs": 50,
            "batch_size": 48,
            "weight_decay": 5e-4,
            "n_train": 3000,
            "n_test": 300,
            "augmented": False,
        },
    },
    published=("color_augmentation",),
    other_names=("colour",),
    generated_note="The paper’s colour patches are generated too.",
)
