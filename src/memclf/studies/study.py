"""A case study: images for training and testing, the expert's features, and how the test images are corrupted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from memclf._numbers import Array
from memclf.studies.settings import Settings
from memclf.vision import ImageCollection

WORKERS = -1  # threads that make and describe images


@dataclass(frozen=True)
class Study:
    """What the runner needs to know of a case study.

    Attributes
    ----------
    name, title : str
    train, test : ImageCollection
        With labels and keys.
    similarity : function of a feature's name
        The expert's similarity, found with that feature ("robust" or "paper").
    graded : function or None
        The expert's similarity as a matter of degree, on the robust feature, and the settings of a memory classifier
        that lay many memories along it; None where that does not pay.
    features : function of a feature's name
        What is joined to the network in feature augmentation.
    make : function of corruption and severity
        The test images under a condition.
    source : {"real", "generated"}
    note : str
        Which data they are, for people.
    question : str
        What the study asks, as one sentence for its report.
    published : tuple of str
        Names of the paper's tables that belong to it, in `memclf.studies.published`.
    generated_note : str
        What a report says of its numbers when the images are generated; "": that they do not count in the field.
    """

    name: str
    title: str
    train: ImageCollection
    test: ImageCollection
    similarity: Callable[[str], Any]
    graded: Callable[[], tuple[Any, dict[str, Any]]] | None
    features: Callable[[str], Any]
    make: Callable[[str, int], ImageCollection]
    source: str
    note: str
    question: str
    published: tuple[str, ...] = ()
    generated_note: str = ""

    def groups(self, images: ImageCollection) -> Array | None:
        """Which images belong together: those of one face, where faces are known; None: each stands for itself."""
        faces = [row.get("face") for row in (images.info if images.info is not None else ())]
        return np.array(faces, dtype=str) if faces and all(face is not None for face in faces) else None

    def digest(self) -> str:
        """All that the run may depend on, in one word: another data set is another run."""
        seen = hashlib.blake2b(digest_size=12)
        for images in (self.train, self.test):
            about = images.info if images.info is not None else [None] * len(images)
            labels = np.asarray(images.labels).tolist()
            for position, (path, label, info) in enumerate(zip(images.paths, labels, about, strict=True)):
                seen.update(joblib.hash((images.key(position), label, info)).encode())
                seen.update(np.ascontiguousarray(images[position]) if path is None else path.read_bytes())
                mask = (info or {}).get("mask")
                if isinstance(mask, str) and mask:
                    seen.update(Path(mask).read_bytes())
        return seen.hexdigest()


def corrupting(test: ImageCollection, settings: Settings) -> Callable[[str, int], ImageCollection]:
    """Makes the test images under a condition, each by itself."""

    def make(corruption: str, severity: int) -> ImageCollection:
        corrupted = test.corrupted(corruption, severity, preset=settings.preset, at=settings.corrupt_at)
        return corrupted.loaded(n_jobs=WORKERS)

    return make


def where_corrupted(settings: Settings) -> str:
    """At which size corruptions act, and with which severities, in words."""
    if settings.corrupt_at is None:
        return f"corruptions act on each image at its own size, severities of {settings.preset}"
    height, width = settings.corrupt_at
    return (
        f"corruptions act on images resized to {width} x {height} pixels and brought back to their size, severities of "
        f"{settings.preset}"
    )
