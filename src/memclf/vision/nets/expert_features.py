"""Expert features that are joined to a network's penultimate layer, scaled to variance 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from memclf._numbers import Array
from memclf.vision.images import ImageCollection


def fit_features(features: Any, images: ImageCollection, y: Array) -> tuple[Any, Any]:
    """A fitted copy of the features and the scaler of their numbers, or None twice."""
    if features is None:
        return None, None
    fitted = clone(features).fit(images, y)
    return fitted, StandardScaler().fit(_measure(fitted, images))


def scale_features(fitted: Any, scaler: StandardScaler, images: ImageCollection) -> Array:
    """The scaled numbers of the images, one row each."""
    return scaler.transform(_measure(fitted, images)).astype(np.float32)


def _measure(fitted: Any, images: ImageCollection) -> Array:
    F = np.asarray(fitted.transform(images), dtype=np.float64)
    if not np.isfinite(F).all():
        bad = int(np.argmin(np.isfinite(F).all(axis=1)))
        raise ValueError(f"features returned NaN or infinity (first: image {bad}); a network needs finite numbers")
    return F
