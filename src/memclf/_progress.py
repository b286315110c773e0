"""Progress on standard error when something is asked to be verbose, and nothing otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def track(items: Iterable[Item], *, total: int, what: str, verbose: int) -> Iterator[Item]:
    if not verbose:
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        yield from progress.track(items, total=total, description=what)


def say(message: str, verbose: int) -> None:
    if verbose:
        import sys

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
