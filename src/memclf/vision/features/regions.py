"""Regions that an expert painted: found in other pictures, and measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import cv2
import numpy as np
from sklearn.utils._param_validation import Interval

from memclf._numbers import Array
from memclf._progress import track
from memclf.vision.features.base import Info, Masks, ramp
from memclf.vision.features.light import without_noise
from memclf.vision.features.paintings import Painting, are_labels, check_paintings, check_ranges
from memclf.vision.features.region_masks import decide, leeway, paint_share, share_range
from memclf.vision.features.region_numbers import NUMBERS, describe_region, share
from memclf.vision.features.region_pixels import (
    PLANES,
    certainty,
    chances,
    entropy,
    look,
    strange_share,
    strangeness,
)
from memclf.vision.features.taught import Coefficients, TaughtFeatures
from memclf.vision.files import Pixels
from memclf.vision.images import ImageCollection, as_images

MOST_REGIONS = 255  # that a painting of bytes can hold
SIGNS = ("certainty", "strange_share", "leeway")
WIDE = 6  # times the usual leeway, at which half of the trust is gone
BLANK = 0.002  # standard deviation of all values, from 0 to 1, up to which a picture shows nothing
STROKE = 8  # a suggested place is as wide as an eighth of the picture
PLACES = 3  # in one picture, at most
ALIKE = 0.5  # distance of colours below which one stroke teaches much of what another does


class Suggestion(NamedTuple):
    """A place where a stroke would teach much."""

    image: int
    row: int
    column: int
    doubt: float
    taken_for: str


class TaughtRegions(TaughtFeatures):
    """Regions of a picture, learned from an expert's paintings: a few strokes, or outlines.

    Parameters
    ----------
    regions : list of str, or mapping of str to str or None
        Names of the regions, in the order of their numbers in paintings. A mapping says which region each lies in
        (None: in the picture): ``{"background": None, "leaf": None, "symptom": "leaf"}``. The mask of a region then
        includes those that lie in it. Regions of a list lie beside each other.
    showings : int
        For teaching: how often pictures are shown, all together, and five times that where much was painted; each
        is shown once at least. 20 teach strokes on ten pictures in under a second, and a little worse: for teaching
        anew after each stroke.
    random_state : int
        For teaching.
    n_jobs : int or None
        Threads that look at images at the same time.
    verbose : int or None
        Show progress while teaching.

    Attributes
    ----------
    coefficients_ : dict of arrays
        What was taught.

    Notes
    -----
    The numbers are the share of each region in the picture, or in the region that it lies in (`symptom_share`).
    Details, from which `answer="auto"` learns and which `inspect` gives, are for each region: the number of spots, the
    share that the largest and the median one take, elongation and solidity of the largest, the mean colour (Lab) minus
    that of the surroundings, the spread of its colour, the sharpness of its edge, its place, and its share if a pixel
    must surely show it, or possibly; and for nested regions the share of the picture.

    A pixel is judged by colours relative to the light of its own picture, on several scales, and by what was found
    around it. Light, fog, noise and a change of contrast or saturation therefore matter little. Teaching takes seconds
    for strokes and about a minute for 300 outlines; it needs numpy and OpenCV only.

    What was taught survives `sklearn.base.clone`, unlike what other estimators have fitted. Paintings are given
    once; similarities and pipelines clone their features and fit the clones to images and class labels, which hold no
    paintings and change nothing.

    Examples
    --------
    >>> image = np.full((128, 256, 3), 225, dtype=np.uint8)
    >>> image = cv2.ellipse(image, (128, 64), (100, 45), 0, 0, 360, (70, 120, 40), -1)
    >>> image = cv2.ellipse(image, (100, 60), (18, 12), 0, 0, 360, (130, 75, 30), -1)
    >>> painting = np.zeros((128, 256), dtype=np.uint8)
    >>> painting[5:10, 20:80], painting[80:85, 100:160], painting[58:62, 90:110] = 1, 2, 3
    >>> regions = {"background": None, "leaf": None, "symptom": "leaf"}
    >>> taught = TaughtRegions(regions, showings=20).fit([image], [painting])
    >>> taught.get_feature_names_out().tolist()
    ['background_share', 'leaf_share', 'symptom_share']
    >>> taught.transform([image]).round(1)
    array([[0.6, 0.4, 0.1]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "regions": [list, tuple, Mapping, str],
        "showings": [Interval(Integral, 1, None, closed="left")],
        "random_state": [Integral],
        "n_jobs": [Integral, None],
        "verbose": ["verbose", None],
    }
    signs = SIGNS

    def __init__(
        self,
        regions: Sequence[str] | Mapping[str, str | None],
        *,
        showings: int = 160,
        random_state: int = 0,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ):
        self.regions = regions
        self.showings = showings
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the numbers: the share of each region."""
        return tuple(f"{name}_share" for name in self.regions)

    @property
    def details(self) -> tuple[str, ...]:  # type: ignore[override]
        """Further numbers about each region."""
        nested = [f"{name}_share_of_picture" for name, parent in self._parents().items() if parent is not None]
        ranges = [f"{name}_share_{how}" for name in self.regions for how in ("surely", "possibly")]
        return *nested, *ranges, *(f"{name}_{number}" for name in self.regions for number in NUMBERS)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from paintings; class labels, or nothing, change nothing in what was taught.

        Parameters
        ----------
        X : images
            Of any size.
        y : list of 2-D arrays, array of n x height x width, or one label per image
            Paintings are whole numbers of each image's height and width: 0 is not painted, k is the k-th region.
            `read_paintings` reads them from files.
        """
        self._validate_params()
        parents = self._parents()
        if y is None or are_labels(y):
            if self.coefficients_ is None:
                raise ValueError(
                    "there are no paintings to learn from: call TaughtRegions.fit(images, paintings) first; "
                    "similarities and pipelines, which give class labels, keep what was taught"
                )
            return self
        from memclf.vision.features.region_teach import prepare, teach_regions

        images = as_images(X)
        paintings = check_paintings(y, images, list(parents))
        cases = [prepare(image, painting) for image, painting in zip(images, paintings, strict=True)]
        self.coefficients_ = teach_regions(
            cases, parents, showings=self.showings, seed=int(self.random_state), verbose=self.verbose
        )
        return self

    def measure(self, image: Pixels, info: Info) -> Any:
        x = without_noise(image)
        seen = look(x, self._taught())
        found = chances(seen, self._taught())
        parents = self._parents()
        masks = decide(found, parents)
        picture = np.ones(found.shape[:2], dtype=bool)
        lab = cv2.cvtColor(x, cv2.COLOR_RGB2Lab)
        wholes = {name: picture if parent is None else masks[parent] for name, parent in parents.items()}
        shares = [share(mask, wholes[name]) for name, mask in masks.items()]
        nested = [share(masks[name], picture) for name, parent in parents.items() if parent is not None]
        about = [describe_region(mask, wholes[name], lab) for name, mask in masks.items()]
        sure = certainty(found) if float(x.std()) > BLANK else 0.0
        ranges = share_range(found, parents)
        signs = sure, strange_share(seen, self._taught()), leeway(ranges, parents)
        return *shares, *nested, *np.array(list(ranges.values())).ravel(), *np.concatenate(about), *signs

    def _find(self, image: Pixels) -> Array:
        return chances(look(without_noise(image), self._taught()), self._taught())

    def _decide(self, found: Array) -> Masks:
        return decide(found, self._parents())

    def believe(self, signs: Array) -> Array:
        sure, strange, free = self._taught()["usual"]
        known = np.minimum(ramp(signs[:, 0], sure - 0.2, sure - 0.02), ramp(signs[:, 1], strange + 0.3, strange + 0.05))
        return np.asarray(known * 0.5 ** (signs[:, 2] / (WIDE * free)))

    def suggest(self, images: Any, n: int = 10) -> list[Suggestion]:
        """Places where a stroke would teach most, the best first.

        A place is worth a stroke if pixels are in doubt there or show colours that were never painted, and if it
        looks unlike the places before it. No picture has more than three.
        """
        if not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n must be the number of places, 1 or more; got {n!r}")
        images = as_images(images)
        found = [
            place
            for position in track(range(len(images)), total=len(images), what="looking", verbose=self.verbose)
            for place in self._doubtful_places(images, position)
        ]
        chosen: list[tuple[Suggestion, Array]] = []
        while found and len(chosen) < n:
            worth = [
                place.doubt * min([1.0, *(float(np.linalg.norm(colour - other)) / ALIKE for _, other in chosen)])
                for place, colour in found
            ]
            chosen.append(found.pop(int(np.argmax(worth))))
        return [place for place, _ in chosen]

    def paint(self, images: Any, region: str, shares: Sequence[tuple[float, float]]) -> list[Painting]:
        """Paintings of further pictures from what was taught, and from what is known about a share.

        A grade often says how much of a thing is affected, and every training case has one. Fit once more to the
        expert's paintings and these: ``regions.fit(images + graded, paintings + regions.paint(graded, ...))``.

        Parameters
        ----------
        images : images
        region : str
            One in which no other lies.
        shares : list of (float, float)
            For each image, the least and the largest share of the region, of what it lies in. Up to 0.001, nothing
            shows the region.

        Returns
        -------
        list of arrays
            As `fit` takes them; what is in doubt is not painted.
        """
        images, parents = as_images(images), self._parents()
        _check_shares(region, shares, len(images), parents)
        paintings: list[Painting] = []
        for position in track(range(len(images)), total=len(images), what="painting", verbose=self.verbose):
            image = images[position]
            painting = paint_share(self._find(image), parents, region, *shares[position])
            large = cv2.resize(painting.astype(np.uint8), image.shape[1::-1], interpolation=cv2.INTER_NEAREST)
            paintings.append(np.asarray(large, dtype=np.uint8))
        return paintings

    def _doubtful_places(self, images: ImageCollection, position: int) -> list[tuple[Suggestion, Array]]:
        image = images[position]
        seen = look(without_noise(image), self._taught())
        found = chances(seen, self._taught())
        h, w = found.shape[:2]
        window = max(3, min(h, w) // STROKE)
        doubt = np.maximum(entropy(found), np.clip(strangeness(seen, self._taught()) - 1, 0, 1))
        doubt = cv2.blur(doubt.astype(np.float32), (window, window))
        names = list(self.regions)
        places = []
        for _ in range(PLACES):
            row, column = np.unravel_index(int(doubt.argmax()), doubt.shape)
            if doubt[row, column] <= 0:
                break
            kind = names[int(found[row, column].argmax())]
            at = int((row + 0.5) * image.shape[0] / h), int((column + 0.5) * image.shape[1] / w)
            places.append(
                (Suggestion(position, *at, float(doubt[row, column]), kind), seen[row, column, PLANES : 2 * PLANES])
            )
            cv2.circle(doubt, (int(column), int(row)), 2 * window, 0.0, -1)
        return places

    def _parents(self) -> dict[str, str | None]:
        """The region that each region lies in."""
        return check_regions(self.regions)

    def _taught(self) -> Coefficients:
        if self.coefficients_ is None:
            raise ValueError(f"{type(self).__name__} was not taught: call fit(images, paintings) first")
        return self.coefficients_

    def __sklearn_is_fitted__(self) -> bool:
        return self.coefficients_ is not None


def _check_shares(region: str, shares: Any, n: int, parents: Mapping[str, str | None]) -> None:
    if region not in parents:
        raise ValueError(f"there is no region {region!r}; they are {list(parents)}")
    if inner := [name for name, parent in parents.items() if parent == region]:
        raise ValueError(f"{inner[0]!r} lies in {region!r}; give shares of a region in which no other lies")
    check_ranges(shares, n)


def check_regions(regions: Any) -> dict[str, str | None]:
    """Each region, and the region that it lies in (None: in the picture)."""
    parents = dict(regions) if isinstance(regions, Mapping) else dict.fromkeys(regions)
    if isinstance(regions, str) or not all(isinstance(name, str) and name for name in parents):
        raise TypeError(f'regions must be names, as in ["background", "leaf", "symptom"]; got {regions!r}')
    if len(parents) < len(regions):
        raise ValueError(f"regions must have different names; got {list(regions)}")
    if len(parents) < 2:
        raise ValueError(
            f"there must be at least two regions, so that there is something to tell apart; got {list(parents)}. "
            'If only one matters, paint the rest as another: ["background", "leaf"]'
        )
    if len(parents) > MOST_REGIONS:
        raise ValueError(f"there may be at most {MOST_REGIONS} regions; got {len(parents)}")
    for name, parent in parents.items():
        if parent is not None and parent not in parents:
            raise ValueError(f"{name!r} is said to lie in {parent!r}, which is no region; they are {list(parents)}")
        above = parent
        for _ in parents:
            above = None if above is None else parents[above]
        if above is not None:
            raise ValueError(f"{name!r} lies in {parent!r}, which lies in {name!r} again: regions cannot go round")
    return parents
