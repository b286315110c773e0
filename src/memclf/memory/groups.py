"""Groups of cases that are alike, such as those that a classifier does not know."""

from __future__ import annotations

from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.cases import containers
from memclf.memory.selector import select_memories


def group_alike(Z: Any, similarity: Any, threshold: float) -> list[Array]:
    """Positions of described cases in groups, the largest first, each beginning with its centre.

    The search for memories finds the groups: every case is within `threshold` of the centre of its group, so that the
    centre as a memory with this threshold would claim all of it. A case that is like no other is a group of one.

    Parameters
    ----------
    Z : descriptions
        What ``similarity.describe`` returned.
    similarity : fitted Similarity
    threshold : float in (0, 1]

    Examples
    --------
    >>> from memclf.similarity import RBFSimilarity
    >>> X = np.array([[0.0], [5.0], [0.1], [0.25], [9.0], [0.08]])
    >>> [group.tolist() for group in group_alike(X, RBFSimilarity(gamma=1.0).fit(X), 0.9)]
    [[2, 5, 0, 3], [1], [4]]
    """
    n = containers.count(Z)
    if n < 2:
        return [np.arange(n)] if n else []
    found = select_memories(Z, similarity, threshold, coverage="report", random_state=0, verbose=0)
    groups = []
    for k, centre in enumerate(found.indices.tolist()):
        own = np.flatnonzero((found.labels == k) & (np.arange(n) != centre))
        groups.append(np.append(centre, own[np.argsort(-found.similarity[own], kind="stable")]))
    return sorted(groups, key=len, reverse=True)
