"""A collection of images, in memory or in files, that is read lazily and indexed like an array."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import EllipsisType
from typing import Any, Self, overload

import numpy as np
from joblib import Parallel, delayed

from memclf.cases import Collection
from memclf.cases.containers import chunks, is_table, object_array
from memclf._numbers import Array
from memclf.exceptions import ImageError
from memclf.vision.files import IMAGE_SUFFIXES, MAX_BYTES, MAX_PIXELS, Pixels, as_rgb, read_image, resized
from memclf.vision.kept import Kept, Notes
from memclf.vision.listing import check_files, list_csv, list_folder, list_path

__all__ = ["IMAGE_SUFFIXES", "ImageCollection", "Pixels", "as_images", "read_image"]

KEPT_BYTES = 2**30  # of images that `read_once` keeps
READ_AHEAD = 32  # images that a walk through files decodes at a time


class ImageCollection(Collection):
    """Images that behave like an array: ``len``, an index gives one image, a slice or index array a collection.

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
        Names of the images, on which the random draws of corruptions depend. Files are known by their path
        (relative to the folder or CSV they came from), arrays by their pixels.
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
            images = found.paths
            labels = found.labels if labels is None else labels
            info = found.info if info is None else info
            keys = found.keys if keys is None else keys
        self.max_pixels, self.max_bytes = int(max_pixels), int(max_bytes)
        self._sources, names = _as_sources(images)
        keys = names if keys is None else [str(key) for key in keys]
        n = len(self._sources)
        for name, values in (("labels", labels), ("info", info), ("keys", keys)):
            if values is not None and len(values) != n:
                raise ValueError(f"{name} has {len(values)} entries for {n} images")
        self.labels: Array | None = None if labels is None else np.asarray(labels)
        self.info = None if info is None else object_array(list(info))
        self._keys = None if keys is None else object_array(list(keys))
        self._steps: tuple[_Corrupt | _Perturb, ...] = ()
        self._kept: Kept | None = None
        self._notes: Notes | None = None
        self._rows: Array | None = None  # where the images are in `_kept` and `_notes`

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

    # ------------------------------------------------------------------------------------------ like an array

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
        if index is Ellipsis:
            index = slice(None)
        if isinstance(index, np.ndarray) and index.ndim == 0:
            index = index[()]
        if isinstance(index, (int, np.integer)) and not isinstance(index, (bool, np.bool_)):
            if not -len(self) <= index < len(self):
                raise IndexError(f"there is no image {index}; there are {len(self)}")
            return self._image(int(index) % len(self))
        if isinstance(index, tuple) or not (isinstance(index, slice) or hasattr(index, "__len__")):
            raise IndexError(f"images are indexed along one dimension, by positions or a slice; got {index!r}")
        rows = np.arange(len(self))[index if isinstance(index, slice) else np.asarray(index, dtype=_kind(index))]
        if rows.ndim != 1:
            raise IndexError(f"images are indexed along one dimension, got positions of shape {np.shape(index)}")
        picked = object.__new__(type(self))
        picked.__dict__.update(self.__dict__)
        picked._sources = self._sources[rows]
        for name in ("labels", "info", "_keys", "_rows"):
            values = getattr(self, name)
            setattr(picked, name, None if values is None else values[rows])
        return picked

    def __iter__(self) -> Iterator[Pixels]:
        return (self._image(position) for position in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        images = list(self)
        sizes = {image.shape for image in images}
        if len(sizes) > 1:
            raise ValueError(f"images of {len(sizes)} different sizes do not make one array; use a list")
        return np.array(images, dtype=dtype if dtype is not None else np.uint8)

    def __repr__(self) -> str:
        kind = "arrays" if not any(isinstance(source, Path) for source in self._sources[:1]) else "files"
        classes = "" if self.labels is None else f", {len(set(self.labels.tolist()))} classes"
        steps = "".join(f", {step}" for step in self._steps)
        return f"{type(self).__name__}({len(self)} {kind}{classes}{steps})"

    # ------------------------------------------------------------------------------------------ what is in it

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
        at: tuple[int, int] | None = None,
    ) -> Self:
        """The same images under a corruption, made when they are read.

        With `at` (height, width), images are resized to it, corrupted there, and brought back to their own size: blur
        of a few pixels then means less or more of the picture.

        >>> images = ImageCollection(np.full((2, 64, 64, 3), 128, dtype=np.uint8))
        >>> images.corrupted("contrast", 3)
        ImageCollection(2 arrays, contrast 3)
        """
        from memclf.vision.corruptions import check

        check(name, severity, preset)
        return self._with(_Corrupt(name, severity, seed, preset, at))

    def perturbed(self, name: str | None = None, *, seed: int = 0) -> Self:
        """The same images, changed a little in ways that are no corruptions; see `memclf.vision.perturbations`.

        Without a name, the kind is drawn for every image. What is computed about them is remembered if these images
        remember.

        >>> ImageCollection(np.full((2, 64, 64, 3), 128, dtype=np.uint8)).perturbed("tint")
        ImageCollection(2 arrays, tint)
        """
        from memclf.vision.perturbations import check

        check(name)
        new = self._with(_Perturb(name, seed))
        if self._notes is not None:
            new._notes, new._rows = self._notes.about(f"{name} {seed}"), self._rows
        return new

    def _with(self, step: _Corrupt | _Perturb) -> Self:
        new = self[:]
        new._steps = (*self._steps, step)
        new._kept = new._notes = new._rows = None  # those were about other pixels
        return new

    def read_once(self, max_bytes: int = KEPT_BYTES) -> Self:
        """The same images, each kept in memory once it has been read, as long as all of them stay below `max_bytes`.

        For work that looks at every image twice, as describing it and classifying it. What is picked from this
        collection keeps images in the same place.
        """
        if self._kept is not None or not (self._steps or any(isinstance(source, Path) for source in self._sources)):
            return self
        new = self[:]
        new._kept = Kept(max_bytes)
        new._rows = np.arange(len(self)) if self._rows is None else self._rows
        return new

    def remembered(self) -> Self:
        return self.remembering()

    def remembering(self) -> Self:
        """The same images, about which nothing is computed twice: neither expert features nor embeddings.

        For work in which several classifiers look at the same images. What is picked from this collection shares
        what is remembered.
        """
        if self._notes is not None:
            return self
        new = self[:]
        new._notes = Notes(len(self))
        new._kept, new._rows = None, np.arange(len(self))
        return new.read_once()

    @property
    def remembers(self) -> bool:
        """Whether what is computed about these images is kept; see `remembering`."""
        return self._notes is not None

    def noted(self, name: str, compute: Callable[[Self], Array]) -> Array:
        """``compute(images)``, one row per image; a remembering collection computes what it does not know yet.

        `name` says what is computed: the same name, the same numbers.
        """
        if self._notes is None or self._rows is None:
            return compute(self)
        return self._notes.rows(name, self._rows, lambda missing: compute(self[missing]))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None, "_notes": None, "_rows": None}

    def broken(self, n_jobs: int | None = None) -> dict[int, str]:
        """Positions of the images that cannot be read, and why; an empty dictionary if all can.

        >>> ImageCollection(np.zeros((2, 64, 64, 3), dtype=np.uint8)).broken()
        {}
        """
        work = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(self._complaint)(i) for i in range(len(self)))
        return {position: said for position, said in enumerate(work) if said is not None}

    def _complaint(self, position: int) -> str | None:
        try:
            self._read(position)
        except ImageError as error:
            return str(error)
        return None

    def loaded(self, n_jobs: int | None = None) -> Self:
        """The same images, all decoded and held in memory, with `n_jobs` threads at work."""
        new = self[:]
        new._sources = object_array(self.map(_itself, n_jobs=n_jobs))
        new._steps, new._kept = (), None
        new._rows = self._rows if self._notes is not None else None
        return new

    def map(self, function: Any, n_jobs: int | None = None) -> list[Any]:
        """``function(image)`` for every image, in order, with `n_jobs` threads; images are read as they are needed."""
        if n_jobs in (None, 1):
            return [function(image) for image in self]
        work = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_apply)(function, self, part) for part in chunks(len(self), READ_AHEAD)
        )
        return [value for part in work for value in part]

    def _image(self, position: int) -> Pixels:
        if self._kept is None or self._rows is None:
            return self._read(position)
        row = int(self._rows[position])
        image = self._kept.images.get(row)
        return self._kept.keep(row, self._read(position)) if image is None else image

    def _read(self, position: int) -> Pixels:
        source = self._sources[position]
        if isinstance(source, Path):
            image = read_image(source, max_pixels=self.max_pixels, max_bytes=self.max_bytes)
        else:
            image = as_rgb(source, f"image {position}")
        for step in self._steps:
            image = step(image, self.key(position))
        return image


