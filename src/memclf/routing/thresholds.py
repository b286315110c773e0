"""Thresholds b_k of the memories: common, tight, by hand, or conformal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memclf._numbers import TOLERANCE, Array, shares

KINDS = ("common", "tight")
EXPECTED = (
    "thresholds must be 'common', 'tight', a number in (0, 1], one such number per memory, or a mapping from the rows "
    "of memories to such numbers"
)
ENOUGH = 10  # cases beside the memories from which on widths of clusters are estimated
FEW = 5  # cases of average width that are added to every cluster, so that small ones share
TINY = np.finfo(float).tiny
ROUNDING = 1e-9  # of a sum of shares of groups


def fit_thresholds(wanted: Any, common: float, indices: Array, labels: Array, similarity: Array) -> Array:
    """One threshold per memory.

    Parameters
    ----------
    wanted : "common", "tight", number, sequence or mapping
        "common": the threshold of the search for all. "tight": the least similarity within the memory's own
        cluster. A number for all, one number per memory, or a mapping from a memory's row in the training data to
        its threshold (the others keep the common one).
    common : float
        The threshold of the search.
    indices : ndarray
        Rows of the memories in the training data.
    labels, similarity : ndarray
        Of every training case the memory it belongs to, and its similarity to it.
    """
    check_thresholds(wanted)
    q = len(indices)
    thresholds = np.full(q, float(common))
    if isinstance(wanted, str):
        if wanted == "tight":
            least = np.full(q, np.inf)
            np.minimum.at(least, labels, similarity)
            # A cluster whose farthest case has similarity 0 is bounded by nothing; keep the threshold legal.
            thresholds = np.clip(np.where(np.isfinite(least), least, thresholds), TINY, 1.0)
        return thresholds
    if isinstance(wanted, Mapping):
        if strange := [row for row in wanted if row not in indices.tolist()]:
            raise ValueError(
                f"thresholds are given for rows {strange}, which are no memories; "
                f"the memories are rows {indices.tolist()}"
            )
        for row, value in wanted.items():
            thresholds[indices == row] = value
        return thresholds
    given = np.asarray(wanted, dtype=np.float64)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != q):
        raise ValueError(f"thresholds must be one number or one for each of the {q} memories; got {wanted!r}")
    return np.broadcast_to(given, (q,)).copy()


def check_thresholds(wanted: Any) -> None:
    """Refuse thresholds that are wrong whatever the memories are."""
    if isinstance(wanted, str):
        right = wanted in KINDS
    else:
        values = _as_numbers(list(wanted.values()) if isinstance(wanted, Mapping) else wanted)
        right = values is not None and bool(((values > 0) & (values <= 1)).all())
    if not right:
        raise ValueError(f"{EXPECTED}; got {wanted!r}")


def _as_numbers(value: Any) -> Array | None:
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        return None
    return found.astype(np.float64) if found.dtype.kind in "iuf" or not found.size else None


def widths(similarity: Array, labels: Array, q: int) -> Array:
    """How wide each memory's cluster is: mean -log(similarity), shrunk towards that of all.

    The memory counts as one of its cases. Without it, the fewer cases a cluster has, the wider it would seem, and
    clusters that are found without a fold have fewer. Where hardly a case lies beside the memories, or all are alike,
    widths cannot be estimated (`tell_widths`) and are all 1.
    """
    if not tell_widths(similarity, q):
        return np.ones(q)
    apart = distance(similarity)
    sizes, sums = np.bincount(labels, minlength=q), np.bincount(labels, weights=apart, minlength=q)
    return np.asarray((sums + FEW * apart.mean()) / (sizes + FEW))


def tell_widths(similarity: Array, q: int) -> bool:
    """Whether enough cases lie beside and apart from their memories to estimate widths."""
    return len(similarity) - q >= ENOUGH and float(distance(similarity).sum()) > q * TOLERANCE


def distance(similarity: Array) -> Array:
    """-log(similarity), which for RBF is the squared distance."""
    return -np.log(np.maximum(similarity, TINY))


def conformal_thresholds(held: Array, wide: Array, rate: float, groups: Array | None = None) -> Array:
    """One threshold per memory, such that at most `rate` of new cases fall below theirs.

    How far a case is from its memory is measured in widths of the memory's cluster, so that memories can be compared.
    The common bound is the m-th largest of n held-out distances, m = floor(rate (n + 1)): a new case that is
    exchangeable with them is farther with probability at most m / (n + 1), which is at most `rate`. When n is too
    small for m to be 1, nothing is unknown.

    With groups, only groups are exchangeable. The bound is then the least distance such that the shares of the groups
    that lie beyond it, and one whole group more, are at most `rate` of all groups and one more (conformal risk
    control, Angelopoulos et al. 2022). Of a new group, at most `rate` is farther on average, each group counted alike.

    Parameters
    ----------
    held : ndarray
        Distances of held-out cases in widths, each by memories and clusters that were found without it; infinite for
        those that are unknown for another reason, which comes out of the same rate.
    wide : ndarray
        `widths` of the memories that thresholds are wanted for.
    rate : float
        Share that may come out unknown.
    groups : ndarray or None
        Of every held-out case what it belongs to. None: every case is a group of its own.

    Examples
    --------
    >>> held = np.linspace(0.1, 3.0, 99)
    >>> conformal_thresholds(held, np.array([0.1, 0.2]), 0.05).round(2)
    array([0.75, 0.56])
    >>> conformal_thresholds(held, np.array([0.1, 0.2]), 0.05, groups=np.arange(99) // 33).round(2)  # three are too few
    array([0., 0.])
    """
    return np.clip(np.exp(-_bound(held, rate, groups) * wide), TINY, 1.0)


def _bound(held: Array, rate: float, groups: Array | None) -> float:
    share = np.ones(len(held)) if groups is None else shares(groups)
    allowed = rate * (share.sum() + 1) - 1 + ROUNDING  # groups that may lie beyond the bound
    if allowed < 0:
        return np.inf
    order = np.argsort(-held, kind="stable")
    beyond = int(np.searchsorted(np.cumsum(share[order]) - ROUNDING, allowed, side="right"))
    return float(held[order[min(beyond, len(held) - 1)]])
