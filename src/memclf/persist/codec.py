"""Objects to JSON, arrays and estimators, and back, without running code from a file.

JSON holds what JSON can; every other value is a dictionary with one key that starts with "$" and says what it
is. Arrays go to one npz file, scikit-learn's objects to one skops file.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from memclf import integrity
from memclf._numbers import Array
from memclf.cases import containers
from memclf.exceptions import ModelFolderError
from memclf.persist import references
from memclf.persist.classes import RECORDS, find_estimator_class, is_own_estimator

ARRAY_KINDS = "biufcmMU"
# Types of a table's columns. Others are made by pandas from strings in ways that a file should not choose.
COLUMNS = re.compile(r"(u?int|float|complex|U?Int|Float)\d+|bool(ean)?|object|str(ing)?|(datetime|timedelta)64\[\w+\]")
FITTED = re.compile(r"[a-z][a-z0-9_]*_")
SPARSE = ("data", "indices", "indptr")


class Encoder:
    """Turns a model into JSON, and collects what goes to other files."""

    def __init__(self, *, training: bool = False) -> None:
        self.training = training  # whether to keep the training cases
        self.arrays: dict[str, Array] = {}
        self.parts: dict[str, Any] = {}  # objects that skops stores
        self.places: dict[str, str] = {}  # where in the model each of them was found first
        self.shared: dict[str, Any] = {}  # estimators of memclf, encoded once however many objects hold them
        self.functions: list[dict[str, Any]] = []  # references to users' functions
        self.models: list[Any] = []  # fitted models with memories: the model itself and those inside it
        self._names: dict[int, tuple[str, Any]] = {}  # holds the objects, so that no id is used again

    def encode_model(self, model: Any) -> dict[str, Any]:
        """The model as JSON."""
        return self._encode_estimator(model, "model")

    def encode(self, value: Any, where: str) -> Any:
        """A value as JSON. `where` is its place in the model, for messages."""
        if value is None or isinstance(value, (bool, str)) or type(value) is int:
            return value
        if type(value) is float:
            return value if np.isfinite(value) else {"$float": repr(value)}
        if isinstance(value, np.generic) and value.dtype.kind in ARRAY_KINDS:
            return {"$scalar": self._add_array(np.asarray(value))}
        if isinstance(value, np.ndarray):
            if value.dtype.kind in ARRAY_KINDS:
                return {"$array": self._add_array(value)}
            if value.dtype == object:
                return {"$objects": self._encode_all(value.ravel().tolist(), where), "shape": list(value.shape)}
        if sp.issparse(value):
            rows = value.tocsr()
            arrays = {name: self._add_array(getattr(rows, name)) for name in SPARSE}
            return {"$sparse": arrays, "shape": list(rows.shape), "matrix": sp.isspmatrix(value)}
        if containers.is_table(value):
            return self._encode_table(value, where)
        if type(value) is list:
            return self._encode_all(value, where)
        if type(value) is tuple:
            return {"$tuple": self._encode_all(value, where)}
        if type(value) is dict:
            pairs = [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]
            return {"$dict": pairs}
        if isinstance(value, functools.partial):
            parts = [value.func, value.args, value.keywords]
            return {"$partial": [self.encode(part, where) for part in parts]}
        if references.is_function(value):
            reference = references.make_reference(value)
            if reference not in self.functions:
                self.functions.append(reference)
            return {"$function": reference}
        if is_own_estimator(value):
            name, new = self.name_object(value, "s")
            if new:
                self.shared[name] = self._encode_estimator(value, where)
            return {"$shared": name}
        if RECORDS.get(type(value).__name__) is type(value):
            fields = {name: self.encode(item, f"{where}.{name}") for name, item in vars(value).items()}
            return {"$record": type(value).__name__, "fields": fields}
        return self.encode_other(value, where)

    def encode_other(self, value: Any, where: str) -> Any:
        """An object that is neither plain data nor memclf's: skops stores it."""
        name, new = self.name_object(value, "p")
        if new:
            self.parts[name], self.places[name] = value, where
        return {"$part": name}

    def parameters_of(self, estimator: Any) -> dict[str, Any]:
        """The parameters of an estimator of memclf, as they are to be stored."""
        return dict(estimator.get_params(deep=False))

    def name_object(self, value: Any, prefix: str) -> tuple[str, bool]:
        """The name of an object in this folder, and whether it is new; an object has one name."""
        new = id(value) not in self._names
        if new:
            self._names[id(value)] = f"{prefix}{len(self._names)}", value
        return self._names[id(value)][0], new

    def _encode_estimator(self, value: Any, where: str) -> dict[str, Any]:
        params = self.parameters_of(value)
        state = {name: item for name, item in vars(value).items() if FITTED.fullmatch(name)}
        if "memories_" in state:
            self.models.append(value)
        if "training_" in state:
            state["training_"] = value.training_.held() if self.training and value.training_ is not None else None
        return {
            "$memclf": type(value).__name__,
            "params": {name: self.encode(item, f"{where}.{name}") for name, item in params.items()},
            "state": {name: self.encode(item, f"{where}.{name}") for name, item in state.items()},
        }

    def _encode_all(self, values: Any, where: str) -> list[Any]:
        return [self.encode(item, f"{where}[{number}]") for number, item in enumerate(values)]

    def _add_array(self, value: Array) -> str:
        name = f"a{len(self.arrays)}"
        self.arrays[name] = value
        return name

    def _encode_table(self, value: Any, where: str) -> dict[str, Any]:
        columns = [
            [self.encode(name, where), *self._encode_column(value.iloc[:, i], f"{where}[{name!r}]")]
            for i, name in enumerate(value.columns)
        ]
        return {"$table": columns, "index": self.encode(value.index.to_numpy(), where)}

    def _encode_column(self, column: Any, where: str) -> tuple[Any, Any]:
        """The type of a column and its values."""
        import pandas as pd

        if isinstance(column.dtype, pd.CategoricalDtype):
            categories = self.encode(column.cat.categories.to_numpy(), where)
            kind = {"categories": categories, "ordered": bool(column.cat.ordered)}
            return kind, self.encode(column.cat.codes.to_numpy(), where)
        if not COLUMNS.fullmatch(str(column.dtype)):
            raise ModelFolderError(f"{where} is a column of type {column.dtype}, which a model folder cannot hold")
        values = column.to_numpy()
        if values.dtype.kind not in ARRAY_KINDS:
            pairs = zip(column.tolist(), column.isna(), strict=True)
            values = containers.object_array([None if missing else item for item, missing in pairs])
        return str(column.dtype), self.encode(values, where)


