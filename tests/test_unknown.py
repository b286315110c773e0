import numpy as np
import pytest

from memclf import unknown


@pytest.mark.parametrize(
    ("classes", "label"),
    [
        (np.array([0, 1]), -1),
        (np.array([0.5, 1]), -1),
        (np.array([True, False]), -1),
        (np.array([0, 255], dtype=np.uint8), -1),
        (np.array([-1, 1]), 0),
        (np.array([-1.0, 1.0]), 0),
        (np.array([-1, 0, 1]), -2),
        (np.array([-128, -1, 0], dtype=np.int8), -129),
        (np.array([-1.5, -1.0, 0.0]), -3),
        (np.array(["a"]), "unknown"),
    ],
)
def test_the_label_goes_with_the_classes(classes, label):
    assert unknown.label_for(classes) == label


def test_answers_can_hold_the_label_and_every_class():
    for classes, label in [
        (np.array([0, 200], dtype=np.uint8), -1),
        (np.array(["a", "bb"]), "unknown"),
        (np.array(["a rather long name"]), "unknown"),
        (np.array([1, 2]), "nothing"),
    ]:
        answers = unknown.answers(classes, 2, label)
        answers[0] = classes[-1]
        assert answers.tolist() == [classes[-1].item(), label]


def test_a_class_must_not_bear_the_label():
    unknown.check_free(np.array([0, 1]), -1)
    unknown.check_free(np.array(["a"]), -1)
    with pytest.raises(ValueError, match="the class -1 in y is also the label that stands for unknown"):
        unknown.check_free(np.array([-1, 1]), -1)


def test_probabilities_of_unknown_are_zero():
    assert not unknown.probabilities(2, 3).any()
