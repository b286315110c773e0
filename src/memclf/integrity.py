"""Whether the fitted parts of a model belong together: the memories, their descriptions, and what belongs to each.

An estimator's attributes can be overwritten. A model whose memories are not those that were described answers as
before, but its explanations show cases that did not answer. So a fit seals what belongs to the memories: it notes a
digest of their content, and which classifiers were fitted. Explaining and saving compare it. Nothing is described
again, since that may be slow. Thresholds may be set by hand: explanations show those in use.
"""

from __future__ import annotations

import datetime
import decimal
import hashlib
from collections.abc import Mapping
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier

from memclf.cases import Collection, containers
from memclf.exceptions import FittedPartsError

SEALED = (
    *("memory_indices_", "memories_", "descriptions_", "labels_", "estimators_"),
    *("classes_", "cluster_counts_", "label_distributions_", "frequencies_"),
)
_DATES = (datetime.date, datetime.time, datetime.timedelta)
PLAIN = (str, bytes, bool, int, float, complex, type(None), np.generic, decimal.Decimal, *_DATES)


Content = tuple[str, list[Any]]  # a digest of what is plain data, and the other objects themselves


def seal(model: Any) -> None:
    """Note the content of what belongs to the memories, after a fit or after loading."""
    model._sealed = {name: _content(getattr(model, name)) for name in SEALED if hasattr(model, name)}


def check(model: Any) -> None:
    """Complain if a fitted part was changed, or does not go with the others."""
    sealed: dict[str, Content] = getattr(model, "_sealed", {})  # what is fitted to a fold has none
    try:
        changed = [n for n, before in sealed.items() if not _same(before, _content(getattr(model, n, None)))]
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


# --------------------------------------------------------------------------------------------------- content


def _content(value: Any) -> Content:
    digest = hashlib.blake2b(digest_size=16)
    others: list[Any] = []
    _feed(value, digest, others)
    return digest.hexdigest(), others


def _same(before: Content, now: Content) -> bool:
    """Objects that are no plain data are the same ones, or equal in all they hold, as in a copy of the model."""
    (digest, objects), (other_digest, others) = before, now
    if digest != other_digest or len(objects) != len(others):
        return False
    return all(a is b or joblib.hash(a) == joblib.hash(b) for a, b in zip(objects, others, strict=True))


def _feed(value: Any, digest: Any, others: list[Any]) -> None:
    if isinstance(value, PLAIN):
        digest.update(f"{type(value).__name__} {value!r};".encode("utf-8", "backslashreplace"))
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        digest.update(f"array {value.dtype.str} {value.shape};".encode() + value.tobytes())
    elif sp.issparse(value):
        rows = value.tocsr(copy=True)
        rows.check_format(full_check=True)
        rows.sum_duplicates()  # the same matrix may be laid out differently
        for part in (rows.shape, rows.data, rows.indices, rows.indptr):
            _feed(part, digest, others)
    elif containers.is_table(value):
        for name in value.columns:
            _feed([name, np.asarray(value[name])], digest, others)
    elif isinstance(value, Mapping):
        _feed([list(pair) for pair in value.items()], digest, others)
    elif isinstance(value, (set, frozenset)):
        _feed(sorted(_content(item)[0] for item in value), digest, others)
    elif isinstance(value, (list, tuple, np.ndarray)) or isinstance(value, Collection):
        digest.update(f"{type(value).__name__} {len(value)};".encode())
        for item in value:
            _feed(item, digest, others)
    else:
        digest.update(b"object;")
        others.append(value)
