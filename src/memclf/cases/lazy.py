"""What a function gives for each chunk of a Dask collection, as lazy Dask arrays."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from memclf.cases import containers
from memclf.cases.chunks import as_chunk, find_infinite, is_array, list_chunks
from memclf.cases.executors import find_executor, import_dask

# Fitted attributes that hold something for each training case.
PER_CASE = ("labels_", "search_result_", "training_", "distances_")


def map_lazily(work: Callable[[Any, Any], Any], model: Any, X: Any, example: Any) -> Any:
    """``work(model, chunk)`` for each chunk of X, with one row per case, as a Dask array.

    The model travels once to each worker. `example` is what `work` gives for a case: an array, or a dataclass of
    arrays, which becomes a dataclass of Dask arrays. Chunks of an array have known lengths; those of data frames and
    bags are unknown until they are computed.
    """
    dask = import_dask()
    find_executor()  # refuses workers that could not compute it
    chunks = list_chunks(X)
    lengths = X.chunks[0] if is_array(X) else [np.nan] * len(chunks)
    shared = dask.delayed(model, pure=False, traverse=False)
    call = dask.delayed(_on_chunk, pure=False)
    return _spread(example, [call(number, work, shared, chunk) for number, chunk in enumerate(chunks)], list(lengths))


def compute_later(model: Any, method: str, X: Any) -> Any:
    """What a method of a fitted estimator gives for each chunk, as lazy Dask arrays.

    The estimator travels without what it holds for each training case. It has `memories_`, which serve as an example.
    """
    light = copy.copy(model)
    vars(light).update({name: None for name in PER_CASE if name in vars(light)})
    call = partial(_call, method)
    return map_lazily(call, light, X, call(light, model.memories_))


def _call(method: str, model: Any, cases: Any) -> Any:
    return getattr(model, method)(cases)


def first_case(X: Any) -> Any:
    """The first case of a Dask collection, in a container of the kind of its chunks."""
    for chunk in list_chunks(X):
        data = as_chunk(chunk.compute())
        if containers.count(data):
            return containers.take(data, np.zeros(1, dtype=np.intp))
    raise ValueError("X has no cases (n_samples=0)")


def _spread(example: Any, found: list[Any], lengths: list[Any]) -> Any:
    """Delayed results like the example, one for each chunk, as Dask arrays."""
    import dask.array as da

    if is_dataclass(example) and not isinstance(example, type):
        parts = {field.name: getattr(example, field.name) for field in fields(example)}
        arrays = {
            name: _spread(part, [getattr(each, name) for each in found], lengths)
            for name, part in parts.items()
            if isinstance(part, np.ndarray) or is_dataclass(part)
        }
        return replace(example, **arrays)
    if not isinstance(example, np.ndarray):
        raise TypeError(
            f"what is computed for each chunk must be an array to become a Dask array; got {type(example).__name__}. "
            "Compute the chunks yourself, for instance with X.map_partitions"
        )
    shape = example.shape[1:]
    return da.concatenate(
        [da.from_delayed(each, (n, *shape), dtype=example.dtype) for each, n in zip(found, lengths, strict=True)],
        allow_unknown_chunksizes=True,
    )


def _on_chunk(number: int, work: Callable[[Any, Any], Any], model: Any, chunk: Any) -> Any:
    """A call whose errors name the chunk, and the row of a number that is not finite."""
    data = as_chunk(chunk)
    try:
        return work(model, data)
    except Exception as error:
        where = f"This happened in chunk {number} of X."
        if (bad := find_infinite(data)) is not None:
            row, column, value = bad
            where = f"This happened in chunk {number} of X: its row {row} holds {value} in column {column!r}."
        error.add_note(where)
        raise
