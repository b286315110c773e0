"""Threads of BLAS, OpenCV and torch, and threads of our own over blocks of cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock, current_thread, main_thread
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController, threadpool_info

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _controller() -> Any:
    return ThreadpoolController()


def one_blas_thread(wanted: bool = True) -> AbstractContextManager[Any]:
    """BLAS uses one thread within it: for small blocks, more are slower.

    Only in the main thread: OpenBLAS does not let another thread undo it.
    """
    if wanted and current_thread() is main_thread():
        return _controller().limit(limits=1, user_api="blas")
    return nullcontext()


class _OpenCV:
    """How many are within `one_opencv_thread`, and the number of threads before them."""

    lock, users, before = Lock(), 0, 0


@contextmanager
def one_opencv_thread() -> Iterator[None]:
    """OpenCV uses one thread within it: waking others costs more than it gains.

    The number of threads is one for the whole process; the last user restores it.
    """
    import cv2

    with _OpenCV.lock:
        if not _OpenCV.users:
            _OpenCV.before = cv2.getNumThreads()
            cv2.setNumThreads(1)
        _OpenCV.users += 1
    try:
        yield
    finally:
        with _OpenCV.lock:
            _OpenCV.users -= 1
            if not _OpenCV.users:
                cv2.setNumThreads(_OpenCV.before)


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Torch uses so many threads within it; with another number, last bits of sums differ."""
    import torch

    before = torch.get_num_threads()
    if count != before:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        if count != before:
            torch.set_num_threads(before)


def count_threads(n_jobs: int | None = None) -> int:
    """Threads to use: as many as BLAS may, unless told."""
    if n_jobs is not None:
        return int(effective_n_jobs(n_jobs))
    return max((each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"), default=1)


def map_in_threads(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """``work`` of every item, in their order.

    For short work: joblib starts five threads for each call, and looks for results every 10 ms.
    """
    if threads == 1:
        return list(map(work, items))
    with ThreadPoolExecutor(threads) as executor:
        return list(executor.map(work, items))
