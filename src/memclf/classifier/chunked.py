"""What a fit on cases in chunks refuses."""

from __future__ import annotations

from typing import Any


def check_chunked(settings: Any, unknown_rate: float | None, n_memories: Any) -> None:
    """Refuse what is learned on folds: each fold would describe and move all cases once more."""
    asked = {
        f"answer={type(settings.answer).__name__}": settings.answer.learns,
        f"unknown_rate={unknown_rate}": unknown_rate is not None,
        f"n_memories={n_memories!r}": isinstance(n_memories, str),
    }
    if refused := [name for name, is_asked in asked.items() if is_asked]:
        raise ValueError(
            f"{', '.join(refused)} is learned on folds, which needs the cases in memory; X is a Dask collection. Fit "
            "on a sample in memory (X.compute() of some rows), or use answer='local' or 'labels' with a fixed threshold"
        )
