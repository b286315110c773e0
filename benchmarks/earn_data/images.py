"""The three studies as data sets: colour patches, coffee leaves and acne, clean and corrupted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from memclf import MemoryClassifier

from .dataset import About, Split, measure_features, preprocess_table

SHIFTED = 700  # corrupted images, about
SEVERITIES = (1, 2, 3, 4, 5)


class AllMeasurements(TransformerMixin, BaseEstimator):
    """All that an expert feature measures: the numbers that are compared, and its details."""

    def __init__(self, features: Any):
        self.features = features

    def fit(self, X: Any, y: Any = None) -> AllMeasurements:
        self.features_ = clone(self.features).fit(X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        return np.asarray(self.features_.inspect(X))


@dataclass(frozen=True)
class ImageDataset(About):
    """A study as a data set: its images, robust expert feature and network.

    The network is that of the quick scale, the last layer on a frozen backbone. With a folder of `networks` it is that
    of the full scale, trained as a whole; trained networks stay in the folder. Classifiers that are no networks get all
    that the expert feature measures.
    """

    study_name: str
    folder: Path | None = None
    networks: Path | None = None

    def find_missing(self) -> str:
        """What must be given before the images can be loaded, "" if nothing is missing."""
        needed = self.study_name != "color" and self.folder is None
        return f"generated images say nothing about real ones; give --{self.name} FOLDER" if needed else ""

    # Studies need torch and OpenCV, which the tables and the page do without: they are imported when they are used.

    @cached_property
    def study(self) -> Any:
        from memclf.studies.registry import find_study

        return find_study(self.study_name)

    @cached_property
    def settings(self) -> Any:
        return self.study.settings(
            "quick" if self.networks is None else "full",
            data=None if self.folder is None else str(self.folder),
            recipes=("vanilla",),
            severities=SEVERITIES,
        )

    def load(self, seed: int = 0) -> Split:
        """The parts of the study. The seed draws corruptions; which images are for testing is fixed."""
        from memclf.studies.study import groups_of

        data = self.study.load(self.settings)
        test = data.test.loaded()
        shifted, sources = corrupt(test, self.settings, seed)
        faces = groups_of(test)
        units = np.arange(len(test)) if faces is None else faces
        train = data.train.remembered()  # each image is measured and embedded once for all contenders
        return Split(
            train,
            np.asarray(train.labels),
            test.remembered(),
            np.asarray(test.labels),
            shifted.remembered(),
            np.asarray(shifted.labels),
            groups=groups_of(train),
            test_units=units,
            shifted_units=units[sources],
        )

    def similarity(self) -> Any:
        return self.study.similarity("robust") if self.study.graded is None else self.study.graded("robust", 2)[0]

    def measure(self) -> Any:
        """The numbers of the expert feature, which the similarity sees."""
        return measure_features(self.similarity())

    def preprocess(self) -> Any:
        """All that the expert feature measures: other classifiers cannot do much with pixels."""
        measured = AllMeasurements(self.study.features("robust"))
        return make_pipeline(measured, FunctionTransformer(pd.DataFrame), preprocess_table())

    def plain(self, seed: int) -> Any:
        """The network of the study."""
        from memclf.studies.training import CellTrainer

        settings, folder = self.settings, self.networks
        cell = settings.recipes[0], settings.backbones[0], seed
        trainer = CellTrainer(self.study, None, settings, Path(), *cell, networks=folder)
        return trainer.make_network().set_params(checkpoint=folder)

    def memory_classifier(self, n: int, seed: int, answer: Any) -> MemoryClassifier:
        """The memory classifier of the study; graded memories where the study has them."""
        from memclf.studies.variants import Variant, make_variant

        variant = Variant("", "", graded=True, parameters={"answer": answer, "fallback": "nearest"})
        return make_variant(variant, self.study, self.plain(seed), self.settings, seed, n)


def corrupt(test: Any, settings: Any, seed: int) -> tuple[Any, np.ndarray]:
    """Each image under some of the paper's conditions, drawn at random; and which image each comes from."""
    from memclf.studies.study import make_corrupted
    from memclf.vision import ImageCollection

    random, conditions = np.random.default_rng(seed), list(product(settings.corruptions, settings.severities))
    draws = max(1, round(SHIFTED / len(test)))
    drawn = np.array([random.choice(len(conditions), draws, replace=False) for _ in range(len(test))])
    images, sources, keys = [], [], []
    for number, (corruption, severity) in enumerate(conditions):
        rows = np.flatnonzero((drawn == number).any(axis=1))
        if len(rows):
            images += list(make_corrupted(test[rows], settings)(corruption, severity))
            sources += rows.tolist()
            keys += [f"{test.key(row)} {corruption} {severity}" for row in rows]
    labels, info = np.asarray(test.labels)[sources], None if test.info is None else test.info[sources]
    return ImageCollection(images, labels, info=info, keys=keys), np.array(sources)


CORRUPTED = "tested on images under the paper's 18 corruptions, severities 1 to 5, drawn for each image"
DATASETS = [
    ImageDataset(
        name="colours",
        title="Which colour a small patch has",
        source="generated, as the paper describes",
        kind="images",
        shift=f"trained on clean images, {CORRUPTED}",
        reason="Patches are alike if the same channel stands out from the others anywhere in the image.",
        study_name="color",
    ),
    ImageDataset(
        name="leaves",
        title="How severely a coffee leaf is affected",
        source="coffee leaves of Esgario, Krohling and Ventura (esgario/lara2018, MIT)",
        kind="images",
        shift=f"trained on clean photographs, {CORRUPTED}",
        reason="An agronomist grades a leaf by the share of it that is discoloured or brown. (The feature that finds "
        "these regions was taught with outlines of 300 training leaves.)",
        study_name="leaf",
    ),
    ImageDataset(
        name="acne",
        title="Which kind of acne a lesion is",
        source="crops of ACNE04 photographs with public boxes (CC BY 4.0, noisy labels)",
        kind="images",
        shift=f"trained on clean crops, {CORRUPTED}",
        reason="A dermatologist looks at the size of a lesion beside the others of the face, its redness, and whether "
        "it shines.",
        study_name="acne",
    ),
]
