"""Twenty-five configurations of a memory classifier on small data, and what each of them answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from memclf.similarity import (
    CombinedSimilarity,
    CosineSimilarity,
    FunctionSimilarity,
    GowerSimilarity,
    RankSimilarity,
    RBFSimilarity,
    TreeSimilarity,
)

TRAIN = 180


def numbers() -> tuple[Any, Any]:
    """Three classes in nine clusters of unequal size, and a few cases far from all."""
    rng = np.random.default_rng(0)
    X, blob = make_blobs(260, n_features=4, centers=9, cluster_std=1.3, random_state=3)
    y = np.array(["ash", "birch", "cedar"])[blob % 3]
    y[rng.random(len(y)) < 0.1] = "ash"
    return X, y


def table() -> tuple[Any, Any]:
    """Numbers, words and gaps in one table."""
    rng = np.random.default_rng(1)
    X, y = numbers()
    frame = pd.DataFrame(X[:, :2], columns=["length", "width"])
    frame["colour"] = np.where(X[:, 2] > 0, "red", "blue")
    frame.loc[rng.random(len(frame)) < 0.05, "width"] = np.nan
    return frame, y


def words() -> tuple[Any, Any]:
    """Counts as a sparse matrix."""
    X, y = numbers()
    return sp.csr_array(np.maximum(np.round(X), 0.0) + np.eye(len(X), 4)), y


def near(a: Any, b: Any, scale: float = 30.0) -> float:
    return float(np.exp(-((np.asarray(a) - np.asarray(b)) ** 2).sum() / scale))


def first_two(X: Any) -> Any:
    return np.asarray(X)[:, :2]


# Solvers that stop early differ between processors by as much as they stop early; this one does not.
RBF, LOGISTIC = RBFSimilarity(gamma=0.05), LogisticRegression(solver="newton-cholesky", tol=1e-12)
MIXED = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LOGISTIC)
PRODUCT = ("product", {"competence": None, "balance": 0.0})

# name -> data, similarity, estimator, other settings; a tuple as `answer` is (rule, its settings)
CONFIGURATIONS: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "default": (numbers, None, None, {}),
    "rbf, tight thresholds": (numbers, RBF, LOGISTIC, {"threshold": 0.4, "thresholds": "tight"}),
    "check then argmax": (numbers, RBF, LOGISTIC, {"thresholds": "tight", "rule": "check_then_argmax"}),
    "nearest answers": (numbers, RBF, LOGISTIC, {"fallback": "nearest"}),
    "global fallback, merged clusters": (numbers, RBF, GaussianNB(), {"fallback": "global", "min_cluster_size": 25}),
    "other fallback": (numbers, RBF, GaussianNB(), {"fallback": DummyClassifier(), "threshold": 0.8}),
    "five memories, random cover": (numbers, RBF, LOGISTIC, {"n_memories": 5, "search": {"cover": "random"}}),
    "as printed": (numbers, RBF, LOGISTIC, {"threshold": 0.4, "search": {"mode": "paper"}}),
    "restarts and few swaps": (numbers, RBF, LOGISTIC, {"search": {"n_restarts": 3, "max_swaps": 40}}),
    "estimator for each memory": (
        *(numbers, RBF, {0: GaussianNB(), "default": DecisionTreeClassifier(max_depth=2)}),
        {"n_memories": 4},
    ),
    "warm start from global": (numbers, RBF, SGDClassifier(loss="log_loss"), {"start": "global", "n_memories": 4}),
    "forest": (numbers, RBF, RandomForestClassifier(10), {"n_memories": 4}),
    "conformal": (numbers, RBF, LOGISTIC, {"unknown_rate": 0.1}),
    "conformal, eight memories": (numbers, RBF, LOGISTIC, {"unknown_rate": 0.1, "n_memories": 8}),
    "product": (numbers, RBF, LOGISTIC, {"n_memories": 6, "answer": PRODUCT}),
    "product, mahalanobis, balance": (
        *(numbers, RBF, LOGISTIC),
        {"n_memories": 6, "answer": ("product", {"competence": "mahalanobis", "balance": 0.5})},
    ),
    "product, neighbours, conformal": (
        *(numbers, RBF, LOGISTIC),
        {"unknown_rate": 0.1, "answer": ("product", {"competence": "neighbours", "balance": 0.0})},
    ),
    "product, energy, global fallback": (
        *(numbers, RBF, LOGISTIC),
        {"fallback": "global", "answer": ("product", {"competence": "energy", "balance": 0.3}), "cv": 4},
    ),
    "gower": (table, GowerSimilarity(), MIXED, {"threshold": 0.8}),
    "tree": (numbers, TreeSimilarity(tree=DecisionTreeClassifier(max_depth=3)), LOGISTIC, {"threshold": 0.5}),
    "rank": (numbers, RankSimilarity(), LOGISTIC, {"n_memories": 7}),
    "cosine, sparse": (words, CosineSimilarity(), LOGISTIC, {"threshold": 0.9}),
    "function": (numbers, FunctionSimilarity(near), LOGISTIC, {}),
    "features and scales": (
        *(numbers, RBFSimilarity(features=make_pipeline(StandardScaler(), FunctionTransformer(first_two)))),
        *(make_pipeline(StandardScaler(), LOGISTIC), {"threshold": 0.6, "unknown_rate": 0.05}),
    ),
    "combined": (
        *(numbers, CombinedSimilarity([("near", RBF), ("angle", CosineSimilarity())], how="mean"), LOGISTIC),
        {"threshold": 0.8},
    ),
}


def answers_of(name: str, build: Any) -> dict[str, Any]:
    """What one configuration answers about cases that it has not seen, far ones among them."""
    load, similarity, estimator, settings = CONFIGURATIONS[name]
    X, y = load()
    clf = build(similarity, estimator, **settings, random_state=0)
    known, new = (X.iloc[:TRAIN], X.iloc[TRAIN:]) if isinstance(X, pd.DataFrame) else (X[:TRAIN], X[TRAIN:])
    clf.fit(known, y[:TRAIN])
    routes = clf.route(new)
    return {
        "labels": np.asarray(clf.predict(new)),
        "probabilities": np.asarray(clf.predict_proba(new)),
        "memories": np.asarray(clf.memory_indices_),
        "clusters": np.asarray(clf.labels_),
        "thresholds": np.asarray(clf.thresholds_),
        "routes": np.asarray(routes.memory),
        "similarities": np.asarray(routes.similarity),
    }
