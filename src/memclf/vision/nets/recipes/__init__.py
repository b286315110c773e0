"""Training recipes: what is done to the training images and to the loss.

A recipe is an immutable object whose fields are the published defaults: `AugMix(severity=3)` is the AugMix of the
CIFAR experiments. `get_recipe("augmix")` finds one by its name. A new recipe is a file with a class that has a `name`
and a `label`, and its import here.

Importing recipes does not load torch (they import it when they train), so that commands and reports can read their
names and labels.
"""

from __future__ import annotations

import math
from difflib import get_close_matches

from memclf.vision.nets.recipes.adversarial import Adversarial as Adversarial
from memclf.vision.nets.recipes.augmix import AugMix as AugMix
from memclf.vision.nets.recipes.base import Recipe as Recipe
from memclf.vision.nets.recipes.cutmix import CutMix as CutMix
from memclf.vision.nets.recipes.manifold_mixup import ManifoldMixup as ManifoldMixup
from memclf.vision.nets.recipes.noisymix import NoisyMix as NoisyMix
from memclf.vision.nets.recipes.vanilla import Vanilla as Vanilla

_classes = [each for each in list(globals().values()) if isinstance(each, type) and issubclass(each, Recipe)]
_classes.sort(key=lambda recipe: recipe.paper_column or math.inf)

#: Name -> class, those of the paper first. One's own recipe may be added here, or simply be passed as an object.
RECIPES: dict[str, type[Recipe]] = {recipe.name: recipe for recipe in _classes if recipe is not Recipe}

#: The names of the recipes that the paper compares, in its order.
PAPER_RECIPES = tuple(name for name, recipe in RECIPES.items() if recipe.paper_column)


def get_recipe(recipe: str | Recipe) -> Recipe:
    """The recipe of that name with its published defaults, or the very object that was given.

    Examples
    --------
    >>> get_recipe("cutmix")
    CutMix(alpha=1.0, probability=1.0)
    >>> get_recipe("cutmx")
    Traceback (most recent call last):
        ...
    ValueError: there is no recipe 'cutmx'; did you mean 'cutmix'? Known: vanilla, adversarial, ...
    """
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, str):
        if recipe in RECIPES:
            return RECIPES[recipe]()
        close = get_close_matches(recipe.lower(), RECIPES, n=1, cutoff=0.5)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise ValueError(f"there is no recipe {recipe!r}{hint} Known: {', '.join(RECIPES)}")
    if isinstance(recipe, type) and issubclass(recipe, Recipe):
        raise TypeError(f"recipe must be an object, got the class {recipe.__name__}; write {recipe.__name__}()")
    raise TypeError(f"recipe must be one of the names {', '.join(RECIPES)} or a Recipe, got {recipe!r}")
