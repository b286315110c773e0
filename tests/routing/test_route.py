import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memclf.routing import route, route_all
from memclf.similarity import CosineSimilarity, RBFSimilarity

# Few distinct values, so that ties between memories and with thresholds are common.
blocks = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 8)), elements=st.sampled_from([0, 0.3, 0.5, 0.8, 1])
)
rules = st.sampled_from(["argmax_then_check", "check_then_argmax"])


@settings(max_examples=200, deadline=None)
@given(blocks, rules, st.data())
def test_exactly_one_branch_fires_and_it_is_the_one_that_the_paper_says(block, rule, data):
    q, n = block.shape
    thresholds = data.draw(arrays(np.float64, q, elements=st.sampled_from([0.3, 0.5, 0.8, 1])))
    ways = route(block, thresholds, rule)
    for i in range(n):
        column = block[:, i].tolist()
        if rule == "argmax_then_check":
            k = column.index(max(column))
            expected = k if column[k] >= thresholds[k] else q
        else:
            met = [k for k in range(q) if column[k] >= thresholds[k]]
            expected = min(met, key=lambda k: (-column[k], k)) if met else q
        assert ways.branch[i] == expected
        assert ways.known[i] == (expected < q)
        assert ways.memory[i] == (expected if expected < q else -1)


@settings(max_examples=100, deadline=None)
@given(blocks, st.sampled_from([0.3, 0.5, 0.8]))
def test_both_rules_agree_when_thresholds_are_equal(block, threshold):
    thresholds = np.full(len(block), threshold)
    a, b = route(block, thresholds), route(block, thresholds, "check_then_argmax")
    np.testing.assert_array_equal(a.branch, b.branch)


def test_the_runner_up_and_the_margin():
    ways = route(np.array([[0.9, 0.2], [0.6, 0.7], [0.1, 0.7]]), np.array([0.5, 0.5, 0.5]))
    assert ways.runner_up.tolist() == [1, 2]
    np.testing.assert_allclose(ways.margin, [0.3, 0])
    assert ways[0].memory == 0
    assert ways[0].margin == pytest.approx(0.3)
    assert [way.memory for way in ways] == [0, 1]
    assert list(ways.to_frame().columns)[:3] == ["memory", "nearest", "similarity"]


def test_a_single_memory_has_no_runner_up():
    way = route(np.array([[0.9]]), np.array([0.5]))[0]
    assert (way.runner_up, way.known, way.memory) == (-1, True, 0)


def test_rounding_does_not_decide_ties():
    ways = route(np.array([[0.5], [0.5 + 1e-15]]), np.array([0.5 + 1e-15, 0.1]))
    assert ways.memory.tolist() == [0]


def test_routing_in_parts_changes_nothing(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 2))
    similarity = RBFSimilarity(0.5)
    Z = similarity.fit_describe(X)
    rows, thresholds = np.array([3, 8, 20]), np.array([0.3, 0.5, 0.9])
    whole = route(similarity.compare(Z[rows], Z), thresholds)
    monkeypatch.setattr(sys.modules["memclf.routing.route"], "BLOCK", 21)  # seven cases at a time
    parts = route_all(similarity, Z[rows], rows, thresholds, "argmax_then_check", Z)
    for name, values in whole.to_dict().items():
        np.testing.assert_allclose(parts.to_dict()[name], values)


def test_an_unknown_rule_is_named():
    with pytest.raises(ValueError, match="rule must be one of 'argmax_then_check', 'check_then_argmax'; got 'best'"):
        route(np.ones((1, 1)), np.ones(1), "best")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([0.5, 200.0]), rules, st.booleans())
def test_route_all__any_rows__equals_route_on_the_whole_block(seed, q, gamma, rule, equal):
    """Few distinct rows, so that cases are equally near to several memories; a narrow one, so that they are to all."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(40, 2)).astype(float)
    rows = rng.choice(40, q, replace=False)
    thresholds = np.full(q, 0.5) if equal else rng.choice([0.1, 0.5, 0.9], q)
    for similarity in (RBFSimilarity(gamma).fit(X), CosineSimilarity().fit(X)):
        Z = similarity.describe(X)
        whole = route(similarity.compare(Z[rows], Z), thresholds, rule).to_dict()
        for name, values in route_all(similarity, Z[rows], rows, thresholds, rule, Z).to_dict().items():
            np.testing.assert_allclose(values, whole[name], atol=1e-12, err_msg=name)


def test_route_all__compare_of_the_users_own__is_what_decides():
    class Opposite(RBFSimilarity):
        def compare(self, A, B):
            return 1 - super().compare(A, B)

    similarity = Opposite(1.0).fit([[0.0], [90.0]])
    Z = similarity.describe([[0.0], [40.0], [90.0], [200.0]])
    ways = route_all(similarity, Z, np.arange(4), np.full(4, 0.5), "argmax_then_check", Z[:1])
    assert ways.memory.tolist() == [1]  # the first among those that are equally far
