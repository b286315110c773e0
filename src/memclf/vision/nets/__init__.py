"""Networks as estimators: backbones by name, training recipes, and a classifier of images.

Recipes and the catalogue of backbones are light; torch is loaded with `ImageClassifier`.
"""

from typing import TYPE_CHECKING, Any

from memclf.vision.nets.recipes import RECIPES, Recipe, get_recipe

if TYPE_CHECKING:
    from memclf.vision.nets.classifier import ImageClassifier

__all__ = ["RECIPES", "ImageClassifier", "Recipe", "get_recipe"]


def __getattr__(name: str) -> Any:
    if name != "ImageClassifier":
        raise AttributeError(f"module 'memclf.vision.nets' has no attribute {name!r}")
    from memclf.vision.nets.classifier import ImageClassifier

    return ImageClassifier
