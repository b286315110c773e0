import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from memclf import select_memories
from memclf.similarity import TreeSimilarity

X, y = load_iris(return_X_y=True)


def test_two_cases_are_alike_when_the_tree_gives_them_the_same_class():
    similarity = TreeSimilarity()
    Z = similarity.fit_describe(X, y)
    answers = DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=0).fit(X, y).predict(X)
    np.testing.assert_array_equal(similarity.compare(Z, Z), answers[:, None] == answers[None])


def test_graded_similarity_is_the_share_of_the_way_through_the_tree():
    similarity = TreeSimilarity(graded=True)
    Z = similarity.fit_describe(X, y)
    S = similarity.compare(Z, Z)
    path = similarity.tree_.decision_path(X).toarray().astype(int)
    depth = path.sum(axis=1) - 1
    shared = path @ path.T - 1
    np.testing.assert_allclose(S, shared / np.maximum(depth[:, None], depth[None]))
    leaves = similarity.tree_.apply(X)
    np.testing.assert_array_equal(S == 1, leaves[:, None] == leaves[None])
    assert len(np.unique(S)) > 2


def test_with_a_graded_tree_the_threshold_decides_how_many_memories_there_are():
    similarity = TreeSimilarity(graded=True)
    Z = similarity.fit_describe(X, y)
    numbers = [select_memories(Z, similarity, threshold).n_memories for threshold in (0.3, 0.6, 1.0)]
    assert numbers[0] < numbers[-1] == len(similarity.leaves_)
    assert numbers == sorted(numbers)


def test_a_tree_that_cannot_split_makes_all_cases_alike():
    similarity = TreeSimilarity(graded=True)
    Z = similarity.fit_describe(np.ones((20, 2)), np.arange(20) % 2)
    assert (similarity.compare(Z, Z) == 1).all()


def test_tree__not_given__has_depth_three_and_five_cases_in_a_leaf():
    rng = np.random.default_rng(0)
    noise, classes = rng.normal(size=(400, 3)), rng.integers(0, 4, 400)  # a free tree would grow far deeper
    tree = TreeSimilarity().fit(noise, classes).tree_
    assert tree.get_depth() == 3
    assert np.bincount(tree.apply(noise))[tree.apply(noise)].min() >= 5
    four_alone = np.repeat([0.0, 1.0], [100, 4])[:, None]
    assert TreeSimilarity().fit(four_alone, four_alone[:, 0]).tree_.get_depth() == 0


def test_the_users_own_tree_is_used():
    similarity = TreeSimilarity(tree=DecisionTreeClassifier(max_depth=1)).fit(X, y)
    assert similarity.tree_.get_depth() == 1
    with pytest.raises(TypeError, match="tree must be a DecisionTreeClassifier or None"):
        TreeSimilarity(tree=LogisticRegression()).fit(X, y)


def test_labels_are_needed():
    with pytest.raises(ValueError, match="TreeSimilarity requires y to be passed"):
        TreeSimilarity().fit(X)