class Decoder:
    """Turns JSON back into a model.

    Parameters
    ----------
    arrays, parts, shared : mappings
        What the encoder collected under these names.
    find_function : callable
        Finds the function that a reference names, or refuses it.
    """

    def __init__(
        self,
        arrays: Mapping[str, Array],
        parts: Mapping[str, Any],
        shared: Mapping[str, Any],
        find_function: Callable[[Mapping[str, Any]], Any],
    ):
        self._arrays = arrays
        self._parts = parts
        self._shared = shared
        self._find_function = find_function
        self._decoded: dict[str, Any] = {}

    def decode(self, value: Any) -> Any:
        """The value that the encoder was given."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        marks = [key for key in value if key.startswith("$")]
        if len(marks) != 1:
            raise ModelFolderError(f"manifest.json holds a value that this version of memclf does not know: {marks}")
        return self.decode_marked(marks[0], value[marks[0]], value)

    def decode_marked(self, mark: str, content: Any, value: Mapping[str, Any]) -> Any:
        """A value that is not JSON's own; `content` stands under its mark."""
        match mark:
            case "$float":
                return {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}[content]
            case "$scalar":
                return self._arrays[content][()]
            case "$array":
                return self._arrays[content]
            case "$objects":
                return containers.object_array(self.decode(content)).reshape(value["shape"])
            case "$sparse":
                return self._decode_sparse(content, value)
            case "$table":
                return self._decode_table(content, value)
            case "$tuple":
                return tuple(self.decode(content))
            case "$dict":
                return {self.decode(key): self.decode(item) for key, item in content}
            case "$partial":
                function, args, keywords = self.decode(content)
                return functools.partial(function, *args, **keywords)
            case "$function":
                return self._find_function(content)
            case "$part":
                return self._parts[content]
            case "$shared":
                if content not in self._decoded:
                    self._decoded[content] = self.decode(self._shared[content])
                return self._decoded[content]
            case "$record":
                return RECORDS[content](**self.decode_all(value["fields"]))
            case "$memclf":
                return self._decode_estimator(content, value)
        raise ModelFolderError(f"manifest.json holds a value that this version of memclf does not know: {mark!r}")

    def decode_all(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Values by name."""
        return {name: self.decode(item) for name, item in fields.items()}

    def _decode_sparse(self, content: Any, value: Mapping[str, Any]) -> Any:
        kind = sp.csr_matrix if value["matrix"] else sp.csr_array
        matrix = kind(tuple(self._arrays[content[name]] for name in SPARSE), shape=value["shape"])
        matrix.check_format(full_check=True)
        return matrix

    def _decode_table(self, content: Any, value: Mapping[str, Any]) -> Any:
        import pandas as pd

        index = pd.Index(self.decode(value["index"]))
        names = [self.decode(name) for name, _, _ in content]
        columns = [pd.Series(self._decode_column(kind, items), index=index) for _, kind, items in content]
        return pd.concat(columns, axis=1, keys=range(len(names))).set_axis(names, axis=1)

    def _decode_column(self, kind: Any, items: Any) -> Any:
        import pandas as pd

        if isinstance(kind, dict):
            categories = pd.Index(self.decode(kind["categories"]))
            return pd.Categorical.from_codes(self.decode(items), categories, ordered=bool(kind["ordered"]))
        if not COLUMNS.fullmatch(kind):
            raise ModelFolderError(f"manifest.json describes a column of type {kind!r}, which memclf never writes")
        return pd.Series(self.decode(items)).astype(kind).array

    def _decode_estimator(self, name: str, value: Mapping[str, Any]) -> Any:
        kind = find_estimator_class(name)
        if kind is None:
            raise ModelFolderError(f"manifest.json names the class {name!r}, which is none of memclf's")
        estimator = kind(**self.decode_all(value["params"]))
        for attribute, item in self.decode_all(value["state"]).items():
            if not FITTED.fullmatch(attribute):
                raise ModelFolderError(f"manifest.json sets {attribute!r}, which is no fitted attribute, on a {name}")
            setattr(estimator, attribute, item)
        if "memories_" in value["state"]:
            if problems := integrity.find_problems(estimator):
                raise ModelFolderError(
                    f"manifest.json: parts of the {name} do not belong together: {', '.join(problems)}"
                )
            integrity.seal(estimator)
        return estimator