class _Corrupt:
    """One corruption with its settings, applied to images as they are read."""

    def __init__(self, name: str, severity: int, seed: int, preset: str, at: tuple[int, int] | None = None):
        self.name, self.severity, self.seed, self.preset, self.at = name, severity, seed, preset, at

    def __call__(self, image: Pixels, key: str | None) -> Pixels:
        from memclf.vision.corruptions import corrupt

        own = image.shape[:2]
        image = image if self.at is None else resized(image, self.at)
        image = corrupt(image, self.name, self.severity, seed=self.seed, key=key, preset=self.preset)
        return image if self.at is None else resized(image, (own[0], own[1]))

    def __str__(self) -> str:
        return f"{self.name} {self.severity}"


class _Perturb:
    """One mild perturbation, applied to images as they are read."""

    def __init__(self, name: str | None, seed: int):
        self.name, self.seed = name, seed

    def __call__(self, image: Pixels, key: str | None) -> Pixels:
        from memclf.vision.perturbations import perturb

        return perturb(image, self.name, seed=self.seed, key=key)

    def __str__(self) -> str:
        return self.name or "perturbed"


def as_images(X: Any) -> ImageCollection:
    """X as a collection: itself, or made from arrays or paths."""
    return X if isinstance(X, ImageCollection) else ImageCollection(X)


