"""The contenders of a study: trained once, kept in the run's folder, loaded when the run goes on."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from memclf.classifier import MemoryClassifier
from memclf.evaluate import Contender, Ensemble, StageOne, controls_of
from memclf.exceptions import ModelFolderError
from memclf.persist import load, save
from memclf.similarity import RandomSimilarity
from memclf.studies.settings import Settings
from memclf.studies.study import WORKERS, Study
from memclf.studies.variants import ABLATION, CAREFUL, STURDY, Variant
from memclf.vision import ImageClassifier

Say = Callable[[str], None]


NAMES = {"robust": "memory", "paper": "memory-paper"}  # of memory classifiers, by their expert feature


def train_all(
    study: Study,
    settings: Settings,
    folder: Path,
    say: Say,
    verbose: int,
    trained: Callable[[list[Contender]], object],
    networks: Path | None = None,
) -> list[Contender]:
    """All contenders of a study, fitted; what the folder holds already is loaded.

    `trained` is called with the contenders so far whenever a recipe, backbone and seed is finished. In the folder
    `networks` the trained networks are kept, for whoever trains the same ones again.
    """
    train = study.train.remembering()  # described once for all of them
    found: list[Contender] = []
    cells = [(recipe, backbone, seed) for seed in settings.seeds for recipe, backbone in settings.cells()]
    for number, (recipe, backbone, seed) in enumerate(cells):
        say(f"training {recipe} {backbone} seed {seed} ({number + 1} of {len(cells)})")
        maker = _Maker(study, settings, train, folder, recipe, backbone, seed, verbose, say, networks)
        found += maker.contenders(augmented=settings.augmented and recipe == settings.recipes[0])
        for control in maker.common():  # these do not depend on the network
            if control.name not in {each.name for each in found}:
                found.append(control)
        trained(found)
    return found


class _Maker:
    """The contenders of one recipe, backbone and seed."""

    def __init__(
        self,
        study: Study,
        settings: Settings,
        train: Any,
        folder: Path,
        recipe: str,
        backbone: str,
        seed: int,
        verbose: int,
        say: Say = print,
        networks: Path | None = None,
    ):
        self.say = say
        self.study, self.settings, self.train = study, settings, train
        self.recipe, self.backbone, self.seed, self.verbose = recipe, backbone, seed, verbose
        self.place = folder / f"{recipe}-{backbone}-seed{seed}".replace("/", "_")
        self.training = folder / ".training" if networks is None else networks
        self.groups = study.groups(train)  # lesions of one face are never on both sides of a fold
        self.memories: dict[str, MemoryClassifier] = {}

    def contenders(self, augmented: bool) -> list[Contender]:
        made: dict[str, Any] = {}
        for feature in self.settings.features:
            model = NAMES[feature]
            self.memories[model] = self._kept(model, self._memory(self.study.similarity(feature)))
            made[model] = self.memories[model]
        clf = self.memories["memory"]
        if len(clf.memory_indices_) > len(np.unique(clf.pool_.trained_with)) == 1:
            self.say(
                f"all {len(clf.memory_indices_)} memories share ONE classifier, since clusters of fewer than "
                f"{self.settings.min_cluster_size} cases join another: this run cannot show what routing brings. More "
                "training images or a lower --min-cluster-size help"
            )
        chance = self._memory(RandomSimilarity(_sizes(clf), random_state=self.seed))
        made["random"] = self._kept("random", chance.set_params(fallback="nearest"))  # it has nothing to be unsure of
        for variant in self._variants():
            made[variant.name] = self._kept(variant.name, self.variant(variant))
            self.say(f"{variant.name} is trained")
        if "sturdy" in made:
            self.memories["sturdy"] = made["sturdy"]
        if augmented:
            made["augmented"] = self._kept("augmented", self._network(self.study.features("robust")))
        if self.settings.ensemble > 1:
            made["ensemble"] = Ensemble([clf.global_, *self._further_networks()])
        made = {"baseline": clf.global_, **made, **_priors(self.memories.get("sturdy", clf))}
        return [Contender(model, each, self.recipe, self.backbone, self.seed) for model, each in made.items()]

    def common(self) -> list[Contender]:
        """Majority class and stage 1 alone, for each feature."""
        found = [Contender("majority", controls_of(self.memories["memory"])["majority"], seed=self.seed)]
        if "sturdy" in self.memories:
            if self.study.graded is not None:
                found.append(Contender("stage1-sturdy", StageOne(self.memories["sturdy"]), seed=self.seed))
            fair = controls_of(self.memories["sturdy"])["stage1-balanced"]
            found.append(Contender("stage1-balanced", fair, seed=self.seed))
        for model in (name for name in NAMES.values() if name in self.memories):
            clf = self.memories[model]
            found.append(Contender(model.replace("memory", "stage1"), StageOne(clf), seed=self.seed))
        return found

    def _variants(self) -> list[Variant]:
        asked = self.settings
        return [
            *([STURDY] if asked.sturdy else []),
            *([CAREFUL] if asked.careful else []),
            *(ABLATION if asked.ablate else []),
        ]

    def variant(self, variant: Variant) -> MemoryClassifier:
        """A memory classifier beyond the paper's, not fitted."""
        similarity: Any = self.study.similarity("robust")
        settings: dict[str, Any] = {}
        if variant.graded and self.study.graded is not None:
            similarity, settings = self.study.graded()
        return self._memory(similarity).set_params(cv=self.settings.folds, **{**settings, **variant.settings})

    def _further_networks(self) -> list[Any]:
        """Networks for an ensemble, each trained as the baseline is, from another seed."""
        rng = np.random.default_rng(_network_seed(self.seed))
        seeds = rng.integers(2**31 - 1, size=self.settings.ensemble - 1)
        return [
            self._kept(f"network{number}", self._network().set_params(random_state=int(seed)))
            for number, seed in enumerate(seeds, 2)
        ]

    def _network(self, features: Any = None) -> ImageClassifier:
        chosen = self.settings
        return ImageClassifier(
            self.backbone,
            pretrained={"none": None, "published": True}.get(chosen.pretrained, chosen.pretrained),
            image_size=chosen.image_size,
            recipe=self.recipe,
            train=chosen.train,
            epochs=chosen.epochs,
            local_epochs=chosen.local_epochs,
            batch_size=chosen.batch_size,
            lr=chosen.lr,
            momentum=chosen.momentum,
            weight_decay=chosen.weight_decay,
            schedule=chosen.schedule,
            share_backbone=chosen.local == "heads",
            features=features,
            checkpoint=self.training,
            random_state=_network_seed(self.seed),
            verbose=self.verbose,
        )

    def _memory(self, similarity: Any) -> MemoryClassifier:
        if "n_jobs" in similarity.get_params(deep=False):
            similarity.set_params(n_jobs=WORKERS)
        return MemoryClassifier(
            similarity,
            self._network(),
            start="global",
            min_cluster_size=self.settings.min_cluster_size,
            random_state=self.seed,
            verbose=self.verbose,
        )

    def _kept(self, model: str, template: Any) -> Any:
        """The fitted model from the run's folder, or fitted now and saved there."""
        place = self.place / model
        if (place / "manifest.json").is_file():
            try:
                return load(place)
            except ModelFolderError as error:
                warnings.warn(f"{place} cannot be loaded ({error}); training it again", stacklevel=2)
                shutil.rmtree(place)
        with warnings.catch_warnings():
            # The report says which weights were used; once is enough.
            warnings.filterwarnings("ignore", message="train='head' trains the last layer on what")
            warnings.filterwarnings("ignore", message="min_trust has no effect")  # variants are for all studies
            options = {"groups": self.groups} if isinstance(template, MemoryClassifier) else {}
            fitted = _quiet(clone(template).fit(self.train, self.train.labels, **options))
        save(fitted, place)
        return fitted


def _priors(clf: MemoryClassifier) -> dict[str, Any]:
    """The baseline times the class frequencies, and the same with the balance of the memory classifier, if any."""
    return {name: control for name, control in controls_of(clf).items() if name.startswith("prior")}


def _sizes(clf: MemoryClassifier) -> list[int]:
    """How many cases each local classifier was trained on, small clusters that were merged counted together."""
    counts = clf.cluster_counts_.sum(axis=1)
    home = clf.pool_.trained_with
    return [int(counts[home == k].sum()) for k in np.unique(home)]


def _network_seed(seed: int) -> int:
    """One seed for all networks that start anew: the baseline, and those beside it."""
    return int(check_random_state(seed).randint(2**31 - 1, size=4)[1])


def _quiet(model: Any) -> Any:
    """A model that says no more how far it is: from now on the study does."""
    similarity = getattr(model, "similarity_", None)
    parts = [model, similarity, getattr(similarity, "features_", None), getattr(model, "global_", None)]
    for part in (*parts, *getattr(model, "estimators_", [])):
        if hasattr(part, "verbose"):
            part.verbose = 0
    return model
