"""Checks of loaded estimators: numbers that compiled code uses without a check.

scikit-learn's compiled code trusts fitted attributes: it does not check whether a child, a column or a class exists
before it reads or writes there. What its classifiers are known to follow in this way is checked here, before they
predict. The list cannot be complete: check where a folder comes from before loading it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.dummy import DummyClassifier, DummyRegressor

from memclf._numbers import Array
from memclf.exceptions import ModelFolderError
from memclf.persist.trust import FUNCTIONS, full_name

_TREE = "sklearn.tree._tree.Tree"
_SPLINE = "scipy.interpolate._bsplines.BSpline"
LEAF = -1  # in place of a child, in scikit-learn's trees
COMPRESSED = (sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, sp.bsr_matrix, sp.bsr_array)
WORDS = 8  # of a set of categories, in scikit-learn's boosted trees


def check_parts(root: Any, name: str) -> None:
    """Refuse estimators with indices out of bounds, which would read or write foreign memory."""
    for thing in walk(root):
        try:
            sound = not _hides_methods(thing) and all(check(thing) for applies, check in _CHECKS if applies(thing))
        except Exception as error:
            raise ModelFolderError(f"{name} holds a damaged {type(thing).__name__}: {error!r}") from error
        if not sound:
            raise ModelFolderError(f"{name} holds a {type(thing).__name__} whose parts point outside of it")


def find_unchecked(root: Any) -> dict[str, str]:
    """Why known types cannot be checked, by name; the caller of `load` must allow them."""
    found = {}
    for thing in walk(root):
        if _starts_elsewhere(thing):
            kind = type(thing).__name__
            found[_kind(thing)] = (
                f"a {kind} that starts from a classifier of its own (init=...), which cannot be checked"
            )
        for place, item in _items(thing):
            if callable(item) and FUNCTIONS.get(name := full_name(item), place) != place:
                found[name] = f"the function {name} where scikit-learn does not put it"
    return found


def walk(root: Any) -> Iterator[Any]:
    """Everything that an object holds, itself included, each thing once."""
    stack, seen = [root], set()
    while stack:
        thing = stack.pop()
        if id(thing) in seen or isinstance(thing, (str, bytes, int, float, type, type(None))):
            continue
        seen.add(id(thing))
        yield thing
        stack += [item for _, item in _items(thing)]


def _items(thing: Any) -> list[tuple[str, Any]]:
    """What something holds itself, with the names of the attributes that hold it."""
    if inspect.isroutine(thing):  # attributes of a function are not from the file
        return []
    if isinstance(thing, dict):
        return [("", item) for pair in thing.items() for item in pair]
    if isinstance(thing, (list, tuple, set, frozenset)):
        return [("", item) for item in thing]
    if isinstance(thing, np.ndarray):
        # As a plain array: a mask would hide items.
        return [("", item) for item in np.asarray(thing).ravel().tolist()] if thing.dtype == object else []
    return list(_attributes(thing).items())


def _attributes(thing: Any) -> dict[str, Any]:
    return getattr(thing, "__dict__", {})  # objects of compiled classes have none


def _kind(thing: Any) -> str:
    return f"{type(thing).__module__}.{type(thing).__name__}"


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda thing: all(name in _attributes(thing) for name in names)


def _hides_methods(thing: Any) -> bool:
    """Whether attributes replace scikit-learn's methods, and so perhaps its checks of cases."""
    kind = type(thing)
    return (kind.__module__.startswith("sklearn.") or _kind(thing) == _SPLINE) and any(
        hasattr(kind, name) and not isinstance(getattr(kind, name), bool) for name in _attributes(thing)
    )


def _are_below(array: Array, n: int) -> bool:
    return bool(((array >= 0) & (array < n)).all())


def _lead_forward(nodes: Array, n: int, left: Array, right: Array) -> bool:
    """Children come after their parents, so following them ends, and inside the tree."""
    return n > 0 and all(
        bool(((child.astype(np.int64) > nodes) & (child.astype(np.int64) < n)).all()) for child in (left, right)
    )


# ----------------------------------------------------------------------------------------------------- trees


