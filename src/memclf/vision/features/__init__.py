"""Expert features: named numbers measured in an image, and the masks behind them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memclf.vision.features.base import ImageFeatures, draw_masks
    from memclf.vision.features.leaf import LeafColours
    from memclf.vision.features.lesion import LesionFeatures
    from memclf.vision.features.measures.colour import ColourOf
    from memclf.vision.features.measures.count import CountOf
    from memclf.vision.features.measures.own import OwnMeasurement, measure
    from memclf.vision.features.measures.place import PlaceOf
    from memclf.vision.features.measures.shape import ShapeOf
    from memclf.vision.features.measures.share import ShareOf
    from memclf.vision.features.measures.sharpness import SharpnessOf
    from memclf.vision.features.measures.spec import read_spec, write_spec
    from memclf.vision.features.measures.texture import TextureOf
    from memclf.vision.features.measures.together import Measurements
    from memclf.vision.features.paintings import read_paintings, write_painting
    from memclf.vision.features.patch import PatchColour, near_colour, same_colour
    from memclf.vision.features.regions import Suggestion, TaughtRegions

# Loaded on first use, since they import OpenCV.
_HOMES = {
    "ColourOf": "measures.colour",
    "CountOf": "measures.count",
    "ImageFeatures": "base",
    "LeafColours": "leaf",
    "LesionFeatures": "lesion",
    "Measurements": "measures.together",
    "OwnMeasurement": "measures.own",
    "PatchColour": "patch",
    "PlaceOf": "measures.place",
    "ShapeOf": "measures.shape",
    "ShareOf": "measures.share",
    "SharpnessOf": "measures.sharpness",
    "TextureOf": "measures.texture",
    "Suggestion": "regions",
    "TaughtRegions": "regions",
    "draw_masks": "base",
    "measure": "measures.own",
    "near_colour": "patch",
    "read_paintings": "paintings",
    "read_spec": "measures.spec",
    "same_colour": "patch",
    "write_painting": "paintings",
    "write_spec": "measures.spec",
}
# The features among these and their modules: classes that a model folder may name.
FEATURES = {
    name: f"memclf.vision.features.{home}"
    for name, home in _HOMES.items()
    if name[0].isupper() and name not in ("ImageFeatures", "Suggestion")
}

__all__ = [
    "ColourOf",
    "CountOf",
    "ImageFeatures",
    "LeafColours",
    "LesionFeatures",
    "Measurements",
    "OwnMeasurement",
    "PatchColour",
    "PlaceOf",
    "ShapeOf",
    "ShareOf",
    "SharpnessOf",
    "Suggestion",
    "TaughtRegions",
    "TextureOf",
    "draw_masks",
    "measure",
    "near_colour",
    "read_paintings",
    "read_spec",
    "same_colour",
    "write_painting",
    "write_spec",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'memclf.vision.features' has no attribute {name!r}")
    try:
        module = import_module(f"memclf.vision.features.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("PIL", "cv2", "yaml"):
            raise
        from memclf.exceptions import MissingExtraError

        raise MissingExtraError(f'memclf.vision.features needs {error.name}: pip install "memclf[vision]"') from error
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
