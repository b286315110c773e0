"""What features have in common whose judgement of pixels an expert taught."""

from __future__ import annotations

from typing import Any, Self

import cv2

from memclf._numbers import Array
from memclf.vision.features.base import ImageFeatures, Info, Masks
from memclf.vision.files import Pixels, as_rgb

Coefficients = dict[str, Array]


class TaughtFeatures(ImageFeatures):
    """Base of features that were taught by paintings: a subclass writes `_find` and `_decide`.

    What was taught survives `sklearn.base.clone`. Paintings are given once; similarities and pipelines clone their
    features and fit the clones to images and class labels, which hold no paintings.
    """

    coefficients_: Coefficients | None = None

    def _find(self, image: Pixels) -> Array:
        """Chances of each region: height x width x regions, of a size at which pixels are judged."""
        raise NotImplementedError

    def _decide(self, found: Array) -> Masks:
        """Masks from chances of any size."""
        raise NotImplementedError

    def masks(self, image: Any, info: Info | None = None) -> Masks:
        """Where each region is: boolean arrays of the image's height and width, by name."""
        self._validate_params()
        image = as_rgb(image, "image")
        return self._decide(cv2.resize(self._find(image), image.shape[1::-1], interpolation=cv2.INTER_LINEAR))

    def __sklearn_clone__(self) -> Self:
        copy = type(self)(**self.get_params(deep=False))
        if self.coefficients_ is not None:
            copy.coefficients_ = {name: values.copy() for name, values in self.coefficients_.items()}
        return copy
