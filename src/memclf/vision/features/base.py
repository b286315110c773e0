"""What every expert feature has in common: numbers with names, the masks behind them, and a picture of both."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import cv2
import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from memclf._cases import chunks
from memclf._numbers import Array
from memclf.vision.files import as_rgb
from memclf.vision.images import READ_AHEAD, ImageCollection, Pixels, as_images

Mask = NDArray[np.bool_]
Masks = dict[str, Mask]
Info = Mapping[str, Any]

COLOURS = ((230, 25, 75), (0, 130, 200), (255, 225, 25), (60, 180, 75), (245, 130, 48), (145, 30, 180))


class ImageFeatures(TransformerMixin, BaseEstimator):
    """Base of expert features: write `names`, `measure`, and `masks` if there is something to show.

    Nothing has to be fitted: `transform` may be called at once. `fit` is there for pipelines and similarities,
    which call it with the training images and their labels.

    Parameters common to all
    ------------------------
    n_jobs : int or None
        Threads that look at images at the same time.
    """

    names: tuple[str, ...] = ()
    n_jobs: int | None = None

    @abstractmethod
    def measure(self, image: Pixels, info: Info) -> Any:
        """The numbers of one image, in the order of `names`. `info` is what the collection knows about it."""

    def masks(self, image: Any, info: Info | None = None) -> Masks:
        """What was seen in an image: a boolean array of its height and width for each part, by name."""
        return {}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing to learn. Returns self."""
        return self

    def transform(self, X: Any) -> Array:
        """One row of numbers per image, in the order of `get_feature_names_out`."""
        images = as_images(X)
        parts = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._measure_some)(images, part) for part in chunks(len(images), READ_AHEAD)
        )
        rows = [row for part in parts for row in part]
        return np.array(rows, dtype=np.float64).reshape(len(images), len(self.get_feature_names_out()))

    def _measure_some(self, images: ImageCollection, part: slice) -> list[Any]:
        some = images[part]
        info = [{}] * len(some) if some.info is None else some.info
        return [self.measure(image, about) for image, about in zip(some, info, strict=True)]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the numbers."""
        return np.array(self.names, dtype=object)

    def overlay(self, image: Any, info: Info | None = None) -> Pixels:
        """The image with the outlines of its masks drawn in, one colour per mask, to look at."""
        return draw_masks(as_rgb(image, "image"), self.masks(image, info))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.no_validation = True
        return tags


def draw_masks(image: Pixels, masks: Masks) -> Pixels:
    """The image, lightly tinted and outlined where the masks are, with a legend below."""
    scale = max(1, round(400 / max(image.shape[:2])))
    size = (image.shape[1] * scale, image.shape[0] * scale)
    shown = cv2.resize(image, size, interpolation=cv2.INTER_NEAREST)
    bands = [shown]
    for (name, mask), colour in zip(masks.items(), COLOURS, strict=False):
        large = cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
        tint = np.array(colour, dtype=np.float32)
        shown[large > 0] = (0.8 * shown[large > 0] + 0.2 * tint).astype(np.uint8)
        outlines, _ = cv2.findContours(large, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(shown, outlines, -1, colour, max(1, round(max(size) / 400)))
        band = np.full((22, size[0], 3), 255, dtype=np.uint8)
        cv2.rectangle(band, (4, 5), (16, 17), colour, -1)
        share = f"{name}: {mask.mean():.1%}"
        cv2.putText(band, share, (22, 16), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (0, 0, 0), 1, cv2.LINE_AA)
        bands.append(band)
    return np.vstack(bands)
