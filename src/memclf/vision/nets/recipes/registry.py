"""Recipes by name."""

from __future__ import annotations

from difflib import get_close_matches

from memclf.vision.nets.recipes.adversarial import Adversarial
from memclf.vision.nets.recipes.augmix import AugMix
from memclf.vision.nets.recipes.base import Recipe
from memclf.vision.nets.recipes.cutmix import CutMix
from memclf.vision.nets.recipes.manifold_mixup import ManifoldMixup
from memclf.vision.nets.recipes.noisymix import NoisyMix
from memclf.vision.nets.recipes.vanilla import Vanilla

RECIPES: dict[str, type[Recipe]] = {
    recipe.name: recipe for recipe in (Vanilla, AugMix, CutMix, ManifoldMixup, NoisyMix, Adversarial)
}
"""Name -> class. One's own recipe may be added here, or simply be passed as an object."""


def get_recipe(recipe: str | Recipe) -> Recipe:
    """The recipe of that name with its published defaults, or the very object that was given.

    Examples
    --------
    >>> get_recipe("cutmix")
    CutMix(alpha=1.0, probability=1.0)
    >>> get_recipe("cutmx")
    Traceback (most recent call last):
        ...
    ValueError: there is no recipe 'cutmx'; did you mean 'cutmix'? Known: vanilla, augmix, ...
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
