"""What a fit on cases in chunks refuses."""

from __future__ import annotations


def check_chunked(folds_of_matrix: bool) -> None:
    """Refuse what needs the cases in memory."""
    if folds_of_matrix:
        raise ValueError(
            "unknown_rate and answer rules that learn are learned on folds, and a fold of a matrix of similarities "
            "takes some of its columns, which needs the matrix in memory; X is a Dask collection. Give X.compute(), or "
            "answer='local' or 'labels' with a fixed threshold"
        )
