"""Whether the fitted parts of a model belong together: the memories, their descriptions, and what belongs to each.

An estimator's attributes can be overwritten. A model whose memories are not those that were described answers as
before, but its explanations show cases that did not answer. So a fit seals what belongs to the memories: it notes a
digest of their content, and which classifiers were fitted. Explaining and saving compare it. Nothing is described
again, since that may be slow. Thresholds may be set by hand: explanations show those in use.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from memclf.cases.digest import Content, digest_content, same_content
from memclf.exceptions import FittedPartsError

SEALED = (
    *("memory_indices_", "memories_", "descriptions_", "labels_", "estimators_"),
    *("classes_", "cluster_counts_", "label_distributions_", "frequencies_"),
)


def seal(model: Any) -> None:
    """Note the content of what belongs to the memories, after a fit or after loading."""
    model._sealed = {name: digest_content(getattr(model, name)) for name in SEALED if hasattr(model, name)}


def check(model: Any) -> None:
    """Complain if a fitted part was changed, or does not go with the others."""
    sealed: dict[str, Content] = getattr(model, "_sealed", {})  # what is fitted to a fold has none
    try:
        changed = [
            n for n, before in sealed.items() if not same_content(before, digest_content(getattr(model, n, None)))
        ]
        found = [f"{name} was changed after the fit" for name in changed]
        found = found or [f"{name} does not go with the other parts" for name in problems(model)]
    except Exception as error:
        found = [f"{type(error).__name__}: {error}"]
    if found:
        raise FittedPartsError(
            f"the fitted parts of this {type(model).__name__} do not belong together: {'; '.join(found)}. Explanations "
            "could show memories that did not answer. Fit the model again, or load it again"
        )


def problems(model: Any) -> list[str]:
    """Names of fitted attributes that cannot belong together, by their numbers and shapes."""
    found = []
    indices, labels = model.memory_indices_, model.labels_
    q = len(indices)
    if not (_whole(indices) and _whole(labels) and q and _within(indices, len(labels)) and _within(labels, q)):
        found.append("memory_indices_ or labels_")
    for part in ("memories_", "descriptions_"):
        cases = getattr(model, part)
        if (cases.shape[0] if hasattr(cases, "shape") else len(cases)) != q:
            found.append(part)
    if hasattr(model, "n_features_in_") and model.memories_.shape[1:] != (model.n_features_in_,):
        found.append("n_features_in_")
    return [*found, *_problems_of_classifier(model, q)] if is_classifier(model) else found


def _problems_of_classifier(model: Any, q: int) -> list[str]:
    found = []
    thresholds, classes, counts = model.thresholds_, model.classes_, model.cluster_counts_
    thresholds = np.asarray(thresholds)
    if thresholds.shape != (q,) or thresholds.dtype.kind != "f" or not ((thresholds > 0) & (thresholds <= 1)).all():
        found.append("thresholds_")
    if len(model.estimators_) != q or len(model.pool_.origins) != q or len(model.pool_.trained_with) != q:
        found.append("estimators_")
    if not _whole(counts, 2) or counts.shape != (q, len(classes)):
        found.append("cluster_counts_")
    if getattr(model, "label_distributions_", counts).shape != counts.shape:
        found.append("label_distributions_")
    if len(getattr(model, "detectors_", model.estimators_)) != q:
        found.append("detectors_")
    if not np.array_equal(np.unique(classes), classes):
        found.append("classes_")
    known, answering = set(classes), (*model.estimators_, model.global_, model.fallback_)
    if not all(set(each.classes_) <= known for each in answering if hasattr(each, "classes_")):
        found.append("classes_ of the estimators")
    return found


def _whole(array: Any, dimensions: int = 1) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in "iu" and array.ndim == dimensions


def _within(array: Any, n: int) -> bool:
    return bool(((array >= 0) & (array < n)).all())
