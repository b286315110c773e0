"""What a manifest tells about a model in plain words and numbers."""

from __future__ import annotations

from typing import Any

from memclf import _cases
from memclf.classifier import MemoryClassifier


def input_schema(model: Any) -> dict[str, Any]:
    """What the model takes: kind of container, columns, their types."""
    if not hasattr(model, "memories_"):
        return {"kind": "images", "height_and_width": list(model.image_size_)}
    memories = model.memories_
    schema: dict[str, Any] = {"kind": type(memories).__name__}
    if hasattr(model, "n_features_in_"):
        schema["n_features"] = int(model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        schema["columns"] = [str(name) for name in model.feature_names_in_]
    if _cases.is_table(memories):
        schema["types"] = [str(dtype) for dtype in memories.dtypes]
    elif hasattr(memories, "dtype"):
        schema["types"] = str(memories.dtype)
        schema["shape_of_a_case"] = list(memories.shape[1:])
    return schema


def training_summary(model: Any) -> dict[str, Any]:
    """What the model was trained on and what its memories hold."""
    if not hasattr(model, "memories_"):  # a network by itself
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
        "similarity": repr(model.similarity_),
    }
    if isinstance(model, MemoryClassifier):
        summary["class_counts"] = {
            str(label): int(n) for label, n in zip(model.classes_, model.cluster_counts_.sum(axis=0), strict=True)
        }
        summary["fallback"] = model.fallback if isinstance(model.fallback, str) else type(model.fallback).__name__
        summary["unknown_label"] = str(model.unknown_label_)
        summary["by_memory"] = [
            {
                "row": int(model.memory_indices_[k]),
                "threshold": float(model.thresholds_[k]),
                "cases": int(model.cluster_counts_[k].sum()),
                "classes": {
                    str(label): int(n) for label, n in zip(model.classes_, model.cluster_counts_[k], strict=True) if n
                },
                "classifier": type(model.estimators_[k]).__name__,
                "origin": model.pool_.origins[k],
            }
            for k in range(len(model.memory_indices_))
        ]
    return summary
