"""Time and disk that a study needs, as a short trial on this machine estimates them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from memclf._progress import track
from memclf.studies.registry import find_study
from memclf.studies.settings import Settings
from memclf.studies.study import Study, make_corrupted
from memclf.studies.variants import asked_variants
from memclf.vision import ImageClassifier, ImageCollection

IMAGES = 16  # of the trial
FEW = 20  # images (acne: faces) that are generated for it
LONG = 3.0  # seconds of an epoch beside which warming up is nothing; after a shorter one, the second is timed
LOCALS = 3  # networks of their own per memory classifier; how many clusters there are is not known before
ROW = 400  # bytes of a row of results, beside the answers
REPORT = 8_000_000  # bytes of the report with its pictures and figures


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes that a study will need, and the seconds that the trial took.

    `training` is for networks and local classifiers, `conditions` for corrupting and describing images, `answers` for
    the contenders' answers. `checkpoints` are bytes that are only needed until the run has finished.
    """

    training: float
    conditions: float
    answers: float
    trial: float
    disk: float
    checkpoints: float

    @property
    def seconds(self) -> float:
        return self.training + self.conditions + self.answers


@dataclass(frozen=True)
class Speed:
    """Seconds per image of one recipe and backbone, and bytes of the network.

    `epoch` and `local` are for one epoch of the global and of a local classifier, `look` is for one answer.
    """

    epoch: float
    local: float
    look: float
    size: float


def estimate(settings: Settings) -> Estimate:
    """Train and answer on a few images, corrupt some, and multiply it out.

    It is an estimate: clusters, caches and other work of the machine are not known. Real photographs that are
    corrupted whole and cropped afterwards (acne) take longer than it says.
    """
    started = time.monotonic()
    study = find_study(settings.study)
    data = study.load(settings if settings.data is not None else replace(settings, n_train=FEW, n_test=FEW))
    n_train, n_test = float(len(data.train)), float(len(data.test))
    if settings.data is None:
        n_train, n_test = n_train * settings.n_train / FEW, n_test * settings.n_test / FEW
    train, test = (_take(images) for images in (data.train, data.test))
    codes = np.arange(len(train)) % len(np.unique(np.asarray(data.train.labels)))
    cells = settings.cells()
    tried = track(cells, total=len(cells), what="trying recipes and backbones", verbose=None)
    speeds = {cell: _try_network(settings, *cell, train, codes) for cell in tried}
    describe, corrupt = _try_description(study, settings, test), _try_corruptions(settings, test)
    seeds, conditions = len(settings.seeds), len(settings.corruptions) * len(settings.severities)
    training = answers = disk = kept = 0.0
    for (recipe, _), speed in speeds.items():
        counts = _count(settings, recipe)
        network = n_train * (speed.look + settings.epochs * speed.epoch)
        epochs = settings.epochs if settings.local_epochs is None else settings.local_epochs
        local = n_train * (speed.look + epochs * speed.local)
        training += seeds * (counts["networks"] * network + counts["clusterings"] * local)
        answers += seeds * (1 + conditions) * n_test * speed.look * counts["answering"]
        own = 1 if settings.local == "heads" else 1 + LOCALS
        disk += seeds * (counts["saved"] * own * speed.size + _memories(study, settings, n_train) * _bytes(train))
        kept += seeds * 2 * speed.size * (counts["networks"] + counts["clusterings"] * (own - 1))
    shifted = n_train * 2 if settings.uses_folds else 0
    conditioned = n_test * conditions * corrupt + describe * (n_train + shifted + n_test * (1 + conditions))
    rows = (1 + conditions) * seeds * sum(_count(settings, recipe)["contenders"] for recipe, _ in speeds)
    disk += rows * (8 * n_test + ROW) + REPORT
    return Estimate(training, conditioned, answers, time.monotonic() - started, disk, kept)


def _count(settings: Settings, recipe: str) -> dict[str, float]:
    """How often a recipe and backbone trains, answers and saves, for one seed."""
    variants = asked_variants(settings)
    augmented = settings.augmented and recipe == settings.recipes[0]
    networks = settings.ensemble + augmented
    memories = len(settings.features) + 1  # with the random one
    kinds = len({each.graded for each in variants})  # variants with the same memories share their classifiers
    return {
        "networks": networks + (settings.folds - 1 if variants else 0),  # each fold has the other folds to learn from
        "clusterings": memories + kinds * settings.folds,
        "answering": networks + (memories + len(variants) if settings.local == "networks" else 0),
        "saved": memories + len(variants) + networks - 1,
        "contenders": memories + len(variants) + networks + 6,  # with controls
    }


def _memories(study: Study, settings: Settings, n_train: float) -> float:
    """Pictures of memories that are saved with graded memory classifiers."""
    if study.graded is None:
        return 0.0
    graded = [each for each in asked_variants(settings) if each.graded]
    return len(graded) * study.graded(settings.features[0], int(n_train), settings.literal)[1]["n_memories"]


def _bytes(images: ImageCollection) -> float:
    return float(np.mean([np.asarray(images[k]).nbytes for k in range(min(4, len(images)))]))


# --------------------------------------------------------------------------------------------------------- the trial


def _take(images: ImageCollection) -> ImageCollection:
    """Some of the images, spread over all of them."""
    rows = np.linspace(0, len(images) - 1, min(IMAGES, len(images))).astype(int)
    return images[rows]


def _try_network(settings: Settings, recipe: str, backbone: str, images: ImageCollection, codes: Any) -> Speed:
    parameters = settings.network_parameters(backbone)
    if parameters["pretrained"] is True:  # fetching weights takes long, and speed does not depend on them
        parameters["pretrained"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = ImageClassifier(backbone, recipe=settings.recipe(recipe), random_state=0, **parameters)
        network.set_params(epochs=1, local_epochs=2).fit(images, codes)
        if network.history_[0]["dur"] < LONG:
            network.set_params(epochs=2).fit(images, codes)
        local = network if settings.local == "networks" else network.continued(images, codes)  # those train all of it
    look = _time(lambda: network.predict(images)) / len(images)
    size = 4.0 * sum(each.numel() for each in network.network_.state_dict().values())
    epoch, near = (each.history_[-1]["dur"] / len(images) for each in (network, local))
    return Speed(epoch, near, look, size)


def _try_description(study: Study, settings: Settings, images: ImageCollection) -> float:
    """Seconds that the expert features take for an image."""
    features = [study.features(name, settings.literal) for name in settings.features]
    for each in features:
        each.fit(images[:1])
        each.transform(images[:1])  # which loads what it needs
    return sum(_time(lambda each=each: each.transform(images)) for each in features) / len(images)  # type: ignore[misc]


def _try_corruptions(settings: Settings, images: ImageCollection) -> float:
    """Seconds that a corruption takes for an image: the mean over the corruptions asked for."""
    make = make_corrupted(images[: max(2, IMAGES // 4)], settings)
    severity = settings.severities[len(settings.severities) // 2]
    make(settings.corruptions[0], severity)
    spent = [_time(lambda name=name: make(name, severity)) for name in settings.corruptions]  # type: ignore[misc]
    return float(np.mean(spent)) / max(2, IMAGES // 4)


def _time(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started
