"""Pieces of one colour (Felzenszwalb and Huttenlocher), and the mean colour of each."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from memclf._numbers import Array
from memclf.exceptions import ImageError
from memclf.vision.files import Pixels

Labels = NDArray[np.int32]


def segment(image: Pixels, scale: float = 100.0, sigma: float = 0.8, min_size: int = 50) -> Labels:
    """The segment that each pixel belongs to, numbered from 0 without gaps.

    Felzenszwalb and Huttenlocher, *Efficient graph-based image segmentation* (2004): neighbours are joined in
    the order of their difference in colour, as long as the difference is small beside those inside either side.

    Parameters
    ----------
    image : array of height x width x 3, uint8
    scale : float
        How easily segments are joined, for colours from 0 to 255: larger values give larger segments.
    sigma : float
        Standard deviation, in pixels, of the Gaussian that smooths the image first; 0 for none.
    min_size : int
        Smaller segments are joined to a neighbour.

    Returns
    -------
    array of height x width, int32

    Examples
    --------
    >>> image = np.zeros((40, 60, 3), dtype=np.uint8)
    >>> image[10:30, 20:40] = 255
    >>> labels = segment(image, 100, 0, 50)
    >>> labels.shape, labels.dtype, int(labels.max())
    ((40, 60), dtype('int32'), 1)
    """
    if scale < 0 or sigma < 0 or min_size < 0:
        raise ValueError(f"scale, sigma and min_size must not be negative, got {scale}, {sigma} and {min_size}")
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or not image.size:
        raise ImageError(f"segment needs uint8 of height x width x 3, got {image.dtype} of shape {image.shape}")
    if min(image.shape[:2]) < 2:  # OpenCV's graph has no edges along a line of pixels
        return segment(np.repeat(np.repeat(image, 2, axis=0), 2, axis=1), scale, sigma, 2 * min_size)[::2, ::2].copy()
    # OpenCV refuses a sigma of 0; so small a one makes a kernel of a single pixel.
    found = cv2.ximgproc.segmentation.createGraphSegmentation(max(float(sigma), 1e-6), float(scale), int(min_size))
    return np.asarray(found.processImage(image), dtype=np.int32)


def segment_means(image: Array, labels: Labels) -> Array:
    """The mean of each channel over each segment.

    An array of segments x channels, in the order of the labels.
    """
    flat = labels.ravel()
    channels = np.asarray(image).reshape(flat.size, -1)
    sizes = np.maximum(np.bincount(flat), 1)
    sums = [np.bincount(flat, weights=channels[:, k], minlength=len(sizes)) for k in range(channels.shape[1])]
    return np.stack(sums, axis=1) / sizes[:, None]