def _tree(tree: Any) -> bool:
    if not 0 < tree.node_count <= tree.capacity:
        return False
    left, right = tree.children_left, tree.children_right
    inner = np.flatnonzero(left != LEAF)
    return _lead_forward(inner, tree.node_count, left[inner], right[inner]) and _are_below(
        tree.feature[inner], tree.n_features
    )


def _owner_of_tree(estimator: Any) -> bool:
    """Whether the tree has the estimator's number of columns: only that is checked later."""
    return bool(estimator.tree_.n_features == estimator.n_features_in_)


def _starts_elsewhere(thing: Any) -> bool:
    start = _attributes(thing).get("init_", "zero") if _kind(thing) in _BOOSTING else "zero"
    return not isinstance(start, (str, DummyClassifier, DummyRegressor))


def _gradient_boosting(estimator: Any) -> bool:
    if _starts_elsewhere(estimator):
        return True  # allowed by the caller
    trees, n = estimator.estimators_, estimator.n_features_in_
    same = all(each.tree_.n_features == n == each.n_features_in_ for each in trees.ravel())
    # The trees' values are added to this array, one column per tree of a round, without a check of its width.
    return same and bool(estimator._raw_predict_init(np.zeros((1, n), np.float32)).shape == (1, trees.shape[1]))


def _histogram_boosting(estimator: Any) -> bool:
    before = estimator._preprocessor
    if before is None:
        n = estimator.n_features_in_
    else:  # how many columns it makes cannot be known, but it is loaded only if the caller allows its partial
        n = estimator._n_features
        steps = [_attributes(step).get("func") for _, step, _ in before.transformers_]
        if not any(isinstance(function, functools.partial) for function in steps):
            return False
    categorical = np.asarray(estimator._bin_mapper.is_categorical_, dtype=bool)
    return not _attributes(estimator).get("_in_fit", False) and all(
        _predictor(each, n, categorical) for trees in estimator._predictors for each in trees
    )


def _predictor(tree: Any, n: int, categorical: Array) -> bool:
    nodes, sets = tree.nodes, tree.raw_left_cat_bitsets
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    asks = nodes[inner][nodes["is_categorical"][inner] != 0]
    return (
        _lead_forward(inner, len(nodes), nodes["left"][inner], nodes["right"][inner])
        and _are_below(nodes["feature_idx"][inner], min(n, len(categorical)))
        and bool(categorical[asks["feature_idx"]].all())
        and _are_below(asks["bitset_idx"], len(sets))
        and sets.shape[1:] == (WORDS,)
    )


# ------------------------------------------------------------------------------------------------ neighbours


