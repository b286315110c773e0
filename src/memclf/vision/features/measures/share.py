"""The share of something: how much of the picture, or of another region, it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from memclf.vision.features.base import Masks
from memclf.vision.features.measures.base import Measurement
from memclf.vision.features.measures.sight import FOREGROUND, PICTURE, Sight


class ShareOf(Measurement):
    """How much of the picture, of the foreground or of another region something takes.

    The share of the spots in the leaf says how ill the leaf is, wherever it was photographed from. It is 0 where there
    is nothing to have a share in.

    Parameters
    ----------
    of, regions
        See `Measurement`.
    within : str
        What it is a share of: "picture", "foreground", or the name of a region.

    Examples
    --------
    >>> image = np.full((100, 100, 3), 220, dtype=np.uint8)
    >>> image[25:75, 25:75] = (30, 90, 30)
    >>> share = ShareOf("foreground")
    >>> share.names, share.transform([image])[0].round(2)
    (('foreground_share_of_picture',), array([0.25]))
    """

    word = "share"
    label = "share"
    sentence = "How much of the picture, or of another region that it lies in, it takes."
    _parameter_constraints: ClassVar[dict[str, Any]] = {"within": [str]}

    def __init__(self, of: str = FOREGROUND, *, regions: Any = None, within: str = PICTURE):
        self.of = of
        self.regions = regions
        self.within = within

    def parts(self) -> Sequence[str]:
        return (f"share_of_{self.within}",)

    def read(self, sight: Sight) -> Sequence[float]:
        whole = sight.mask(self.within, self.regions)
        return [float(self.mask(sight)[whole].mean()) if whole.any() else 0.0]

    def show(self, sight: Sight) -> Masks:
        return {} if self.within == PICTURE else {self.within: np.asarray(sight.mask(self.within, self.regions))}

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.regions is None and self.within not in (PICTURE, FOREGROUND):
            raise ValueError(
                f"within must be {PICTURE!r}, {FOREGROUND!r}, or the name of a region together with regions=, a "
                f"feature that finds it; got {self.within!r} without regions"
            )
        if self.within == self.of:
            raise ValueError(f"the share of {self.of!r} in itself is always 1; give another name for within")
