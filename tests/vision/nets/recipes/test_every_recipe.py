"""What holds for every recipe, old and new: one sweep over the registry."""

import copy
import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from memclf.vision.nets.recipes import PAPER_RECIPES, RECIPES, AugMix, Recipe, get_recipe
from memclf.vision.nets.recipes.operations import OPERATIONS

every_recipe = pytest.mark.parametrize("recipe", [recipe() for recipe in RECIPES.values()], ids=list(RECIPES))


def views_of(recipe, images, seed=0):
    """What the classifier does: views of every image, stacked, in [0, 1]."""
    bytes_ = [(image.permute(1, 2, 0) * 255).round().byte().numpy() for image in images]
    views = [recipe.views(image, np.random.default_rng([seed, k])) for k, image in enumerate(bytes_)]
    stacked = [np.stack([view[v] for view in views]).astype(np.float32) for v in range(recipe.n_views)]
    return [torch.from_numpy(view).permute(0, 3, 1, 2) / 255 for view in stacked]


def test_the_names_are_those_of_the_paper():
    assert list(RECIPES) == ["vanilla", "adversarial", "augmix", "cutmix", "noisymix", "manifold_mixup"]
    assert tuple(RECIPES) == PAPER_RECIPES
    assert [recipe.paper_column for recipe in RECIPES.values()] == [1, 2, 3, 4, 5, 6]
    assert all(recipe.name == name for name, recipe in RECIPES.items())


PUBLISHED = {
    "vanilla": {},
    "augmix": {"severity": 1, "width": 3, "depth": None, "alpha": 1, "consistency": 12},
    "cutmix": {"alpha": 1, "probability": 1},
    "manifold_mixup": {"alpha": 2, "layers": (0, 1, 2)},
    "noisymix": {"severity": 3, "width": 3, "depth": None, "alpha": 1, "consistency": 12}
    | {"mixup_alpha": 1, "additive": 0.5, "multiplicative": 0.5, "sparsity": 0.65, "layers": (0, 1, 2, 3)},
    "adversarial": {"epsilon": 8 / 255, "alpha": 2 / 255, "steps": 10, "random_start": True},
}


@every_recipe
def test_the_defaults_are_the_published_ones(recipe):
    defaults = dataclasses.asdict(recipe)
    assert defaults.pop("operations", tuple(OPERATIONS)) == tuple(OPERATIONS)
    assert defaults == PUBLISHED[recipe.name]


@every_recipe
def test_a_recipe_is_found_by_name_with_its_defaults_and_cannot_be_changed(recipe):
    assert get_recipe(recipe.name) == recipe
    assert get_recipe(recipe) is recipe
    for field in dataclasses.fields(recipe):
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{field.name}'"):
            setattr(recipe, field.name, 1)


@every_recipe
def test_a_recipe_survives_copying_pickling_and_cloning_as_a_parameter(recipe):
    assert copy.deepcopy(recipe) == pickle.loads(pickle.dumps(recipe)) == recipe
    assert clone(DummyClassifier(constant=recipe)).constant == recipe
    assert type(recipe)(**dataclasses.asdict(recipe)) == recipe


@every_recipe
def test_views_are_as_many_as_promised_and_depend_on_the_generator_only(recipe, photograph):
    before = photograph.copy()
    photograph.setflags(write=False)
    views = recipe.views(photograph, np.random.default_rng(0))
    assert len(views) == recipe.n_views
    for view, again in zip(views, recipe.views(photograph, np.random.default_rng(0)), strict=True):
        assert view.shape == photograph.shape
        assert view.dtype in (np.uint8, np.float32)
        np.testing.assert_array_equal(view, again)
    if recipe.n_views > 1:
        assert (recipe.views(photograph, np.random.default_rng(1))[1] != views[1]).any()
    np.testing.assert_array_equal(photograph, before)


@every_recipe
def test_there_is_one_loss_per_case_and_the_batch_is_left_as_it_was(recipe, network, batch, criterion, rng):
    inputs = views_of(recipe, batch[0])
    before = [view.clone() for view in inputs]
    loss = recipe.loss(network, inputs, batch[1], criterion, rng)
    assert loss.shape == (24,)
    assert loss.requires_grad
    assert torch.isfinite(loss).all()
    assert all(torch.equal(view, kept) for view, kept in zip(inputs, before, strict=True))
    assert network.training


