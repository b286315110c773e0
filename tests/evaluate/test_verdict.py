"""Which contender is recommended, and which memory classifier the report is about."""

import numpy as np

from memclf.evaluate import ModelId, Results
from memclf.evaluate.verdict import judge

LABELS = [0] * 150 + [1] * 50


def evaluated(make_store, shares, routed=()):
    """Models with the shares of cases of class 0 and of class 1 that they answer correctly under fog."""
    right = {}
    for model, (common, rare) in shares.items():
        both = np.r_[np.arange(150) < round(150 * common), np.arange(50) < round(50 * rare)]
        right[model,] = {("clean", 0): np.ones(200, dtype=bool), ("fog", 3): both}
    return Results(make_store(right, LABELS, routed=routed))


def test_verdict_is_the_most_accurate_when_it_is_surely_better(make_store):
    shares = {"baseline": (0.5, 0.5), "memory": (0.6, 0.6), "sturdy": (0.9, 0.9), "stage1": (0.7, 0.7)}
    found = judge(evaluated(make_store, shares))
    assert found.pick == found.best == found.memory == ModelId("sturdy")
    assert found.level == []
    assert found.gain.low > 0


def test_verdict_prefers_the_simpler_of_two_that_may_be_equal(make_store):
    found = judge(evaluated(make_store, {"baseline": (0.5, 0.5), "memory": (0.9, 0.9), "stage1": (0.9, 0.88)}))
    assert found.pick == ModelId("stage1")
    assert found.best == found.memory == ModelId("memory")


def test_verdict_is_the_baseline_when_nothing_is_surely_better(make_store):
    found = judge(evaluated(make_store, {"baseline": (0.9, 0.9), "memory": (0.9, 0.92), "ensemble": (0.9, 0.9)}))
    assert found.pick == ModelId("baseline")
    assert found.memory == ModelId("memory")


def test_verdict_drops_a_simpler_one_that_neglects_the_rare_class(make_store):
    """Equal in accuracy, but surely worse in balanced accuracy."""
    found = judge(evaluated(make_store, {"baseline": (0.6, 0.3), "stage1": (0.95, 0.1), "memory": (0.75, 0.7)}))
    assert found.pick == ModelId("memory")
    assert found.dropped == [ModelId("stage1")]


def test_verdict_never_recommends_what_does_not_look_at_the_case(make_store):
    found = judge(evaluated(make_store, {"baseline": (0.5, 0.5), "majority": (1.0, 0.0), "random": (0.9, 0.9)}))
    assert found.pick == ModelId("baseline")
    assert judge(evaluated(make_store, {"majority": (1.0, 0.0)})) is None


def test_verdict_knows_a_memory_classifier_with_another_name_by_its_routes(make_store):
    shares = {"baseline": (0.9, 0.9), "mine": (0.8, 0.8), "stage1": (0.85, 0.85)}
    assert judge(evaluated(make_store, shares, routed=("mine", "stage1"))).memory == ModelId("mine")
    assert judge(evaluated(make_store, shares)).memory is None


def test_verdict_leaves_the_parts_of_an_ablation_out(make_store):
    found = judge(evaluated(make_store, {"baseline": (0.5, 0.5), "memory": (0.7, 0.7), "sturdy-balance": (0.9, 0.9)}))
    assert found.pick == ModelId("memory")
