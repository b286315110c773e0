"""A skin lesion beside the other lesions of its face and the skin around it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import cv2
import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from memclf._numbers import Array
from memclf.exceptions import ImageError
from memclf.vision.features.base import ImageFeatures, Info, Mask, Masks, info_of
from memclf.vision.features.lesion_looks import LOOKS, describe_looks
from memclf.vision.files import Pixels, as_rgb, read_image
from memclf.vision.images import as_images

BOX = ("x0", "y0", "x1", "y1")  # in pixels, the last ones excluded
Box = tuple[int, int, int, int]
AREA = ("area", "box_area")
MEDIAN = ("face_median_area", "face_median_box_area")
GLARE_VALUE, GLARE_SATURATION, GLARE_SHARE = 250, 30, 0.01

# How different two histograms are: 0 for the same, more the less they have in common.
DIFFERENCES: dict[str, Callable[[Any, Any], float]] = {
    "hellinger": lambda a, b: cv2.compareHist(a, b, cv2.HISTCMP_HELLINGER),
    "correlation": lambda a, b: 1 - cv2.compareHist(a, b, cv2.HISTCMP_CORREL),
    "chi2": lambda a, b: cv2.compareHist(a, b, cv2.HISTCMP_CHISQR),
    "intersection": lambda a, b: 1 - cv2.compareHist(a, b, cv2.HISTCMP_INTERSECT),
    "kl": lambda a, b: cv2.compareHist(a, b, cv2.HISTCMP_KL_DIV),
}


class _Sight(NamedTuple):
    """What is measured in one image: a box around everything that counts, and masks of its size."""

    where: tuple[slice, slice]
    lesion: Mask
    skin: Mask


class LesionFeatures(ImageFeatures):
    """Size, redness and over-exposure of the lesion in an image, as in the paper's acne study.

    `size`: the lesion's area over the median area of the lesions of the same face. `redness`: how different the
    red-channel histograms of the lesion and of the skin around it are, negative if the lesion is less red on
    average. `overexposed`: 1 if at least 1 % of the lesion is glare (value from 250, saturation up to 30), else 0.

    Where the lesion is, and whose, is read from the `info` of an `ImageCollection`; numbers may be strings, as
    they come from a CSV file:

    - `x0`, `y0`, `x1`, `y1`: its box, in pixels of the image, x1 and y1 excluded;
    - `mask`: a boolean array, or a file in which lesions are light. The lesion is what the mask shows inside the
      box or, without a box, the piece nearest to the middle; everything else it shows is kept out of the skin;
    - neither: the central box, half as wide and half as high as the image;
    - `area` or `box_area`: the lesion's area, instead of what box or mask give (of an image that was resized);
    - `face`: whose lesion it is. `face_median_area` or `face_median_box_area`: the median area of that face.

    A median that is not given is that of the same face in `fit`; else of the images of the same face in the same
    call of `transform`. Images without a face are measured against the median of all areas in `fit`, or
    against each other when nothing was. Give the median where a face's images may come in several calls.

    Parameters
    ----------
    method : {"hellinger", "correlation", "chi2", "intersection", "kl"}
        How histograms are compared (OpenCV's definitions, the lesion first); similarities are turned into
        differences by subtracting them from 1.
    bins : int
        Bins of a histogram.
    root : path or None
        What paths of mask files are relative to.
    n_jobs : int or None
        Threads that look at images at the same time.
    verbose : int
        Show a progress bar.

    Attributes
    ----------
    face_medians_ : dict
        Median area of every face in `fit`.
    median_ : float
        Median area of all lesions in `fit`.

    Examples
    --------
    >>> from memclf.vision import ImageCollection
    >>> skin = np.full((90, 90, 3), (200, 150, 120), dtype=np.uint8)
    >>> skin[30:60, 30:60] = 230, 90, 80
    >>> box = {"x0": 30, "y0": 30, "x1": 60, "y1": 60, "face_median_area": 450}
    >>> LesionFeatures().transform(ImageCollection([skin], info=[box]))
    array([[2., 1., 0.]])
    """

    names = ("size", "redness", "overexposed")
    details = LOOKS
    learned_to_relate = ("face_medians_", "median_")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "method": [StrOptions(set(DIFFERENCES))],
        "bins": [Interval(Integral, 1, None, closed="left")],
        "root": [str, os.PathLike, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose", None],
    }
    median_: float | None = None
    face_medians_: Mapping[str, float] = MappingProxyType({})

    def __init__(
        self,
        method: str = "hellinger",
        *,
        bins: int = 64,
        root: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ):
        self.method = method
        self.bins = bins
        self.root = root
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the median area of the lesions of each face, and of all. Returns self."""
        images = as_images(X)
        if not len(images):
            raise ValueError("there are no images to learn the usual size of a lesion from")
        about = info_of(images)
        known = [_known_area(one) for one in about]  # those need no look at the image
        areas = np.array([area or 0.0 for area in known])
        unknown = [place for place, area in enumerate(known) if area is None]
        if unknown:
            areas[unknown] = self._measurements(images[unknown])[:, 0]
        faces = {face: places for face, places in _by_face(about).items() if face is not None}
        self.face_medians_ = {face: float(np.median(areas[places])) for face, places in faces.items()}
        self.median_ = float(np.median(areas))
        return self

    def measure(self, image: Pixels, info: Info) -> Array:
        """Area in pixels (`relate` makes it relative), redness, over-exposure, and looks."""
        sight = self._look(image, info)
        pixels = image[sight.where]
        area = _known_area(info)
        red = np.ascontiguousarray(pixels[:, :, 0])
        return np.array(
            [
                sight.lesion.sum() if area is None else area,
                self._redness(red, sight),
                _glare(pixels, sight.lesion).sum() >= GLARE_SHARE * sight.lesion.sum(),
                *describe_looks(pixels, sight.lesion, sight.skin),
            ],
            dtype=np.float64,
        )

    def relate(self, rows: Array, info: Sequence[Info]) -> Array:
        """Areas become relative to the median of their face."""
        related = rows.copy()
        for face, places in _by_face(info).items():
            fitted = self.median_ if face is None else self.face_medians_.get(face)
            usual = float(np.median(rows[places, 0])) if fitted is None else fitted
            for place in places:
                given = _first_of(info[place], MEDIAN)
                related[place, 0] = rows[place, 0] / (usual if given is None else given)
        return related

    def masks(self, image: Any, info: Info | None = None) -> Masks:
        """The lesion, the skin that it is compared with, and what is over-exposed in the lesion."""
        image = as_rgb(image, "image")
        sight = self._look(image, info or {})
        parts = {
            "lesion": sight.lesion,
            "skin": sight.skin,
            "overexposed": _glare(image[sight.where], sight.lesion),
        }
        whole = {name: np.zeros(image.shape[:2], dtype=bool) for name in parts}
        for name, part in parts.items():
            whole[name][sight.where] = part
        return whole

    def _redness(self, red: Pixels, sight: _Sight) -> float:
        if not sight.skin.any():  # the lesion fills the image: there is nothing to be redder than
            return 0.0
        histograms, means = [], []
        for part in (sight.lesion, sight.skin):
            mask = part.view(np.uint8)
            histogram = cv2.calcHist([red], [0], mask, [self.bins], [0, 256])
            histograms.append(histogram / histogram.sum())
            means.append(cv2.mean(red, mask)[0])
        sign = 1.0 if means[0] >= means[1] else -1.0
        return sign * DIFFERENCES[self.method](*histograms)

    def _look(self, image: Pixels, info: Info) -> _Sight:
        height, width = image.shape[:2]
        marked = marked_lesions(info, height, width, self.root)
        box = given_box(info)
        box = None if box is None else cut_box(box, height, width)
        if marked is None:
            box = box or (width // 4, height // 4, width - width // 4, height - height // 4)
            lesion = _fill_box(box, height, width)
        elif box is None:
            lesion = _central_piece(marked)
            box = box_of(lesion)
        else:
            lesion = marked & _fill_box(box, height, width)
            if not lesion.any():
                raise ImageError(f"the mask shows no lesion inside the box {box}")
        x0, y0, x1, y1 = _surround(box, height, width)
        where = (slice(y0, y1), slice(x0, x1))
        skin = ~_fill_box(box, height, width)[where]
        if marked is not None:
            skin &= ~marked[where]
        return _Sight(where, np.ascontiguousarray(lesion[where]), skin)


def marked_lesions(info: Info, height: int, width: int, root: str | os.PathLike[str] | None = None) -> Mask | None:
    """All the lesions that the image's mask shows; None if there is no mask."""
    mask = info.get("mask")
    if _is_missing(mask):
        return None
    name = "mask"
    if isinstance(mask, (str, os.PathLike)):
        name = str(Path(root or "") / mask)
        light = read_image(name).max(axis=2)
        mask = light > light.max() / 2
    mask = np.asarray(mask)
    if mask.shape != (height, width):
        raise ImageError(f"{name} has shape {mask.shape}, the image has height {height} and width {width}")
    mask = mask.astype(bool)
    if not mask.any():
        raise ImageError(f"{name} shows no lesion")
    return mask


def given_box(info: Info) -> Box | None:
    """The box that is given, in whole pixels; parts of it may lie outside the image."""
    values: list[Any] = [info.get(name) for name in BOX]
    if all(_is_missing(value) for value in values):
        return None
    try:
        x0, y0, x1, y1 = (float(value) for value in values)
        box = (math.floor(x0), math.floor(y0), math.ceil(x1), math.ceil(y1))
    except (TypeError, ValueError, OverflowError) as error:
        raise ImageError(f"{', '.join(BOX)} must be four numbers, got {values}") from error
    if box[0] >= box[2] or box[1] >= box[3]:
        raise ImageError(f"the box from ({x0:g}, {y0:g}) to ({x1:g}, {y1:g}) is empty")
    return box


def cut_box(box: Box, height: int, width: int) -> Box:
    """The part of a box that is in the image."""
    cut = (max(0, box[0]), max(0, box[1]), min(width, box[2]), min(height, box[3]))
    if cut[0] >= cut[2] or cut[1] >= cut[3]:
        raise ImageError(f"the box {box} lies outside the image of {width} x {height} pixels")
    return cut


def _known_area(info: Info) -> float | None:
    """The lesion's area, where it is known without a look at the image."""
    area = _first_of(info, AREA)
    if area is None and _is_missing(info.get("mask")):
        box = given_box(info)
        if box is not None:  # all of it: a lesion is no smaller for being cut off by the edge
            return float((box[2] - box[0]) * (box[3] - box[1]))
    return area


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value)


def _fill_box(box: Box, height: int, width: int) -> Mask:
    mask = np.zeros((height, width), dtype=bool)
    mask[box[1] : box[3], box[0] : box[2]] = True
    return mask


def box_of(mask: Mask) -> Box:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _central_piece(mask: Mask) -> Mask:
    """The connected piece that comes nearest to the middle of the image."""
    _, pieces = cv2.connectedComponents(mask.astype(np.uint8))
    rows, columns = np.nonzero(mask)
    middle = np.array(mask.shape) / 2 - 0.5
    nearest = int(((rows - middle[0]) ** 2 + (columns - middle[1]) ** 2).argmin())
    return np.asarray(pieces == pieces[rows[nearest], columns[nearest]])


def _surround(box: Box, height: int, width: int) -> Box:
    """A box around the box whose rim has about the same area.

    At the image's edge it grows on the other sides.
    """
    x0, y0, x1, y1 = box
    area = (x1 - x0) * (y1 - y0)
    margin = max(1, round((math.sqrt((x1 - x0 + y1 - y0) ** 2 + 4 * area) - (x1 - x0 + y1 - y0)) / 4))
    while True:
        outer = (max(0, x0 - margin), max(0, y0 - margin), min(width, x1 + margin), min(height, y1 + margin))
        rim = (outer[2] - outer[0]) * (outer[3] - outer[1]) - area
        if rim >= 0.9 * area or margin >= max(height, width):
            return outer
        margin += 1


def _glare(pixels: Pixels, lesion: Mask) -> Mask:
    hsv = cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV)
    return (hsv[:, :, 2] >= GLARE_VALUE) & (hsv[:, :, 1] <= GLARE_SATURATION) & lesion


def _by_face(info: Sequence[Info]) -> dict[str | None, list[int]]:
    """The places of the images of each face; those without a face are under None."""
    places: dict[str | None, list[int]] = {}
    for place, about in enumerate(info):
        face = about.get("face")
        places.setdefault(None if _is_missing(face) else str(face), []).append(place)
    return places


def _first_of(info: Info, names: tuple[str, ...]) -> float | None:
    """The first of these numbers that is known."""
    for name in names:
        value: Any = info.get(name)
        if _is_missing(value):
            continue
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not 0 < number < math.inf:
            raise ImageError(f"{name} must be a positive number, got {value!r}")
        return number
    return None
