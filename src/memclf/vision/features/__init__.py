"""Expert features: named numbers from images, and the masks behind them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memclf.vision.features.base import ImageFeatures
    from memclf.vision.features.leaf import LeafColours
    from memclf.vision.features.lesion import LesionFeatures
    from memclf.vision.features.patch import PatchColour

__all__ = ["ImageFeatures", "LeafColours", "LesionFeatures", "PatchColour"]

_HOMES = {"ImageFeatures": "base", "LeafColours": "leaf", "LesionFeatures": "lesion", "PatchColour": "patch"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'memclf.vision.features' has no attribute {name!r}")
    return getattr(import_module(f"memclf.vision.features.{_HOMES[name]}"), name)