@every_recipe
def test_the_loss_depends_on_the_generator_only(recipe, network, batch, criterion):
    inputs = views_of(recipe, batch[0])
    network.eval()

    def loss(seed):
        return recipe.loss(network, inputs, batch[1], criterion, torch.Generator().manual_seed(seed))

    state = torch.get_rng_state()
    np.random.seed(0)  # noqa: NPY002 - the global generator is what must not matter
    first = loss(0)
    np.random.seed(1)  # noqa: NPY002
    assert torch.equal(loss(0), first)
    assert torch.equal(torch.get_rng_state(), state)
    if recipe.name not in ("vanilla", "augmix"):  # whose randomness is all in the views
        assert not torch.equal(loss(1), first)


@every_recipe
def test_soft_targets_give_the_same_loss_as_the_classes_they_stand_for(recipe, network, batch, criterion):
    inputs = views_of(recipe, batch[0])
    network.eval()
    losses = [
        recipe.loss(network, inputs, targets, criterion, torch.Generator().manual_seed(0))
        for targets in (batch[1], F.one_hot(batch[1], 3).float())
    ]
    torch.testing.assert_close(*losses, rtol=1e-4, atol=1e-5)


@every_recipe
def test_a_batch_of_one_case_is_no_special_case(recipe, network, batch, criterion, rng):
    loss = recipe.loss(network, views_of(recipe, batch[0][:1]), batch[1][:1], criterion, rng)
    assert loss.shape == (1,)


@every_recipe
def test_a_small_network_learns_with_it(recipe, network, batch, criterion, rng):
    images, targets = batch
    optimizer = torch.optim.Adam(network.parameters(), lr=0.03)
    before = criterion(network(images), targets).mean().item()
    inputs = views_of(recipe, images)
    for _ in range(25):
        optimizer.zero_grad()
        recipe.loss(network, inputs, targets, criterion, rng).mean().backward()
        optimizer.step()
    with torch.no_grad():
        logits = network(images)
    assert criterion(logits, targets).mean().item() < 0.6 * before
    assert (logits.argmax(dim=1) == targets).float().mean() > 0.9


def test_a_typing_error_is_answered_with_the_nearest_name():
    with pytest.raises(ValueError, match=r"no recipe 'augmx'; did you mean 'augmix'\? Known: vanilla, adversarial"):
        get_recipe("augmx")
    with pytest.raises(ValueError, match="no recipe 'ManifoldMixup'; did you mean 'manifold_mixup'"):
        get_recipe("ManifoldMixup")
    with pytest.raises(ValueError, match="no recipe 'qqq'. Known: vanilla"):
        get_recipe("qqq")


def test_a_class_or_something_else_is_refused():
    with pytest.raises(TypeError, match=r"got the class AugMix; write AugMix\(\)"):
        get_recipe(AugMix)
    with pytest.raises(TypeError, match="must be one of the names vanilla, .* or a Recipe, got 3"):
        get_recipe(3)


def test_ones_own_recipe_has_its_class_for_a_name_and_the_plain_loss(network, batch, criterion, rng):
    class Upside(Recipe):
        def views(self, image, rng):
            return [image[::-1] if rng.random() < 0.5 else image]

    network.eval()
    recipe = get_recipe(Upside())
    assert (recipe.name, recipe.n_views) == ("upside", 1)
    loss = recipe.loss(network, batch[:1], batch[1], criterion, rng)
    torch.testing.assert_close(loss, criterion(network(batch[0]), batch[1]))


def test_recipes__labels__are_those_of_tables():
    labels = {name: recipe.label for name, recipe in RECIPES.items()}
    assert labels["noisymix"] == "NoisyMix"
    assert labels["manifold_mixup"] == "Manifold Mixup"
    assert len(set(labels.values())) == len(labels)


def test_recipes__class_of_the_user__has_name_and_label():
    class Sharper(AugMix):
        pass

    assert (Sharper.name, Sharper.label, Sharper.paper_column) == ("sharper", "Sharper", None)
    assert "sharper" not in RECIPES


def test_recipes_and_catalogue__names_and_labels__are_read_without_torch():
    code = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "torchvision", "timm", "skorch"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
from memclf.vision.nets.catalogue import label_of
from memclf.vision.nets.recipes import RECIPES, get_recipe
print(RECIPES["augmix"].label, get_recipe("cutmix"), label_of("vgg16"))
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "AugMix CutMix(alpha=1.0, probability=1.0) VGG16"
