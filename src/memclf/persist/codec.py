"""Objects to JSON, arrays and estimators, and back. Nothing here runs code that a file names.

JSON holds what JSON can; every other value is a dictionary with one key that starts with "$" and says what it
is. Arrays go to one npz file, scikit-learn's objects to one skops file, tensors to one safetensors file.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from memclf import _cases, fitted
from memclf._numbers import Array
from memclf.bounds.result import Assumption, Bound, MemoryTerm, Term
from memclf.classifier import MemoryClassifier
from memclf.exceptions import ModelFolderError
from memclf.local.combine import Combination
from memclf.local.competence import DETECTORS, Calibration
from memclf.local.pool import Pool
from memclf.memory.result import MemorySearchResult, Round
from memclf.persist import references, vision
from memclf.selector import MemorySelector
from memclf.similarity import REGISTRY as SIMILARITIES

ESTIMATORS: dict[str, type] = {
    each.__name__: each
    for each in (
        MemoryClassifier,
        MemorySelector,
        *SIMILARITIES.values(),
        *DETECTORS.values(),
    )
}
RECORDS: dict[str, type] = {
    each.__name__: each
    for each in (Assumption, Bound, Calibration, Combination, MemorySearchResult, MemoryTerm, Pool, Round, Term)
}
ARRAY_KINDS = "biufcmMU"
# Types of a table's columns. Others are made by pandas from strings in ways that a file should not choose.
COLUMNS = re.compile(r"(u?int|float|complex|U?Int|Float)\d+|bool(ean)?|object|str(ing)?|(datetime|timedelta)64\[\w+\]")
FITTED = re.compile(r"[a-z][a-z0-9_]*_")


class Encoder:
    """Collects the arrays and estimators met on the way through an object."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.parts: dict[str, Any] = {}
        self.places: dict[str, str] = {}  # where each part was met first
        self.functions: list[dict[str, Any]] = []
        self.shared: dict[str, Any] = {}  # objects that several others hold
        self.tensors: dict[str, Any] = {}
        self._seen: dict[int, str] = {}

    def encode(self, value: Any, where: str = "model") -> Any:
        if value is None or isinstance(value, (bool, str)) or type(value) is int:
            return value
        if type(value) is float:
            return value if np.isfinite(value) else {"$float": repr(value)}
        if isinstance(value, np.generic) and value.dtype.kind in ARRAY_KINDS:
            return {"$scalar": self._array(np.asarray(value))}
        if isinstance(value, np.ndarray):
            if value.dtype.kind in ARRAY_KINDS:
                return {"$array": self._array(value)}
            if value.dtype == object:
                items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value.ravel().tolist())]
                return {"$objects": items, "shape": list(value.shape)}
        if sp.issparse(value):
            return self._sparse(value)
        if _cases.is_table(value):
            return self._table(value, where)
        if type(value) in (list, tuple):
            items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
            return items if type(value) is list else {"$tuple": items}
        if type(value) is dict:
            pairs = [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]
            return {"$dict": pairs}
        if isinstance(value, functools.partial):
            parts = [value.func, value.args, value.keywords]
            return {"$partial": [self.encode(part, where) for part in parts]}
        if references.is_function(value):
            reference = references.reference(value)
            if reference not in self.functions:
                self.functions.append(reference)
            return {"$function": reference}
        return self._object(value, where)

    def _object(self, value: Any, where: str) -> Any:
        kind = type(value)
        if ESTIMATORS.get(kind.__name__) is kind:
            params = {name: self.encode(v, f"{where}.{name}") for name, v in value.get_params(deep=False).items()}
            state = {n: self.encode(v, f"{where}.{n}") for n, v in vars(value).items() if FITTED.fullmatch(n)}
            encoded = {"$memclf": kind.__name__, "params": params, "state": state}
            return self.once(value, lambda: encoded) if kind in DETECTORS.values() else encoded  # memories share them
        if RECORDS.get(kind.__name__) is kind:
            return {
                "$record": kind.__name__,
                "fields": {n: self.encode(v, f"{where}.{n}") for n, v in vars(value).items()},
            }
        if vision.is_ours(value):
            return vision.encode(self, value, where)
        if id(value) not in self._seen:  # memories may share a classifier
            self._seen[id(value)] = name = f"p{len(self.parts)}"
            self.parts[name], self.places[name] = value, where
        return {"$part": self._seen[id(value)]}

    def once(self, value: Any, encoded: Callable[[], Any]) -> dict[str, Any]:
        """A reference to something that is written once, however many objects hold it."""
        if id(value) not in self._seen:
            self._seen[id(value)] = name = f"s{len(self._seen)}"
            self.shared[name] = encoded()
        return {"$shared": self._seen[id(value)]}

    def tensors_of(self, module: Any) -> str:
        """The name under which a module's tensors are stored, once."""
        from memclf.vision.nets.weights import tensors_of

        if id(module) not in self._seen:
            self._seen[id(module)] = name = f"t{len(self._seen)}"
            self.tensors.update({f"{name}.{key}": tensor for key, tensor in tensors_of(module).items()})
        return self._seen[id(module)]

    def _array(self, value: Array) -> str:
        name = f"a{len(self.arrays)}"
        self.arrays[name] = value
        return name

    def _sparse(self, value: Any) -> dict[str, Any]:
        rows = value.tocsr()
        arrays = {name: self._array(getattr(rows, name)) for name in ("data", "indices", "indptr")}
        return {"$sparse": arrays, "shape": list(rows.shape), "matrix": sp.isspmatrix(value)}

    def _table(self, value: Any, where: str) -> dict[str, Any]:
        columns = [
            [self.encode(name, where), *self._column(value.iloc[:, i], f"{where}[{name!r}]")]
            for i, name in enumerate(value.columns)
        ]
        return {"$table": columns, "index": self.encode(value.index.to_numpy(), where)}

    def _column(self, column: Any, where: str) -> tuple[Any, Any]:
        """The type of a column and its values."""
        if hasattr(column, "cat"):
            categories = self.encode(column.cat.categories.to_numpy(), where)
            kind = {"categories": categories, "ordered": bool(column.cat.ordered)}
            return kind, self.encode(column.cat.codes.to_numpy(), where)
        if not COLUMNS.fullmatch(str(column.dtype)):
            raise ModelFolderError(f"{where} is a column of type {column.dtype}, which a model folder cannot hold")
        values = column.to_numpy()
        if values.dtype.kind not in ARRAY_KINDS:
            values = _cases.object_array([None if _missing(v) else v for v in column.tolist()])
        return str(column.dtype), self.encode(values, where)


