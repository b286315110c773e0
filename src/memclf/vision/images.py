"""A collection of images, in memory or in files, indexed like an array and read lazily."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from pathlib import Path
from types import EllipsisType
from typing import Any, NamedTuple, Self, overload

import numpy as np
from joblib import Parallel, delayed

from memclf._numbers import Array
from memclf.cases import Cases, Collection, Computation, Memory
from memclf.cases.containers import chunks, object_array
from memclf.cases.parts import compute_in_parts
from memclf.exceptions import ImageError
from memclf.vision.cache import PixelCache, digest_image
from memclf.vision.changes import Change, CorruptionChange, PerturbationChange, ShiftChange
from memclf.vision.corruptions.apply import MIN_SIDE, REGISTRY, check
from memclf.vision.discover import as_sources, list_csv, list_folder, list_path
from memclf.vision.files import MAX_BYTES, MAX_PIXELS, Pixels, as_height_width, as_rgb, read_image

__all__ = ["ImageCollection", "as_images"]

CACHED_BYTES = 2**30  # of pixels that a remembered collection keeps
READ_AHEAD = 32  # images that a pass through files decodes at a time, and that one task of a cluster describes


class _Remembered(NamedTuple):
    """The cache of a collection, which collections picked from it share."""

    pixels: PixelCache
    rows: Memory
    spread: bool = False  # whether workers of a cluster compute what is missing


class ImageCollection(Collection):
    """Images that behave like an array.

    A number picks one image, a slice or an index array picks a collection.

    Every image comes out as a uint8 array of height x width x 3. Grey images are repeated on three channels,
    transparent ones are laid on white, files are turned upright by their EXIF orientation. Sizes may differ.

    Parameters
    ----------
    images : array, list of arrays, list of paths, folder or CSV file
        An array has shape (n, h, w), (n, h, w, 1), (n, h, w, 3) or (n, h, w, 4) and holds uint8, or floats from
        0 to 1. A folder with one subfolder per class gives the labels too; see `from_folder` and `from_csv`
        for their options.
    labels : sequence or None
        One per image; taken along when images are picked.
    info : list of dict or None
        More about each image (a face, a box), for expert features; taken along as well.
    keys : sequence of str or None
        Names of the images, on which the random draws of corruptions depend. The key of a file is its path
        (relative to the folder or CSV file it came from); without a key, an array's pixels are its key.
    max_pixels, max_bytes : int
        Files beyond these limits are refused before they are decoded.

    Examples
    --------
    >>> images = ImageCollection(np.zeros((10, 64, 48, 3), dtype=np.uint8), labels=list("aabbbaabba"))
    >>> len(images), images[0].shape, images[[1, 2, 3]].labels
    (10, (64, 48, 3), array(['a', 'b', 'b'], dtype='<U1'))
    """

    def __init__(
        self,
        images: Any,
        labels: Any = None,
        *,
        info: Sequence[dict[str, Any]] | None = None,
        keys: Sequence[str] | None = None,
        max_pixels: int = MAX_PIXELS,
        max_bytes: int = MAX_BYTES,
    ):
        if isinstance(images, (str, os.PathLike)):
            found = list_path(Path(images))
            images, labels = found.paths, found.labels if labels is None else labels
            info, keys = found.info if info is None else info, found.keys if keys is None else keys
        elif isinstance(images, ImageCollection):
            raise TypeError("images is an ImageCollection already; use it as it is")
        self.max_pixels, self.max_bytes = int(max_pixels), int(max_bytes)
        self._sources, paths = as_sources(images)
        keys = paths if keys is None else [str(key) for key in keys]
        n = len(self._sources)
        for name, values in (("labels", labels), ("info", info), ("keys", keys)):
            if values is not None and len(values) != n:
                raise ValueError(f"{name} has {len(values)} entries for {n} images")
        self.labels: Array | None = None if labels is None else np.asarray(labels)
        for position, about in enumerate(info if info is not None else ()):
            if not isinstance(about, Mapping):
                raise TypeError(f"info holds one dict per image; that of image {position} is {about!r:.60}")
        self.info = None if info is None else object_array(list(info))
        self._keys = None if keys is None else object_array(list(keys))
        self._changes: tuple[Change, ...] = ()
        self._memory: _Remembered | None = None
        self._rows: Array | None = None  # where the images are in the memory
        self._version: tuple[Change, ...] = ()  # which version of the images these are in the memory

    @classmethod
    def from_folder(cls, folder: str | os.PathLike[str], **options: Any) -> Self:
        """All images below a folder, in the order of their paths.

        With subfolders, the first one on each image's path is its class; images that lie beside such folders
        are an error, since they have none. A folder of images alone gives a collection without labels.
        """
        found = list_folder(Path(folder))
        return cls(found.paths, found.labels, keys=found.keys, **options)

    @classmethod
    def from_csv(
        cls,
        file: str | os.PathLike[str],
        *,
        path: str | None = None,
        label: str | None = None,
        root: str | os.PathLike[str] | None = None,
        where: dict[str, str] | None = None,
        **options: Any,
    ) -> Self:
        """Images that a CSV file lists; its other columns become `info`.

        Parameters
        ----------
        file : path
        path : str or None
            The column with the paths, or a pattern of columns as ``"leaf/{id}.jpg"``. By default the first of
            path, file, filename, image that there is.
        label : str or None
            The column with the labels; by default the first of label, class, target, y. Whole numbers become int.
        root : path or None
            What the paths are relative to; by default the folder of the CSV file.
        where : dict or None
            Only rows in which these columns have these values: ``{"split": "train"}``.
        """
        found = list_csv(Path(file), path, label, root, where)
        return cls(found.paths, found.labels, info=found.info, keys=found.keys, **options)

    def __len__(self) -> int:
        return len(self._sources)

    @property
    def shape(self) -> tuple[int]:
        """One dimension: the images. (Their own sizes may differ.)"""
        return (len(self),)

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> Pixels: ...
    @overload
    def __getitem__(self, index: slice | Sequence[Any] | Array | tuple[Any, EllipsisType]) -> Self: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:  # as scikit-learn picks rows
            index = index[0]
        index = slice(None) if index is Ellipsis else index
        index = index[()] if isinstance(index, np.ndarray) and index.ndim == 0 else index
        if isinstance(index, (int, np.integer)) and not isinstance(index, (bool, np.bool_)):
            if not -len(self) <= index < len(self):
                raise IndexError(f"there is no image {index}; there are {len(self)}")
            return self._image(int(index) % len(self))
        if isinstance(index, tuple) or not isinstance(index, (slice, Sized)):
            raise IndexError(f"images are indexed along one dimension, by positions or a slice; got {index!r}")
        if not isinstance(index, slice):
            index = np.asarray(index, dtype=None if len(index) else np.intp)  # numpy takes [] for a list of floats
        rows = np.arange(len(self))[index]
        if rows.ndim != 1:
            raise IndexError(f"images are indexed along one dimension, got positions of shape {np.shape(index)}")
        picked = self._copy()
        picked._sources = self._sources[index]  # of a slice a view: pixels are never written to
        for name in ("labels", "info", "_keys", "_rows"):
            values = getattr(self, name)
            setattr(picked, name, None if values is None else values[rows])
        return picked

    def _copy(self) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.labels = None if self.labels is None else self.labels.copy()
        return copy

    def __iter__(self) -> Iterator[Pixels]:
        return (self._image(position) for position in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        images = list(self)
        sizes = {image.shape for image in images}
        if len(sizes) > 1:
            raise ValueError(f"images of {len(sizes)} different sizes do not make one array; use a list")
        return np.array(images, dtype=dtype if dtype is not None else np.uint8)

    def __repr__(self) -> str:
        kind = "files" if any(isinstance(source, Path) for source in self._sources[:1]) else "arrays"
        classes = "" if self.labels is None else f", {len(set(self.labels.tolist()))} classes"
        changes = "".join(f", {change}" for change in self._changes)
        return f"{type(self).__name__}({len(self)} {kind}{classes}{changes})"

    @property
    def paths(self) -> list[Path | None]:
        """The file of each image; None for one that is in memory."""
        return [source if isinstance(source, Path) else None for source in self._sources]

    def key(self, position: int) -> str | None:
        """The name of an image, on which corruptions depend; None: its pixels are its name."""
        return None if self._keys is None else self._keys[position]

    def info_of(self, position: int) -> Any:
        """What else is known about an image (a face, a box), None if nothing is."""
        return None if self.info is None else self.info[position]

    def corrupted(
        self,
        name: str,
        severity: int,
        *,
        seed: int = 0,
        preset: str = "imagenet-c",
        at: int | tuple[int, int] | None = None,
        texture_dir: str | os.PathLike[str] | None = None,
    ) -> Self:
        """The same images under a corruption, made when they are read.

        With `at` (height and width), images are resized to it, corrupted there, and brought back to their own size:
        a blur of a few pixels then means less or more of the picture. `texture_dir` is a folder with photographs of
        frost, instead of those that come with memclf.

        >>> images = ImageCollection(np.full((2, 64, 64, 3), 128, dtype=np.uint8))
        >>> images.corrupted("contrast", 3)
        ImageCollection(2 arrays, contrast 3)
        """
        size = None if at is None else as_height_width(at, "at", least=MIN_SIDE)
        textures = None if texture_dir is None else os.fspath(texture_dir)
        new = self._changed(CorruptionChange(name, check(name, severity, preset), seed, preset, size, textures))
        lasting = None if self._memory is None else self._memory.rows.store
        new._memory, new._rows, new._version = None, None, ()
        return new if lasting is None else new.remembered(Memory(len(self), lasting))

    def corruption_labels(self) -> dict[str, dict[str, Any]]:
        """Label, family and row in the paper (or None) of each corruption, by name."""
        return {
            each.name: {"label": each.label, "family": each.family, "row": each.paper_row} for each in REGISTRY.values()
        }

    def perturbed(self, *, seed: int = 0) -> Self:
        """The same images, changed a little in ways that are no corruptions; see `perturbations`.

        If these images are remembered, so are the perturbed ones, apart from them.

        >>> ImageCollection(np.full((2, 64, 64, 3), 128, dtype=np.uint8)).perturbed()
        ImageCollection(2 arrays, perturbed)
        """
        return self._another_version(PerturbationChange(seed))

    def shifted(self, *, seed: int = 0) -> Self:
        """The same images, changed so strongly that a network often fails.

        The changes are no corruptions; see `shifts`. If these images are remembered, so are the shifted ones,
        apart from them.

        >>> ImageCollection(np.full((2, 64, 64, 3), 128, dtype=np.uint8)).shifted()
        ImageCollection(2 arrays, shifted)
        """
        return self._another_version(ShiftChange(seed))

    def _another_version(self, change: Change) -> Self:
        """The images after a change, in the same memory."""
        new = self._changed(change)
        new._version = (*self._version, change)
        return new

    def _changed(self, change: Change) -> Self:
        new = self._copy()
        new._changes = (*self._changes, change)
        return new

    def remembered(self, memory: Memory | None = None, *, max_bytes: int = CACHED_BYTES, spread: bool = False) -> Self:
        """The same images, with a memory: none is read twice, nothing is computed twice about one.

        What is picked from this collection shares its memory, which ends with the last of them.

        Parameters
        ----------
        memory : Memory or None
            For features and embeddings (see `memclf.Cases` for one that lasts); None: its own, or a new one.
        max_bytes : int
            Room for pixels.
        spread : bool
            While a client of a Dask cluster is running, its workers read the images and compute what is not in the
            memory, in parts. The rows come here, the pixels do not. Images that are remembered already share their
            memory with those that are returned.
        """
        if memory is None and self._memory is not None:
            if self._memory.spread or not spread:
                return self
            new = self._copy()
            new._memory = self._memory._replace(spread=True)
            return new
        new = self._copy()
        new._memory = _Remembered(PixelCache(max_bytes), Memory(len(self)) if memory is None else memory, spread)
        new._rows, new._version = np.arange(len(self)), ()
        return new

    @property
    def has_memory(self) -> bool:
        """Whether `compute_once` has a cache; see `remembered`."""
        return self._memory is not None

    def compute_once(self, what: Computation | str, compute: Callable[[Self], Any]) -> Any:
        """``compute(images)``, one row per image; with a memory, only where there is no row yet.

        `what` identifies the computation: the same name must mean the same numbers.
        """
        if self._memory is None or self._rows is None:
            return compute(self)
        what = what if isinstance(what, Computation) else Computation(what)
        return self._memory.rows.rows(
            what,
            self._rows,
            lambda missing: self[missing]._compute(compute),
            lambda positions: self[positions]._compute(_digest_images),
            version=self._version,
        )

    def _compute(self, compute: Callable[[Self], Any]) -> Any:
        spread = self._memory is not None and self._memory.spread
        return compute_in_parts(compute, self, READ_AHEAD) if spread else compute(self)

    def packed(self) -> Self:
        """The same images, which take what was computed about them along to other processes."""
        if self._memory is None:
            return self
        new = self._copy()
        new._memory = _Remembered(PixelCache(self._memory.pixels.max_bytes), self._memory.rows.packed())
        return new

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if self._sources.dtype == object:  # another process may be in another folder
            sources = [each.absolute() if isinstance(each, Path) else each for each in self._sources]
            state["_sources"] = object_array(sources)
        if self._memory is not None and self._memory.rows.is_packed:
            return state
        return {**state, "_memory": None, "_rows": None, "_version": ()}

    def broken(self, n_jobs: int | None = None) -> dict[int, str]:
        """Positions of the images that cannot be read, and why; an empty dictionary if all can.

        >>> ImageCollection(np.zeros((2, 64, 64, 3), dtype=np.uint8)).broken()
        {}
        """

        def find_error(position: int) -> str | None:
            try:
                self._read(position)
            except ImageError as error:
                return str(error)
            return None

        errors = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(find_error)(i) for i in range(len(self)))
        return {position: error for position, error in enumerate(errors) if error is not None}

    def loaded(self, n_jobs: int | None = None) -> Self:
        """The same images, all read and held in memory; `n_jobs` threads read them."""
        parts = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(list)(self[part]) for part in chunks(len(self), READ_AHEAD)
        )
        new = self._copy()
        new._sources = object_array([image for part in parts for image in part])
        new._changes, new._version = (), ()
        new._memory = new._rows = None  # the memory holds all images of the collection that these were picked from
        return new

    def joined(self, other: Any) -> Self:
        """These images and others; labels, names and info stay where both have them."""
        other = as_images(other)
        if self._changes != other._changes:
            return self.loaded().joined(other.loaded())
        new = self._copy()
        new._sources = object_array([*self._sources, *other._sources])
        for name in ("labels", "info", "_keys"):
            pair = [getattr(self, name), getattr(other, name)]
            setattr(new, name, None if any(each is None for each in pair) else np.concatenate(pair))
        new._memory, new._rows, new._version = None, None, ()
        return new

    def wrap(self, case: Any) -> Self:
        """A collection of one image: pixels, a path, or such a collection itself."""
        if isinstance(case, ImageCollection):
            if len(case) != 1:
                raise ImageError(f"one image is wanted, and the collection has {len(case)}")
            return case  # type: ignore[return-value]
        return type(self)([case], max_pixels=self.max_pixels, max_bytes=self.max_bytes)

    def _image(self, position: int) -> Pixels:
        in_memory = not self._changes and not isinstance(self._sources[position], Path)
        if in_memory or self._memory is None or self._rows is None:
            return self._read(position)
        key = (self._version, int(self._rows[position]))
        return self._memory.pixels.get(key, lambda: self._read(position))

    def _read(self, position: int) -> Pixels:
        source = self._sources[position]
        name = str(source) if isinstance(source, Path) else f"image {position}"
        if isinstance(source, Path):
            image = read_image(source, max_pixels=self.max_pixels, max_bytes=self.max_bytes)
        else:
            image = as_rgb(source, name)
        try:
            for change in self._changes:
                image = change(image, self.key(position))
        except ImageError as error:
            raise ImageError(f"{name}: {error}") from error
        return image


def _digest_images(images: ImageCollection) -> list[str | None]:
    about = ((images.key(k), images.info_of(k)) for k in range(len(images)))
    return [digest_image(source, images._changes, *each) for source, each in zip(images._sources, about, strict=True)]


def as_images(X: Any) -> ImageCollection:
    """X as a collection: itself, or made from arrays or paths."""
    X = X.data if isinstance(X, Cases) else X
    return X if isinstance(X, ImageCollection) else ImageCollection(X)
