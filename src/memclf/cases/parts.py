"""Rows about cases, computed in parts by the workers of a cluster where one is running."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memclf.cases.containers import chunks, stack
from memclf.cases.executors import Here, find_executor, naming_worker


def compute_in_parts(compute: Callable[[Any], Any], cases: Any, size: int, *, what: str = "describing") -> Any:
    """``compute(cases)``, one row per case; workers compute parts of this many cases.

    Parameters
    ----------
    compute : function of cases
        Rows of a part must not depend on the other parts.
    cases : Collection
        A slice of it travels to a worker: of images in files only paths and what else is known about them.
    size : int
    what : str
        What a progress bar calls it.
    """
    executor = find_executor()
    if isinstance(executor, Here) or not len(cases):
        return compute(cases)
    shared = executor.put(compute)  # it may hold a network
    calls = [(shared, cases[part]) for part in chunks(len(cases), size)]
    return stack(executor.get(executor.start(_compute, calls), what=what, verbose=None))


def _compute(compute: Callable[[Any], Any], part: Any) -> Any:
    with naming_worker():
        return compute(part)
