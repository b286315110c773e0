"""Progress on standard error, by default on a terminal and for work of over a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")

PATIENCE = 1.0  # seconds before a bar is shown by default
EVERY = 30.0  # seconds between lines where there is no terminal
_shown: list[Any] = []  # the display that is on the screen; work inside other work adds a bar to it
_listeners: list[Callable[[str, int, int], None]] = []  # the last one hears instead of the terminal


@contextmanager
def listen(hear: Callable[[str, int, int], None]) -> Iterator[None]:
    """Send progress to a function instead of the terminal: what is done, how much, of how much.

    A message is sent with 0 of 0.
    """
    _listeners.append(hear)
    try:
        yield
    finally:
        _listeners.remove(hear)


@contextmanager
def relay(change: Callable[[str, int, int], tuple[str, int, int]]) -> Iterator[None]:
    """Change what the listener hears meanwhile: work inside other work can say which part it is."""
    if not _listeners:
        yield
        return
    outer = _listeners[-1]
    with listen(lambda what, done, total: outer(*change(what, done, total))):
        yield


def tell(what: str, done: int, total: int) -> None:
    """Tell the listener, if there is one, how far work is."""
    if _listeners:
        _listeners[-1](what, done, total)


def track(items: Iterable[Item], *, total: int, what: str, verbose: int | None) -> Iterator[Item]:
    """Go through the items and show how many are done and how much time is left.

    With ``verbose=None`` a bar is shown on a terminal only, and only for work that takes longer than a second. Commands
    (`say_lines`) print a line every half minute where there is no terminal.
    """
    if _listeners and (verbose is None or verbose):
        for done, item in enumerate(items):
            _listeners[-1](what, done, total)
            yield item
        return
    if not is_shown(verbose):
        yield from _with_lines(items, total, what) if verbose is None and _lines else items
        return
    started, display, task = time.monotonic(), None, None
    try:
        for done, item in enumerate(items):
            if task is None and (verbose or time.monotonic() - started > PATIENCE):
                if not _shown:
                    display = _new_display()
                    _shown.append(display)
                task = _shown[0].add_task(what, total=total)
            if task is not None:
                _shown[0].update(task, completed=done)
            yield item
        if task is not None:
            _shown[0].update(task, completed=total)
    finally:
        if display is not None:
            display.stop()
            _shown.clear()
        elif task is not None and _shown:
            _shown[0].remove_task(task)


_lines: list[bool] = []  # whether lines are printed where there is no terminal


def say_lines() -> None:
    """Print a line every half minute from now on, where there is no terminal for a bar."""
    _lines[:] = [True]


def _with_lines(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    started = said = time.monotonic()
    for done, item in enumerate(items):
        now = time.monotonic()
        if now - said > EVERY and not _inside:
            left = f", about {in_words((now - started) / done * (total - done))} left" if done else ""
            print(f"{what}: {done} of {total}{left}", file=sys.stderr, flush=True)
            said = now
        _inside.append(what)
        try:
            yield item
        finally:
            _inside.pop()


_inside: list[str] = []  # work whose items are under way: of work inside other work, the outer one is shown


def is_shown(verbose: int | None) -> bool:
    """Whether progress is shown; by default (None) on a terminal, and not by worker processes."""
    if verbose is not None:
        return bool(verbose)
    if not sys.stderr.isatty():
        return False
    from multiprocessing import parent_process  # a worker's bar would disturb that of the process that started it

    return parent_process() is None


def _new_display() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    display = Progress(*columns, console=Console(stderr=True))
    display.start()
    return display


def say(message: str, verbose: int | None) -> None:
    """Print a message to standard error if progress is shown."""
    if _listeners and verbose is None:
        _listeners[-1](message, 0, 0)
    elif verbose:
        print(message, file=sys.stderr)


def in_words(seconds: float) -> str:
    """A length of time for people.

    >>> in_words(45), in_words(600), in_words(9000)
    ('45 s', '10 min', '2 h 30 min')
    """
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
