"""Batches: who shares one, who waits, and what a failing case does to the others."""

import asyncio
import time

import pytest

from memclf.serve.batches import Batcher
from memclf.serve.limits import Limits
from memclf.serve.model import attempt
from memclf.serve.problems import Problem


def run(scenario, **limits):
    """Run a scenario with a batcher; returns what it returns, and the sizes of the batches."""
    sizes = []

    async def main():
        batcher = Batcher(Limits(**limits), lambda cases, seconds: sizes.append(cases))
        batcher.start()
        try:
            return await scenario(batcher)
        finally:
            await batcher.stop()

    return asyncio.run(main()), sizes


def double(cases):
    time.sleep(0.02)
    return [2 * case for case in cases]


def negate(cases):
    return [-case for case in cases]


async def ask_all(batcher, cases, work=double, weight=0):
    return await asyncio.gather(*(batcher.answer(work, [case], [weight]) for case in cases))


def test_batches__requests_at_once__share_batches_up_to_the_size():
    found, sizes = run(lambda batcher: ask_all(batcher, range(20)), batch_size=8)
    assert found == [[2 * i] for i in range(20)]
    assert max(sizes) == 8
    assert sum(sizes) == 20


def test_batches__size_1__is_no_batching():
    _, sizes = run(lambda batcher: ask_all(batcher, range(5)), batch_size=1)
    assert sizes == [1] * 5


def test_batches__a_large_request__is_answered_in_order_over_several_batches():
    found, sizes = run(lambda batcher: batcher.answer(double, list(range(10)), [0] * 10), batch_size=4)
    assert found == [2 * i for i in range(10)]
    assert sizes == [4, 4, 2]


def test_batches__different_work__is_not_mixed():
    async def scenario(batcher):
        return await asyncio.gather(ask_all(batcher, [1, 2]), ask_all(batcher, [3], negate), ask_all(batcher, [4]))

    found, sizes = run(scenario, batch_size=8)
    assert found == [[[2], [4]], [[-3]], [[8]]]
    assert sum(sizes) == 4


def test_batches__many_pixels__are_split():
    _, sizes = run(lambda batcher: ask_all(batcher, range(6), weight=40), batch_size=8, pixels=100)
    assert max(sizes) == 2


def test_batches__a_lonely_client__never_waits_for_others():
    async def scenario(batcher):
        started = time.monotonic()
        for case in range(3):
            await batcher.answer(negate, [case], [0])
        return time.monotonic() - started

    seconds, sizes = run(scenario, batch_wait=20.0)
    assert sizes == [1, 1, 1]
    assert seconds < 20


def test_batches__after_a_shared_batch__the_next_one_waits_for_as_many():
    async def scenario(batcher):
        await ask_all(batcher, range(3))
        early = asyncio.create_task(batcher.answer(negate, [1], [0]))
        await asyncio.sleep(0.05)
        return await asyncio.gather(early, *(batcher.answer(negate, [case], [0]) for case in (2, 3)))

    found, sizes = run(scenario, batch_wait=20.0)
    assert found == [[-1], [-2], [-3]]
    assert sizes[-1] == 3


def test_batches__work_that_raises__gives_each_case_the_exception_and_goes_on():
    def fail(cases):
        raise MemoryError

    async def scenario(batcher):
        failed = await batcher.answer(fail, [1, 2], [0, 0])
        return failed, await batcher.answer(negate, [1], [0])

    (failed, later), _ = run(scenario)
    assert [type(each) for each in failed] == [MemoryError] * 2
    assert later == [-1]


def test_queue__more_than_its_room__is_refused_at_once():
    async def scenario(batcher):
        with pytest.raises(Problem, match="would be over 3") as caught:
            await batcher.answer(negate, [1, 2, 3, 4], [0] * 4)
        return caught.value

    problem, _ = run(scenario, cases=3, queue=3)
    assert problem.status == 503
    assert problem.headers == {"Retry-After": "1"}


def test_attempt__one_bad_case__fails_alone_and_the_others_are_tried_in_halves():
    calls = []

    def work(cases):
        calls.append(len(cases))
        return [1 / case for case in cases]

    found = attempt(work, [1, 2, 0, 4, 5, 8, 10, 16])
    assert isinstance(found[2], ZeroDivisionError)
    assert [each for each in found if isinstance(each, float)] == [1, 1 / 2, 1 / 4, 1 / 5, 1 / 8, 1 / 10, 1 / 16]
    assert calls == [8, 4, 2, 2, 1, 1, 4]


def test_limits__impossible_values__are_errors():
    with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
        Limits(batch_size=0)
    with pytest.raises(ValueError, match="queue=5 is less than cases=10"):
        Limits(cases=10, queue=5)
