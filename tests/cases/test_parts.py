"""Rows that workers of a cluster compute in parts: the same rows in the same order."""

import numpy as np
import pytest

from memclf.cases.executors import name_worker
from memclf.cases.parts import compute_in_parts
from memclf.exceptions import ImageError


def tell(cases):
    """Of each case itself, how many it came with, and the worker."""
    return [(case, len(cases), name_worker()) for case in cases]


def fail(cases):
    raise ImageError("a.png cannot be read: No such file")


def test_compute_in_parts__without_a_cluster__is_one_call_here():
    assert compute_in_parts(tell, list("abcde"), 2) == [(case, 5, None) for case in "abcde"]
    with pytest.raises(ImageError, match="No such file$"):
        compute_in_parts(fail, list("abc"), 2)


def test_compute_in_parts__on_workers__keeps_the_order(workers):
    with workers.as_current():
        found = compute_in_parts(tell, list("abcde"), 2)
        rows = compute_in_parts(np.sqrt, np.arange(7.0), 3)
        assert compute_in_parts(tell, [], 2) == []
    assert [each[:2] for each in found] == [("a", 2), ("b", 2), ("c", 2), ("d", 2), ("e", 1)]
    assert {each[2] for each in found} <= set(workers.scheduler_info()["workers"])
    np.testing.assert_array_equal(rows, np.sqrt(np.arange(7.0)))


def test_compute_in_parts__image_that_a_worker_cannot_read__names_both(workers):
    with (
        workers.as_current(),
        pytest.raises(ImageError, match=r"a\.png cannot be read: No such file. That happened on the worker inproc://"),
    ):
        compute_in_parts(fail, list("abc"), 2)
