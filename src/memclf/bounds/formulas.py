"""The formulas of the bounds, one pure function each; docs/theory_kinds.md derives them.

n: training cases; q: memories; delta: the bound may fail with this probability. Logarithms are natural.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln
from scipy.stats import beta, binom

from memclf._numbers import Array
from memclf.similarity.choices import log_trees as log_trees  # similarities count their trees too


def log_binomial(n: float, k: float) -> float:
    """ln of n choose k.

    >>> round(math.exp(log_binomial(5, 2)))
    10
    """
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def log_selectors(n: int, q: int, *, thresholds_fitted: bool = False, log_similarities: float = 0.0) -> float:
    """ln of the number of functions "goes to memory k" that q memories among n cases can make.

    One of the n is memory k and q - 1 of the others are its rivals. A fitted threshold cuts a row of n cases at one of
    n + 1 places; a similarity that was learned could have been any of ``exp(log_similarities)``.
    """
    found = math.log(n) + log_binomial(n - 1, q - 1) + log_similarities
    return found + math.log(n + 1) if thresholds_fitted else found


def log_argmax_linear(n: int, width: int, n_classes: int) -> float:
    """ln of the number of ways in which "the largest of K linear scores" can label n cases.

    The answers depend on the signs of the n K (K - 1) / 2 differences of scores, each linear in the (K - 1) (width + 1)
    numbers that matter: that many hyperplanes cut a space of that dimension into at most ``sum of binomials`` parts.
    For two classes this is Sauer's lemma for half-spaces. Never more than K labels for each case.

    >>> round(math.exp(log_argmax_linear(3, 1, 2)))  # three points on a line: 6 of the 8 ways, and 7 is what is proved
    7
    """
    dimension, planes = (n_classes - 1) * (width + 1), n * n_classes * (n_classes - 1) // 2
    everything = n * math.log(n_classes)
    if dimension >= planes:
        return everything
    parts = gammaln(planes + 1) - gammaln(np.arange(dimension + 1) + 1) - gammaln(planes - np.arange(dimension + 1) + 1)
    top = float(parts.max())
    return min(everything, top + math.log(float(np.exp(parts - top).sum())))


def massart(log_count: float, n: int) -> float:
    """Complexity of a number of functions with values 0 and 1 on n cases (Massart's lemma).

    `log_count`: ln of the number. The functions are centred at 1/2.
    """
    return math.sqrt(max(0.0, log_count) / (2 * n))


def massart_printed(n: int, q: int) -> float:
    """The paper's complexity of the selector: without the square root, and with a rougher count."""
    return q * (1 + math.log(n)) / math.sqrt(n)


def mean_absolute_walk(n: int) -> float:
    """E |sum of n random signs|, exactly; at most the root of n.

    >>> mean_absolute_walk(1), mean_absolute_walk(2), mean_absolute_walk(3)
    (1.0, 1.0, 1.5)
    """
    if n == 0:
        return 0.0
    half = (n - 1) // 2
    return n * math.exp(log_binomial(n - 1, half) - (n - 1) * math.log(2))


def mean_largest_walk(counts: Array) -> float:
    """E max over classes of the sum of random signs of that class's cases, exactly.

    The sums of different classes are independent, so the distribution function of the largest is a product.
    """
    counts = np.asarray(counts, dtype=int)
    reach = int(counts.max(initial=0))
    steps = np.arange(-reach, reach + 1)
    below = np.ones(len(steps))
    for count in counts:  # half the sum of signs and their number is binomial
        below *= binom.cdf(np.floor((steps + count) / 2), count, 0.5)
    return float(steps[-1] - below[:-1].sum())


def cascade_confidence(n: int, q: int, delta: float, extra: float = 0.0) -> float:
    """C of the repaired cascade bound for q memories and the branch for unknown.

    `extra`: ln of other choices. The margin rho of the cascade theorem is the largest that it allows, 1 / (q + 1).
    """
    families = q + 1
    rho = 1 / families
    inner = max(0.0, math.log(rho**2 * n / math.log(families)))
    first = math.sqrt(math.log(families) / n) * (2 + math.sqrt(inner)) / rho
    return first + math.sqrt((math.log(4 / delta) + extra) / n)


def printed_confidence(n: int, families: int, delta: float, q: int) -> float:
    """C as the paper prints it, with rho = 1 / q, which the paper leaves open."""
    if families < 2:
        raise ValueError("the printed bound divides by log q, which is 0 for one memory: it is not defined")
    inner = math.log(n / (q**2 * math.log(families)))
    if inner < 0:
        raise ValueError(f"the printed bound takes the root of a negative number for n={n} and q={q}: too few cases")
    first = math.sqrt(math.log(families) / n) * (2 + math.sqrt(inner)) / delta
    return first + math.sqrt(math.log(4 / delta) / n)


def confidence(union: float, n: int) -> float:
    """The price of holding for all choices at once.

    `union`: ln(2 / delta), and ln of the number of choices.
    """
    return 3 * math.sqrt(union / (2 * n))


def direct_confidence(n: int, branches: int, delta: float, extra: float = 0.0) -> float:
    """The price of a union over all subsets of the branches; `extra`: ln of other choices."""
    return confidence(branches * math.log(2) + math.log(2 / delta) + extra, n)


def compression_confidence(n: int, q: int, delta: float, extra: float = 0.0) -> float:
    """The price of a union over all choices of memories, on the cases that are no memories.

    `extra`: ln of what else was chosen after seeing the data, such as a similarity.
    """
    return confidence(math.log(2 / delta) + log_binomial(n, q) + math.log(q * (q + 1)) + extra, n - q)


def binomial_upper(errors: int, n: int, delta: float) -> float:
    """The largest risk that shows at most this number of errors with probability delta.

    >>> round(binomial_upper(0, 59, 0.05), 3)
    0.05
    """
    return 1.0 if errors >= n else float(beta.ppf(1 - delta, errors + 1, n - errors))
