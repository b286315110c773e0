"""What a fit on cases in chunks refuses."""

from __future__ import annotations

from typing import Any


def check_chunked(n_memories: Any, folds_of_matrix: bool) -> None:
    """Refuse what needs the cases in memory."""
    if isinstance(n_memories, str):
        raise ValueError(
            f"n_memories={n_memories!r} fits all folds once for each number that it tries, which needs the cases in "
            "memory; X is a Dask collection. Find the number on a sample in memory (X.compute() of some rows), or "
            "leave it to the threshold"
        )
    if folds_of_matrix:
        raise ValueError(
            "unknown_rate and answer rules that learn are learned on folds, and a fold of a matrix of similarities "
            "takes some of its columns, which needs the matrix in memory; X is a Dask collection. Give X.compute(), or "
            "answer='local' or 'labels' with a fixed threshold"
        )
