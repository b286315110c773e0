"""Time and disk of a study from a short trial."""

import pytest

from memclf.studies import settings_for
from memclf.studies.estimate import FEW, estimate

SMALL = {"patch_size": 64, "image_size": (32, 32), "corruptions": ["fog"], "severities": [3], "epochs": 2}


def test_estimate__color_study__is_positive_and_adds_up():
    found = estimate(settings_for("color", "quick", **SMALL))
    assert min(found.training, found.conditions, found.answers, found.trial) > 0
    assert found.seconds == found.training + found.conditions + found.answers
    assert found.disk > 3 * 13e6  # memory, memory-paper and random hold a network each


@pytest.mark.parametrize("study", ["leaf", "acne"])
def test_estimate__other_studies__are_positive_and_add_up(study):
    asked = {name: value for name, value in SMALL.items() if name != "patch_size"}
    found = estimate(settings_for(study, "quick", **asked, n_train=FEW, n_test=FEW, sturdy=False, augmented=False))
    assert min(found.training, found.conditions, found.answers, found.trial, found.disk, found.checkpoints) > 0
    assert found.seconds == found.training + found.conditions + found.answers


def test_estimate__ten_times_the_images_and_seeds__need_more_disk():
    few = estimate(settings_for("color", "quick", **SMALL, n_test=FEW))
    many = estimate(settings_for("color", "quick", **SMALL, n_test=10 * FEW, seeds=[0, 1, 2]))
    assert many.disk > 2 * few.disk


def test_estimate__published_weights__are_not_fetched():
    asked = {**SMALL, "backbones": ["resnet18"], "pretrained": "published", "train": "all"}
    assert estimate(settings_for("color", "quick", **asked)).training > 0
