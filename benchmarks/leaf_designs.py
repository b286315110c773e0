"""Other designs of LeafColours, for `leaf_features.py designs`: what was tried beside the network that ships.

Each design is a function of images and labels that returns a function of an image: its leaf and affected masks.
All but the fixed thresholds start from the same first look and the same relative colours as the network.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memclf.vision.features import LeafColours
from memclf.vision.features.leaf import decide
from memclf.vision.features.leaf_augment import prepare
from memclf.vision.features.leaf_light import to_work_size
from memclf.vision.features.leaf_net import look
from memclf.vision.features.leaf_teach import teach_first_look
from memclf.vision.features.segments import segment, segment_means

PER_IMAGE = 700  # pixels of each image that the perceptrons are fitted to, half of them affected where there are any

See = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def thresholds(images: list, labels: list) -> See:
    """Fixed limits on hue, saturation and value of segments."""
    model = LeafColours("paper")

    def see(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        masks = model.masks(image)
        return masks["leaf"], masks["affected"]

    return see


def pixels(images: list, labels: list) -> See:
    """A perceptron (32, 16) on each pixel's relative colours alone."""
    return _perceptron(images, labels, lambda seen: seen)


def scales(images: list, labels: list) -> See:
    """The same perceptron on relative colours smoothed over four scales, and their local spread."""
    return _perceptron(images, labels, _on_scales)


def _on_scales(seen: np.ndarray) -> np.ndarray:
    parts = [seen]
    for sigma in (1.5, 3, 6, 12):
        smooth = [cv2.GaussianBlur(channel, (0, 0), sigma) for channel in seen]
        parts.append(np.stack(smooth))
    spread = [cv2.GaussianBlur((channel - wide) ** 2, (0, 0), 3) for channel, wide in zip(seen, parts[2], strict=True)]
    return np.concatenate([*parts, np.sqrt(np.stack(spread))])


def _perceptron(images: list, labels: list, features: Callable[[np.ndarray], np.ndarray]) -> See:
    rng = np.random.default_rng(0)
    first = _first_look(images, labels, rng)
    rows, kinds = [], []
    for image, label in zip(images, labels, strict=True):
        x = to_work_size(image)
        small = cv2.resize(label, (x.shape[1], x.shape[0]), interpolation=cv2.INTER_NEAREST).ravel()
        chosen = rng.choice(len(small), PER_IMAGE, replace=False)
        values = features(look(x, first))
        rows.append(values.reshape(len(values), -1)[:, chosen].T)
        kinds.append(small[chosen])
    net = MLPClassifier((32, 16), batch_size=1024, learning_rate_init=3e-3, max_iter=8, random_state=0)
    net.n_iter_no_change = 100  # a fixed number of rounds
    model = _fitted(make_pipeline(StandardScaler(), net), np.concatenate(rows), np.concatenate(kinds))

    def see(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = to_work_size(image)
        values = features(look(x, first))
        chances = model.predict_proba(values.reshape(len(values), -1).T).T.astype(np.float32)
        return _at_full_size(chances.reshape(3, *x.shape[:2]), image)

    return see


def superpixels(images: list, labels: list) -> See:
    """Boosted trees on segments: mean and spread of the relative colours, their surroundings, and their size."""
    first = _first_look(images, labels, np.random.default_rng(0))
    rows, kinds, sizes = [], [], []
    for image, label in zip(images, labels, strict=True):
        x = to_work_size(image)
        described, parts = _described(x, first)
        small = cv2.resize(label, (x.shape[1], x.shape[0]), interpolation=cv2.INTER_NEAREST)
        votes = segment_means(np.stack([small == k for k in range(3)], axis=2), parts)
        rows.append(described)
        kinds.append(votes.argmax(axis=1))
        sizes.append(np.bincount(parts.ravel()))
    model = HistGradientBoostingClassifier(max_iter=150, random_state=0)
    model.fit(np.concatenate(rows), np.concatenate(kinds), sample_weight=np.concatenate(sizes))

    def see(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        described, parts = _described(to_work_size(image), first)
        chances = model.predict_proba(described).astype(np.float32)[parts]
        return _at_full_size(chances.transpose(2, 0, 1), image)

    return see


def _described(x: np.ndarray, first: dict) -> tuple[np.ndarray, np.ndarray]:
    parts = segment((x * 255).astype(np.uint8), 30, 0.5, 12)
    seen = look(x, first).transpose(1, 2, 0)
    wide = cv2.GaussianBlur(seen, (0, 0), 8)
    mean = segment_means(seen, parts)
    spread = np.sqrt(np.maximum(0, segment_means(seen**2, parts) - mean**2))
    return np.column_stack([mean, spread, segment_means(wide, parts), np.bincount(parts.ravel())]), parts


def network(images: list, labels: list) -> See:
    """The design that ships."""
    model = LeafColours().fit(images, labels)

    def see(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        masks = model.masks(image)
        return masks["leaf"], masks["affected"]

    return see


def _first_look(images: list, labels: list, rng: np.random.Generator) -> dict:
    return teach_first_look([prepare(*pair) for pair in zip(images, labels, strict=True)], rng, 600)


def _fitted(model, rows: np.ndarray, kinds: np.ndarray):
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows, kinds)


def _at_full_size(chances: np.ndarray, image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    size = (image.shape[1], image.shape[0])
    return decide(np.stack([cv2.resize(np.ascontiguousarray(chance), size) for chance in chances]))


DESIGNS = {
    "fixed thresholds": thresholds,
    "perceptron on pixels": pixels,
    "perceptron on four scales": scales,
    "boosted trees on segments": superpixels,
}
