"""Training the contenders of a study: each is fitted once, saved, and loaded from then on."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from memclf._numbers import Array
from memclf.classifier import MemoryClassifier
from memclf.evaluate import Contender, Ensemble, Measured, StageOne, controls_of
from memclf.exceptions import ModelFolderError
from memclf.persist import load, save
from memclf.similarity import RandomSimilarity
from memclf.studies.settings import Settings
from memclf.studies.study import Study, groups_of
from memclf.studies.variants import asked_variants, make_memory_classifier, make_variant
from memclf.vision import ImageClassifier, ImageCollection


def train(
    study: Study,
    images: ImageCollection,
    settings: Settings,
    folder: Path,
    *,
    say: Callable[[str], object] = lambda message: None,
    verbose: int = 0,
    networks: Path | None = None,
) -> Iterator[Contender]:
    """Fit the contenders of a study and yield them one by one; saved ones are loaded.

    Parameters
    ----------
    images : ImageCollection
        The training images, with labels.
    folder : Path
        Where fitted contenders are saved.
    say : function of a message
        Called with one line when a recipe, backbone and seed begins, and with warnings.
    networks : Path or None
        A folder that keeps trained networks, for other runs that train the same.
    """
    images = images.remembered(spread=True)  # described once for all contenders
    yielded = set()
    cells = [(recipe, backbone, seed) for seed in settings.seeds for recipe, backbone in settings.cells()]
    for number, cell in enumerate(cells, 1):
        recipe, backbone, seed = cell
        say(f"training {recipe} {backbone} seed {seed} ({number} of {len(cells)})")
        for contender in CellTrainer(study, images, settings, folder, *cell, say, verbose, networks).train():
            if contender.name not in yielded:  # controls without a network are the same in every cell of a seed
                yielded.add(contender.name)
                yield contender


@dataclass
class CellTrainer:
    """Trains the contenders of one recipe, backbone and seed."""

    study: Study
    images: ImageCollection
    settings: Settings
    folder: Path
    recipe: str
    backbone: str
    seed: int
    say: Callable[[str], object] = lambda message: None
    verbose: int = 0
    networks: Path | None = None
    memories: dict[str, MemoryClassifier] = field(default_factory=dict, init=False)

    @property
    def groups(self) -> Array | None:
        """Images that must be on the same side of a fold, as lesions of one face."""
        return groups_of(self.images)

    @property
    def models(self) -> dict[str, str]:
        """The names of the paper's memory classifiers, by their expert feature."""
        first, *others = self.settings.features
        return {first: "memory", **{each: f"memory-{each}" for each in others}}

    def train(self) -> Iterator[Contender]:
        """Yield the contenders of this cell, those that need training first."""
        for feature, model in self.models.items():
            clf = self.fit_or_load(model, self.make_memory(self.study.similarity(feature, self.settings.literal)))
            self.memories[model] = clf
            if model == "memory":
                yield self._contender("baseline", clf.global_)
                self._warn_of_one_classifier(clf)
            yield self._contender(model, clf)
        clf = self.memories["memory"]
        chance = self.make_memory(RandomSimilarity(_sizes(clf), random_state=self.seed), fallback="nearest")
        yield self._contender("random", self.fit_or_load("random", chance))
        for variant in asked_variants(self.settings):
            network, n_train = self.make_network(), len(self.images)
            made = make_variant(variant, self.study, network, self.settings, self.seed, n_train, self.verbose)
            fitted = self.fit_or_load(variant.name, made)
            if variant.name in ("sturdy", "auto"):
                self.memories[variant.name] = fitted
            yield self._contender(variant.name, fitted)
        if self.settings.augmented and self.recipe == self.settings.recipes[0]:
            network = self.make_network(self.study.features(self.settings.features[0], self.settings.literal))
            yield self._contender("augmented", self.fit_or_load("augmented", network))
        if self.settings.ensemble > 1:
            yield self._contender("ensemble", Ensemble([clf.global_, *self._further_networks()]))
        yield from self._controls()

    def _controls(self) -> Iterator[Contender]:
        """Controls that need no training; those without recipe and backbone need no network."""
        memory, sturdy, auto = (self.memories.get(name) for name in ("memory", "sturdy", "auto"))
        for name, control in controls_of(memory if sturdy is None else sturdy).items():
            if name.startswith("prior"):
                yield self._contender(name, control)
        yield Contender("majority", controls_of(memory)["majority"], seed=self.seed)
        if sturdy is not None:
            if self.study.graded is not None:
                yield Contender("stage1-sturdy", StageOne(sturdy), seed=self.seed)
            yield Contender("stage1-balanced", controls_of(sturdy)["stage1-balanced"], seed=self.seed)
        if auto is not None and auto.answer_.inspects:
            yield Contender("measured", Measured(auto), seed=self.seed)
        for model in self.models.values():
            yield Contender(model.replace("memory", "stage1"), StageOne(self.memories[model]), seed=self.seed)

    def _contender(self, model: str, estimator: Any) -> Contender:
        return Contender(model, estimator, self.recipe, self.backbone, self.seed)

    def _warn_of_one_classifier(self, clf: MemoryClassifier) -> None:
        if len(clf.memory_indices_) > len(np.unique(clf.pool_.trained_with)) == 1:
            self.say(
                f"all {len(clf.memory_indices_)} memories share ONE classifier, since clusters of fewer than "
                f"{self.settings.min_cluster_size} cases join another: this run cannot show what routing brings. More "
                "training images or a lower --min-cluster-size help"
            )

    def _further_networks(self) -> list[Any]:
        """Networks for an ensemble, each trained as the baseline is, from another seed."""
        rng = np.random.default_rng(_network_seed(self.seed))
        seeds = rng.integers(2**31 - 1, size=self.settings.ensemble - 1)
        return [
            self.fit_or_load(f"network{number}", self.make_network().set_params(random_state=int(seed)))
            for number, seed in enumerate(seeds, 2)
        ]

    def make_network(self, features: Any = None) -> ImageClassifier:
        """A network of this cell, not fitted; `features` are joined to its last layer."""
        return ImageClassifier(
            self.backbone,
            recipe=self.settings.recipe(self.recipe),
            features=features,
            checkpoint=self.folder / ".training" if self.networks is None else self.networks,
            random_state=_network_seed(self.seed),
            verbose=self.verbose,
            **self.settings.network_parameters(self.backbone),
        )

    def make_memory(self, similarity: Any, **parameters: Any) -> MemoryClassifier:
        """The paper's memory classifier with this similarity, not fitted."""
        network = self.make_network()
        return make_memory_classifier(similarity, network, self.settings, self.seed, self.verbose, **parameters)

    def fit_or_load(self, model: str, template: Any) -> Any:
        """The fitted model from the run's folder, or fitted now and saved there."""
        place = self.folder / f"{self.recipe}-{self.backbone}-seed{self.seed}".replace("/", "_") / model
        if (place / "manifest.json").is_file():
            try:
                return load(place)
            except ModelFolderError as error:
                warnings.warn(f"{place} cannot be loaded ({error}); training it again", stacklevel=2)
                shutil.rmtree(place)
        with warnings.catch_warnings():
            # The report says which weights were used, and variants are for all studies.
            warnings.filterwarnings("ignore", message="train='head' trains the last layer on what")
            warnings.filterwarnings("ignore", message="min_trust has no effect")
            options = {"groups": self.groups} if isinstance(template, MemoryClassifier) else {}
            fitted = clone(template).fit(self.images, self.images.labels, **options)
        _silence(fitted)
        save(fitted, place)
        return fitted


def _sizes(clf: MemoryClassifier) -> list[int]:
    """The number of training cases of each local classifier; merged clusters count together."""
    counts = clf.cluster_counts_.sum(axis=1)
    home = clf.pool_.trained_with
    return [int(counts[home == k].sum()) for k in np.unique(home)]


def _network_seed(seed: int) -> int:
    """The seed of all networks that are trained from the start, as the baseline is."""
    return int(check_random_state(seed).randint(2**31 - 1, size=4)[1])


def _silence(model: Any) -> None:
    """Turn off progress messages of a fitted model: from now on the study shows progress."""
    parts = [model]
    if isinstance(model, MemoryClassifier):
        parts += [model.similarity_, *vars(model.similarity_).values(), model.global_, *model.estimators_]
    for part in parts:
        if isinstance(part, BaseEstimator) and "verbose" in part.get_params(deep=False):
            part.set_params(verbose=0)
