"""The expert's own function of an image as a feature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, overload

import numpy as np

from memclf._numbers import Array
from memclf.vision.features.base import ImageFeatures, Info, Masks
from memclf.vision.files import Pixels, as_rgb

Function = Callable[[Pixels], Mapping[str, Any]]


class OwnMeasurement(ImageFeatures):
    """The expert's own function of an image; made by `measure`.

    Parameters
    ----------
    function : callable
        ``f(image) -> {"redness": 0.4}``. Values that are boolean arrays of the image's height and width are masks: they
        are drawn by `overlay`, and other measurements can be `of` them.
    names : tuple of str or None
        Names of the numbers. None: those that the function gives for a grey picture.
    """

    def __init__(self, function: Function, names: Sequence[str] | None = None):
        self.function = function
        self._names = names

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"function": self.function, "names": self._names}

    def set_params(self, **params: Any) -> OwnMeasurement:
        self.function = params.pop("function", self.function)
        self._names = params.pop("names", self._names)
        super().set_params(**params)
        return self

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return _find_names(self.function) if self._names is None else tuple(self._names)

    def measure(self, image: Pixels, info: Info) -> Array:
        numbers, _ = _call(self.function, image)
        wanted = self.names
        if set(numbers) != set(wanted):
            raise ValueError(
                f"{_name(self.function)} returned {', '.join(map(repr, numbers)) or 'no numbers'} for this image; its "
                f"names are {', '.join(map(repr, wanted))}. Return the same names for every image"
            )
        return np.array([numbers[name] for name in wanted])

    def masks(self, image: Any, info: Info | None = None) -> Masks:
        """The masks that the function returns."""
        return _call(self.function, as_rgb(image, "image"))[1]

    def __call__(self, image: Any) -> Any:
        """What the function itself returns."""
        return self.function(image)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("__wrapped__", None)  # that is the function, which the state holds already
        return state


@overload
def measure(function: Function, *, names: Sequence[str] | None = None) -> OwnMeasurement: ...
@overload
def measure(function: None = None, *, names: Sequence[str] | None = None) -> Callable[[Function], OwnMeasurement]: ...
def measure(function: Function | None = None, *, names: Sequence[str] | None = None) -> Any:
    """Turn your own function of an image into a feature: ``@measure``, or ``measure(function)``.

    The function gets an image (height x width x 3, uint8, RGB) and returns a dictionary of numbers. Boolean arrays of
    the image's size in it are masks, and are drawn by `overlay`. The feature goes wherever features go. Saved models
    hold the function's import path and a hash of its source, so define it at the top level of a module.

    Parameters
    ----------
    function : callable
    names : sequence of str or None
        Names of the numbers, for a function that cannot measure a grey picture: ``@measure(names=["redness"])``.

    Examples
    --------
    >>> @measure
    ... def redness(image):
    ...     red, green, _ = image.reshape(-1, 3).mean(axis=0)
    ...     return {"redness": (red - green) / 255}
    >>> redness.transform([np.full((8, 8, 3), (255, 0, 0), dtype=np.uint8)])
    array([[1.]])
    """
    if function is None:
        return partial(measure, names=names)
    if not callable(function):
        raise TypeError(f"measure takes a function of an image, got {function!r}")
    made = OwnMeasurement(function, names)
    # A model folder finds the function behind the name that the decorator has taken.
    made.__dict__["__wrapped__"] = function
    return made


@lru_cache(maxsize=256)
def _find_names(function: Function) -> tuple[str, ...]:
    """The names of the numbers that a function gives for a grey picture with a little grain."""
    grain = np.random.default_rng(0).integers(118, 139, (64, 64, 3), dtype=np.uint8)
    try:
        return tuple(_call(function, grain)[0])
    except Exception as error:
        error.add_note(
            f"while trying {_name(function)} on a grey picture, to learn the names of its numbers; if it cannot "
            'measure such a picture, name them: @measure(names=["redness"])'
        )
        raise


def _call(function: Function, image: Pixels) -> tuple[dict[str, float], Masks]:
    """Numbers and masks of one image."""
    found = function(image)
    if not isinstance(found, Mapping):
        raise TypeError(
            f"{_name(function)} must return a dictionary of numbers, as {{'redness': 0.4}}; it returned {found!r:.60}"
        )
    numbers: dict[str, float] = {}
    masks: Masks = {}
    for name, value in found.items():
        if isinstance(value, np.ndarray) and value.dtype == bool and value.ndim == 2:
            masks[str(name)] = value
            continue
        try:
            numbers[str(name)] = float(value)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{_name(function)} must return numbers, or boolean arrays of the image's height and width; for "
                f"{name!r} it returned {value!r:.60}"
            ) from error
        if not np.isfinite(numbers[str(name)]):
            raise ValueError(
                f"{_name(function)} returned {numbers[str(name)]} for {name!r}; cases are compared by this number, so "
                "return a finite one for every image"
            )
    return numbers, masks


def _name(function: Any) -> str:
    return str(function.__qualname__ if inspect.isroutine(function) else repr(function))
