"""Threads of BLAS, and threads of our own over blocks of cases."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import current_thread, main_thread
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController, threadpool_info


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


def count_threads(n_jobs: int | None = None) -> int:
    """Threads to use: as many as BLAS may, unless told."""
    if n_jobs is not None:
        return int(effective_n_jobs(n_jobs))
    return max((each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"), default=1)
