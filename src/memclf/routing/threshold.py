"""Thresholds b_k of single memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memclf._numbers import Array

KINDS = ("common", "tight")
CONFORMAL = "conformal"  # these need held-out cases, see `conformal_thresholds`


def fit_thresholds(
    wanted: Any, common: float, indices: Array, labels: Array, similarity: Array, slack: float = 0.0
) -> Array:
    """One threshold per memory.

    Parameters
    ----------
    wanted : "common", "tight", number, sequence or mapping
        "common": the threshold of the search for all. "tight": the least similarity within the memory's own
        cluster, less `slack`. A number for all, one number per memory, or a mapping from a memory's row in
        the training data to its threshold (the others keep the common one).
    common : float
        The threshold of the search.
    indices : ndarray
        Rows of the memories in the training data.
    labels, similarity : ndarray
        Of every training case the memory it belongs to, and its similarity to it.
    """
    q = len(indices)
    if wanted is None:
        raise ValueError("thresholds must be 'common', 'tight', 'conformal', a number or numbers; got None")
    if isinstance(wanted, str):
        if wanted not in KINDS:
            raise ValueError(f"thresholds must be 'common', 'tight', 'conformal', a number or numbers; got {wanted!r}")
        thresholds = np.full(q, float(common))
        if wanted == "tight":
            if not 0 <= slack < 1:
                raise ValueError(f"slack must be in [0, 1), got {slack!r}")
            least = np.full(q, np.inf)
            np.minimum.at(least, labels, similarity)
            thresholds = np.where(np.isfinite(least), least - slack, thresholds)
            # A cluster whose farthest case has similarity 0 is bounded by nothing; keep the threshold legal.
            thresholds = np.clip(thresholds, np.finfo(float).tiny, 1.0)
        return thresholds
    if isinstance(wanted, Mapping):
        thresholds = np.full(q, float(common))
        strange = sorted(set(wanted) - set(indices.tolist()))
        if strange:
            raise ValueError(
                f"thresholds are given for rows {strange}, which are no memories; "
                f"the memories are rows {indices.tolist()}"
            )
        for row, value in wanted.items():
            thresholds[np.flatnonzero(indices == row)[0]] = value
    else:
        given = np.asarray(wanted, dtype=np.float64)
        if given.ndim > 1 or (given.ndim == 1 and len(given) != q):
            raise ValueError(f"thresholds must be one number or one for each of the {q} memories; got {wanted!r}")
        thresholds = np.broadcast_to(given, (q,)).copy()
    if not ((thresholds > 0) & (thresholds <= 1)).all():
        raise ValueError(f"thresholds must be in (0, 1], got {thresholds.tolist()}")
    return thresholds
