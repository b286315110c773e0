"""More cases of the same kind: one case as a container, and two containers as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from memclf.cases import containers
from memclf.cases.collection import Collection


def wrap_case(case: Any, like: Any) -> Any:
    """One case as a container of the kind of `like`: a row of a table, a picture, a text."""
    if isinstance(case, Collection):
        if len(case) != 1:
            raise ValueError(f"one case is wanted, and the collection has {len(case)}")
        return case
    if isinstance(like, Collection):
        return like.wrap(case)
    if containers.is_table(like):
        return _wrap_row(case, like)
    if sp.issparse(like):
        return sp.csr_array(case).reshape(1, -1)
    if isinstance(like, np.ndarray):
        found = np.asarray(case)
        return found.reshape(1, *like.shape[1:]) if found.size == np.prod(like.shape[1:], dtype=int) else found[None]
    return [case]


def _wrap_row(case: Any, like: Any) -> Any:
    if containers.is_table(case):
        if len(case) != 1:
            raise ValueError(f"one case is wanted, and the table has {len(case)} rows")
        return case
    if not isinstance(case, Mapping) and type(case).__name__ != "Series":
        raise TypeError(
            f"a case of a table is a dictionary of its columns, or one row as a table; got {type(case).__name__}"
        )
    given = dict(case)
    if missing := [str(name) for name in like.columns if name not in given]:
        raise ValueError(f"the case lacks the columns {', '.join(missing)}")
    return type(like)({name: [given[name]] for name in like.columns})


def join_cases(first: Any, second: Any) -> Any:
    """The cases of both, in the kind of container of the first."""
    if isinstance(first, Collection):
        return first.joined(second)
    if containers.is_table(first):
        return _join_tables(first, second)
    if sp.issparse(first):
        return sp.vstack([first, second], format="csr")
    if isinstance(first, np.ndarray):
        second = np.asarray(second)
        if second.shape[1:] != first.shape[1:]:
            raise ValueError(f"new cases have the shape {second.shape[1:]}, those of training {first.shape[1:]}")
        return np.concatenate([first, second])
    if isinstance(first, (list, tuple)):
        return [*first, *second]
    raise TypeError(f"cases in a {type(first).__name__} cannot be added to; give them as an array, a table or a list")


def _join_tables(first: Any, second: Any) -> Any:
    if not containers.is_table(second) or {*map(str, first.columns)} != {*map(str, second.columns)}:
        raise ValueError(f"new cases must be a table with the columns {', '.join(map(str, first.columns))}")
    if type(first).__module__.partition(".")[0] == "polars":
        return first.vstack(second.select(first.columns))
    import pandas as pd

    first, second = first.copy(deep=False), second[list(first.columns)].copy(deep=False)
    for name in first.columns:
        kind = first[name].dtype
        if isinstance(kind, pd.CategoricalDtype):  # concatenating others would make them plain objects
            more = [each for each in pd.unique(second[name].dropna()) if each not in kind.categories]
            kind = pd.CategoricalDtype([*kind.categories, *more], kind.ordered)
            first[name] = first[name].astype(kind)
        try:
            second[name] = second[name].astype(kind)
        except (TypeError, ValueError) as error:
            raise ValueError(f"column {name!r} of the new cases is not of the type {kind} of training") from error
    return pd.concat([first, second])
