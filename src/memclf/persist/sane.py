"""Checks on what was loaded: numbers that native code would follow blindly, and parts that must fit together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.classifier import MemoryClassifier
from memclf.exceptions import ModelFolderError
from memclf.selector import MemorySelector


def check_trees(root: Any, name: str) -> None:
    """Refuse trees whose nodes point outside of themselves: predicting with them would read foreign memory."""
    for thing in _walk(root):
        kind = f"{type(thing).__module__}.{type(thing).__name__}"
        if kind == "sklearn.tree._tree.Tree":
            sane = _sane_tree(thing)
        elif kind == "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor":
            nodes = thing.nodes
            inner = ~nodes["is_leaf"].astype(bool)
            sane = _forward(np.flatnonzero(inner), len(nodes), nodes["left"][inner], nodes["right"][inner])
        elif kind in ("sklearn.neighbors._kd_tree.KDTree", "sklearn.neighbors._ball_tree.BallTree"):
            sane = _sane_ball(thing)
        else:
            continue
        if not sane:
            raise ModelFolderError(f"{name} holds a {type(thing).__name__} whose nodes point outside of it")


def _walk(root: Any) -> Iterator[Any]:
    stack, seen = [root], set()
    while stack:
        thing = stack.pop()
        if id(thing) in seen or isinstance(thing, (str, bytes, int, float, type(None))):
            continue
        seen.add(id(thing))
        yield thing
        if isinstance(thing, dict):
            stack += [*thing.keys(), *thing.values()]
        elif isinstance(thing, (list, tuple, set, frozenset)):
            stack += list(thing)
        elif isinstance(thing, np.ndarray):
            stack += thing.ravel().tolist() if thing.dtype == object else []
        else:
            stack += list(getattr(thing, "__dict__", {}).values())


def _sane_tree(tree: Any) -> bool:
    left, right = tree.children_left, tree.children_right
    inner = np.flatnonzero(left != right)
    feature = tree.feature[inner]
    values = np.shape(tree.value)
    return (
        _forward(inner, tree.node_count, left[inner], right[inner])
        and bool(((feature >= 0) & (feature < tree.n_features)).all())
        and values[:1] == (tree.node_count,)
        and len(left) == tree.node_count
    )


def _forward(nodes: Array, n: int, left: Array, right: Array) -> bool:
    """Children come after their parents, so following them ends, and inside the tree."""
    return n > 0 and all(
        bool(((child.astype(np.int64) > nodes) & (child.astype(np.int64) < n)).all()) for child in (left, right)
    )


def _sane_ball(tree: Any) -> bool:
    data, indices, nodes, bounds = tree.get_arrays()
    start, end = nodes["idx_start"], nodes["idx_end"]
    return (
        len(indices) == len(data)
        and bounds.shape[1] == len(nodes)
        and bool(((indices >= 0) & (indices < len(data))).all())
        and bool(((start >= 0) & (start <= end) & (end <= len(data))).all())
        and len(nodes) & (len(nodes) + 1) == 0  # a full binary tree
        and _levels(tree) == len(nodes).bit_length()
    )


def _levels(tree: Any) -> int:
    numbers = [int(part) for part in tree.__getstate__() if isinstance(part, (int, np.integer))]
    return numbers[1]  # leaf_size, n_levels, n_nodes, ...


def check_fitted(model: Any) -> None:
    """Attributes of a fitted model must fit together; swapped arrays do not."""
    problems = []
    indices, labels = model.memory_indices_, model.labels_
    q = len(indices)
    if isinstance(model, (MemoryClassifier, MemorySelector)):
        if not (_whole(indices) and _whole(labels) and q and _within(indices, len(labels)) and _within(labels, q)):
            problems.append("memory_indices_ or labels_")
        for name in ("memories_", "descriptions_"):
            part = getattr(model, name)
            if (part.shape[0] if hasattr(part, "shape") else len(part)) != q:
                problems.append(name)
    if isinstance(model, MemoryClassifier):
        thresholds = model.thresholds_
        if thresholds.shape != (q,) or thresholds.dtype.kind != "f" or not ((thresholds > 0) & (thresholds <= 1)).all():
            problems.append("thresholds_")
        if len(model.estimators_) != q or len(model.pool_.origins) != q or len(model.pool_.trained_with) != q:
            problems.append("estimators_")
        if model.cluster_counts_.shape != (q, len(model.classes_)) or not _whole(model.cluster_counts_):
            problems.append("cluster_counts_")
        if len(np.unique(model.classes_)) != len(model.classes_):
            problems.append("classes_")
    if problems:
        raise ModelFolderError(f"the parts of the model do not fit together: {', '.join(problems)}")


def _within(array: Array, n: int) -> bool:
    return bool(((array >= 0) & (array < n)).all())


def _whole(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in "iu"
