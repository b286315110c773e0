"""What may help when an estimator fails: another kind of estimator, or larger clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from memclf._numbers import Array
from memclf.cases import Collection, containers

LARGER_CLUSTERS = (
    "If the cluster is too small for it, larger ones help (min_cluster_size, a lower threshold), as does an estimator "
    "that can work with few cases."
)


def remedy_for_data(X: Any, error: Exception) -> str:
    """What may help where the kind of data makes an estimator fail; "" for other failures."""
    message = str(error).lower()
    if (isinstance(X, Collection) or (isinstance(X, np.ndarray) and X.ndim > 2)) and "dim" in message:
        return (
            "The cases are images, and this estimator takes rows of numbers. Give a network (ImageClassifier), or a "
            "pipeline that measures images first, as make_pipeline(PatchColour(), LogisticRegression())."
        )
    values = _as_numbers(X)
    if values is None and any(word in message for word in ("float", "dtype", "numeric", "number")):
        words = "(OneHotEncoder(handle_unknown='ignore'), make_column_selector(dtype_exclude='number'))"
        first = "TfidfVectorizer()" if _are_texts(X) else f"make_column_transformer({words}, remainder='passthrough')"
        return (
            "The cases hold values that are not numbers, and this estimator takes numbers only. Give a pipeline that "
            f"turns them into numbers first, as make_pipeline({first}, LogisticRegression())."
        )
    if values is not None and np.isinf(values).any() and "inf" in message:
        return "The cases hold infinite numbers. Replace these numbers, or leave these cases out."
    if values is not None and np.isnan(values).any() and ("nan" in message or "missing" in message):
        return (
            "The cases hold gaps (NaN). Give an estimator that takes them, as HistGradientBoostingClassifier(), or a "
            "pipeline that fills them first, as make_pipeline(SimpleImputer(), LogisticRegression())."
        )
    return ""


def _as_numbers(X: Any) -> Array | None:
    """All numbers of the cases, None if some are no numbers; images are not read for this."""
    if isinstance(X, Collection):
        return np.zeros(0)
    try:
        return np.asarray(X.data if sp.issparse(X) else X, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _are_texts(X: Any) -> bool:
    return not containers.is_table(X) and all(isinstance(case, str) for case in X)
