"""Every study with every recipe on every backbone of the catalogue, as small as it goes."""

import numpy as np
import pytest
import torch

from memclf.evaluate import Condition, Contender, evaluate
from memclf.studies import STUDIES, find_study, load_study, settings_for
from memclf.studies.training import CellTrainer
from memclf.vision.nets.catalogue import CATALOGUE
from memclf.vision.nets.recipes import RECIPES, Adversarial, get_recipe

pytestmark = pytest.mark.slow

NOISE = Condition("gaussian_noise", 3)
FEW = {"n_train": 60, "n_test": 20, "epochs": 1, "local_epochs": 1, "image_size": (32, 32), "min_cluster_size": 4}
FEW |= {"corruptions": [NOISE.corruption], "severities": [NOISE.severity]}
WHOLE = {"scale": "paper", "pretrained": "none"}
# The backbones of the paper and the bundled ones: their weights and what is trained. VGGs are half a gigabyte each, so
# their local classifiers are heads; so are those of larger relatives of what is tested as a whole.
KINDS = {
    "efficientnet_lite0": {"scale": "quick", "sturdy": False},  # bundled weights, heads on what it sees
    "resnet18": WHOLE,
    "resnet34": WHOLE,
    "resnet50": WHOLE,
    "vgg11": {**WHOLE, "local": "heads"},
    "vgg16": {**WHOLE, "local": "heads"},
    "preact_resnet18": WHOLE,
    "efficientnet_lite1": {**WHOLE, "local": "heads"},
    "efficientnet_lite2": {**WHOLE, "local": "heads"},
    "vgg16_conv": {**WHOLE, "local": "heads"},
}


def test_kinds__backbones_of_the_catalogue__are_all_there():
    assert set(KINDS) == set(CATALOGUE)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def images():
    """A function that gives the images of a study, made once: for training and for testing."""
    made = {}

    def give(name):
        if name not in made:
            data = load_study(settings_for(name, "paper", **FEW, patch_size=64 if name == "color" else None))
            train, test = (take(*each) for each in ((data.train, 15), (data.test, 5)))
            made[name] = train.remembered(), test.remembered()
        return made[name]

    def take(collection, n):
        """About n images, the same number of each class as far as there are."""
        labels = np.asarray(collection.labels)
        classes = np.unique(labels)
        return collection[np.concatenate([np.flatnonzero(labels == each)[: n // len(classes)] for each in classes])]

    return give


@pytest.mark.parametrize("backbone", KINDS)
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", STUDIES)
def test_cell__smallest_scale__trains_and_answers_under_noise(name, recipe, backbone, images, tmp_path):
    train, test = images(name)
    settings = settings_for(name, recipes=[recipe], backbones=[backbone], recipe_backbones=[], **FEW, **KINDS[backbone])
    assert settings.cells() == [(recipe, backbone)]
    cell = CellTrainer(find_study(name), train, settings, tmp_path, recipe, backbone, 0)
    similarity = cell.study.similarity(settings.features[0], settings.literal)
    short = get_recipe(recipe) if recipe != "adversarial" else Adversarial(steps=1)  # of ten
    # Without checkpoints: to write files takes longer than to train such networks.
    memory = cell.make_memory(similarity, estimator__recipe=short, estimator__checkpoint=None)
    memory.fit(train, train.labels)
    contenders = [Contender("baseline", memory.global_), Contender("memory", memory)]
    if recipe == "vanilla":  # feature augmentation is for the first recipe
        joined = cell.make_network(cell.study.features(settings.features[0], settings.literal))
        contenders.append(Contender("augmented", joined.set_params(checkpoint=None).fit(train, train.labels)))
    rows = evaluate(contenders, test, test.labels, [NOISE], study=name, show=False)
    assert len(rows) == 2 * len(contenders)
    assert (memory.global_.recipe, memory.global_.backbone) == (short, backbone)
    assert len(np.unique(memory.pool_.trained_with)) > 1 or name == "color"
    for each in contenders:
        assert np.isfinite(each.estimator.predict_proba(test)).all()
