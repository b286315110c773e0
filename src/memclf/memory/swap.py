"""Swaps of a memory for a better one: the gains of a candidate for all q in O(n + q).

The caches and the formula are those of FastPAM (Schubert and Rousseeuw 2021), turned from distances to
similarities. For each case: its best memory `near` with similarity `best`, its next best `second` with
similarity `next`. For a candidate with column s, replacing memory k changes the objective by

    G_k = sum_i w_i max(0, s_i - best_i) + sum_{near(i)=k} w_i (min(max(s_i, next_i), best_i) - best_i)
"""

from __future__ import annotations

import numpy as np

from memclf._numbers import TOLERANCE, Array, first_best, reaches, rounding, two_best


class Exchange:
    """A set of memories that finds the gains of candidates and swaps them in.

    Memory is O(n q): the similarities of the q memories, and six numbers per case.
    """

    def __init__(
        self,
        memories: Array,
        block: Array,
        weights: Array,
        threshold: float,
        *,
        enforce: bool = False,
        n_pinned: int = 0,
    ):
        self.memories = np.array(memories)
        self.block = block
        self.weights = weights
        self.threshold = threshold
        self.enforce = enforce
        self.n_pinned = n_pinned  # the first of the memories stay
        self.near, self.best, self.second, self.next = two_best(block)
        self.touched = np.ones(
            len(memories), dtype=bool
        )  # clusters that changed since their centres were last looked for
        self._sum_up()

    @property
    def q(self) -> int:
        return len(self.memories)

    @property
    def objective(self) -> float:
        return float(self.best @ self.weights)

    @property
    def smallest_gain(self) -> float:
        """Gains below this are rounding."""
        return rounding(self.weights)

    def uncovered(self) -> Array:
        return np.flatnonzero(~reaches(self.best, self.threshold))

    def gains(self, block: Array) -> Array:
        """The gain of each candidate (row of `block`) in place of each memory, of shape (c, q).

        When coverage is enforced, swaps that leave more cases uncovered than before have gain -inf, and swaps
        that leave fewer come before all others.
        """
        gains = self._objective_gains(block, slice(None), self._removal_loss)
        if self.enforce:
            more = self._newly_uncovered(block)
            if len(self._bare):  # while cases are uncovered, covering one of them is worth more than anything else
                gains -= more * (self.weights.sum() + 1)
            gains[more > 0] = -np.inf
        gains[:, : self.n_pinned] = -np.inf
        return gains

    def estimate(self, block: Array, cases: Array) -> Array:
        """The same for the objective alone, estimated from similarities to a sample of the cases."""
        weights = self.weights[cases]
        lost = np.bincount(self.near[cases], weights * (self.best[cases] - self.next[cases]), self.q)
        gains = self._objective_gains(block, cases, lost) * (self.weights.sum() / weights.sum())
        gains[:, : self.n_pinned] = -np.inf
        return gains

    def swap(self, k: int, candidate: int, column: Array) -> None:
        """Put the candidate in the place of memory k and bring the caches up to date."""
        self.memories[k] = candidate
        self.block[k] = column
        equal = (column >= self.best - TOLERANCE) & (self.best > TOLERANCE)  # `near` is the first among equals
        changed = np.flatnonzero((self.near == k) | (self.second == k) | (column > self.next) | equal)
        self.touched[self.near[changed]] = True
        self.near[changed], self.best[changed], self.second[changed], self.next[changed] = two_best(
            self.block[:, changed]
        )
        self.touched[self.near[changed]] = self.touched[k] = True
        self._sum_up()

    def in_order(self) -> Array:
        """The pinned memories, then the others, those that stand for most cases first."""
        order = np.argsort(self.memories)
        stands_for = np.bincount(first_best(self.block[order]), self.weights, self.q)
        found = self.memories[order][np.argsort(-np.round(stands_for / self.smallest_gain), kind="stable")]
        pinned = self.memories[: self.n_pinned]
        return np.concatenate([pinned, found[~np.isin(found, pinned)]])

    def _objective_gains(self, block: Array, cases: Array | slice, removal_loss: Array) -> Array:
        """What the objective gains from these cases, given what they lose with each memory."""
        c, n = block.shape
        near, best, following, weights = self.near[cases], self.best[cases], self.next[cases], self.weights[cases]
        # Where a candidate is not above a case's second best memory it changes nothing for that case.
        flat = np.flatnonzero(block > following)
        row, case = np.divmod(flat, n)
        value, weight = block.ravel()[flat], weights[case]
        added = np.bincount(row, weight * np.maximum(value - best[case], 0.0), c)
        kept = weight * (np.minimum(value, best[case]) - following[case])
        kept = np.bincount(row * self.q + near[case], kept, c * self.q).reshape(c, self.q)
        return np.asarray(added[:, None] - removal_loss + kept)

    def _sum_up(self) -> None:
        self._removal_loss = np.bincount(self.near, self.weights * (self.best - self.next), self.q)
        if self.enforce:
            covered = reaches(self.best, self.threshold)
            self._sole = np.flatnonzero(covered & ~reaches(self.next, self.threshold))
            self._sole_near = self.near[self._sole]
            self._bare = np.flatnonzero(~covered)
            self._sole_count = np.bincount(self._sole_near, minlength=self.q)

    def _newly_uncovered(self, block: Array) -> Array:
        """How many more cases would be uncovered: those only memory k covers, less the candidate's."""
        c = len(block)
        row, case = np.nonzero(reaches(block[:, self._sole], self.threshold))
        kept = np.bincount(row * self.q + self._sole_near[case], minlength=c * self.q).reshape(c, self.q)
        won = reaches(block[:, self._bare], self.threshold).sum(axis=1)
        return np.asarray(self._sole_count - kept - won[:, None])
