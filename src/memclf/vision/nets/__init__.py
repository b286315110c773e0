"""Networks as estimators: backbones by name, training recipes, and a classifier of images."""

from memclf.vision.nets.classifier import ImageClassifier
from memclf.vision.nets.recipes import RECIPES, Recipe, get_recipe

__all__ = ["RECIPES", "ImageClassifier", "Recipe", "get_recipe"]
