"""The base of ready measurements: numbers of the picture, of its foreground, or of a region."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from memclf._numbers import Array
from memclf.vision.features.base import ImageFeatures, Info, Mask, Masks
from memclf.vision.features.measures.sight import FOREGROUND, PICTURE, FindsRegions, Sight, resize_mask
from memclf.vision.files import Pixels, as_rgb


class Measurement(ImageFeatures):
    """Base of ready measurements: numbers of the picture, of its foreground, or of a region.

    A subclass writes `word`, `label`, `sentence`, `parts` and `read`.

    Parameters common to all
    ------------------------
    of : str
        "foreground" (what stands out from the background, found automatically), "picture" (all of it), or the name of
        a region that `regions` finds.
    regions : object with `masks(image) -> {name: mask}`, or None
        A feature that finds regions, as `TaughtRegions` or `LeafColours`. It is used as it is: measurements never fit
        it, and copies share it.

    Attributes
    ----------
    word : str
        What a SPEC calls it.
    label, sentence : str
        What it is, and what its numbers say.
    variants : tuple of (dict, str)
        Options between which a page lets people choose, and what they call the measurement with each.
    names : tuple of str
        Names of the numbers; they begin with what the numbers are of.
    """

    word: ClassVar[str] = ""
    label: ClassVar[str] = ""
    sentence: ClassVar[str] = ""
    variants: ClassVar[tuple[tuple[dict[str, Any], str], ...]] = ()
    of: str = FOREGROUND
    regions: Any = None

    def parts(self) -> Sequence[str]:
        """Names of the numbers, without what they are of."""
        raise NotImplementedError(f"{type(self).__name__} must define parts()")

    def read(self, sight: Sight) -> Sequence[float]:
        """The numbers of one image, in the order of `parts`."""
        raise NotImplementedError(f"{type(self).__name__} must define read(sight)")

    def show(self, sight: Sight) -> Masks:
        """More masks for the overlay, at work size; the measured part itself is always shown."""
        return {}

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(f"{self.of}_{part}".replace(" ", "_") for part in self.parts())

    @property
    def signs(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("clarity",) if self.of == FOREGROUND else ()

    @classmethod
    def options(cls) -> dict[str, Any]:
        """The options that a SPEC may set, beside `of`, with their defaults."""
        given = inspect.signature(cls).parameters
        return {name: each.default for name, each in given.items() if name not in ("of", "regions")}

    def measure(self, image: Pixels, info: Info) -> Array:
        sight = Sight(image, info)
        return np.array([*self.read(sight), *([sight.clarity] if self.signs else [])])

    def believe(self, signs: Array) -> Array:
        """Trust is how clearly the foreground stands out."""
        return np.asarray(signs.min(axis=1))

    def trust(self, X: Any) -> Array | None:
        """How far the numbers of each image may be trusted, from 0 to 1: as far as the region is."""
        return lowest_trust(X, [super().trust(X)], [self.regions])

    def masks(self, image: Any, info: Info | None = None) -> Masks:
        """What is measured, and what is found in it."""
        self._validate_params()
        return self.masks_of(Sight(as_rgb(image, "image"), info or {}))

    def masks_of(self, sight: Sight) -> Masks:
        """The masks in an image that is prepared already, at the size of the image."""
        own = {} if self.of == PICTURE else {self.of: self.mask(sight)}
        size = (sight.image.shape[0], sight.image.shape[1])
        return {name: resize_mask(mask, size) for name, mask in {**own, **self.show(sight)}.items()}

    def mask(self, sight: Sight) -> Mask:
        """Where the measured part is, at work size."""
        return sight.mask(self.of, self.regions)

    def _validate_params(self) -> None:
        super()._validate_params()
        if not isinstance(self.of, str):
            raise TypeError(f"of must be {FOREGROUND!r}, {PICTURE!r} or the name of a region, got {self.of!r}")
        if self.regions is not None and not isinstance(self.regions, FindsRegions):
            raise TypeError(
                f"regions must be a feature with masks(image), as TaughtRegions or LeafColours; got {self.regions!r}"
            )

    def __sklearn_clone__(self) -> Self:
        """A copy that shares the regions: a clone of them would forget what they were taught."""
        params = self.get_params(deep=False)
        return type(self)(**{k: v if k == "regions" else clone(v, safe=False) for k, v in params.items()})


def lowest_trust(X: Any, own: Sequence[Array | None], sources: Sequence[Any]) -> Array | None:
    """For each image the lowest trust of those that can tell; None if none can."""
    unique = {id(each): each for each in sources if isinstance(each, ImageFeatures)}
    rated = [each for each in (*own, *(source.trust(X) for source in unique.values())) if each is not None]
    return np.min(rated, axis=0) if rated else None
