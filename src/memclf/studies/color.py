"""The colour patches of the paper: black images with one red, green or blue patch."""

from __future__ import annotations

from typing import Any

from memclf.exceptions import StudyError
from memclf.similarity import FunctionSimilarity
from memclf.studies.generated import colour_patches
from memclf.studies.settings import Settings
from memclf.studies.study import WORKERS, Study, corrupting, where_corrupted
from memclf.vision.features import PatchColour, same_colour

TRAIN_SEED, TEST_SEED = 0, 1


def color_study(settings: Settings) -> Study:
    """Generated as the paper says; there is nothing else to use."""
    if settings.data or settings.split:
        raise StudyError("the colour study generates its images; --data and --split belong to leaf and acne")
    size = settings.patch_size
    train = colour_patches(settings.n_train, size, seed=TRAIN_SEED).loaded(n_jobs=WORKERS)
    test = colour_patches(settings.n_test, size, seed=TEST_SEED).loaded(n_jobs=WORKERS)

    def features(name: str) -> Any:
        return PatchColour(method=name)

    def similarity(name: str) -> Any:
        return FunctionSimilarity(same_colour, batched=True, features=features(name))

    return Study(
        name="color",
        title="Colour patches",
        train=train,
        test=test,
        similarity=similarity,
        graded=None,
        features=features,
        make=corrupting(test, settings),
        source="generated",
        note=f"Generated as the paper describes: {len(train):,} training and {len(test):,} test images of "
        f"{size} x {size} pixels with a patch of {size // 10} pixels; {where_corrupted(settings)}.",
        question="Which colour does the patch have: red, green or blue?",
        published=("color_augmentation",),
        generated_note="The paper’s colour patches are generated too.",
    )
