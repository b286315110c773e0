"""How many similarities training could have produced; bounds count them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Choices:
    """The number of similarities that training could have produced.

    Attributes
    ----------
    log_count : float
        The natural logarithm of the number. 0: nothing is learned, or what is learned is not counted.
    complete : bool or None
        Whether the number counts everything that was learned; None: it is not known.
    reasons : tuple of str
        Why it is not complete: what is not counted.
    """

    log_count: float = 0.0
    complete: bool | None = True
    reasons: tuple[str, ...] = ()

    @classmethod
    def unknown(cls, learner: str) -> Choices:
        """The choices of a learner about which nothing is known."""
        return cls(0.0, None, (f"what {learner} learned from the cases, if anything, is not counted",))

    def __add__(self, other: Choices) -> Choices:
        """The choices of two similarities that are used together."""
        states = (self.complete, other.complete)
        complete = False if False in states else None if None in states else True
        reasons = tuple(dict.fromkeys(self.reasons + other.reasons))
        return Choices(self.log_count + other.log_count, complete, reasons)


def log_trees(n: int, n_features: int, n_labels: int, cuts: int) -> float:
    """ln of the number of ways in which decision trees can label n cases.

    Each cut picks a feature and one of n + 1 places, each leaf a label. Trees of depth d have up to ``2**d - 1`` cuts.

    >>> round(log_trees(1153, 3, 3, cuts=7), 1)
    65.8
    """
    return cuts * math.log(n_features * (n + 1)) + (cuts + 1) * math.log(n_labels)
