"""Cases of any kind behind one interface: counted, picked, kept, and described once."""

import pickle

import numpy as np
import pytest

from cases.kinds import KINDS, ROWS, as_list
from memclf.cases import Cases, containers


@pytest.mark.parametrize("kind", KINDS)
def test_cases__any_container__can_be_counted_picked_and_kept(kind):
    cases = Cases.of(KINDS[kind])
    assert Cases.of(cases) is cases
    assert len(cases) == 4
    picked = as_list(containers.take(KINDS[kind], np.array([3, 1])))
    assert as_list(cases.take(np.array([3, 1])).data) == picked
    assert as_list(cases[[3, 1]].data) == picked
    assert as_list(cases[np.array([3, 1]), ...].data) == picked
    assert as_list(cases.keep(np.array([3, 1]))) == picked
    assert not cases.can_change


@pytest.mark.parametrize("kind", KINDS)
def test_cases__any_container__has_a_shape_and_single_cases(kind):
    cases = Cases.of(KINDS[kind])
    assert cases.shape == ((4, 3) if kind in ("array", "table", "sparse") else (4,))
    if kind == "table":
        assert cases[1] == {"a": 3.0, "b": 4.0, "c": 5.0} == list(cases)[1]
    elif kind != "sparse":
        assert list(cases[1]) == list(KINDS[kind][1]) == list(list(cases)[1])
    if kind != "sparse":
        np.testing.assert_array_equal(np.asarray(cases), np.asarray(KINDS[kind]))


def test_cases__columns_of_a_matrix__can_be_picked():
    np.testing.assert_array_equal(Cases.of(ROWS).take_columns(np.array([2, 0])).data, ROWS[:, [2, 0]])


def test_cases__sent_to_another_process__hold_the_same_data():
    for cases in (Cases.of(ROWS), Cases.of(ROWS).remembering()):
        again = pickle.loads(pickle.dumps(cases.take(np.array([2, 0]))))
        np.testing.assert_array_equal(again.data, ROWS[[2, 0]])
        assert again.remembers == cases.remembers


def test_cases__remembering__computes_each_row_once():
    seen = []

    def double(some):
        seen.extend(some.data[:, 0].tolist())
        return 2 * some.data

    cases = Cases.of(ROWS).remembering()
    assert cases.remembering() is cases
    for rows in ([0, 1], [1, 2, 1], [3, 0]):
        found = cases.take(np.array(rows)).remember(("double",), double)
        np.testing.assert_array_equal(found, 2 * ROWS[rows])
    assert sorted(seen) == ROWS[:, 0].tolist()
    Cases.of(ROWS).remember(("double",), double)
    assert len(seen) == 8
