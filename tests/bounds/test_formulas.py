"""The formulas against the specification's table, hand computations and brute force."""

import itertools
import math

import numpy as np
import pytest

from memclf.bounds import formulas

DELTA = 0.05
# name: n, q and then, to two decimals, what section 2.6 of the specification says
CASES = {
    "acne": (1153, 3, 8.89, 2.64, 0.61, 2.26, 1.13, 0.57, 0.15),
    "leaf": (1397, 5, 22.59, 2.69, 0.86, 4.35, 2.17, 1.09, 0.15),
    "colour": (3000, 3, 6.14, 1.72, 0.40, 1.50, 0.75, 0.37, 0.09),
    "a million": (10**6, 5, 1.50, 0.13, 0.04, 0.23, 0.11, None, None),
}
COMPRESSION = {"acne": 0.316, "leaf": 0.353, "colour": 0.207, "a million": 0.018}


@pytest.mark.parametrize("name", CASES)
def test_terms__of_the_studies__have_the_sizes_of_the_specification(name):
    n, q, selector, printed, repaired, massart, centred, direct, tail = CASES[name]
    log_count = formulas.log_selectors(n, q)
    assert 4 * q * (formulas.massart_printed(n, q) + 1 / math.sqrt(n)) == pytest.approx(selector, abs=0.005)
    assert formulas.printed_confidence(n, q, DELTA, q) == pytest.approx(printed, abs=0.005)
    assert formulas.cascade_confidence(n, q, DELTA) == pytest.approx(repaired, abs=0.005)
    assert 4 * q * math.sqrt(2 * log_count / n) == pytest.approx(massart, abs=0.005)
    assert 4 * q * formulas.massart(log_count, n) == pytest.approx(centred, abs=0.005)
    if direct is not None:
        assert 2 * q * formulas.massart(log_count, n) == pytest.approx(direct, abs=0.005)
        assert formulas.direct_confidence(n, q, DELTA) == pytest.approx(tail, abs=0.005)
    assert formulas.compression_confidence(n, q, DELTA) == pytest.approx(COMPRESSION[name], abs=0.0005)


@pytest.mark.parametrize(
    ("d", "m", "k", "n", "expected"), [(3, 3, 3, 1153, 65.8), (3, 2, 5, 1397, 68.4), (5, 2, 5, 1397, 297.5)]
)
def test_log_trees__of_the_studies__is_that_of_the_specification(d, m, k, n, expected):
    assert formulas.log_trees(n, m, k, cuts=2**d - 1) == pytest.approx(expected, abs=0.05)


def test_log_trees__stumps__is_at_least_the_enumeration():
    values = [1.0, 2.0, 3.0, 4.0]
    stumps = {
        tuple(left if v < cut else right for v in values)
        for cut in (0.5, 1.5, 2.5, 3.5, 4.5)
        for left, right in itertools.product((0, 1, 2), repeat=2)
    }
    assert math.log(len(stumps)) <= formulas.log_trees(4, 1, 3, cuts=1)


def test_log_selectors__few_cases__equals_the_enumeration():
    n, q = 6, 3
    ways = {(k, rivals) for k in range(n) for rivals in itertools.combinations(set(range(n)) - {k}, q - 1)}
    assert formulas.log_selectors(n, q) == pytest.approx(math.log(len(ways)))
    assert formulas.log_selectors(n, 1) == pytest.approx(math.log(n))  # where the printed estimate is 0 / 0
    assert formulas.log_selectors(n, q) <= q * (1 + math.log(n))
    fitted = formulas.log_selectors(n, q, thresholds_fitted=True, log_similarities=2.5)
    assert fitted == pytest.approx(math.log(len(ways)) + math.log(n + 1) + 2.5)


def labellings(X, n_classes, rng, draws=20_000):
    """The ways in which random linear scores label the rows of X: most of all there are."""
    rows = np.column_stack([X, np.ones(len(X))])
    found = set()
    for _ in range(draws):
        scores = rows @ rng.normal(size=(rows.shape[1], n_classes))
        found.add(tuple(scores.argmax(axis=1)))
    return found


