"""From the parameter `similarity` to a similarity that can be fitted, and its tags."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from memclf.protocols import Compares
from memclf.similarity.combine import CombinedSimilarity
from memclf.similarity.features import fill_in
from memclf.similarity.function import FunctionSimilarity
from memclf.similarity.numeric import RBFSimilarity


def resolve_similarity(similarity: Any) -> Any:
    """The similarity itself; None is RBF, a plain function of two cases is wrapped."""
    if similarity is None:
        return RBFSimilarity()
    if isinstance(similarity, type) or not (isinstance(similarity, Compares) or callable(similarity)):
        hint = f"; give an instance, {similarity.__name__}()" if isinstance(similarity, type) else ""
        raise TypeError(
            "similarity must be a similarity (fit, describe, compare), a function of two cases, or None; "
            f"got {similarity!r}{hint}"
        )
    return similarity if isinstance(similarity, Compares) else FunctionSimilarity(similarity)


def prepare_similarity(similarity: Any, n_jobs: int | None, verbose: int | None) -> Any:
    """An unfitted copy with the estimator's `n_jobs` and `verbose`, where it has none."""
    fresh = clone(resolve_similarity(similarity), safe=False)
    for part in [part for _, part in fresh.similarities] if isinstance(fresh, CombinedSimilarity) else [fresh]:
        if isinstance(part, BaseEstimator):
            fill_in(part, n_jobs=n_jobs, verbose=verbose)
    return fresh


def add_tags(tags: Any, similarity: Any) -> Any:
    """The tags of an estimator that takes whatever its similarity takes."""
    try:
        resolved = resolve_similarity(similarity)
    except TypeError:  # `fit` raises it again
        return tags
    if isinstance(resolved, BaseEstimator):
        theirs = get_tags(resolved)
        tags.input_tags = theirs.input_tags
        tags.no_validation = theirs.no_validation
        tags.target_tags.required = tags.target_tags.required or theirs.target_tags.required
    return tags
