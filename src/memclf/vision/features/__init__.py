"""Expert features: named numbers measured in an image, and the masks behind them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memclf.vision.features.base import ImageFeatures, draw_masks
    from memclf.vision.features.leaf import LeafColours
    from memclf.vision.features.lesion import LesionFeatures
    from memclf.vision.features.paintings import read_paintings, write_painting
    from memclf.vision.features.patch import PatchColour, near_colour, same_colour
    from memclf.vision.features.regions import Suggestion, TaughtRegions

# Loaded on first use, since they import OpenCV.
_HOMES = {
    "ImageFeatures": "base",
    "LeafColours": "leaf",
    "LesionFeatures": "lesion",
    "PatchColour": "patch",
    "Suggestion": "regions",
    "TaughtRegions": "regions",
    "draw_masks": "base",
    "near_colour": "patch",
    "read_paintings": "paintings",
    "same_colour": "patch",
    "write_painting": "paintings",
}

__all__ = [
    "ImageFeatures",
    "LeafColours",
    "LesionFeatures",
    "PatchColour",
    "Suggestion",
    "TaughtRegions",
    "draw_masks",
    "near_colour",
    "read_paintings",
    "same_colour",
    "write_painting",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'memclf.vision.features' has no attribute {name!r}")
    try:
        module = import_module(f"memclf.vision.features.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("PIL", "cv2"):
            raise
        from memclf.exceptions import MissingExtraError

        raise MissingExtraError(f'memclf.vision.features needs {error.name}: pip install "memclf[vision]"') from error
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
