"""The conditions of an evaluation: preset and size of corruptions."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from memclf.evaluate import Store, evaluate
from memclf.evaluate.conditions import Conditions
from memclf.evaluate.store import Condition
from memclf.exceptions import StoreError
from memclf.vision import ImageCollection

PIXELS = np.random.default_rng(0).integers(0, 256, (4, 48, 64, 3), dtype=np.uint8)
IMAGES = ImageCollection(PIXELS, list("abab"))
FOG = [("fog", 3)]


def always():
    return {"always": DummyClassifier(strategy="most_frequent").fit(np.zeros((2, 1)), ["a", "b"])}


def test_conditions__preset_and_at__are_those_of_the_collection():
    made = Conditions(IMAGES, FOG, None, "cifar-32", (32, 32)).make(Condition("fog", 3))
    expected = IMAGES.corrupted("fog", 3, preset="cifar-32", at=(32, 32))
    assert all(np.array_equal(one, other) for one, other in zip(made, expected, strict=True))
    plain = Conditions(IMAGES, FOG, None, None, None).make(Condition("fog", 3))
    assert not np.array_equal(plain[0], made[0])


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"X": PIXELS.reshape(4, -1)}, "preset= and at= .* but the test cases are a ndarray"),
        ({"make": lambda name, severity: IMAGES}, "make= makes the conditions"),
        ({"conditions": {("fog", 3): IMAGES}}, "conditions= holds the changed cases"),
    ],
)
def test_evaluate__preset_without_corruptions_by_name__is_refused(changes, why):
    given = {"X": IMAGES, "conditions": FOG, **changes}
    with pytest.raises(ValueError, match=why):
        evaluate(always(), y=list("abab"), preset="imagenet-c", at=(32, 32), **given)


def test_evaluate__unknown_preset_or_corruption__is_refused_before_any_work():
    for conditions, preset, why in ((FOG, "cifar", "no preset 'cifar'"), ([("fogg", 3)], None, "no corruption 'fogg'")):
        store = Store()
        with pytest.raises(ValueError, match=why):
            evaluate(always(), IMAGES, IMAGES.labels, conditions, preset=preset, store=store)
        assert store.rows() == []


def test_evaluate__other_preset_in_the_same_store__is_refused():
    store = Store()
    evaluate(always(), IMAGES, IMAGES.labels, FOG, store=store)
    evaluate(always(), IMAGES, IMAGES.labels, [*FOG, ("fog", 4)], store=store)
    with pytest.raises(StoreError, match=r"preset=None and at=None, these are with preset=None and at=\[32, 32\]"):
        evaluate(always(), IMAGES, IMAGES.labels, FOG, at=(32, 32), store=store)


def test_evaluate__store_that_is_a_file_name__says_what_to_pass(tmp_path):
    with pytest.raises(ValueError, match=r"is a file; pass a folder, or Store\("):
        evaluate(always(), IMAGES, IMAGES.labels, store=tmp_path / "mine.sqlite")
