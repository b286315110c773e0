"""Several measurements as one feature: each image is read and segmented once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from memclf._numbers import Array
from memclf.vision.features.base import ImageFeatures, Info, Masks
from memclf.vision.features.measures.base import Measurement, lowest_trust
from memclf.vision.features.measures.sight import Sight, name_nearest
from memclf.vision.files import Pixels, as_rgb


class Measurements(ImageFeatures):
    """Several measurements as one feature.

    Every image is read once, and its light, its foreground and its regions are found once for all of them. Names of
    numbers begin with what they are of, and each occurs once.

    Parameters
    ----------
    measurements : list of features
        `ColourOf`, `ShapeOf`, `TextureOf`, `PlaceOf`, `CountOf`, `SharpnessOf`, functions of your own (`measure`), and
        any other `ImageFeatures`.
    leave_out : sequence of str
        Names of single numbers that are left out, as `inspect_features` may advise. They are measured all the same.
    n_jobs : int or None
        Threads that measure images at the same time.
    verbose : int
        Show a progress bar.

    Examples
    --------
    >>> from memclf.vision.features import ColourOf, Measurements, ShapeOf
    >>> features = Measurements([ColourOf("picture"), ShapeOf("foreground")])
    >>> len(features.names), features.names[0], features.names[-1]
    (18, 'picture_lightness_low', 'foreground_hole_share')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "measurements": [list, tuple],
        "leave_out": [list, tuple],
        "n_jobs": [Integral, None],
        "verbose": ["verbose", None],
    }
    leave_out: Sequence[str] = ()  # also of models that were saved before there was this parameter

    def __init__(
        self,
        measurements: Sequence[ImageFeatures],
        *,
        leave_out: Sequence[str] = (),
        n_jobs: int | None = None,
        verbose: int | None = None,
    ):
        self.measurements = measurements
        self.leave_out = leave_out
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit copies of those parts that learn from images; ready measurements learn nothing."""
        self._validate_params()
        taught = {id(each.regions) for each in self.measurements if isinstance(each, Measurement)}
        self.measurements_ = [
            clone(each).fit(X, y) if type(each).fit is not ImageFeatures.fit and id(each) not in taught else each
            for each in self.measurements
        ]
        return self

    def _parts(self) -> Sequence[ImageFeatures]:
        """The measurements, those of the fit where there was one."""
        return vars(self).get("measurements_", self.measurements)

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(name for name in self._all_names() if name not in self.leave_out)

    def _all_names(self) -> list[str]:
        """The names of all numbers, also of those that are left out."""
        return [str(name) for each in self._parts() for name in each.get_feature_names_out()]

    @property
    def details(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(name for each in self._parts() for name in each.details)

    @property
    def signs(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(name for each in self._parts() for name in each.signs)

    def measure(self, image: Pixels, info: Info) -> Array:
        sight = Sight(image, info)
        rows: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
        for each in self._parts():
            if isinstance(each, Measurement):
                rows[0].extend(each.read(sight))
                rows[2].extend([sight.clarity] if each.signs else [])
                continue
            row = np.atleast_1d(np.asarray(each.measure(image, info), dtype=np.float64))
            width = len(each.get_feature_names_out())
            stops = (0, width, width + len(each.details), len(row))
            for kind, start, stop in zip(rows, stops[:-1], stops[1:], strict=True):
                kind.extend(row[start:stop])
        if self.leave_out:
            numbers = zip(self._all_names(), rows[0], strict=True)
            rows = ([value for name, value in numbers if name not in self.leave_out], *rows[1:])
        return np.array([value for kind in rows for value in kind])

    def masks(self, image: Any, info: Info | None = None) -> Masks:
        """The masks of all measurements; those of the same name once."""
        self._validate_params()
        sight = Sight(as_rgb(image, "image"), info or {})
        found: Masks = {}
        for each in self._parts():
            own = isinstance(each, Measurement)
            found |= each.masks_of(sight) if own else each.masks(sight.image, info)
        return found

    def relate(self, rows: Array, info: Sequence[Info]) -> Array:
        """Each part relates its own numbers."""
        related, start = [], 0
        for each, width in self._widths():
            related.append(each.relate(rows[:, start : start + width], info))
            start += width
        return np.hstack(related)

    @property
    def relates(self) -> bool:
        """Whether the numbers of an image depend on the other images of the same call."""
        return any(each.relates for each in self._parts())

    def believe(self, signs: Array) -> Array:
        """The lowest trust of all parts that have signs."""
        rated, start = [], 0
        for each in self._parts():
            if each.signs:
                rated.append(each.believe(signs[:, start : start + len(each.signs)]))
            start += len(each.signs)
        return np.min(rated, axis=0)

    def trust(self, X: Any) -> Array | None:
        """How far the numbers of each image may be trusted: as far as the least trusted part."""
        regions = [each.regions for each in self._parts() if isinstance(each, Measurement)]
        others = {id(each) for each in self._parts()}  # their signs are among these already
        return lowest_trust(X, [super().trust(X)], [each for each in regions if id(each) not in others])

    def _widths(self) -> Iterator[tuple[ImageFeatures, int]]:
        """The parts, and how many numbers of each are given."""
        for each in self._parts():
            yield each, sum(str(name) not in self.leave_out for name in each.get_feature_names_out())

    def _validate_params(self) -> None:
        super()._validate_params()
        if not self.measurements:
            raise ValueError("Measurements needs at least one measurement, as Measurements([ColourOf()])")
        for each in self.measurements:
            if isinstance(each, type) or not isinstance(each, ImageFeatures):
                hint = "; call it: ColourOf()" if isinstance(each, type) else "; for your own function: measure(f)"
                raise TypeError(f"Measurements takes features of images, got {each!r}{hint if callable(each) else ''}")
            each._validate_params()
        twice = [name for name, times in Counter(self._all_names()).items() if times > 1]
        if twice:
            raise ValueError(
                f"two measurements give the number {twice[0]!r}; leave one out, or measure something else with it"
            )
        self._check_leave_out()

    def _check_leave_out(self) -> None:
        for name in self.leave_out:
            if name not in self._all_names():
                raise ValueError(
                    f"leave_out names {name!r}, which is no number; {name_nearest(name, self._all_names())}"
                )
        if not self.names:
            raise ValueError("leave_out names every number, so that none is left")
        for each, width in self._widths():
            if each.relates and width < len(each.get_feature_names_out()):
                raise ValueError(
                    f"leave_out cannot take numbers from {type(each).__name__}, which relates them to others"
                )
