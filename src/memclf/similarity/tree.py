"""The paper's similarity: a decision tree on expert features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from memclf._numbers import Array
from memclf.similarity.base import NumericSimilarity
from memclf.similarity.choices import Choices, log_trees


class TreeSimilarity(NumericSimilarity):
    """Two cases are alike when a decision tree, fitted to the labels, gives them one class.

    Parameters
    ----------
    graded : bool
        False (the paper): 1 if the tree predicts the same class for both, else 0; there is then one memory for
        each predicted class. True: the share of the path through the tree that both have in common (1 in the same
        leaf, 0 if the paths part at the root), so that the search and the threshold matter.
    tree : DecisionTreeClassifier or None
        None: depth 3, at least 5 cases in a leaf.
    random_state : int or None
        For the tree, when none is given.
    features, n_jobs, verbose
        See `Similarity`: the expert features that the tree is trained on.

    Attributes
    ----------
    tree_ : DecisionTreeClassifier
    table_ : ndarray
        Similarity of every two classes, or of every two leaves when graded.
    leaves_ : ndarray
        Node numbers of the leaves.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 5, [0, 0, 1, 1] * 5
    >>> similarity = TreeSimilarity().fit(X, y)
    >>> similarity.compare(similarity.describe([[0.2]]), similarity.describe([[0.9], [2.7]]))
    array([[1., 0.]])
    """

    label = "a decision tree gives them the same class (graded: they share their path through it)"

    def __init__(
        self,
        *,
        graded: bool = False,
        tree: Any = None,
        random_state: int | None = 0,
        features: Any = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ):
        self.graded = graded
        self.tree = tree
        self.random_state = random_state
        self.features = features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, F: Any, y: Any, sample_weight: Any) -> None:
        if y is None:
            raise ValueError("TreeSimilarity requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        tree = self.tree
        if tree is None:
            tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=self.random_state)
        elif not isinstance(tree, DecisionTreeClassifier):
            raise TypeError(f"tree must be a DecisionTreeClassifier or None, got {tree!r}")
        self.tree_ = clone(tree).fit(F, y, sample_weight=sample_weight)
        paths = _paths(self.tree_.tree_)
        self.leaves_ = np.array(sorted(paths))
        if self.graded:
            self.table_ = np.array([[_shared(paths[a], paths[b]) for b in self.leaves_] for a in self.leaves_])
        else:
            self.table_ = np.eye(len(self.tree_.classes_))

    def _choices(self, n: int) -> Choices:
        tree = self.tree_
        labels = 1 if self.graded else len(tree.classes_)  # graded: the leaves matter, not what they predict
        width = int(tree.n_features_in_)
        if tree.max_depth is None:
            count = log_trees(n, width, labels, int(tree.tree_.n_leaves) - 1)
            return Choices(count, False, ("the tree's size was not fixed beforehand: give it a max_depth",))
        why = "its trees are counted, as if the n + 1 places to cut a feature had been fixed beforehand"
        return Choices(log_trees(n, width, labels, 2 ** int(tree.max_depth) - 1), None, (why,))

    def _describe(self, F: Any) -> Array:
        if self.graded:
            number = np.searchsorted(self.leaves_, self.tree_.apply(F))
        else:
            number = np.searchsorted(self.tree_.classes_, self.tree_.predict(F))
        return number.astype(np.float64)[:, None]

    def compare(self, A: Any, B: Any) -> Array:
        return np.asarray(self.table_[np.ix_(A[:, 0].astype(np.intp), B[:, 0].astype(np.intp))])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _paths(tree: Any) -> dict[int, list[int]]:
    """The nodes from the root to each leaf."""
    paths: dict[int, list[int]] = {}
    stack = [(0, [0])]
    while stack:
        node, path = stack.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left == right:
            paths[node] = path
        else:
            stack += [(left, [*path, left]), (right, [*path, right])]
    return paths


def _shared(a: list[int], b: list[int]) -> float:
    """Share of the longer path that both have in common, the root not counted."""
    if a == b:
        return 1.0
    common = sum(first == second for first, second in zip(a, b, strict=False)) - 1
    return common / (max(len(a), len(b)) - 1)
