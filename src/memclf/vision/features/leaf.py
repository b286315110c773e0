"""Leaf colours: how much of a leaf is affected."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import cv2
import numpy as np
from joblib import effective_n_jobs
from sklearn.utils._param_validation import Interval, StrOptions

from memclf._numbers import Array
from memclf._progress import track
from memclf.vision.features import leaf_paper
from memclf.vision.features.base import Info, Mask, Masks, ramp
from memclf.vision.features.leaf_net import judge, load_shipped
from memclf.vision.features.paintings import Painting, are_labels, check_paintings, check_ranges
from memclf.vision.features.spots import SPOTS, describe_spots
from memclf.vision.features.taught import TaughtFeatures
from memclf.vision.files import Pixels, as_rgb
from memclf.vision.images import as_images

TAUGHT = ("affected_share",)
PAPER = ("F_d", "F_b")
KINDS = ("background", "leaf", "symptom")
SIGNS = ("certainty", "leaf_area", "greenness", "background_tint")
FEW = 10  # pixels; the median colour of fewer means nothing
SYMPTOM = 0.45  # chance, among leaf and symptom, from which a pixel is affected; chosen by cross-validation
LEAST, MOST = 0.03, 0.97  # between which that chance is moved to fit a known share


class LeafColours(TaughtFeatures):
    """The affected share of a leaf.

    Parameters
    ----------
    method : "taught" or "paper"
        "taught": a small network, trained on outlines, classifies every pixel as background, leaf or symptom,
        on colour relative to the light and to the leaf's own median. It works at once, with coefficients taught by
        outlines of 300 coffee leaves, and can be taught anew by `fit`. "paper": segments, thresholds on hue,
        saturation and value, and the convex hull of what is green.
    literal : bool
        For "paper": brown and discoloured in relation to the green, as printed, instead of to the leaf.
    steps : int
        For teaching: batches of eight images shown. Fewer for a try; the default takes some minutes.
    random_state : int
        For teaching.
    n_jobs : int or None
        Threads that look at images at the same time, or that teach.
    verbose : int
        Show progress while teaching.

    Attributes
    ----------
    coefficients_ : dict of arrays or None
        What was taught; None until then, and the shipped coefficients are used.

    Notes
    -----
    The number of "taught" is `affected_share`, affected pixels / pixels of the leaf, 0 if there is no leaf. The numbers
    of "paper" are F_d (discoloured) and F_b (brown). Details of "taught", from which `answer="auto"` learns, are how
    many spots there are, how large, where, and how clearly they are spots; `inspect` gives them.

    The method `trust` rates how far the share means something: little where hardly anything, or nearly everything, is
    taken for leaf, where pixels are not clearly leaf or background, where the leaf is no greener than what is around
    it (there is no leaf), or where the background, which shows the colour of the light, is vividly coloured itself.

    What was taught survives `sklearn.base.clone`, unlike what other estimators have fitted. The outlines are the
    expert's and are given once; similarities and pipelines clone their features and fit the clones to images and
    class labels, which hold no outlines. A clone that forgot would silently fall back on the shipped coefficients.

    Examples
    --------
    >>> image = np.full((128, 256, 3), 225, dtype=np.uint8)
    >>> image = cv2.ellipse(image, (128, 64), (100, 45), 0, 0, 360, (70, 120, 40), -1)
    >>> image = cv2.ellipse(image, (100, 60), (18, 12), 0, 0, 360, (130, 75, 30), -1)
    >>> leaf = LeafColours()
    >>> float(leaf.transform([image])[0, 0].round(2))
    0.05
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "method": [StrOptions({"taught", "paper"})],
        "literal": ["boolean"],
        "steps": [Interval(Integral, 1, None, closed="left")],
        "random_state": [Integral],
        "n_jobs": [Integral, None],
        "verbose": ["verbose", None],
    }

    def __init__(
        self,
        method: str = "taught",
        *,
        literal: bool = False,
        steps: int = 2400,
        random_state: int = 0,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ):
        self.method = method
        self.literal = literal
        self.steps = steps
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the numbers."""
        return PAPER if self._is_paper() else TAUGHT

    @property
    def details(self) -> tuple[str, ...]:  # type: ignore[override]
        """Further numbers, about the spots."""
        return () if self._is_paper() else SPOTS

    @property
    def signs(self) -> tuple[str, ...]:  # type: ignore[override]
        """Numbers from which `trust` is computed."""
        return () if self._is_paper() else SIGNS

    def believe(self, signs: Array) -> Array:
        certainty, area, green, tint = signs.T
        ramps = (
            ramp(certainty, 0.84, 0.90),
            ramp(area, 0.01, 0.05),
            ramp(area, 0.99, 0.95),
            ramp(green, 0.02, 0.12),
            ramp(tint, 0.80, 0.50),
        )
        return np.minimum.reduce(ramps)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from outlines, if `y` holds outlines; class labels, or nothing, change nothing.

        Parameters
        ----------
        X : images
            Whole scenes or cropped to the leaf, of any size; both views are taught, by cropping some of the showings.
        y : list of 2-D arrays, array of n x height x width, ImageCollection, or one label per image
            Outlines are whole numbers of each image's height and width: 0 background, 1 leaf, 2 symptom.
        """
        self._validate_params()
        if y is None or are_labels(y):
            if not self._is_paper() and self.coefficients_ is None:
                self.coefficients_ = load_shipped()  # stays with the model, whatever a later version ships
            return self
        if self._is_paper():
            raise ValueError('method="paper" has fixed thresholds; only method="taught" learns from outlines')
        from memclf.vision.features.leaf_augment import prepare
        from memclf.vision.features.leaf_teach import teach

        images = as_images(X)
        outlines = check_paintings(y, images, KINDS, first=0)
        self.coefficients_ = teach(
            [prepare(image, outline - 1) for image, outline in zip(images, outlines, strict=True)],
            steps=self.steps,
            seed=self.random_state,
            threads=effective_n_jobs(self.n_jobs),
            verbose=self.verbose,
        )
        return self

    def paint(self, images: Any, shares: Sequence[tuple[float, float]]) -> list[Painting]:
        """Outlines of further leaves from what was taught and is known about their affected share.

        A grade often says in which range the share lies, and every training case has one. Teach once more with the
        expert's outlines and these: ``leaf.fit(images + graded, outlines + leaf.paint(graded, shares))``.

        Parameters
        ----------
        images : images
        shares : list of (float, float)
            For each image, the least and the largest affected share.

        Returns
        -------
        list of arrays
            As `fit` takes them. The chance from which a pixel is affected is moved until the share is in the range, but
            not below 0.03 or above 0.97.
        """
        images = as_images(images)
        check_ranges(shares, len(images))
        if self._is_paper():
            raise ValueError('method="paper" has fixed thresholds; only method="taught" paints')
        painted = []
        for position in track(range(len(images)), total=len(images), what="painting", verbose=self.verbose):
            image = images[position]
            found = cv2.resize(self._find(image), image.shape[1::-1], interpolation=cv2.INTER_LINEAR)
            painted.append(paint_share(found.transpose(2, 0, 1), *shares[position]))
        return painted

    def measure(self, image: Pixels, info: Info) -> Any:
        if self._is_paper():
            return leaf_paper.shares(leaf_paper.classes(image), self.literal)
        chances = self._judge(image)
        leaf, affected = decide(chances)
        share = float(np.count_nonzero(affected)) / max(1.0, float(np.count_nonzero(leaf)))
        return share, *describe_spots(chances, leaf, affected), *signs_of(image, chances, leaf)

    def masks(self, image: Any, info: Info | None = None) -> Masks:
        """The masks "leaf" and "affected".

        The paper's way has "green", "brown" and "discoloured" too.
        """
        return leaf_paper.classes(as_rgb(image, "image")) if self._is_paper() else super().masks(image)

    def _find(self, image: Pixels) -> Array:
        return np.ascontiguousarray(self._judge(image).transpose(1, 2, 0))

    def _decide(self, found: Array) -> Masks:
        leaf, affected = decide(found.transpose(2, 0, 1))
        return {"leaf": leaf, "affected": affected}

    def _judge(self, image: Pixels) -> Array:
        coefficients = self.coefficients_ or load_shipped()
        if image.shape[0] > image.shape[1]:  # outlines are taught lying on the longer side
            lying = np.ascontiguousarray(image.transpose(1, 0, 2))
            return np.ascontiguousarray(judge(lying, coefficients).transpose(0, 2, 1))
        return judge(image, coefficients)

    def _is_paper(self) -> bool:
        return self.method == "paper"


