"""Whether the settings of a study make sense."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

from memclf.exceptions import StudyError, WeightsError
from memclf.studies.settings import PRETRAINED, Settings, read_pairs
from memclf.vision.nets.recipes import RECIPES

EXAMPLES = {
    "recipe_backbones": "manifold_mixup=preact_resnet18",
    "recipe_settings": "adversarial.steps=1",
    "weights": "resnet50=weights.safetensors",
}


def spell(name: str) -> str:
    """A setting as messages name it: with its option in brackets where that is spelt otherwise.

    >>> spell("epochs"), spell("recipe_backbones")
    ('epochs', 'recipe_backbones (--recipe-backbone)')
    """
    option = (Settings.about()[name].option or name).replace("_", "-")
    return name if option == name else f"{name} (--{option})"


def check_settings(settings: Settings) -> None:
    """Raise a StudyError that names the first setting that makes no sense."""
    for name, about in Settings.about().items():
        value = getattr(settings, name)
        if about.choices and value is not None and value not in about.choices:
            raise StudyError(f"{spell(name)} must be one of {', '.join(about.choices)}; got {value!r}")
        if (
            isinstance(value, tuple)
            and about.option
            and not about.later
            and (not value or len(set(value)) < len(value))
        ):
            raise StudyError(f"{spell(name)} must hold one or more different values, got {value}")
        parts = value if isinstance(value, tuple) else (value,)
        if value is not None and about.least is not None and not min(parts) >= about.least:  # NaN is not
            raise StudyError(f"{spell(name)} must be at least {about.least}, got {value}")
        if not all(math.isfinite(part) for part in parts if isinstance(part, float)):
            raise StudyError(f"{spell(name)} must be a finite number, got {value}")
    if not settings.lr > 0:
        raise StudyError(f"lr must be above 0, got {settings.lr}")
    if not settings.momentum < 1:
        raise StudyError(f"momentum must be below 1, got {settings.momentum}")
    if settings.local == "networks" and settings.train == "head":
        raise StudyError("networks of their own for local classifiers (--local networks) need --train all")
    _check_pairs(settings)
    weights = {"pretrained": settings.pretrained}
    weights |= {f"the weights of {name}": file for name, file in read_pairs(settings.weights).items()}
    for what, file in weights.items():
        if file not in PRETRAINED and not Path(file).is_file():
            raise StudyError(f"{what} must be {', '.join(PRETRAINED)} or a file with weights; there is no file {file}")
    if settings.textures is not None and "frost" not in settings.corruptions:
        raise StudyError(f"textures are for frost, and the corruptions are {', '.join(settings.corruptions)}")
    _check_names(settings)
    _check_weights_exist(settings)
    if settings.device not in ("auto", "cpu"):
        from memclf.vision.nets.devices import find_device  # which loads torch

        try:
            find_device(settings.device)
        except ValueError as error:
            raise StudyError(f"{error}") from error


def check_weights(settings: Settings, say: Callable[[str], object] = lambda line: None) -> None:
    """Load the weights that cells start from, so that wrong ones are found before training.

    Otherwise the error would come with the turn of their cell, after hours. Libraries keep what they fetch. `say`
    is called with a line before published weights are loaded, since that may take minutes.
    """
    from memclf.vision.nets.backbones import build
    from memclf.vision.nets.weights import load_pretrained

    own = read_pairs(settings.weights)
    lacking: dict[str, BaseException] = {}
    for backbone in _backbones(settings):
        parameters = settings.network_parameters(backbone)
        if (asked := parameters["pretrained"]) is None:
            continue
        if asked is True:
            say(f"loading the published weights of {backbone}")
        try:
            load_pretrained(build(backbone, parameters["image_size"]), backbone, asked)
        except WeightsError as error:
            if asked is not True or error.__cause__ is None:
                word = own.get(backbone, settings.pretrained)
                raise WeightsError(f"{backbone} cannot start from the weights {word}: {error}") from error
            lacking[backbone] = error.__cause__  # its library has them elsewhere
    if lacking:
        reason = next(iter(lacking.values()))
        raise WeightsError(
            f"the published weights of {', '.join(lacking)} cannot be had ({type(reason).__name__}: {reason}); connect "
            f"this machine to the network, or give {'; '.join(map(_name_other_weights, lacking))}"
        ) from reason


def _check_weights_exist(settings: Settings) -> None:
    """Weights must exist for every backbone that is to start from them."""
    from memclf.vision.nets.backbones import bundled_weights_of, has_published_weights

    for backbone in _backbones(settings):
        asked = settings.network_parameters(backbone)["pretrained"]
        if asked is True and not has_published_weights(backbone):
            kind = "published"
        elif asked == "bundled" and bundled_weights_of(backbone) is None:
            kind = "bundled"
        else:
            continue
        asks = "weights asks" if backbone in read_pairs(settings.weights) else "pretrained asks"
        raise StudyError(f"{backbone} has no {kind} weights, for which {asks}; give {_name_other_weights(backbone)}")


def _name_other_weights(backbone: str) -> str:
    """Options that let a backbone start without published weights, in words."""
    from memclf.vision.nets.backbones import bundled_weights_of

    words = ("FILE", *(("bundled",) if bundled_weights_of(backbone) is not None else ()), "none")
    return f"--weights {backbone}={'|'.join(words)}"


def _backbones(settings: Settings) -> list[str]:
    """The backbones that are trained, each once."""
    return list(dict.fromkeys(backbone for _, backbone in settings.cells()))


def _check_pairs(settings: Settings) -> None:
    """Pairs must be pairs, each thing may be named once, and it must exist or take part."""
    known_names = {"recipe_backbones": RECIPES, "recipe_settings": RECIPES, "weights": _backbones(settings)}
    for name, known in known_names.items():
        texts = getattr(settings, name)
        separators = ("=", ".") if name == "recipe_settings" else ("=",)
        if wrong := [text for text in texts if not all(each in text for each in separators)]:
            raise StudyError(f"{spell(name)} are pairs as {EXAMPLES[name]}; got {wrong[0]!r}")
        pairs = read_pairs(texts)
        if len(pairs) < len(texts):
            what = "field" if name == "recipe_settings" else "recipe or backbone"
            raise StudyError(f"{spell(name)} must name each {what} once, got {', '.join(texts)}")
        if strange := [each for each in pairs if each.partition(".")[0] not in known and each not in known]:
            raise StudyError(f"{spell(name)} names {strange[0]!r}, which is none of {', '.join(known)}")
    try:
        for recipe in settings.recipes:
            settings.recipe(recipe)
    except ValueError as error:
        raise StudyError(f"{spell('recipe_settings')}: {error}") from error


def check_used(settings: Settings, asked: Iterable[str]) -> None:
    """Raise a StudyError if a setting that was asked for changes nothing in this run."""
    about, used = Settings.about(), settings.used()
    for name in asked:
        if about[name].study not in ("", settings.study):
            raise StudyError(f"{spell(name)} is for the {about[name].study} study, not for {settings.study}")
        if name not in used:
            raise StudyError(f"{spell(name)} is for generated images, and data names real ones")
    if "literal" in asked and settings.literal and "paper" not in settings.features:
        told = ", ".join(settings.features)
        raise StudyError(f"{spell('literal')} is for the feature paper, and the features of this run are {told}")
    for name in ("recipe_backbones", "recipe_settings"):
        for pair in read_pairs(getattr(settings, name)) if name in asked else ():
            if (recipe := pair.partition(".")[0]) not in settings.recipes:
                told = ", ".join(settings.recipes)
                raise StudyError(f"{spell(name)} is for {recipe}, and the recipes of this run are {told}")


def _check_names(settings: Settings) -> None:
    """Recipes, corruptions, backbones and textures must exist."""
    from memclf.vision import corruptions
    from memclf.vision.corruptions.textures import texture_files
    from memclf.vision.files import read_image
    from memclf.vision.nets import backbones

    for recipe in settings.recipes:
        if recipe not in RECIPES:
            raise StudyError(f"{recipe!r} is none of the recipes {', '.join(RECIPES)}")
    try:
        for corruption in settings.corruptions:
            for severity in settings.severities:
                corruptions.check(corruption, severity, settings.preset)
        for backbone in (*settings.backbones, *read_pairs(settings.recipe_backbones).values()):
            backbones.resolve(backbone)
        if settings.textures is not None:
            for file in texture_files(settings.textures)[0]:
                read_image(file)  # an error now, not when frost's turn comes after hours
    except ValueError as error:
        known = all(each in corruptions.CORRUPTIONS for each in settings.corruptions)
        raise StudyError(f"{error}" if known else f"{error}, and the sets {', '.join(corruptions.SETS)}") from error
