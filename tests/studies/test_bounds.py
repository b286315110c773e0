"""The bounds that a study computes at its end."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from memclf import MemoryClassifier
from memclf.bounds import KINDS, Bound, bounds_of, generalization_bound
from memclf.evaluate import Contender
from memclf.similarity import TreeSimilarity
from memclf.studies.bounds import compute_bounds
from memclf.vision import ImageCollection
from memclf.vision.features import PatchColour
from pictures import squares

TRAIN, TEST = (ImageCollection(*squares(45, size=48, seed=seed, wrong=0.2)) for seed in (0, 1))


@pytest.fixture(scope="module")
def clf():
    tree = TreeSimilarity(features=PatchColour())
    clf = MemoryClassifier(tree, make_pipeline(PatchColour(), LogisticRegression()), random_state=0)
    return clf.fit(TRAIN, TRAIN.labels)


def test_compute_bounds__several_seeds__first_has_every_kind(clf):
    asked = [
        Contender(model, clf, recipe, "resnet18", seed)
        for seed in (3, 4)
        for recipe in ("vanilla", "augmix")
        for model in ("baseline", "memory", "sturdy", "memory-paper", "+product")
    ]
    said = []
    found = compute_bounds(asked, train=TRAIN, test=TEST, given=["inputs"], say=said.append)
    names = [(each["model"], each["recipe"], each["seed"]) for each in found["contenders"]]
    assert names == [(model, recipe, 3) for recipe in ("vanilla", "augmix") for model in ("memory", "sturdy")]
    assert said[-1] == "bounds of sturdy augmix resnet18 (4 of 4)"
    bounds = [Bound.from_dict(each) for each in json.loads(json.dumps(found))["contenders"][0]["bounds"]]
    assert {bound.kind for bound in bounds} | set(found["contenders"][0]["missing"]) == set(KINDS)
    assert bounds[0] == generalization_bound(clf, TRAIN, TRAIN.labels, given=["inputs"])
    assert bounds[-1] == generalization_bound(clf, TEST, TEST.labels, kind="held-out")


def test_compute_bounds__classifier_that_fails__is_left_out_and_named(clf):
    said = []
    asked = [Contender("memory", object(), "vanilla"), Contender("memory", clf, "augmix")]
    found = compute_bounds(asked, train=TRAIN, test=TEST, say=said.append)
    assert [each["recipe"] for each in found["contenders"]] == ["augmix"]
    assert any(line.startswith("no bounds of memory vanilla: ") for line in said)


def test_compute_bounds__undefined_kind__has_its_reason(clf, monkeypatch):
    def without_cascade(clf, X, y, kinds, **options):
        found = bounds_of(clf, X, y, kinds, **options)
        return [
            ValueError("no cascade") if kind == "cascade" else each for kind, each in zip(kinds, found, strict=True)
        ]

    monkeypatch.setattr("memclf.studies.bounds.bounds_of", without_cascade)
    (found,) = compute_bounds([Contender("memory", clf)], train=TRAIN, test=TEST)["contenders"]
    assert found["missing"]["cascade"] == "no cascade"
    assert "cascade" not in [each["kind"] for each in found["bounds"]]
    assert np.isfinite([each["value"] for each in found["bounds"]]).all()
