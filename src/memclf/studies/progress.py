"""Live progress of a study: the condition at work, the time left, the means so far."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from memclf._progress import in_words
from memclf.evaluate import Condition, Row

WIDEST = 16  # lines of the running table


class Progress:
    """Shows a running evaluation: a live table on a terminal, else one line per condition."""

    def __init__(self, console: Console | None = None):
        self.console = Console(stderr=True) if console is None else console
        self._sums: dict[tuple[str, str, str], list[list[float]]] = defaultdict(list)
        self._clean: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        self._live: Live | None = None
        self._started: float | None = None
        self._first = 0
        self._line = ""

    def say(self, message: str) -> None:
        """Print one line that stays."""
        self.console.print(Text(message), soft_wrap=True)

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live = Live(console=self.console, refresh_per_second=4, transient=True)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def begins(self, condition: Condition, done: int, total: int) -> None:
        """Show the condition that the engine starts on."""
        if self._started is None:
            self._started, self._first = time.monotonic(), done
        spent, made = time.monotonic() - self._started, done - self._first
        left = f", {in_words(spent / made * (total - done))} left" if made else ""
        self._line = f"evaluating {condition} ({done + 1} of {total} conditions{left})"
        if self._live is None:
            self.say(self._line)
        self._draw()

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Count rows that were finished before."""
        for row in rows:
            self._count(Row(**row))

    def finished(self, row: Row) -> None:
        """Count a row that the engine has finished."""
        self._count(row)
        self._draw()

    def _count(self, row: Row) -> None:
        cell = (row.model, row.recipe, row.backbone)
        self._clean.setdefault(cell, [])
        if row.condition == Condition():
            self._clean[cell].append(row.accuracy)
        else:
            self._sums[cell].append([row.accuracy, row.balanced_accuracy])

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(Group(Text(self._line), self.table()))

    def table(self) -> Table:
        """The means so far."""
        table = Table(title="so far, in %", title_justify="left")
        for name in ("model", "recipe", "backbone"):
            table.add_column(name)
        for name in ("clean", "corrupted", "balanced"):
            table.add_column(name, justify="right")
        for cell in list(self._clean)[:WIDEST]:
            rows = self._sums.get(cell, [])
            means = [_percent([row[i] for row in rows]) for i in (0, 1)]
            table.add_row(*cell, _percent(self._clean[cell]), *means)
        if len(self._clean) > WIDEST:
            table.add_row(f"and {len(self._clean) - WIDEST} more")
        return table


def _percent(values: list[float]) -> str:
    return f"{100 * sum(values) / len(values):.1f}" if values else ""
