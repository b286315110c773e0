"""What a case study is, and the images that it loads."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import joblib
import numpy as np

from memclf._numbers import Array
from memclf.cases import Memory
from memclf.cases.store import Store
from memclf.exceptions import StudyError
from memclf.studies.checks import check_settings, check_used
from memclf.studies.settings import SCALES, Settings, read_pairs

if TYPE_CHECKING:
    from memclf.vision import ImageCollection

WORKERS = -1  # threads that make and describe images


@dataclass(frozen=True)
class StudyData:
    """The images of a study.

    Attributes
    ----------
    train, test : ImageCollection
        With labels and keys.
    make : function of corruption and severity
        The test images under a condition.
    source : {"real", "generated"}
    note : str
        One sentence that says which data these are.
    """

    train: ImageCollection
    test: ImageCollection
    make: Callable[[str, int], ImageCollection]
    source: str
    note: str

    def cached(self, folder: Path) -> Self:
        """The same images; what features and networks compute about them lasts in a folder."""
        store = Store(folder)

        def lasting(images: ImageCollection) -> ImageCollection:
            return images.remembered(Memory(len(images), store))

        return replace(
            self, train=lasting(self.train), test=lasting(self.test), make=lambda c, s: lasting(self.make(c, s))
        )

    def digest(self) -> str:
        """A hash of all images, labels and infos: with other data it is another run."""
        found = hashlib.blake2b(digest_size=12)
        for images in (self.train, self.test):
            about = images.info if images.info is not None else [None] * len(images)
            labels = np.asarray(images.labels).tolist()
            for position, (path, label, info) in enumerate(zip(images.paths, labels, about, strict=True)):
                found.update(joblib.hash((images.key(position), label, info)).encode())
                if path is None:
                    found.update(np.ascontiguousarray(images[position]))
                elif path.is_file():  # a file that is missing is named when all images are checked
                    found.update(path.read_bytes())
                mask = (info or {}).get("mask")
                if isinstance(mask, str) and mask:
                    found.update(Path(mask).read_bytes())
        return found.hexdigest()


@dataclass(frozen=True)
class Study:
    """A case study: its name, images, expert features, and settings at each scale.

    Attributes
    ----------
    name, title : str
    question : str
        The question of the study, as one sentence for its report.
    load : function of Settings
        Returns the images, real or generated.
    features : function of a feature's name and `Settings.literal`
        The expert feature of that name; it is also joined to networks ("feature augmentation").
    similarity : function of a feature's name and `Settings.literal`
        The expert's similarity, found with that feature.
    scales : dict
        Scale -> the settings that this study has there, beside those that every study has (`SCALES`).
    feature_names : tuple of str
        The features there are: "robust", and "paper" where the paper's is another one.
    graded : function of a feature's name, the number of training images and `Settings.literal`, or None
        The expert's similarity as a matter of degree, and parameters of a memory classifier that place many memories
        along it. None where that does not help.
    published : tuple of str
        Names of the paper's tables that belong to the study, in `memclf.studies.published`.
    other_names : tuple of str
        Other spellings of the name.
    painted : dict
        Masks of the paper's feature that a report paints over pictures, each with its colour; {}: none.
    generated_note : str
        What a report says of numbers on generated images; "": that they do not tell how well it does in the field.
    """

    name: str
    title: str
    question: str
    load: Callable[[Settings], StudyData]
    features: Callable[..., Any]
    similarity: Callable[..., Any]
    scales: Mapping[str, Mapping[str, Any]]
    feature_names: tuple[str, ...] = ("robust", "paper")
    graded: Callable[..., tuple[Any, dict[str, Any]]] | None = None
    published: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()
    generated_note: str = ""
    painted: Mapping[str, str] = field(default_factory=dict)

    def settings(self, scale: str = "quick", **asked: Any) -> Settings:
        """The settings of a scale; values in `asked` replace them, None does not."""
        if scale not in SCALES:
            raise StudyError(f"there is no scale {scale!r}; the scales are {', '.join(SCALES)}")
        if unknown := sorted(set(asked) - {each.name for each in fields(Settings)}):
            raise StudyError(f"a study has no setting {', '.join(unknown)}")
        chosen = {name: _tuple(value) for name, value in asked.items() if value is not None}
        if "recipe_settings" in chosen:  # the order does not matter
            chosen["recipe_settings"] = tuple(sorted(chosen["recipe_settings"]))
        if "features" in chosen:
            chosen["features"] = self._order_features(chosen["features"])
        for name, about in Settings.about().items():
            if about.none and chosen.get(name) == about.none:
                chosen[name] = None
        usual = {**SCALES[scale], **self.scales[scale]}
        settings = Settings(study=self.name, scale=scale, **{**usual, **chosen})
        if chosen.get("recipes") and "backbones" in usual and "backbones" not in chosen:
            settings = _keep_part(settings, usual["recipes"][0])
        from memclf.vision.corruptions import SETS

        asked_for = settings.corruptions or ("paper18",)
        names = [each for name in asked_for for each in SETS.get(name, (name,))]
        if any(name in SETS for name in asked_for):  # sets may overlap
            names = list(dict.fromkeys(names))
        settings = replace(settings, corruptions=tuple(names))
        check_settings(settings)
        check_used(settings, chosen)
        return settings

    def _order_features(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """The features that were asked for, the robust one first; "both": all there are.

        Where a study has one feature, it is the paper's too.
        """
        if len(self.feature_names) == 1:
            asked = tuple(self.feature_names[0] if name == "paper" else name for name in asked)
            known = "one feature, robust, which is the paper's"
        else:
            known = f"the features {', '.join(self.feature_names)}, or both"
        for name in asked:
            if name not in self.feature_names and not (name == "both" and len(self.feature_names) > 1):
                raise StudyError(f"the {self.name} study has {known}; got {name!r}")
        return tuple(name for name in self.feature_names if name in asked or "both" in asked)


def _keep_part(settings: Settings, first: str) -> Settings:
    """Let some recipes of a scale train the cells that they have beside all its recipes.

    Of all recipes of the scale, its first one alone is trained on every backbone.
    """
    own = read_pairs(settings.recipe_backbones)
    recipes = tuple(sorted(settings.recipes, key=lambda each: (each != first, each in own)))
    some = settings.backbones if first in recipes else (own.get(recipes[0], settings.backbones[0]),)
    part = replace(settings, recipes=recipes, backbones=some)
    return settings if set(part.cells()) == set(settings.cells()) else part


def groups_of(images: ImageCollection) -> Array | None:
    """The face of each image where all faces are known; None: images are independent."""
    faces = [row.get("face") for row in (images.info if images.info is not None else ())]
    return np.array(faces, dtype=str) if faces and all(face is not None for face in faces) else None


def make_corrupted(test: ImageCollection, settings: Settings) -> Callable[[str, int], ImageCollection]:
    """A function that makes the test images under a condition, each by itself."""

    def make(corruption: str, severity: int) -> ImageCollection:
        return test.corrupted(corruption, severity, **settings.making()).loaded(n_jobs=WORKERS)

    return make


def describe_feature(settings: Settings) -> str:
    """That memories rest on the paper's own expert feature, in words; else ""."""
    if settings.features[0] == "robust":
        return ""
    how = ", as fractions of the green pixels as printed" if settings.literal else ""
    return f"; memories are found with the paper's own expert feature{how}"


def describe_corruptions(settings: Settings) -> str:
    """At which size corruptions act, and with which severities, in words."""
    where = "each image at its own size"
    if settings.corrupt_at is not None:
        height, width = settings.corrupt_at
        where = f"images resized to {width} x {height} pixels and brought back to their size"
    frost = "" if settings.textures is None else f", frost with the photographs of {settings.textures}"
    return f"corruptions act on {where}, severities of {settings.preset}{frost}"


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
