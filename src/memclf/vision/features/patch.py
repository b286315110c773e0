"""The colour of a patch: which channel stands out from the other two."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import cv2
import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from memclf._numbers import Array
from memclf.vision.features.base import ImageFeatures, Info, Masks
from memclf.vision.features.segments import segment, segment_means
from memclf.vision.files import Pixels, as_rgb

BLOCKS = 25  # blocks along the shorter side: a patch of a tenth of the side always holds a whole block
SMALLEST = 3  # pixels of a block's side, so that in small images, too, a single pixel decides nothing


class PatchColour(ImageFeatures):
    """The channel (0 red, 1 green, 2 blue) of the coloured patch in an image.

    The one number is `channel`. When `graded`, `red`, `green` and `blue` follow: how far each channel stands out
    from the larger of the other two, as a share of the full range. All three are 0 in an image without colour,
    whose `channel` (0) means nothing.

    Parameters
    ----------
    method : {"robust", "paper"}
        "robust": the image is averaged over blocks, which takes the noise out; its median colour is subtracted,
        which takes out fog, brightness and a coloured background; the channel that then stands out most from
        both others, anywhere, is the colour. "paper": of the largest segments (Felzenszwalb), the brightest one;
        its strongest channel is the colour.
    n_segments, scale, sigma, min_size
        Of the paper's way: how many of the largest segments are looked at, and the settings of `segment`.
    score : {"intensity", "standing_out"}
        Of the paper's way, what makes a segment the patch: its largest channel mean (the paper; a background
        brighter than the patch wins), or its largest channel mean less the mean of the other two. Segments of
        equal intensity are ordered by the latter, then by size.
    block : int or None
        Of the robust way, the side of a block in pixels; None: 1/25 of the image's shorter side, at least 3.
        The patch should be at least twice as wide, so that a whole block falls on it.
    graded : bool
        Whether to measure how clearly each colour shows, too. A tree that splits on these numbers needs the contrast
        it was trained on, so they are left out by default; `near_colour` uses only their proportions.
    n_jobs : int or None
        Threads that look at images at the same time.
    verbose : int
        Show a progress bar.

    See also
    --------
    same_colour, near_colour : the similarities of two patches, all or nothing and graded.

    Examples
    --------
    >>> image = np.zeros((100, 100, 3), dtype=np.uint8)
    >>> image[20:40, 50:70] = 0, 255, 0
    >>> PatchColour().transform([image])
    array([[1.]])
    >>> PatchColour(graded=True).transform([image])
    array([[1., 0., 1., 0.]])
    """

    names = ("channel", "red", "green", "blue")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "method": [StrOptions({"robust", "paper"})],
        "n_segments": [Interval(Integral, 1, None, closed="left")],
        "scale": [Interval(Real, 0, None, closed="left")],
        "sigma": [Interval(Real, 0, None, closed="left")],
        "min_size": [Interval(Integral, 0, None, closed="left")],
        "score": [StrOptions({"intensity", "standing_out"})],
        "block": [Interval(Integral, 1, None, closed="left"), None],
        "graded": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose", None],
    }

    def __init__(
        self,
        method: str = "robust",
        *,
        n_segments: int = 20,
        scale: float = 100.0,
        sigma: float = 0.8,
        min_size: int = 50,
        score: str = "intensity",
        block: int | None = None,
        graded: bool = False,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ):
        self.method = method
        self.n_segments = n_segments
        self.scale = scale
        self.sigma = sigma
        self.min_size = min_size
        self.score = score
        self.block = block
        self.graded = graded
        self.n_jobs = n_jobs
        self.verbose = verbose

    def measure(self, image: Pixels, info: Info) -> Array:
        if self.method == "paper":
            labels = self._segments(image)
            means = segment_means(image, labels)
            colour = means[self._choose(labels, means)]
            strength = _above_others(colour[None])[0]
            channel = colour.argmax()
        else:
            strength = self._contrast(image).reshape(-1, 3).max(axis=0)
            channel = strength.argmax()
        row = np.array([channel, *np.maximum(strength / 255, 0)], dtype=np.float64)
        return row if self.graded else row[:1]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the numbers."""
        return np.array(self.names if self.graded else self.names[:1], dtype=object)

    def masks(self, image: Any, info: Info | None = None) -> Masks:
        """Where the patch is.

        The chosen segment, or the pixels around the chosen block that stand out like it.
        """
        self._validate_params()
        image = as_rgb(image, "image")
        if self.method == "paper":
            labels = self._segments(image)
            return {"patch": labels == self._choose(labels, segment_means(image, labels))}
        return {"patch": self._outline(image)}

    # ------------------------------------------------------------------------------------------ the robust way

    def _side(self, image: Pixels) -> int:
        return self.block or max(SMALLEST, min(image.shape[:2]) // BLOCKS)

    def _contrast(self, image: Pixels) -> Array:
        """How far each block and channel is above both others, after subtracting the median colour."""
        height, width = image.shape[:2]
        side = self._side(image)
        size = (max(1, round(width / side)), max(1, round(height / side)))
        means = cv2.resize(image.astype(np.float32), size, interpolation=cv2.INTER_AREA)
        return _above_others(means - _median_colour(means))

    def _outline(self, image: Pixels) -> Array:
        out = self._contrast(image)
        row, column, channel = np.unravel_index(out.argmax(), out.shape)
        peak = out[row, column, channel]
        if peak <= 0:  # no colour anywhere
            return np.zeros(image.shape[:2], dtype=bool)
        side = max(1, self._side(image) // 2)  # finer than for measuring: an outline may follow the noise a little
        smooth = cv2.blur(image.astype(np.float32), (side, side))
        like = _above_others(smooth - _median_colour(smooth[::side, ::side]))[:, :, channel] > peak / 2
        _, pieces = cv2.connectedComponents(like.astype(np.uint8))
        height, width = like.shape
        top, bottom = (np.array([row, row + 1]) * height // out.shape[0]).tolist()
        left, right = (np.array([column, column + 1]) * width // out.shape[1]).tolist()
        block = (slice(top, max(bottom, top + 1)), slice(left, max(right, left + 1)))
        votes = np.bincount(pieces[block].ravel())
        votes[0] = 0
        if votes.any():
            return np.asarray(pieces == votes.argmax())
        outline = np.zeros_like(like)  # too fine a structure to be found again: the block itself
        outline[block] = True
        return outline

    # ------------------------------------------------------------------------------------------ the paper's way

    def _segments(self, image: Pixels) -> Any:
        return segment(image, self.scale, self.sigma, self.min_size)

    def _choose(self, labels: Any, means: Array) -> int:
        """The number of the segment that is the patch."""
        sizes = np.bincount(labels.ravel(), minlength=len(means))
        largest = np.argsort(-sizes, kind="stable")[: self.n_segments]
        colour = means[largest]
        intensity = colour.max(axis=1)
        standing_out = intensity - (colour.sum(axis=1) - intensity) / 2
        keys = (standing_out, intensity) if self.score == "intensity" else (standing_out,)
        order = np.lexsort([-key for key in keys])  # the last key counts most, and equals stay in order
        return int(largest[order[0]])


def _median_colour(pixels: Array) -> Array:
    return np.median(pixels.reshape(-1, 3), axis=0).astype(np.float32)


def _above_others(colours: Array) -> Array:
    """Each channel less the larger of the other two.

    Their mean would take cyan or yellow for two colours.
    """
    red, green, blue = np.moveaxis(colours, -1, 0)
    others = (np.maximum(green, blue), np.maximum(red, blue), np.maximum(red, green))
    return colours - np.stack(others, axis=-1)


def same_colour(A: Array, B: Array) -> Array:
    """The paper's similarity of two patches: 1 if they have the same channel, else 0.

    ``FunctionSimilarity(same_colour, batched=True, features=PatchColour())``

    >>> same_colour(np.array([[1, 0, 0.9, 0]]), np.array([[1, 0, 0.2, 0], [2, 0, 0.1, 0.3]]))
    array([[1., 0.]])
    """
    return (A[:, None, 0] == B[None, :, 0]).astype(np.float64)


def near_colour(A: Array, B: Array) -> Array:
    """A graded similarity: the cosine of the angle between the colours that stand out.

    Their strength does not count.

    ``FunctionSimilarity(near_colour, batched=True, features=PatchColour(graded=True))``. Images in which nothing
    stands out are alike among themselves, and unlike all others.

    >>> near_colour(np.array([[1, 0, 0.9, 0]]), np.array([[1, 0, 0.2, 0], [2, 0, 0.3, 0.4]]))
    array([[1. , 0.6]])
    """
    a, b = (_directions(rows[:, 1:4]) for rows in (A, B))
    return np.clip((a @ b.T).round(12), 0.0, 1.0)  # rounded, so that a case is fully alike to itself


def _directions(strengths: Array) -> Array:
    """Rows of length 1; those of zeros point in a fourth direction of their own."""
    length = np.linalg.norm(strengths, axis=1, keepdims=True)
    return np.hstack([strengths / np.where(length > 0, length, 1), length == 0])
