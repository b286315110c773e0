"""Live progress of a study: what is trained, what is evaluated, the time left, a running table."""

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
from memclf.evaluate.store import CLEAN

WIDEST = 16  # lines of the running table


class Watch:
    """Shows an evaluation while it runs: a table that is redrawn on a terminal, one line per condition elsewhere."""

    def __init__(self, console: Console | None = None):
        self.console = Console(stderr=True) if console is None else console
        self._sums: dict[tuple[str, str, str], list[list[float]]] = defaultdict(list)
        self._clean: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        self._live: Live | None = None
        self._started: float | None = None
        self._first = 0
        self._line = ""

    def says(self, message: str) -> None:
        """One line that stays."""
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
        """The engine starts on a condition."""
        if self._started is None:
            self._started, self._first = time.monotonic(), done
        spent, made = time.monotonic() - self._started, done - self._first
        left = f", {in_words(spent / made * (total - done))} left" if made else ""
        self._line = f"evaluating {condition} ({done + 1} of {total} conditions{left})"
        if self._live is None:
            self.says(self._line)
        self._draw()

    def knows(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Rows that were finished before."""
        for row in rows:
            self._count(Row(**row))

    def finished(self, row: Row) -> None:
        """The engine has finished a row."""
        self._count(row)
        self._draw()

    def _count(self, row: Row) -> None:
        cell = (row.model, row.recipe, row.backbone)
        self._clean.setdefault(cell, [])
        if row.condition == CLEAN:
            self._clean[cell].append(row.accuracy)
        else:
            self._sums[cell].append([row.accuracy, row.balanced_accuracy])

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(Group(Text(self._line), self.table()))

    def table(self) -> Table:
        """Means so far."""
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
