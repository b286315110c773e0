"""The base of expert features: numbers with names, the masks behind them, a picture of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import cv2
import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from memclf._numbers import Array, format_number
from memclf._progress import track
from memclf._threads import one_blas_thread, one_opencv_thread
from memclf.cases import Computation
from memclf.cases.containers import chunks
from memclf.vision.features.outline import mask_colours, outline_masks
from memclf.vision.files import Pixels, as_rgb
from memclf.vision.images import READ_AHEAD, ImageCollection, as_images

Mask = NDArray[np.bool_]
Masks = dict[str, Mask]
Info = Mapping[str, Any]

SHOWN = 400  # pixels that the longer side of an overlay should have at least, or nearly


class ImageFeatures(TransformerMixin, BaseEstimator):
    """Base of expert features: a subclass writes `names`, `measure` and perhaps `masks`.

    Nothing has to be fitted: `transform` may be called at once. Pipelines and similarities call `fit` with the training
    images and their labels. If a number only means something beside those of other images (a size beside the usual
    size), write `relate` as well. Numbers by which cases are not compared, but from which a classifier may learn (how
    many spots there are, how large the largest is), are `details`. A feature that can find out when its numbers mean
    nothing (there is no leaf in the picture) names `signs` of it, and `believe` turns them into a trust. `measure`
    returns numbers, details and signs.

    Parameters common to all
    ------------------------
    n_jobs : int or None
        Threads that measure images at the same time.

    Attributes
    ----------
    names, details, signs : tuples of str
        What `measure` returns.
    learned_to_relate : tuple of str
        Attributes that `fit` sets and `relate` alone reads: an image measured before the fit is not measured again.
    """

    names: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    learned_to_relate: tuple[str, ...] = ()
    n_jobs: int | None = None
    verbose: int | None = None
    _parameter_constraints: ClassVar[dict[str, Any]] = {}  # scikit-learn's; checked before images are measured

    def measure(self, image: Pixels, info: Info) -> Any:
        """The numbers of one image, in the order of `names`, then its `details` and `signs`.

        `info` is what the collection holds about the image.
        """
        raise NotImplementedError(f"{type(self).__name__} must define measure(image, info)")

    def masks(self, image: Any, info: Info | None = None) -> Masks:
        """The parts found in an image, by name: boolean arrays of its height and width."""
        return {}

    def relate(self, rows: Array, info: Sequence[Info]) -> Array:
        """Turn the rows of all images of a call into rows relative to each other.

        By default, nothing changes.
        """
        return rows

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn nothing, and return self."""
        return self

    def transform(self, X: Any) -> Array:
        """One row of numbers per image, in the order of `get_feature_names_out`."""
        images = as_images(X)
        return self.relate(self._measurements(images)[:, : self._width()], info_of(images))

    def inspect(self, X: Any) -> Array:
        """The numbers of `transform`, and the details after them: one row per image."""
        images = as_images(X)
        width = self._width()
        rows = self._measurements(images)
        details = rows[:, width : width + len(self.details)]
        return np.hstack([self.relate(rows[:, :width], info_of(images)), details])

    def believe(self, signs: Array) -> Array:
        """How far the numbers may be trusted, from 0 to 1, given the signs of each image (a row)."""
        raise NotImplementedError(f"{type(self).__name__} has signs and must define believe(signs)")

    collect = staticmethod(as_images)  # similarities make one collection of the images of a call

    def trust(self, X: Any) -> Array | None:
        """How far the numbers of each image may be trusted, from 0 to 1.

        None if the feature cannot tell.
        """
        if not self.signs:
            return None
        return np.asarray(
            self.believe(self._measurements(as_images(X))[:, self._width() + len(self.details) :]), dtype=np.float64
        )

    def _measurements(self, images: ImageCollection) -> Array:
        """Numbers and signs of each image; a remembered collection measures an image once."""
        if not images.has_memory:
            return self._measure_all(images)
        return np.asarray(images.compute_once(Computation(self, without=self.learned_to_relate), self._measure_all))

    def _measure_all(self, images: ImageCollection) -> Array:
        self._validate_params()
        slices = list(chunks(len(images), READ_AHEAD))
        # Small products gain nothing from more threads, and those of several images would wait for each other.
        with one_blas_thread(), one_opencv_thread():
            parts = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
                delayed(self._measure_part)(images, part) for part in slices
            )
            tracked = track(parts, total=len(slices), what="describing", verbose=self.verbose)
            rows = [row for part in tracked for row in part]
        return np.array(rows, dtype=np.float64).reshape(len(images), self._n_measured())

    def _measure_part(self, images: ImageCollection, part: slice) -> list[Array]:
        some = images[part]
        for kind in ("names", "details", "signs"):
            if isinstance(found := getattr(self, kind), str):
                raise TypeError(f"{type(self).__name__}.{kind} must be a tuple of names, got the string {found!r}")
        if not self._width():
            raise TypeError(
                f"{type(self).__name__} has no names: give it one for each number that measure returns, "
                'names = ("redness", "roundness")'
            )
        n_numbers = self._n_measured()
        rows = []
        for position, about in enumerate(info_of(some)):
            try:
                row = np.atleast_1d(np.asarray(self.measure(some[position], about), dtype=np.float64))
                if row.shape != (n_numbers,):
                    kinds = {"name": self._width(), "detail": len(self.details), "sign": len(self.signs)}
                    what = " and ".join(f"{kind} ({n})" for kind, n in kinds.items() if n)
                    raise ValueError(
                        f"{type(self).__name__}.measure must return one number per {what}, {n_numbers} in all; "
                        f"it returned shape {row.shape}"
                    )
                details = row[self._width() : self._width() + len(self.details)]
                if np.isinf(details).any():
                    name = self.details[int(np.isinf(details).argmax())]
                    raise ValueError(
                        f"{type(self).__name__}.measure returned infinity for {name!r}; return a number, or NaN where "
                        "there is none"
                    )
            except Exception as error:  # any error gets the name of the image
                path = some.paths[position]
                error.add_note(f"while measuring image {part.start + position}" + (f", {path}" if path else ""))
                raise
            rows.append(row)
        return rows

    def _width(self) -> int:
        return len(self.get_feature_names_out())

    def _n_measured(self) -> int:
        return self._width() + len(self.details) + len(self.signs)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the numbers."""
        return np.array(self.names, dtype=object)

    def overlay(self, image: Any, info: Info | None = None) -> Pixels:
        """The image with outlines of its masks, one colour per mask, and its numbers below."""
        image = as_rgb(image, "image")
        numbers = np.atleast_1d(np.asarray(self.measure(image, info or {}), dtype=np.float64))
        return draw_masks(image, self.masks(image, info), dict(zip(self.names, numbers.tolist(), strict=False)))

    def outline(self, image: Any, masks: Masks, side: int) -> tuple[Pixels, list[str]]:
        """The image with lines around the masks, and the colours of the lines.

        It is at most `side` pixels long.
        """
        image = as_rgb(image, "image")
        scale = side / max(image.shape[:2])
        scale = int(scale) if scale > 1 else scale  # enlarged pixels stay sharp
        size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
        colours = ["#{:02x}{:02x}{:02x}".format(*colour) for colour in mask_colours(len(masks))]
        return outline_masks(image, masks, size), colours

    @property
    def relates(self) -> bool:
        """Whether the numbers of an image depend on the other images of the same call."""
        return type(self).relate is not ImageFeatures.relate

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.no_validation = True
        return tags


def info_of(images: ImageCollection) -> Sequence[Info]:
    """The `info` of each image, an empty one if the collection has none."""
    return [{}] * len(images) if images.info is None else list(images.info)


def ramp(values: Array, nothing: float, full: float) -> Array:
    """0 at `nothing`, 1 at `full`, straight in between; either may be the larger."""
    return np.clip((values - nothing) / (full - nothing), 0.0, 1.0)


def draw_masks(image: Pixels, masks: Masks, numbers: Mapping[str, float] | None = None) -> Pixels:
    """Draw a line around each mask of an image, and a legend with numbers below.

    Small images are enlarged.

    Nothing inside a mask is painted over, so that its colours stay visible.
    """
    scale = max(1, round(SHOWN / max(image.shape[:2])))
    size = (image.shape[1] * scale, image.shape[0] * scale)
    shown = outline_masks(image, masks, size)
    bands = [
        _legend(f"{name}: {mask.mean():.1%} of the image", colour, size[0])
        for (name, mask), colour in zip(masks.items(), mask_colours(len(masks)), strict=True)
    ]
    bands += [_legend(f"{name} = {format_number(value, 3)}", None, size[0]) for name, value in (numbers or {}).items()]
    wide = max(part.shape[1] for part in (shown, *bands))
    return np.vstack([_widen(part, wide) for part in (shown, *bands)])


def _legend(text: str, colour: tuple[int, int, int] | None, width: int) -> Pixels:
    (needed, _), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 0.45, 1)
    band = np.full((22, max(width, needed + 30), 3), 255, dtype=np.uint8)
    if colour is not None:
        cv2.rectangle(band, (4, 5), (16, 17), colour, -1)
    cv2.putText(band, text, (22, 16), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (0, 0, 0), 1, cv2.LINE_AA)
    return band


def _widen(part: Pixels, width: int) -> Pixels:
    return np.pad(part, ((0, 0), (0, width - part.shape[1]), (0, 0)), constant_values=255)
