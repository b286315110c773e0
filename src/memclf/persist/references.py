"""A user's function in a model folder: its import path and a hash of its source."""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import sys
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from memclf.exceptions import ModelFolderError, UntrustedTypeError
from memclf.persist.trust import find_home, full_name


def is_function(value: Any) -> bool:
    """Whether a value is a function, which a folder holds as a reference."""
    return inspect.isroutine(value) or isinstance(value, (np.ufunc, functools.partial))


def as_function(value: Any) -> Any:
    """The function behind an object that a decorator put in its place; other values as they are."""
    return value if is_function(value) else inspect.unwrap(value)


def make_reference(function: Any) -> dict[str, Any]:
    """Import path and source hash; an error if the function could not be found again."""
    module, name = find_home(function)
    if "<" in name or as_function(resolve(module, name, load=False)) is not function:
        raise ModelFolderError(
            f"the function {function!r} cannot be found again by name, so a model with it cannot be saved: define it "
            "with def at the top level of a module (not as a lambda or inside another function)"
        )
    return {"module": module, "name": name, "source_sha256": hash_source(function)}


def hash_source(function: Any) -> str | None:
    """Hash of the function's source without its indentation; None for compiled functions."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return None
    return hashlib.sha256(source.encode()).hexdigest()


def find_function(wanted: Mapping[str, Any], trusted: set[str], given: Mapping[str, Any]) -> Any:
    """The function of a reference, if the caller passed it, or allowed it and it is unchanged."""
    module, name = str(wanted["module"]), str(wanted["name"])
    path = f"{module}.{name}"
    if path in given:
        return as_function(given[path])
    if path not in trusted:
        raise UntrustedTypeError(
            f"the model uses the function {path}. Loading would import and run it, so it must be allowed: "
            f"load(folder, trusted=[{path!r}]), or pass the function itself: trusted=[{name}]",
            [path],
        )
    function = as_function(resolve(module, name, load=True))
    if function is None:
        raise ModelFolderError(
            f"the model uses the function {path}, which cannot be imported here. Make the module {module!r} importable "
            f"or pass the function: load(folder, functions={{{path!r}: ...}})"
        )
    if wanted["source_sha256"] is not None and hash_source(function) != wanted["source_sha256"]:
        raise ModelFolderError(
            f"the function {path} has changed since the model was saved, so its answers may be different. Restore it, "
            f"or say that the new one is meant: load(folder, functions={{{path!r}: {name}}})"
        )
    return function


def collect_functions(functions: Mapping[str, Any] | None, trusted: Any) -> dict[str, Any]:
    """Functions that the caller passes, by name; those in `trusted` count as well."""
    given = {name.replace(":", "."): function for name, function in (functions or {}).items()}
    return {**{full_name(each): each for each in trusted if is_function(each)}, **given}


def resolve(module: str, name: str, *, load: bool) -> Any:
    """The object of this name, None if there is none; `load` imports the module if needed."""
    found: Any = sys.modules.get(module)
    if found is None and load:
        try:
            found = importlib.import_module(module)
        except ImportError:
            return None
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
