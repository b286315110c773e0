"""Checks that the fitted parts of a model belong together.

An estimator's attributes can be overwritten. A model whose memories are not those that were described answers as
before, but its explanations show cases that did not answer. So a fit seals what belongs to the memories: it stores a
digest of their content, and which classifiers were fitted. Explaining and saving compare it. Nothing is described
again, since that may be slow. Thresholds may be set by hand: explanations show those in use.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from memclf._numbers import Array
from memclf.cases import containers
from memclf.cases.digest import Content, digest_content, same_content
from memclf.exceptions import FittedPartsError

SEALED = ("memory_indices_", "memories_", "descriptions_", "labels_")
SEALED_IN_CLASSIFIER = (
    *("measurements_", "estimators_", "answer_"),
    *("classes_", "cluster_counts_", "label_distributions_", "frequencies_"),
)


def seal(model: Any) -> None:
    """Store the content of what belongs to the memories, after a fit or after loading."""
    names = (*SEALED, *SEALED_IN_CLASSIFIER) if is_classifier(model) else SEALED
    model._sealed = {name: digest_content(getattr(model, name)) for name in names}


def check(model: Any) -> None:
    """Raise an error if a fitted part was changed, or does not belong to the others."""
    sealed: dict[str, Content] = model._sealed
    try:
        now = {name: digest_content(getattr(model, name)) for name in sealed}
        changed = [name for name, before in sealed.items() if not same_content(before, now[name])]
        found = [f"{name} was changed after the fit" for name in changed]
        found = found or [f"{name} does not belong to the other parts" for name in find_problems(model)]
    except Exception as error:
        found = [f"{type(error).__name__}: {error}"]
    if found:
        raise FittedPartsError(
            f"the fitted parts of this {type(model).__name__} do not belong together: {'; '.join(found)}. Explanations "
            "could show memories that did not answer. Fit the model again, or load it again"
        )


def find_problems(model: Any) -> list[str]:
    """Names of fitted attributes that cannot belong together, by their numbers and shapes."""
    found = []
    indices, labels = model.memory_indices_, model.labels_
    q = len(indices)
    if not (
        _is_whole(indices) and _is_whole(labels) and q and _is_below(indices, len(labels)) and _is_below(labels, q)
    ):
        found.append("memory_indices_ or labels_")
    found += [name for name in ("memories_", "descriptions_") if containers.count(getattr(model, name)) != q]
    columns = vars(model).get("n_features_in_")  # there is none for lists and images
    if columns is not None and model.memories_.shape[1:] != (columns,):
        found.append("n_features_in_")
    return [*found, *_find_problems_of_classifier(model, q)] if is_classifier(model) else found


def _find_problems_of_classifier(model: Any, q: int) -> list[str]:
    thresholds, classes, counts = np.asarray(model.thresholds_), model.classes_, model.cluster_counts_
    numbers = thresholds.dtype.kind == "f" and bool(((thresholds > 0) & (thresholds <= 1)).all())
    others = (model.global_, model.fallback_, vars(model.answer_).get("measured_"))
    # All but the local ones may be missing, and a user's own classifier need not have `classes_`.
    named = [getattr(each, "classes_", ()) for each in (*model.estimators_, *others)]
    sound = {
        "thresholds_": thresholds.shape == (q,) and numbers,
        "pool_": {len(model.estimators_), len(model.pool_.origins), len(model.pool_.trained_with)} == {q},
        "cluster_counts_": _is_whole(counts, 2) and counts.shape == (q, len(classes)),
        "label_distributions_": model.label_distributions_.shape == counts.shape,
        "frequencies_": model.frequencies_.shape == (len(classes),),
        "measurements_": model.measurements_ is None or len(model.measurements_) == q,
        "classes_": np.array_equal(np.unique(classes), classes),
        "classes_ of the estimators": all(set(labels) <= set(classes) for labels in named),
    }
    return [*(name for name, good in sound.items() if not good), *model.answer_.find_problems(q)]


def _is_whole(array: Any, dimensions: int = 1) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in "iu" and array.ndim == dimensions


def _is_below(array: Array, n: int) -> bool:
    return bool(((array >= 0) & (array < n)).all())