def decide(chances: Array, limit: float = SYMPTOM) -> tuple[Mask, Mask]:
    """Leaf and affected from chances of background, leaf and symptom.

    A leaf is one piece: the largest, with its holes filled. What is affected lies inside it.
    """
    inside = (chances[0] < 0.5).astype(np.uint8)
    outlines, _ = cv2.findContours(inside, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    leaf = np.zeros_like(inside)
    if outlines:
        cv2.drawContours(leaf, [max(outlines, key=cv2.contourArea)], -1, 1, cv2.FILLED)
    affected = (chances[2] > limit * (chances[1] + chances[2])) & (leaf > 0)
    return leaf > 0, affected


def paint_share(chances: Array, low: float, high: float) -> Painting:
    """Outlines of a leaf whose affected share is known to lie in a range.

    They are 0 background, 1 leaf, 2 symptom.
    """
    leaf, affected = decide(chances)
    share = float(np.count_nonzero(affected)) / max(1.0, float(np.count_nonzero(leaf)))
    if leaf.any() and not low <= share <= high:
        chance = (chances[2] / np.maximum(chances[1] + chances[2], 1e-6))[leaf]
        limit = float(np.quantile(chance, 1 - (high if share > high else low)))
        affected = decide(chances, min(max(limit, LEAST), MOST))[1]
    return leaf.astype(np.uint8) + affected


def signs_of(image: Pixels, chances: Array, leaf: Mask) -> tuple[float, float, float, float]:
    """The numbers named in `SIGNS`.

    How clear the leaf is, how large, how green against the background, and how tinted the background is.
    """
    certainty, area = float(np.abs(1 - 2 * chances[0]).mean()), float(leaf.mean())
    small = cv2.resize(image, leaf.shape[::-1], interpolation=cv2.INTER_AREA)
    if min(area, 1 - area) * leaf.size < FEW:
        return certainty, area, 0.0, 1.0
    on, off = _median_colour(small, leaf), _median_colour(small, ~leaf)
    green = float(on[1] - (on[0] + on[2]) / 2) / (float(np.abs(on - off).max()) + 0.02)
    return certainty, area, green, float((off.max() - off.min()) / (off.max() + 1e-3))


def _median_colour(image: Array, mask: Mask) -> Array:
    """The median of each channel inside a mask, from 0 to 1, by counting pixels of each value."""
    n = np.count_nonzero(mask)
    middle = [(n - 1) // 2, n // 2]  # the same one twice if n is odd
    medians = []
    for channel in range(3):
        counts = cv2.calcHist([image], [channel], mask.view(np.uint8), [256], (0, 256))
        values = np.searchsorted(np.cumsum(counts), middle, side="right")
        medians.append(np.mean(values.astype(np.float32) / 255))
    return np.array(medians, dtype=np.float32)
