"""Changes that a collection makes to its images as they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memclf.vision.corruptions.apply import corrupt
from memclf.vision.files import Pixels, resize
from memclf.vision.perturbations import perturb
from memclf.vision.shifts import shift


class Change(Protocol):
    """Makes another image of an image; a key, or the pixels themselves, decide what is random."""

    def __call__(self, image: Pixels, key: str | None) -> Pixels: ...


@dataclass(frozen=True)
class CorruptionChange:
    """One corruption.

    With `at`, images are corrupted at that height and width and brought back to their own. `texture_dir` is a folder
    with photographs of frost.
    """

    name: str
    severity: int
    seed: int
    preset: str
    at: tuple[int, int] | None
    texture_dir: str | None = None

    def __call__(self, image: Pixels, key: str | None) -> Pixels:
        height, width = image.shape[:2]
        image = image if self.at is None else resize(image, self.at)
        image = corrupt(image, self.name, self.severity, self.seed, key, self.preset, texture_dir=self.texture_dir)
        return image if self.at is None else resize(image, (height, width))

    def __str__(self) -> str:
        return f"{self.name} {self.severity}"


@dataclass(frozen=True)
class PerturbationChange:
    """One mild perturbation, whose kind is drawn for every image."""

    seed: int

    def __call__(self, image: Pixels, key: str | None) -> Pixels:
        return perturb(image, seed=self.seed, key=key)

    def __str__(self) -> str:
        return "perturbed"


@dataclass(frozen=True)
class ShiftChange:
    """One strong shift, whose kind is drawn for every image."""

    seed: int

    def __call__(self, image: Pixels, key: str | None) -> Pixels:
        return shift(image, seed=self.seed, key=key)

    def __str__(self) -> str:
        return "shifted"
