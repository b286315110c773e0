"""What the estimators have in common: their tags, and a similarity that is ready to fit."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.utils import get_tags

from memclf.similarity import CombinedSimilarity, FunctionSimilarity, RBFSimilarity


def prepared(similarity: Any, n_jobs: int | None, verbose: int) -> Any:
    """A fresh copy of the similarity; None is RBF, a plain function of two cases is wrapped."""
    if similarity is None:
        similarity = RBFSimilarity()
    elif isinstance(similarity, type) or not hasattr(similarity, "compare"):
        if isinstance(similarity, type) or not callable(similarity):
            raise TypeError(
                "similarity must be a similarity (fit, describe, compare), a function of two cases, or None; "
                f"got {similarity!r}"
            )
        similarity = FunctionSimilarity(similarity)
    fresh = clone(similarity, safe=False)
    for part in [part for _, part in fresh.similarities] if isinstance(fresh, CombinedSimilarity) else [fresh]:
        for name, value in (("n_jobs", n_jobs), ("verbose", verbose)):
            if getattr(part, name, value) in (None, 0):
                setattr(part, name, value)
    return fresh


def tags(tags: Any, similarity: Any) -> Any:
    """The estimator takes whatever its similarity takes."""
    similarity = RBFSimilarity() if similarity is None else similarity
    if isinstance(similarity, type):
        return tags
    if not hasattr(similarity, "compare"):
        similarity = FunctionSimilarity(similarity)
    if hasattr(similarity, "__sklearn_tags__"):
        theirs = get_tags(similarity)
        tags.input_tags = theirs.input_tags
        tags.no_validation = theirs.no_validation
        tags.target_tags.required = tags.target_tags.required or theirs.target_tags.required
    return tags
