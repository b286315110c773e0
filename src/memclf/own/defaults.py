"""Defaults for a user's data: similarity, plain model and memory classifier.

What they rest on: a forest of 60 trees is the plain model of docs/earn.md and the estimator of its memory classifiers,
which have 1.2 times the root of n memories and classifiers of their own from 50 cases on. Of images, ready
measurements are compared by rank, since a tree on them never says unknown (docs/own_data.md).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from memclf.classifier import MemoryClassifier
from memclf.data.training import Kind
from memclf.similarity import GowerSimilarity, RankSimilarity

LEAST = 50  # cases of a cluster with a classifier of its own
CATEGORIES = 30  # columns that one column of words becomes at most; rare words share one
IMAGE_SIZE = 224
EPOCHS = 50  # of a head on frozen embeddings, which cost next to nothing
SPEC = Path(__file__).with_name("images.yaml")

#: Plain classifiers of rows of numbers, by the names that --estimator takes.
CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "forest": lambda seed: RandomForestClassifier(60, min_samples_leaf=2, random_state=seed, n_jobs=1),
    "boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "logistic": lambda seed: LogisticRegression(max_iter=1000),
}
NETWORK = "network"  # the bundled network, for images alone


def make_encoder() -> Any:
    """Columns as numbers: gaps filled with the median, scaled; words as one column each."""
    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    words = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=CATEGORIES, sparse_output=False)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (StandardScaler(), make_column_selector(dtype_include="datetime")),
        (words, make_column_selector(dtype_exclude=["number", "datetime"])),
    )


def make_measurements() -> Any:
    """All ready measurements of the foreground: the SPEC beside this file."""
    from memclf.vision.features import read_spec

    return read_spec(SPEC)


def make_similarity(kind: Kind, features: Any = None) -> Any:
    """What makes two cases alike, where the user does not say it."""
    if kind == "images":
        return RankSimilarity(features=make_measurements() if features is None else features)
    return GowerSimilarity()


def make_estimator(kind: Kind, name: str | None, seed: int, features: Any = None) -> Any:
    """A plain model by its name; None: a forest for tables, the bundled network for images."""
    if kind != "images":
        return make_pipeline(make_encoder(), CLASSIFIERS[name or "forest"](seed))
    if name in CLASSIFIERS:
        measured = make_measurements() if features is None else features
        return make_pipeline(measured, StandardScaler(), CLASSIFIERS[name](seed))
    from memclf.vision import ImageClassifier

    return ImageClassifier(
        image_size=IMAGE_SIZE, train="head", epochs=EPOCHS, share_backbone=True, random_state=seed, verbose=0
    )


def make_classifier(
    n: int, similarity: Any, estimator: Any, *, answer: Any, unknown_rate: float | None, start: str, seed: int
) -> MemoryClassifier:
    """An unfitted memory classifier for n cases; without `unknown_rate` it always answers."""
    return MemoryClassifier(
        similarity,
        estimator,
        n_memories=max(1, min(max(2, round(1.2 * n**0.5)), n // 4)),
        min_cluster_size=LEAST,
        unknown_rate=unknown_rate,
        fallback="nearest" if unknown_rate is None else "unknown",
        answer=answer,
        start=start,
        random_state=seed,
        verbose=0,
    )
