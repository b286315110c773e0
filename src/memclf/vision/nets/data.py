"""From images to batches, in an order that depends on the seed and the epoch alone."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import Tensor
from torch.utils.data import Dataset

from memclf._numbers import Array
from memclf.cases.containers import chunks
from memclf.vision.files import Pixels, resize
from memclf.vision.images import ImageCollection
from memclf.vision.nets.recipes import Recipe

CACHE_BYTES = 2 * 2**30  # resized images up to this total are kept in memory
READERS = 2  # threads that decode files
AHEAD = 2  # batches that are prepared before they are needed


@dataclass(frozen=True)
class Batch:
    """Some cases, ready for a network.

    Attributes
    ----------
    views : list of tensors (n, 3, h, w)
        Versions of the images as the recipe makes them, from 0 to 1; one when nothing is trained.
    features : tensor (n, d) or None
        Expert features.
    targets : tensor of int64 (n,)
    weights : tensor (n,)
    """

    views: list[Tensor]
    features: Tensor | None
    targets: Tensor
    weights: Tensor

    def __len__(self) -> int:
        return len(self.targets)

    def to(self, device: torch.device) -> Batch:
        features = None if self.features is None else self.features.to(device)
        views = [view.to(device) for view in self.views]
        return Batch(views, features, self.targets.to(device), self.weights.to(device))


class Examples(Dataset[Any]):
    """Images with what is known about them, handed out in batches.

    Parameters
    ----------
    images : ImageCollection
    size : (height, width)
        Of the network; images are resized to it whatever their proportions.
    targets : array of int or None
        Positions of the classes.
    features, weights : arrays or None
    recipe : Recipe or None
        What makes the views of an image in training.
    seed : int
    """

    def __init__(
        self,
        images: ImageCollection,
        size: tuple[int, int],
        targets: Array | None = None,
        features: Array | None = None,
        weights: Array | None = None,
        recipe: Recipe | None = None,
        seed: int = 0,
    ):
        n = len(images)
        self.images, self.size, self.recipe, self.seed = images, size, recipe, seed
        self.targets = torch.zeros(n, dtype=torch.int64) if targets is None else torch.as_tensor(targets)
        self.features = None if features is None else torch.as_tensor(features, dtype=torch.float32)
        self.weights = torch.ones(n) if weights is None else torch.as_tensor(weights, dtype=torch.float32)
        self.epoch = 0
        self._cache: Pixels | None = None

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Batch:
        return self.batch(np.array([index]), training=False)

    def load_pixels(self) -> Examples:
        """The same examples, with resized images held in memory if they are not too many."""
        if len(self) * self.size[0] * self.size[1] * 3 <= CACHE_BYTES:
            self._cache = np.empty((len(self), *self.size, 3), dtype=np.uint8)
            places = list(chunks(len(self), READERS))
            for place, pixels in zip(places, prefetch(lambda part: self._resize(part), places), strict=True):
                self._cache[place] = pixels
        return self

    def _resize(self, rows: Any) -> Pixels:
        return np.stack([resize(image, self.size) for image in self.images[rows]])

    def digest(self) -> bytes:
        """A digest of labels, weights, features, and pixels or names of files."""
        seen = hashlib.blake2b(repr(self.size).encode(), digest_size=16)
        for known in (self.targets, self.weights, self.features):
            seen.update(b"-" if known is None else known.numpy().tobytes())
        for part in self._identity():
            seen.update(part)
        return seen.digest()

    def _identity(self) -> Iterator[Any]:
        if self._cache is not None:
            yield np.ascontiguousarray(self._cache).data
            return
        for position in range(len(self)):
            key = self.images.key(position)
            yield np.ascontiguousarray(self.images[position]).data if key is None else key.encode()

    def subset(self, rows: Array) -> Examples:
        """The examples at these rows."""
        picked = copy.copy(self)
        picked.images = self.images[rows]
        picked.targets, picked.weights = self.targets[rows], self.weights[rows]
        picked.features = None if self.features is None else self.features[rows]
        picked._cache = None if self._cache is None else self._cache[rows]
        return picked

    def pixels(self, rows: Array) -> Pixels:
        if self._cache is not None:
            return self._cache[rows]
        return self._resize(rows)

    def batch(self, rows: Array, *, training: bool) -> Batch:
        pixels = self.pixels(rows)
        if training and self.recipe is not None:
            made = [self.recipe.views(p, self._rng(row)) for p, row in zip(pixels, rows, strict=True)]
            views = [as_tensor(np.stack(view)) for view in zip(*made, strict=True)]
        else:
            views = [as_tensor(pixels)]
        features = None if self.features is None else self.features[rows]
        return Batch(views, features, self.targets[rows], self.weights[rows])

    def batches(self, size: int, *, training: bool) -> Batches:
        return Batches(self, size, training)

    def order(self) -> Array:
        """The order of the cases in this epoch of training."""
        return np.random.default_rng([self.seed, self.epoch]).permutation(len(self))

    def _rng(self, row: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, self.epoch, 1 + int(row)])


class EmbeddedExamples(Examples):
    """Examples that have been through the backbone already: their one view is their embedding."""

    def __init__(self, embeddings: Array, targets: Array, features: Array | None, weights: Array | None, seed: int):
        super().__init__(embeddings, (0, 0), targets, features, weights, seed=seed)  # type: ignore[arg-type]

    def _identity(self) -> Iterator[Any]:
        yield np.ascontiguousarray(self.images).data

    def batch(self, rows: Array, *, training: bool) -> Batch:
        features = None if self.features is None else self.features[rows]
        return Batch([torch.as_tensor(self.images[rows])], features, self.targets[rows], self.weights[rows])


class Batches:
    """A pass through examples in the order of the epoch; threads prepare the next batches."""

    def __init__(self, examples: Examples, size: int, training: bool):
        self.examples, self.size, self.training = examples, size, training

    def __len__(self) -> int:
        return len(self._parts())

    def __iter__(self) -> Iterator[Batch]:
        return prefetch(lambda rows: self.examples.batch(rows, training=self.training), self._parts())

    def _parts(self) -> list[Array]:
        rows = self.examples.order() if self.training else np.arange(len(self.examples))
        if self.training and len(rows) == 1:
            raise ValueError("one image is not enough to train a network; batch normalisation needs two")
        parts = [rows[part] for part in chunks(len(rows), self.size)]
        if self.training and len(parts) > 1 and len(parts[-1]) == 1:  # batch normalisation needs two
            last = parts.pop()
            parts[-1] = np.concatenate([parts[-1], last])
        return parts


def prefetch(function: Callable[[Any], Any], items: list[Any]) -> Iterator[Any]:
    """``map(function, items)``, with the next results computed in the background."""
    with ThreadPoolExecutor(READERS) as workers:
        waiting = [workers.submit(function, item) for item in items[:AHEAD]]
        for position in range(len(items)):
            result = waiting[position % AHEAD].result()
            if position + AHEAD < len(items):
                waiting[position % AHEAD] = workers.submit(function, items[position + AHEAD])
            yield result


def as_tensor(pixels: Array) -> Tensor:
    """Images as they lie in memory, from 0 to 1, seen as (n, 3, h, w) in channels-last order."""
    return torch.from_numpy(np.ascontiguousarray(pixels)).permute(0, 3, 1, 2).float().div_(255)


def held_out_split(examples: Examples, share: float, seed: int) -> tuple[Examples, Examples]:
    """Split the examples in two, the second with this share of them.

    Of all classes, if there are enough.
    """
    codes = examples.targets.numpy()
    rows = np.arange(len(codes))
    counts = np.bincount(codes)
    stratify = codes if counts[counts > 0].min() >= 2 and round(share * len(rows)) >= (counts > 0).sum() else None
    kept, out = train_test_split(rows, test_size=share, random_state=seed, stratify=stratify)
    return examples.subset(np.sort(kept)), examples.subset(np.sort(out))
