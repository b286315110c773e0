"""What computes rows about cases: when two computations are the same, here and in later processes."""

import math
import pickle
import threading
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import toolbox
from memclf.cases import memory
from memclf.cases.computation import Computation
from memclf.cases.digest import digest_content, same_content
from memclf.cases.memory import Memory

LOCK = threading.Lock()


def uses_a_module(row):
    return toolbox.near(row[0], math.pi)


def names_a_lock(row):
    return LOCK.locked()


class Measure:
    factor = 2

    @property
    def size(self):
        return self.factor

    @staticmethod
    def double(row):
        return 2 * row

    @classmethod
    def made(cls):
        return cls()

    def __call__(self, row):
        return self.double(row) * self.size


class Holding(StandardScaler):
    """An estimator that holds what cannot be hashed."""

    def __init__(self, what=None):
        super().__init__()
        self.what = what


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (StandardScaler(), StandardScaler()),
        (FunctionTransformer(np.square), FunctionTransformer(np.square)),
        (Holding(MappingProxyType({"a": 1})), Holding(MappingProxyType({"a": 1}))),
        (Holding(math), Holding(math)),
        ("a name", "a name"),
        (uses_a_module, uses_a_module),
    ],
    ids=["estimator", "function inside", "proxy", "module", "name", "function"],
)
def test_computation__equal_content__is_equal(one, other):
    one, other = Computation(one), Computation(other)
    assert one == other
    assert hash(one) == hash(other)
    assert one.lasting_key() == other.lasting_key() is not None


def test_computation__pickled_and_changed_meanwhile__equals_what_it_was():
    """In another process rows are found by it, though what computed them has learned something since."""
    scaler = StandardScaler()
    computation = Computation(scaler, uses_a_module)
    scaler.mean_ = 5.0
    again = pickle.loads(pickle.dumps(computation))
    assert again == Computation(StandardScaler(), uses_a_module) != Computation(scaler, uses_a_module)
    assert hash(again) == hash(computation)
    assert again.can_travel
    assert not Computation(Holding(threading.Lock())).can_travel


def test_computation__something_unhashable__is_equal_to_itself_alone_and_does_not_last():
    first, second = threading.Lock(), threading.Lock()
    assert Computation(Holding(first)) == Computation(Holding(first)) != Computation(Holding(second))
    assert Computation(Holding(first)).lasting_key() is None


def test_computation__function_that_names_a_lock__does_not_last():
    assert Computation(names_a_lock).lasting_key() is None


def test_computation__class_of_the_user__lasts_with_properties_and_static_methods():
    before = Computation(Measure).lasting_key()
    assert before is not None
    Measure.factor = 3
    try:
        assert Computation(Measure).lasting_key() != before
    finally:
        Measure.factor = 2
    assert Computation(Measure).lasting_key() == before


def test_computation__in_words():
    assert str(Computation("patches", StandardScaler(), uses_a_module)) == "patches, StandardScaler, uses_a_module"


# ----------------------------------------------------------------------------------------------------------- digests


def test_digest_content__mappings_sets_and_objects():
    assert digest_content({"a": {1, 2}}) == digest_content({"a": {2, 1}})
    assert digest_content({"a": 1})[0] != digest_content({"a": 2})[0]
    assert same_content(digest_content([1, math]), digest_content([1, math]))
    assert not same_content(digest_content([1, math]), digest_content([1]))
    assert same_content(digest_content(pd.DataFrame({"a": [1]})), digest_content(pd.DataFrame({"a": [1]})))


# ------------------------------------------------------------------------------------------------------ remembered rows


def test_memory__rows_asked_for_out_of_order_and_twice__are_computed_once():
    computed = []

    def compute(positions):
        computed.extend(positions.tolist())
        return np.array(places)[positions][:, None] * 10.0

    rows = Memory(6)
    places = [5, 2, 5, 0]
    found = rows.rows(Computation("tens"), np.array(places), compute)
    assert found[:, 0].tolist() == [50, 20, 50, 0]
    assert computed == [0, 1, 3]


@pytest.mark.parametrize(
    "kind", [np.asarray, sp.csr_array, pd.DataFrame, list], ids=["array", "sparse", "table", "list"]
)
def test_memory__too_much_to_remember__forgets_the_oldest(kind, monkeypatch):
    monkeypatch.setattr(memory, "ROOM", 1000)
    computed = []

    def compute(positions):
        computed.append(len(positions))
        return kind(np.ones((len(positions), 30)))

    rows = Memory(4)
    for name in ("one", "two", "one"):
        rows.rows(Computation(name), np.arange(4), compute)
    assert len(computed) == (2 if kind is list else 3)