class Decoder:
    """The way back. `arrays` and `parts` are what was stored under their names."""

    def __init__(
        self,
        arrays: Mapping[str, Array],
        parts: Mapping[str, Any],
        find_function: Callable[[Mapping[str, Any]], Any],
        shared: Mapping[str, Any] | None = None,
        tensors: Mapping[str, Any] | None = None,
    ):
        self.arrays = arrays
        self.parts = parts
        self.find_function = find_function
        self.shared = shared or {}
        self.tensors = tensors or {}
        self.backbones: dict[str, Any] = {}
        self._decoded: dict[str, Any] = {}

    def decode(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        marks = [key for key in value if key.startswith("$")]
        if len(marks) != 1 or (method := _DECODERS.get(marks[0])) is None:
            raise ModelFolderError(f"manifest.json holds a value that this version of memclf does not know: {marks}")
        return method(self, value[marks[0]], value)

    def _float(self, mark: Any, _: Any) -> float:
        return {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}[mark]

    def _scalar(self, mark: Any, _: Any) -> Any:
        return self.arrays[mark][()]

    def _array(self, mark: Any, _: Any) -> Array:
        return self.arrays[mark]

    def _objects(self, mark: Any, value: Any) -> Array:
        return _cases.object_array([self.decode(item) for item in mark]).reshape(value["shape"])

    def _tuple(self, mark: Any, _: Any) -> tuple[Any, ...]:
        return tuple(self.decode(item) for item in mark)

    def _dict(self, mark: Any, _: Any) -> dict[Any, Any]:
        return {self.decode(key): self.decode(item) for key, item in mark}

    def _partial(self, mark: Any, _: Any) -> Any:
        function, args, keywords = (self.decode(item) for item in mark)
        return functools.partial(function, *args, **keywords)

    def _function(self, mark: Any, _: Any) -> Any:
        return self.find_function(mark)

    def _part(self, mark: Any, _: Any) -> Any:
        return self.parts[mark]

    def _shared(self, mark: Any, _: Any) -> Any:
        if mark not in self._decoded:
            self._decoded[mark] = self.decode(self.shared[mark])
        return self._decoded[mark]

    def _sparse(self, mark: Any, value: Any) -> Any:
        kind = sp.csr_matrix if value["matrix"] else sp.csr_array
        matrix = kind(tuple(self.arrays[mark[name]] for name in ("data", "indices", "indptr")), shape=value["shape"])
        matrix.check_format(full_check=True)
        return matrix

    def _table(self, mark: Any, value: Any) -> Any:
        import pandas as pd

        index = pd.Index(self.decode(value["index"]))
        names = [self.decode(name) for name, _, _ in mark]
        columns = [pd.Series(self._column(kind, self.decode(items)), index=index) for _, kind, items in mark]
        return pd.concat(columns, axis=1, keys=range(len(names))).set_axis(names, axis=1)

    def _column(self, kind: Any, values: Array) -> Any:
        import pandas as pd

        if isinstance(kind, dict):
            categories = pd.Index(self.decode(kind["categories"]))
            return pd.Categorical.from_codes(values, categories, ordered=bool(kind["ordered"]))
        if not COLUMNS.fullmatch(kind):
            raise ModelFolderError(f"manifest.json describes a column of type {kind!r}, which memclf never writes")
        return pd.Series(values).astype(kind).array

    def _record(self, mark: Any, value: Any) -> Any:
        return RECORDS[mark](**{name: self.decode(item) for name, item in value["fields"].items()})

    def _memclf(self, mark: Any, value: Any) -> Any:
        estimator = ESTIMATORS[mark](**{name: self.decode(item) for name, item in value["params"].items()})
        for name, item in value["state"].items():
            if not FITTED.fullmatch(name):
                raise ModelFolderError(f"manifest.json sets {name!r}, which is no fitted attribute, on a {mark}")
            setattr(estimator, name, self.decode(item))
        if hasattr(estimator, "memories_"):
            fitted.seal(estimator)
        return estimator


_DECODERS: dict[str, Callable[[Decoder, Any, Any], Any]] = {
    "$float": Decoder._float,
    "$scalar": Decoder._scalar,
    "$array": Decoder._array,
    "$objects": Decoder._objects,
    "$tuple": Decoder._tuple,
    "$dict": Decoder._dict,
    "$partial": Decoder._partial,
    "$function": Decoder._function,
    "$part": Decoder._part,
    "$shared": Decoder._shared,
    "$sparse": Decoder._sparse,
    "$table": Decoder._table,
    "$record": Decoder._record,
    "$memclf": Decoder._memclf,
    "$vision": vision.decode,
}


def _missing(value: Any) -> bool:
    return value is None or str(value) in ("<NA>", "NaT") or value != value  # pandas' NA compares to neither yes nor no
