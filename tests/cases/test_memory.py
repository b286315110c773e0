"""Memory: rows are kept, forgotten when there is no room, and never change."""

import pickle
from threading import Lock

import numpy as np
import scipy.sparse as sp

from memclf.cases import Computation, Memory
from memclf.cases import memory as memory_module
from memclf.cases.store import Store


def keep(memory, name, places, rows):
    """The rows of some places, and how many were computed."""
    computed = []

    def compute(positions):
        computed.extend(positions.tolist())
        return rows[np.asarray(places)[positions]]

    found = memory.rows(Computation(name), np.asarray(places, dtype=np.intp), compute)
    return found, len(computed)


def test_rows__of_overlapping_places__are_computed_once_in_any_order():
    rows = np.arange(20.0).reshape(10, 2)
    for kind in (np.asarray, sp.csr_array):
        memory = Memory(10)
        for places, expected in (([3, 1, 3], 2), ([1, 2], 1), ([9, 3, 1, 2], 1), ([], 0), (range(10), 6)):
            found, computed = keep(memory, "one", list(places), kind(rows))
            assert computed == expected
            dense = found.toarray() if sp.issparse(found) else found
            np.testing.assert_array_equal(dense, rows[list(places)])


def test_rows__changed_by_the_caller__stay_as_they_were():
    memory, rows = Memory(3), np.ones((3, 2))
    found, _ = keep(memory, "one", [0, 1, 2], rows)
    found[:] = 5
    np.testing.assert_array_equal(keep(memory, "one", [0, 1, 2], rows)[0], rows)


def test_rows__no_room__those_not_used_for_the_longest_time_are_forgotten(monkeypatch):
    monkeypatch.setattr(memory_module, "ROOM", 3 * 80)
    memory, rows, places = Memory(10), np.arange(10.0), list(range(10))
    for name in "abc":
        keep(memory, name, places, rows)
    assert keep(memory, "a", places, rows)[1] == 0
    assert keep(memory, "d", places, rows)[1] == 10  # b has to go
    assert [keep(memory, name, places, rows)[1] for name in "acd"] == [0, 0, 0]
    assert keep(memory, "b", places, rows)[1] == 10


def test_packed__takes_its_rows_to_another_process_as_a_plain_memory_does_not(tmp_path):
    memory, rows, places = Memory(4, Store(tmp_path)), np.arange(4.0), [0, 2]
    keep(memory, "one", places, rows)
    memory.rows(Computation(Lock()), np.array([1]), lambda positions: rows[:1])  # it equals itself alone, here
    packed = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(memory.packed()))))
    assert packed.store is None
    found, computed = keep(packed, "one", [2, 1, 0], rows)
    assert (found.tolist(), computed) == ([2, 1, 0], 1)
    assert keep(pickle.loads(pickle.dumps(memory)), "one", places, rows)[1] == 2
    assert keep(memory, "one", [2, 1, 0], rows)[1] == 1  # what was computed there is not known here