def _itself(image: Pixels) -> Pixels:
    return image


def _apply(function: Any, images: ImageCollection, part: slice) -> list[Any]:
    return [function(image) for image in images[part]]


def _kind(index: Any) -> Any:
    """An empty list of positions is no list of floats."""
    return None if len(index) else np.intp


def _as_sources(images: Any) -> tuple[Any, list[str] | None]:
    """Something with one entry per image that can be picked from, and the keys of files."""
    if isinstance(images, ImageCollection):
        raise TypeError("this is an ImageCollection already")
    if isinstance(images, np.ndarray) and images.dtype != object and images.dtype.kind not in "US":
        if images.ndim == 3 and images.shape[2] in (3, 4):
            raise ImageError(f"an array of shape {images.shape} is one image; wrap it in a list")
        if images.ndim not in (3, 4):
            raise ImageError(f"images come as n x h x w or n x h x w x channels, got an array of shape {images.shape}")
        return images, None
    if is_table(images):
        raise TypeError("images come as arrays or paths, not as a table; write it to a CSV file and use from_csv")
    entries = list(images)
    for position, entry in enumerate(entries):
        if isinstance(entry, (str, os.PathLike)):
            entries[position] = Path(entry)
        elif not hasattr(entry, "__array__"):
            raise TypeError(f"image {position} is a {type(entry).__name__}; images are arrays or paths of files")
    check_files(entry for entry in entries if isinstance(entry, Path))
    if entries and all(isinstance(entry, Path) for entry in entries):
        return object_array(entries), [path.as_posix() for path in entries]
    return object_array(entries), None