def _ball_or_kd_tree(tree: Any) -> bool:
    data, indices, nodes, bounds = (np.asarray(array) for array in tree.get_arrays())
    levels, n_nodes = tree.__getstate__()[5:7]
    metric = tree.__getstate__()[11]
    metric._validate_data(np.empty((1, data.shape[1])))  # an error if its weights are for other columns
    matrix = metric.__getstate__()[2]
    start, end = nodes["idx_start"], nodes["idx_end"]
    return (
        len(indices) == len(data) > 0
        and _are_below(indices, len(data))
        and len(nodes) == n_nodes == 2**levels - 1  # a full binary tree
        and bool(nodes["is_leaf"][len(nodes) // 2 :].all())
        and bool(((start >= 0) & (start <= end) & (end <= len(data))).all())
        and bounds.shape == (2 if type(tree).__name__ == "KDTree" else 1, len(nodes), data.shape[1])
        and (type(metric).__name__ != "MahalanobisDistance64" or matrix.shape == (data.shape[1],) * 2)
    )


def _neighbours(estimator: Any) -> bool:
    rows, columns = estimator._fit_X.shape
    given = {**(estimator.metric_params or {}), **estimator.effective_metric_params_}
    return (
        estimator.n_samples_fit_ == rows
        and (estimator.metric == "precomputed") == (estimator.effective_metric_ == "precomputed")
        and (estimator.metric == "precomputed" or estimator.n_features_in_ == columns)
        and (estimator._tree is None or estimator._tree.data.shape == (rows, columns))
        and not any(name.endswith("_norm_squared") for name in given)
    )


def _labels_of_neighbours(estimator: Any) -> bool:
    if estimator.outputs_2d_:
        return True  # looked up in numpy
    labels = estimator._y
    return labels.shape == (estimator._fit_X.shape[0],) and _are_below(labels, len(estimator.classes_))


# ------------------------------------------------------------------------------------------------ the others


def _support_vectors(estimator: Any) -> bool:
    counts, vectors, weights = estimator._n_support, estimator.support_vectors_, estimator._dual_coef_
    n, pairs = len(estimator.support_), len(counts) * (len(counts) - 1) // 2
    return (
        len(counts) >= 2
        and bool((counts >= 0).all())
        and ("classes_" not in vars(estimator) or int(counts.sum(dtype=np.int64)) == n)
        and sp.issparse(vectors) == sp.issparse(weights) == bool(estimator._sparse)
        and (vectors.shape[0] == n or (estimator.kernel == "precomputed" and not estimator._sparse))
        and weights.shape == (len(counts) - 1, n)
        and (not estimator._sparse or weights.nnz == weights.shape[0] * n)
        and len(estimator._intercept_) == pairs
        and all(len(each) in (0, pairs) for each in (estimator._probA, estimator._probB))
        and _are_below(estimator.support_, estimator.shape_fit_[0])
    )


def _centres(estimator: Any) -> bool:
    """Whether centres have the estimator's number of columns: only that is checked later."""
    tree = vars(estimator).get("_bisecting_tree")
    nodes = [] if tree is None else [each for each in walk(tree) if type(each) is type(tree)]
    n = estimator.n_features_in_
    return estimator.cluster_centers_.shape[1:] == (n,) and all(np.shape(each.center) == (n,) for each in nodes)


def _spline(spline: Any) -> bool:
    state = vars(spline)
    knots, weights = (state.get(f"_{name}", state.get(name)) for name in "tc")
    if not (type(spline.k) is int and knots.dtype == weights.dtype == np.float64 and spline.axis == 0):
        return False
    # Not scipy's own check: it refuses knots that are all equal, which scikit-learn makes of a column without a spread.
    n = len(knots) - spline.k - 1
    fits = knots.ndim == 1 and 0 <= spline.k < n <= len(weights)
    return fits and bool(np.isfinite(knots).all()) and bool((np.diff(knots) >= 0).all())


def _sparse(matrix: Any) -> bool:
    if isinstance(matrix, COMPRESSED):
        matrix.check_format(full_check=True)
    return True


def _vocabulary(vectorizer: Any) -> bool:
    numbers = list(vectorizer.vocabulary_.values())
    return sorted(map(int, numbers)) == list(range(len(numbers)))


_TREES = ("sklearn.neighbors._kd_tree.KDTree", "sklearn.neighbors._ball_tree.BallTree")
_BOOSTING = ("sklearn.ensemble._gb.GradientBoostingClassifier", "sklearn.ensemble._gb.GradientBoostingRegressor")
_CHECKS: list[tuple[Callable[[Any], bool], Callable[[Any], bool]]] = [
    (lambda thing: _kind(thing) == _TREE, _tree),
    (lambda thing: _kind(_attributes(thing).get("tree_")) == _TREE, _owner_of_tree),
    (lambda thing: _kind(thing) in _BOOSTING and _has("estimators_")(thing), _gradient_boosting),
    (_has("_predictors", "_bin_mapper"), _histogram_boosting),
    (lambda thing: _kind(thing) in _TREES, _ball_or_kd_tree),
    (_has("_fit_X", "_fit_method"), _neighbours),
    (_has("_fit_X", "_fit_method", "_y", "classes_"), _labels_of_neighbours),
    (_has("_n_support", "_dual_coef_"), _support_vectors),
    (_has("cluster_centers_", "_n_threads"), _centres),
    (lambda thing: _kind(thing) == _SPLINE, _spline),
    (sp.issparse, _sparse),
    (_has("vocabulary_"), _vocabulary),
]
