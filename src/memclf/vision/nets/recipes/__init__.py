"""Training recipes: what is done to the training images and to the loss, one file per scheme.

A recipe is an immutable object whose fields are the published defaults: `AugMix(severity=3)` is the AugMix of the
CIFAR experiments. `get_recipe("augmix")` finds one by its name.
"""

from memclf.vision.nets.recipes.adversarial import Adversarial
from memclf.vision.nets.recipes.augmix import AugMix
from memclf.vision.nets.recipes.base import Recipe
from memclf.vision.nets.recipes.cutmix import CutMix
from memclf.vision.nets.recipes.manifold_mixup import ManifoldMixup
from memclf.vision.nets.recipes.noisymix import NoisyMix
from memclf.vision.nets.recipes.registry import RECIPES, get_recipe
from memclf.vision.nets.recipes.vanilla import Vanilla

__all__ = [
    "RECIPES",
    "Adversarial",
    "AugMix",
    "CutMix",
    "ManifoldMixup",
    "NoisyMix",
    "Recipe",
    "Vanilla",
    "get_recipe",
]
