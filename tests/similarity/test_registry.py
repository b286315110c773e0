"""The registry of similarities: what it lists, what each class says about itself, and that it cannot be changed."""

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import memclf
from memclf import similarity
from memclf.exceptions import UntrustedTypeError
from memclf.similarity import REGISTRY, Choices, CombinedSimilarity, Similarity, TreeSimilarity
from memclf.similarity.base import choices_of

X = np.random.default_rng(0).normal(size=(40, 2))
y = (X[:, 0] > 0).astype(int)


def test_registry__every_public_similarity__is_listed():
    public = {name for name in similarity.__all__ if name.endswith("Similarity") and name != "Similarity"}
    assert set(REGISTRY) == public | {"Precomputed"}


@pytest.mark.parametrize("name", REGISTRY)
def test_registry__each_class__says_when_two_cases_are_alike(name):
    assert issubclass(REGISTRY[name], Similarity)
    assert 5 < len(REGISTRY[name].label) < 90
    page = Path(__file__).parents[2] / "docs" / "similarities.md"
    assert f"`{name}" in page.read_text()


class RBFSimilarity(similarity.RBFSimilarity):
    """A class of a user, with the name of one of memclf's."""


def test_registry__class_of_a_user__cannot_be_added_and_is_not_trusted(tmp_path):
    with pytest.raises(TypeError):
        REGISTRY["RBFSimilarity"] = RBFSimilarity
    memclf.save(memclf.MemoryClassifier(RBFSimilarity(1.0), random_state=0).fit(X, y), tmp_path / "model")
    with pytest.raises(UntrustedTypeError, match=r"test_registry\.RBFSimilarity"):
        memclf.load(tmp_path / "model")


def test_choices__of_two_parts__add_up_and_name_each_reason_once():
    both = Choices(1.5, None, ("a", "b")) + Choices(2.0, True, ("b",))
    assert both == Choices(3.5, None, ("a", "b"))
    assert (both + Choices(0.0, False)).complete is False


@pytest.mark.parametrize(
    ("built", "expected", "complete"),
    [
        (similarity.RBFSimilarity(1.0), 0.0, True),
        (similarity.RBFSimilarity(), 0.0, False),
        (similarity.RBFSimilarity(1.0, features=StandardScaler()), 0.0, None),
        (similarity.RBFSimilarity(1.0, features=abs), 0.0, True),
        (similarity.RankSimilarity(1.0), 0.0, None),
        (similarity.JudgedSimilarity(), 0.0, False),
        (TreeSimilarity(), 7 * math.log(2 * 41) + 8 * math.log(2), None),
        (TreeSimilarity(graded=True), 7 * math.log(2 * 41), None),
        (TreeSimilarity(tree=DecisionTreeClassifier(max_leaf_nodes=2)), math.log(2 * 41) + 2 * math.log(2), False),
        (
            CombinedSimilarity([("tree", TreeSimilarity(graded=True)), ("near", similarity.RBFSimilarity())]),
            7 * math.log(2 * 41),
            False,
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_choices__of_a_fitted_similarity__count_what_it_learned(built, expected, complete):
    found = built.fit(X, y).choices(40)
    assert found.log_count == pytest.approx(expected)
    assert found.complete is complete
    assert bool(found.reasons) == (complete is not True)


def test_choices__of_an_object_with_another_base__are_unknown():
    assert choices_of(object(), 10) == Choices.unknown("object")
