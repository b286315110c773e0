"""The summary of a model in a manifest, in words and numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import scipy.sparse as sp

from memclf.cases import containers
from memclf.classifier import MemoryClassifier
from memclf.persist.classes import MODELS, is_feature, is_similarity
from memclf.similarity import JudgedSimilarity

# <function f at 0x7f9e33db84a0>, <mylab.Thing object at 0x7f9e33db84a0>, and RandomState(MT19937) at 0x7F9E33DB8440
ADDRESSED = re.compile(r"<(?:function )?([\w.<>]+)(?: object)? at 0x\w+>")
ADDRESS = re.compile(r" at 0x\w+")
LETTERS = 400  # of a parameter


def show(value: Any) -> str:
    """A parameter in words: no addresses of objects, and not many letters.

    >>> show([list_classes, object(), np.random.RandomState(0)])
    '[list_classes, object, RandomState(MT19937)]'
    """
    with np.printoptions(threshold=10):
        text = ADDRESSED.sub(lambda found: found[1].split(".")[-1], repr(value))
    text = " ".join(ADDRESS.sub("", text).split())
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"


def list_classes(model: Any) -> list[str]:
    """The classes that the model may answer; none for a selector."""
    return [str(label) for label in vars(model).get("classes_", ())]


def describe_input(model: Any) -> dict[str, Any]:
    """What the model takes: kind of container, columns, their types."""
    if is_feature(model):
        return {"kind": "images"}
    if is_similarity(model):
        return {"kind": "cases", **_describe_columns(model)}
    if not isinstance(model, MODELS):
        return {"kind": "images", "height_and_width": list(model.image_size_)}
    memories = model.memories_
    schema: dict[str, Any] = {"kind": type(memories).__name__, **_describe_columns(model)}
    if containers.is_table(memories):
        schema["types"] = [str(dtype) for dtype in memories.dtypes]
    elif isinstance(memories, np.ndarray) or sp.issparse(memories):
        schema["types"] = str(memories.dtype)
        schema["shape_of_a_case"] = list(memories.shape[1:])
    return schema


def _describe_columns(model: Any) -> dict[str, Any]:
    fitted = vars(model)
    found: dict[str, Any] = {}
    if "n_features_in_" in fitted:
        found["n_features"] = int(model.n_features_in_)
    if "feature_names_in_" in fitted:
        found["columns"] = [str(name) for name in model.feature_names_in_]
    return found


def describe_training(model: Any) -> dict[str, Any]:
    """What the model was trained on and what its memories hold."""
    if is_feature(model):
        return {"numbers": [*model.names, *model.details]}
    if is_similarity(model):
        said = model.sentence if isinstance(model, JudgedSimilarity) else ""
        return {"alike": model.label, "learned": said}
    if not isinstance(model, MODELS):
        return {"epochs": len(model.history_), "last_loss": float(model.history_[-1]["train_loss"])}
    result = model.search_result_
    summary: dict[str, Any] = {
        "cases": len(model.labels_),
        "distinct_cases": int(result.n_distinct),
        "memories": len(model.memory_indices_),
        "threshold": float(result.threshold),
        "coverage": float(result.coverage),
        "mean_similarity": float(result.similarity.mean()),
        "comparisons": int(result.n_evaluations),
        "similarity": show(model.similarity_),
    }
    if isinstance(model, MemoryClassifier):
        summary["class_counts"] = _count_classes(model, model.cluster_counts_.sum(axis=0))
        summary["answer"] = show(model.answer_)
        summary["who"] = model.answer_.say_who()
        summary["fallback"] = model.fallback if isinstance(model.fallback, str) else type(model.fallback).__name__
        summary["unknown_label"] = str(model.unknown_label_)
        summary["by_memory"] = [
            {
                "row": int(model.memory_indices_[k]),
                "threshold": float(model.thresholds_[k]),
                "cases": int(counts.sum()),
                "classes": {label: n for label, n in _count_classes(model, counts).items() if n},
                "classifier": type(model.estimators_[k]).__name__,
                "origin": model.pool_.origins[k],
                "pinned": int(model.memory_indices_[k]) in model.edits_.pinned,
                "threshold_by_hand": int(model.memory_indices_[k]) in model.edits_.thresholds,
            }
            for k, counts in enumerate(model.cluster_counts_)
        ]
    return summary


def _count_classes(model: MemoryClassifier, counts: Any) -> dict[str, int]:
    return {str(label): int(n) for label, n in zip(model.classes_, counts, strict=True)}
