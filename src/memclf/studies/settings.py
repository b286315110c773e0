"""The settings of a study: one dataclass, whose fields also make checks and options."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from memclf.vision.nets.catalogue import CATALOGUE, PAPER_BACKBONES
from memclf.vision.nets.recipes import PAPER_RECIPES, RECIPES, Recipe, get_recipe
from memclf.vision.nets.schedules import SCHEDULES

PRETRAINED = ("auto", "bundled", "none", "published")
CONSTANT = "constant"
LEAST_SIDE = 32  # pixels; the corruptions need at least as many

#: Scale -> settings of every study at that scale; `Study.scales` adds to them or replaces them.
SCALES: Mapping[str, Mapping[str, Any]] = {
    "quick": {},
    "full": {
        "seeds": (0, 1, 2),
        "severities": (1, 2, 3, 4, 5),
        "recipes": PAPER_RECIPES,
        "train": "all",
        "epochs": 8,
        "local_epochs": 4,
    },
    "paper": {
        "severities": (1, 2, 3, 4, 5),
        "recipes": PAPER_RECIPES,
        "backbones": PAPER_BACKBONES,
        "recipe_backbones": ("manifold_mixup=preact_resnet18",),
        "pretrained": "published",
        "image_size": (224, 224),
        "train": "all",
        "local": "networks",
        "schedule": None,
        "sturdy": False,  # the paper has its own memory classifier alone
    },
}


@dataclass(frozen=True)
class About:
    """What is known of a setting beside its type and default.

    Attributes
    ----------
    help : str
        What it means, for `memclf study --help`; "": there is no option.
    option : str
        Name of the option, where it is not that of the field: an option that is repeated is in the singular.
    path : bool
        The value is the name of a file or folder.
    choices : tuple of str
        All allowed values.
    none : str
        The word for None among the choices.
    least : float or None
        The smallest allowed value, of a tuple: of each part.
    network : bool
        `ImageClassifier` has a parameter of the same name, which takes the value as it is.
    generated : bool
        It is for generated images alone.
    study : str
        It is for one study alone; "": for all.
    later : bool
        It came after the others: while it has its default, fingerprints are as they were without it.
    """

    help: str = ""
    option: str = ""
    path: bool = False
    choices: tuple[str, ...] = ()
    none: str = ""
    least: float | None = None
    network: bool = False
    generated: bool = False
    study: str = ""
    later: bool = False


def _setting(default: Any, help: str = "", **about: Any) -> Any:
    return field(default=default, metadata={"about": About(help, **about)})


@dataclass(frozen=True)
class Settings:
    """Everything that numbers depend on. Two runs with the same settings give the same numbers.

    The first backbone is trained with every recipe that has none of its own, and every backbone with the first recipe.
    Sizes are (height, width). `pretrained` "none" and "published" are None and True of `ImageClassifier`; a backbone
    that has no weights of any kind starts without, unless `weights` asks for them.
    """

    study: str
    scale: str = "quick"
    data: str | None = _setting(None, "Folder with real images. Without it they are generated.", path=True)
    split: str | None = _setting(None, "CSV file that says which images are for testing.", path=True)
    seeds: tuple[int, ...] = _setting((0,), "Repeat it for several.", option="seed", least=0)
    recipes: tuple[str, ...] = _setting(
        ("vanilla",), f"{', '.join([*RECIPES][:-1])} or {[*RECIPES][-1]}; repeat it.", option="recipe"
    )
    backbones: tuple[str, ...] = _setting(
        ("efficientnet_lite0",), "efficientnet_lite0, resnet18, ... or a name of timm; repeat it.", option="backbone"
    )
    corruptions: tuple[str, ...] = _setting(
        (), "A name, or paper18, acne15, acne14: those of the paper's tables; repeat it.", option="corruption"
    )
    severities: tuple[int, ...] = _setting((1, 3, 5), "1 to 5; repeat it.", option="severity")
    preset: str = _setting("imagenet-c", "Table of severities, as imagenet-c or authors-299.")
    corrupt_at: tuple[int, int] | None = _setting(None, "WIDTHxHEIGHT at which corruptions act.", least=LEAST_SIDE)
    image_size: tuple[int, int] = _setting(
        (128, 128), "WIDTHxHEIGHT of the networks' input.", least=LEAST_SIDE, network=True
    )
    pretrained: str = _setting("auto", f"{', '.join(PRETRAINED)}, or a file.")
    train: str = _setting(
        "head", "all: fine-tune the network; head: its last layer.", choices=("all", "head"), network=True
    )
    local: str = _setting("heads", "heads on one backbone, or networks of their own.", choices=("heads", "networks"))
    epochs: int = _setting(40, "Of every network.", least=1, network=True)
    local_epochs: int | None = _setting(None, "Of local classifiers. Default: the same.", least=1, network=True)
    batch_size: int = _setting(24, "Images per training step.", least=1, network=True)
    lr: float = _setting(0.01, "Learning rate.", network=True)
    momentum: float = _setting(0.9, "Of the optimiser, below 1.", least=0, network=True)
    weight_decay: float = _setting(0.0, "Weights shrink by this times the learning rate.", least=0, network=True)
    schedule: str | None = _setting(
        "cosine",
        "How the learning rate goes down: constant, cosine, linear, or step (a tenth in the second half).",
        choices=tuple(name or CONSTANT for name in SCHEDULES),
        none=CONSTANT,
        network=True,
    )
    features: tuple[str, ...] = _setting(
        ("robust",), "The expert feature: robust, paper (the paper's own alone) or both.", option="feature"
    )
    augmented: bool = _setting(True, "Also train networks with the expert feature joined.")
    sturdy: bool = _setting(True, "Also the memory classifier beyond the paper's.")
    metric: str = _setting(
        "both",
        "What auto is to be good at: accuracy, balanced_accuracy or both.",
        choices=("accuracy", "balanced_accuracy", "both"),
        later=True,
    )
    careful: bool = _setting(False, "Also the sturdy one that may answer unknown.")
    folds: int = _setting(3, "Held-out parts of the training images it learns from.", least=2)
    ablate: bool = _setting(False, "Also what each of its parts brings: many classifiers.")
    ensemble: int = _setting(1, "Also this many networks that vote.", least=1)
    n_train: int = _setting(300, "Generated training images (acne: faces).", least=20, generated=True)
    n_test: int = _setting(100, "Generated test images (acne: faces).", least=5, generated=True)
    patch_size: int = _setting(
        500, "Side of the colour study's images, in pixels.", least=2 * LEAST_SIDE, study="color"
    )
    min_cluster_size: int = _setting(20, "Smaller clusters share a classifier.", least=1)
    recipe_backbones: tuple[str, ...] = _setting(
        (), "RECIPE=BACKBONE: a recipe on a backbone of its own; repeat it.", option="recipe_backbone", later=True
    )
    recipe_settings: tuple[str, ...] = _setting(
        (),
        "RECIPE.FIELD=VALUE, as adversarial.steps=1 or adversarial.alpha=10/255; repeat it.",
        option="recipe_setting",
        later=True,
    )
    weights: tuple[str, ...] = _setting(
        (), "BACKBONE=FILE, or another value of --pretrained: for one backbone; repeat it.", later=True
    )
    textures: str | None = _setting(
        None, "Folder with photographs of frost, for the corruption frost.", path=True, later=True
    )
    device: str = _setting("auto", "auto (a GPU if there is one), cpu, cuda, cuda:1 or mps.", network=True, later=True)
    mixed_precision: bool = _setting(False, "Train faster on a GPU, with short numbers.", network=True, later=True)
    literal: bool = _setting(
        False, "The paper's leaf feature as printed: in relation to the green, not the leaf.", study="leaf", later=True
    )

    @classmethod
    def about(cls) -> dict[str, About]:
        """What is known of each setting, by its name."""
        return {each.name: each.metadata.get("about", About()) for each in fields(cls)}

    def cells(self) -> list[tuple[str, str]]:
        """Pairs of recipe and backbone that are trained."""
        own = read_pairs(self.recipe_backbones)
        first = [(recipe, own.get(recipe, self.backbones[0])) for recipe in self.recipes]
        return list(dict.fromkeys([*first, *((self.recipes[0], backbone) for backbone in self.backbones)]))

    def recipe(self, name: str) -> str | Recipe:
        """The recipe of this name with the fields that were asked for; without any, the name."""
        asked = {}
        for key, text in read_pairs(self.recipe_settings).items():
            recipe, _, wanted = key.partition(".")
            if recipe == name:
                asked[wanted] = _read_field(get_recipe(name), wanted, text)
        return replace(get_recipe(name), **asked) if asked else name

    @property
    def uses_folds(self) -> bool:
        """Whether some memory classifier learns from folds, each of which costs one more fit."""
        return self.sturdy or self.careful or self.ablate

    def network_parameters(self, backbone: str = "") -> dict[str, Any]:
        """Parameters of `ImageClassifier` for every network of the study with this backbone."""
        same = {name: getattr(self, name) for name, about in self.about().items() if about.network}
        own, entry = read_pairs(self.weights), CATALOGUE.get(backbone)
        word = own.get(backbone, self.pretrained)
        without = entry is not None and not entry.published and entry.weights is None and backbone not in own
        published = None if without else True
        pretrained = {"none": None, "published": published}.get(word, word)
        return {**same, "pretrained": pretrained, "share_backbone": self.local == "heads"}

    def making(self) -> dict[str, Any]:
        """How corrupted images are made, for `ImageCollection.corrupted`."""
        return {"preset": self.preset, "at": self.corrupt_at, "texture_dir": self.textures}

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as JSON has them."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def used(self) -> dict[str, Any]:
        """Plain values of the settings that matter in this run."""
        about = self.about()
        return {
            name: value
            for name, value in self.as_dict().items()
            if about[name].study in ("", self.study) and not (about[name].generated and self.data)
        }

    def _files(self) -> list[Path]:
        """Files whose content numbers depend on, besides the images."""
        files = [Path(name) for name in (self.pretrained, *read_pairs(self.weights).values()) if Path(name).is_file()]
        if self.textures is not None:
            from memclf.vision.corruptions.textures import texture_files

            files += texture_files(self.textures)[0]
        return files

    def digest_textures(self) -> str | None:
        """A hash of the photographs that frost is made of; None if there is no frost."""
        if "frost" not in self.corruptions:
            return None
        from memclf.vision.corruptions.textures import texture_files

        found = hashlib.blake2b(digest_size=12)
        for file in texture_files(self.textures)[0]:
            found.update(file.read_bytes())
        return found.hexdigest()

    def fingerprint(self, data: str = "") -> str:
        """A hash that is the same for runs whose rows may stand together: same settings, same data."""
        before, about = Settings(study=self.study).as_dict(), self.about()
        counted = {
            name: value for name, value in self.as_dict().items() if not about[name].later or value != before[name]
        }
        text = json.dumps(counted, sort_keys=True) + data
        for file in self._files():
            text += hashlib.blake2b(file.read_bytes()).hexdigest()
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def read_pairs(texts: tuple[str, ...]) -> dict[str, str]:
    """Texts as "a=b" as {"a": "b"}; only the first sign of equality divides."""
    return {name: value for name, _, value in (text.partition("=") for text in texts)}


def _read_field(recipe: Recipe, name: str, text: str) -> Any:
    """A field of a recipe from a text: number, fraction, true or false; several with commas."""
    known = {each.name: each.default for each in fields(recipe)}
    if name not in known:
        has = f"its fields are {', '.join(known)}" if known else "it has none"
        raise ValueError(f"{recipe.name} has no field {name!r}; {has}")
    default: Any = known[name]
    if isinstance(default, tuple):
        return tuple(_read_value(f"{recipe.name}.{name}", default[0], each.strip()) for each in text.split(","))
    return _read_value(f"{recipe.name}.{name}", default, text)


def _read_value(where: str, like: Any, text: str) -> Any:
    """A value of the type of another one; None stands for a whole number."""
    if isinstance(like, str):
        return text
    if isinstance(like, bool):
        if text not in ("true", "false"):
            raise ValueError(f"{where} must be true or false, got {text!r}")
        return text == "true"
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{where} must be a number, as 3, 0.5 or 10/255; got {text!r}") from None
    if isinstance(like, float):
        try:
            return float(number)
        except OverflowError:
            raise ValueError(f"{where} must be a smaller number, got {text!r}") from None
    if number.denominator != 1:
        raise ValueError(f"{where} must be a whole number, got {text!r}")
    return int(number)
