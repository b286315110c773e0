"""What a study is asked to do: scales as named presets, and the settings that a run is known by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from memclf.exceptions import StudyError

STUDIES = ("color", "leaf", "acne")
SCALES = ("quick", "full", "paper")
PAPER_RECIPES = ("vanilla", "adversarial", "augmix", "cutmix", "noisymix", "manifold_mixup")
PAPER_BACKBONES = ("resnet50", "resnet18", "resnet34", "vgg11", "vgg16")
LOCAL = ("heads", "networks")
FEATURES = ("robust", "paper")
PRETRAINED = ("auto", "bundled", "none", "published")
LEAST_SIDE = 32  # pixels; smaller images are beyond the corruptions


@dataclass(frozen=True)
class Settings:
    """Everything that numbers depend on. Two runs with the same settings give the same numbers.

    Attributes
    ----------
    study, scale : str
    data, split : str or None
        A folder with real images and the file that says which are for testing; None: generated ones, their own split.
    seeds : tuple of int
        Every network is trained once per seed.
    recipes, backbones : tuples of str
        The first backbone is trained with every recipe, and every backbone with the first recipe.
    corruptions, severities : tuples
    preset, corrupt_at
        Table of severities, and the size (height, width) at which corruptions act; None: the image's own.
    image_size : (height, width)
        Of the networks' input.
    pretrained : {"auto", "bundled", "none", "published"} or a file
        Weights that networks start from; see `ImageClassifier`, which says None and True for "none" and "published".
    train : {"all", "head"}
        Fine-tune the network, or its last layer alone.
    local : {"heads", "networks"}
        Local classifiers share the global network's backbone, or have networks of their own, as in the paper.
    epochs, local_epochs, batch_size, lr, momentum, weight_decay, schedule
        Of the training; local classifiers start from the global one.
    features : ("robust",) or ("robust", "paper")
        Which expert feature the memories are found with: one memory classifier for each.
    augmented : bool
        Also train networks with the expert feature joined ("feature augmentation").
    sturdy : bool
        Also train the memory classifier that goes beyond the paper; it fits everything once per fold.
    careful : bool
        Also the sturdy one that says unknown to what is unlike the training images, at most to 5 % of those like them.
    folds : int
        Of the training images, held out in turn, from which the sturdy one learns.
    ablate : bool
        Also train one memory classifier for each of its parts.
    ensemble : int
        Also train so many networks in all and let them vote; 1: no ensemble.
    n_train, n_test : int
        Of generated data: images, or faces in the acne study.
    patch_size : int
        L of the colour study: pixels of an image's side.
    min_cluster_size : int
        Local classifiers are trained on clusters from this size on; smaller ones join another.
    """

    study: str
    scale: str = "quick"
    data: str | None = None
    split: str | None = None
    seeds: tuple[int, ...] = (0,)
    recipes: tuple[str, ...] = ("vanilla",)
    backbones: tuple[str, ...] = ("efficientnet_lite0",)
    corruptions: tuple[str, ...] = ()
    severities: tuple[int, ...] = (1, 3, 5)
    preset: str = "imagenet-c"
    corrupt_at: tuple[int, int] | None = None
    image_size: tuple[int, int] = (128, 128)
    pretrained: str = "auto"
    train: str = "head"
    local: str = "heads"
    epochs: int = 40
    local_epochs: int | None = None
    batch_size: int = 24
    lr: float = 0.01
    momentum: float = 0.9
    weight_decay: float = 0.0
    schedule: str | None = "cosine"
    features: tuple[str, ...] = ("robust",)
    augmented: bool = True
    sturdy: bool = True
    careful: bool = False
    folds: int = 3
    ablate: bool = False
    ensemble: int = 1
    n_train: int = 300
    n_test: int = 100
    patch_size: int = 500
    min_cluster_size: int = 20

    def cells(self) -> list[tuple[str, str]]:
        """Pairs of recipe and backbone that are trained."""
        first = [(recipe, self.backbones[0]) for recipe in self.recipes]
        return list(dict.fromkeys([*first, *((self.recipes[0], backbone) for backbone in self.backbones)]))

    @property
    def learns(self) -> bool:
        """Whether some memory classifier learns from folds, each of which costs a fit of the whole."""
        return self.sturdy or self.careful or self.ablate

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as JSON has them."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def fingerprint(self, data: str = "") -> str:
        """The same for runs whose rows may stand together: same settings, same data."""
        text = json.dumps(self.as_dict(), sort_keys=True) + data
        if Path(self.pretrained).is_file():
            text += hashlib.blake2b(Path(self.pretrained).read_bytes()).hexdigest()
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


# Whatever a scale does not mention is as `Settings` says.
_SCALES: dict[str, dict[str, dict[str, Any]]] = {
    "quick": {
        "color": {
            "features": FEATURES,
            "n_train": 150,
            "n_test": 90,
            "patch_size": 250,
            "image_size": (96, 96),
            "augmented": False,
            "sturdy": False,  # its clusters hold one colour each, so there is nothing to weigh
        },
        "leaf": {"image_size": (128, 256), "n_train": 400, "n_test": 120},
        "acne": {"image_size": (96, 96), "n_train": 40, "n_test": 16},
    },
    "full": {
        "": {
            "seeds": (0, 1, 2),
            "severities": (1, 2, 3, 4, 5),
            "recipes": PAPER_RECIPES,
            "train": "all",
            "epochs": 8,
            "local_epochs": 4,
        },
        "color": {
            "features": FEATURES,
            "n_train": 900,
            "n_test": 300,
            "recipes": ("vanilla", "augmix"),
            "epochs": 4,
            "augmented": False,
        },
        "leaf": {"image_size": (128, 256), "n_train": 1400, "n_test": 350},
        "acne": {"n_train": 120, "n_test": 50},
    },
    "paper": {
        "": {
            "severities": (1, 2, 3, 4, 5),
            "recipes": PAPER_RECIPES,
            "backbones": PAPER_BACKBONES,
            "pretrained": "published",
            "image_size": (224, 224),
            "train": "all",
            "local": "networks",
            "schedule": None,
        },
        "color": {
            "features": FEATURES,
            "recipes": ("vanilla", "augmix"),
            "backbones": ("resnet50",),
            "epochs": 50,
            "batch_size": 48,
            "weight_decay": 5e-4,
            "n_train": 3000,
            "n_test": 300,
            "augmented": False,
        },
        "leaf": {"preset": "authors-299", "corrupt_at": (1024, 1024), "n_train": 1400, "n_test": 350},
        "acne": {"n_train": 43, "n_test": 20},
    },
}


def settings_for(study: str, scale: str = "quick", **asked: Any) -> Settings:
    """The settings of a scale, with whatever was asked for otherwise; None means not asked.

    >>> settings_for("leaf", "full", seeds=(7,)).seeds, settings_for("leaf", "full").epochs
    ((7,), 8)
    """
    if study not in STUDIES:
        raise StudyError(f"there is no study {study!r}; the studies are {', '.join(STUDIES)}")
    if scale not in SCALES:
        raise StudyError(f"there is no scale {scale!r}; the scales are {', '.join(SCALES)}")
    preset = {**_SCALES[scale].get("", {}), **_SCALES[scale][study]}
    strange = sorted(set(asked) - {each.name for each in fields(Settings)})
    if strange:
        raise StudyError(f"a study has no setting {', '.join(strange)}")
    chosen = {name: _tuple(value) for name, value in asked.items() if value is not None}
    if "features" in chosen:  # the robust one is always there; the paper's comes beside it
        chosen["features"] = ("robust", *(each for each in dict.fromkeys(chosen["features"]) if each != "robust"))
    settings = Settings(study=study, scale=scale, **{**preset, **chosen})
    if not settings.corruptions:
        from memclf.vision import corruptions

        settings = replace(settings, corruptions=tuple(corruptions.PAPER))
    _check(settings)
    return settings


def _check(settings: Settings) -> None:
    from memclf.vision import corruptions
    from memclf.vision.nets import backbones
    from memclf.vision.nets.recipes import RECIPES

    choices: Mapping[str, tuple[str, ...]] = {"local": LOCAL, "train": ("all", "head")}
    for name, allowed in choices.items():
        if getattr(settings, name) not in allowed:
            raise StudyError(f"{name} must be one of {', '.join(allowed)}; got {getattr(settings, name)!r}")
    for name, known in (("recipes", tuple(RECIPES)), ("features", FEATURES)):
        for value in getattr(settings, name):
            if value not in known:
                raise StudyError(f"{value!r} is none of the {name} {', '.join(known)}")
    if settings.study == "acne" and "paper" in settings.features:
        raise StudyError("the acne study has one feature, which is the paper's; leave out --feature")
    for name in ("seeds", "recipes", "backbones", "severities", "features"):
        values = getattr(settings, name)
        if not values or len(set(values)) < len(values):
            raise StudyError(f"{name} must hold one or more different values, got {values}")
    if settings.local == "networks" and settings.train == "head":
        raise StudyError("networks of their own for local classifiers (--local networks) need --train all")
    for name in ("image_size", "corrupt_at"):
        size = getattr(settings, name)
        if size is not None and (len(size) != 2 or min(size) < LEAST_SIDE):
            raise StudyError(f"{name} must be at least {LEAST_SIDE} x {LEAST_SIDE} pixels, got {size}")
    for name in ("epochs", "local_epochs", "batch_size", "lr", "min_cluster_size", "ensemble"):
        value = getattr(settings, name)
        if value is not None and not value > 0:
            raise StudyError(f"{name} must be above 0, got {value}")
    if settings.pretrained not in PRETRAINED and not Path(settings.pretrained).is_file():
        raise StudyError(
            f"pretrained must be {', '.join(PRETRAINED)} or a file with weights; there is no file {settings.pretrained}"
        )
    if settings.folds < 2:
        raise StudyError(f"folds must be at least 2, got {settings.folds}")
    if min(settings.seeds) < 0 or settings.patch_size < 2 * LEAST_SIDE:
        raise StudyError(f"seeds must not be negative and patch_size at least {2 * LEAST_SIDE}")
    if settings.n_train < 20 or settings.n_test < 5:
        raise StudyError(f"n_train must be at least 20 and n_test 5, got {settings.n_train} and {settings.n_test}")
    try:
        for corruption in settings.corruptions:
            for severity in settings.severities:
                corruptions.check(corruption, severity, settings.preset)
        for backbone in settings.backbones:
            backbones.resolve(backbone)
    except ValueError as error:
        raise StudyError(str(error)) from error


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
