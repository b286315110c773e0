"""Cases of concurrent requests are gathered into batches, which one thread answers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

from memclf.serve.limits import Limits
from memclf.serve.problems import Problem

RETRY_SECONDS = 1  # after which a client may try again where the queue is full

Work = Callable[[list[Any]], list[Any]]


class Waiting(NamedTuple):
    """A case in the queue. Its weight counts the pixels that answering it takes."""

    case: Any
    weight: int
    position: int
    job: Job


class Job:
    """The cases of one request, whose results come in from one batch or several."""

    def __init__(self, work: Work, n: int, done: asyncio.Future[list[Any]]):
        self.work, self.results, self.left, self.done = work, [None] * n, n, done

    def put(self, position: int, result: Any) -> None:
        """Note the result of a case; the last one wakes the request."""
        self.results[position] = result
        self.left -= 1
        if not self.left and not self.done.done():
            self.done.set_result(self.results)


class Batcher:
    """A queue of cases, and the thread that answers them in batches.

    A batch waits for more cases only as long as fewer requests are in the queue than the last batch answered. So a
    lonely client never waits, and many clients together soon share batches. All methods belong to one event loop.
    """

    def __init__(self, limits: Limits, observe: Callable[[int, float], None] = lambda cases, seconds: None):
        self.limits, self._observe = limits, observe
        self._queue: deque[Waiting] = deque()
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def running(self) -> bool:
        """Whether batches are being answered."""
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Begin to answer; also after a stop, in another event loop."""
        self._queue.clear()
        self._requests = 0  # in the queue
        self._expected = 1  # requests that the next batch waits for
        self._any, self._enough = asyncio.Event(), asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memclf-answers")
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Stop; what is in the queue is dropped."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._thread.shutdown(wait=True, cancel_futures=True)

    async def answer(self, work: Work, cases: list[Any], weights: list[int]) -> list[Any]:
        """``work(cases)``, together with cases of others; one result or exception per case."""
        if len(self._queue) + len(cases) > self.limits.queue:
            raise Problem(
                "full-queue",
                f"{len(self._queue)} cases are waiting and {len(cases)} more would be over {self.limits.queue}; try "
                "again later",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )
        job = Job(work, len(cases), asyncio.get_running_loop().create_future())
        self._queue.extend(
            Waiting(*each, position, job) for position, each in enumerate(zip(cases, weights, strict=True))
        )
        self._requests += 1
        self._any.set()
        if self._requests >= self._expected or len(self._queue) >= self.limits.batch_size:
            self._enough.set()
        try:
            return await asyncio.wait_for(job.done, self.limits.wait)
        except TimeoutError:
            kept = deque(each for each in self._queue if each.job is not job)
            self._requests -= len(kept) < len(self._queue)
            self._queue = kept
            seconds = f"{self.limits.wait:g} s"
            raise Problem(
                "late", f"{len(cases)} cases were not answered within {seconds}; send fewer at once"
            ) from None

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._any.wait()
            await self._wait_for_more()
            batch = self._take()
            if not batch:
                continue
            started = loop.time()
            try:
                results = await loop.run_in_executor(self._thread, batch[0].job.work, [each.case for each in batch])
            except Exception as error:
                results = [error] * len(batch)
            self._observe(len(batch), loop.time() - started)
            for each, result in zip(batch, results, strict=True):
                each.job.put(each.position, result)

    async def _wait_for_more(self) -> None:
        if self._requests >= self._expected or len(self._queue) >= self.limits.batch_size:
            return
        self._enough.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._enough.wait(), self.limits.batch_wait)

    def _take(self) -> list[Waiting]:
        """The cases at the head of the queue that are answered in the same way."""
        batch: list[Waiting] = []
        room = self.limits.pixels
        while self._queue and len(batch) < self.limits.batch_size:
            first = self._queue[0]
            if batch and (first.job.work != batch[0].job.work or first.weight > room):
                break
            room -= first.weight
            batch.append(self._queue.popleft())
            self._requests -= not self._queue or self._queue[0].job is not first.job
        if not self._queue:
            self._any.clear()
        self._expected = max(1, len({id(each.job) for each in batch}))
        return batch
