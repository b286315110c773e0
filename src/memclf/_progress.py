"""A progress bar on standard error when something is asked to be verbose, and nothing otherwise."""

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