@pytest.mark.parametrize(("n", "width", "n_classes"), [(3, 1, 2), (5, 1, 2), (5, 2, 2), (4, 1, 3), (5, 2, 3)])
def test_log_argmax_linear__few_cases__is_at_least_what_was_found(n, width, n_classes):
    rng = np.random.default_rng(n)
    found = labellings(rng.normal(size=(n, width)), n_classes, rng)
    counted = math.exp(formulas.log_argmax_linear(n, width, n_classes))
    assert len(found) <= counted + 1e-6
    assert counted <= n_classes**n + 1e-6


def test_log_argmax_linear__half_spaces_on_a_line__is_sauers_sum():
    rng = np.random.default_rng(0)
    assert len(labellings(np.arange(5.0)[:, None], 2, rng)) == 10
    assert round(math.exp(formulas.log_argmax_linear(5, 1, 2))) == 16  # 1 + 5 + 10: Sauer's lemma in dimension 2


@pytest.mark.parametrize("n", range(1, 12))
def test_mean_absolute_walk__short_walks__equals_the_enumeration(n):
    ends = [abs(sum(signs)) for signs in itertools.product((-1, 1), repeat=n)]
    assert formulas.mean_absolute_walk(n) == pytest.approx(np.mean(ends))
    assert formulas.mean_absolute_walk(n) <= math.sqrt(n)


@pytest.mark.parametrize("counts", [(4,), (4, 0), (3, 3), (5, 2, 1), (2, 2, 2, 2), (1, 0, 0)])
def test_mean_largest_walk__short_walks__equals_the_enumeration(counts):
    best = [
        max(sum(part) for part in np.split(np.array(signs), np.cumsum(counts)[:-1]))
        for signs in itertools.product((-1, 1), repeat=sum(counts))
    ]
    assert formulas.mean_largest_walk(np.array(counts)) == pytest.approx(np.mean(best))


@pytest.mark.parametrize("m", [1, 2, 5, 9, 14])
def test_fitted_threshold__any_cut__is_no_richer_than_two_constants(m):
    """The complexity of a fitted threshold: E max over cuts of a random walk, at most E |its end|."""
    highest = [max(0, *np.cumsum(signs)) for signs in itertools.product((-1, 1), repeat=m)]
    assert np.mean(highest) <= formulas.mean_absolute_walk(m) + 1e-12 <= math.sqrt(m) + 1e-12


def complexity_by_enumeration(functions):
    """Exact empirical Rademacher complexity of functions given by their values."""
    n = functions.shape[1]
    signs = np.array(list(itertools.product((-1, 1), repeat=n)))
    return (signs @ functions.T).max(axis=1).mean() / n


def test_product_lemma__random_classes__holds():
    rng = np.random.default_rng(0)
    for _ in range(150):
        n, a, b = rng.integers(2, 9), rng.integers(1, 7), rng.integers(1, 7)
        selectors, locals_ = rng.integers(2, size=(a, n)), rng.integers(2, size=(b, n))
        products = np.array([g * h for g in selectors for h in locals_])
        allowed = complexity_by_enumeration(selectors) + complexity_by_enumeration(locals_)
        assert complexity_by_enumeration(products) <= allowed + 1e-12
        signed = 2 * locals_ - 1
        products = np.array([g * h for g in selectors for h in signed])
        allowed = complexity_by_enumeration(selectors) + complexity_by_enumeration(signed)
        assert complexity_by_enumeration(products) <= allowed + 1e-12


def test_product_lemma__without_one_part__fails():
    everything = np.array(list(itertools.product((0, 1), repeat=4)))
    nothing = np.ones((1, 4))
    products = np.array([g * h for g in everything for h in nothing])
    assert complexity_by_enumeration(products) > complexity_by_enumeration(nothing)


def drawn_complexity(functions, rng, draws=4000):
    signs = rng.choice([-1.0, 1.0], size=(draws, functions.shape[1]))
    found = (signs @ functions.T).max(axis=1) / functions.shape[1]
    return found.mean(), found.std() / math.sqrt(draws)


@pytest.mark.parametrize(("n", "count"), [(40, 22), (60, 300), (200, 2000)])
def test_massart__random_classes__holds_and_is_not_far_off(n, count):
    rng = np.random.default_rng(count)
    functions = rng.integers(2, size=(count, n)).astype(float)
    value, error = drawn_complexity(functions, rng)
    allowed = formulas.massart(math.log(count), n)
    assert value - 3 * error <= allowed
    assert value > 0.6 * allowed  # half of it would already be too little: centring at 1/2 is all that can be had


# --------------------------------------------------------------------- what the flaws of the printed bound do


def test_printed_confidence__smaller_delta__costs_a_power_not_a_logarithm():
    n, q = 1397, 5
    printed = [formulas.printed_confidence(n, q, delta, q) for delta in (0.1, 0.01, 0.001)]
    repaired = [formulas.cascade_confidence(n, q, delta) for delta in (0.1, 0.01, 0.001)]
    assert printed[1] / printed[0] > 9
    assert printed[2] / printed[1] > 9
    assert repaired[2] < 1.1 * repaired[0]


def test_massart_printed__without_the_root__is_ten_times_too_large():
    n, q = 1397, 5
    assert formulas.massart_printed(n, q) > 10 * formulas.massart(formulas.log_selectors(n, q), n)
    # With the root it goes to 0 like sqrt(log n / n); without it, like log n / sqrt n: no faster, and 4 q times that.
    assert 4 * q * formulas.massart_printed(10**6, q) > 1
    assert 4 * q * formulas.massart(formulas.log_selectors(10**6, q), 10**6) < 0.25


def test_massart_printed__from_eight_cases_on__is_an_upper_bound():
    for n in range(8, 3000, 97):
        for q in range(1, min(n, 40)):
            assert formulas.massart_printed(n, q) >= 2 * formulas.massart(formulas.log_selectors(n, q), n)


def test_printed_confidence__q_families__is_less_than_with_q_plus_one():
    for q in (2, 3, 5, 10):  # where there are many more cases than q squared, as the formula needs anyway
        assert formulas.printed_confidence(1397, q, DELTA, q) < formulas.printed_confidence(1397, q + 1, DELTA, q)


def test_printed_confidence__one_memory__is_not_defined():
    with pytest.raises(ValueError, match="divides by log q"):
        formulas.printed_confidence(1000, 1, DELTA, 1)
    assert math.isfinite(formulas.cascade_confidence(1000, 1, DELTA))


def test_printed_confidence__few_cases__is_not_defined():
    with pytest.raises(ValueError, match="root of a negative number"):
        formulas.printed_confidence(50, 10, DELTA, 10)
    assert math.isfinite(formulas.cascade_confidence(50, 10, DELTA))


def test_erratum_b6__distance_from_the_mean__can_exceed_the_length():
    """Erratum B6: 22 vectors on 40 points; both stay below the root of n, so the bound survives."""
    n = 40
    vectors = np.zeros((22, n))
    vectors[1:, 10:20] = 1  # all but one share ten points, which the one is far from
    vectors[0, 20:30] = 1
    away = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1).max()
    assert away > np.linalg.norm(vectors, axis=1).max()
    assert away <= math.sqrt(n)


def test_binomial_upper__few_errors__is_the_risk_that_rarely_shows_them():
    from scipy.stats import binom

    for errors, n in ((0, 30), (3, 50), (20, 200)):
        upper = formulas.binomial_upper(errors, n, 0.05)
        assert binom.cdf(errors, n, upper) == pytest.approx(0.05)
    assert formulas.binomial_upper(7, 7, 0.05) == 1.0
