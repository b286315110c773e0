"""Computations: what computes rows about cases, and when two of them compute the same."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

from joblib.hashing import NumpyHasher
from sklearn.base import BaseEstimator

#: Parameters, and what scikit-learn 1.9 notes on an estimator while a pipeline fits it: they change no number.
IDLE = ("n_jobs", "verbose", "_parent_callback_ctx", "_skl_callbacks", "_callback_fit_ctx")


class Computation:
    """What computes rows about cases: functions, fitted estimators, or a name for both.

    Computations are equal if they compute the same. Classes and functions count as equal if they are the same object,
    everything else by content. What cannot be hashed (a lock, an open file) is equal to itself alone.

    Parameters
    ----------
    *things : function, estimator or str
        Applied one after the other.
    without : sequence of str
        Attributes of estimators that do not matter here.

    Attributes
    ----------
    things : tuple
        The very objects.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> Computation(StandardScaler()) == Computation(StandardScaler())
    True
    >>> Computation(StandardScaler()) == Computation(StandardScaler().fit([[1.0], [2.0]]))
    False
    """

    def __init__(self, *things: Any, without: tuple[str, ...] = ()):
        self.things = things
        states = [_state_of(thing, (*IDLE, *without)) for thing in things]
        self._digest, self._code, self._unhashable = _hash_states(states)
        self._key = self._make_key()

    def _make_key(self) -> Any:
        return self._digest, tuple(map(id, self._code)), tuple(map(id, self._unhashable))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """In another process, classes and functions are other objects."""
        vars(self).update(state)
        self._key = self._make_key()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Computation) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        return ", ".join(map(_name, self.things))

    @property
    def can_travel(self) -> bool:
        """Whether it equals itself in another process: all of it could be hashed by content."""
        return not self._unhashable

    def lasting_key(self) -> str | None:
        """A key that is the same in every process for the same computation; None if there is none.

        It depends on the parameters, on what was learned, and on the code: the byte code of classes and functions, and
        of the functions, classes and values that they name. Of installed packages the version counts. What holds an
        open file, a lock or the like has no such key.
        """
        if self._unhashable:
            return None
        start = f"{digest_package()} {sys.version_info[:2]} {self._digest}"
        digest = hashlib.blake2b(start.encode(), digest_size=16)
        try:
            for part in _describe_code(self._code):
                digest.update(f"{len(part)} {part};".encode("utf-8", "backslashreplace"))
        except _NoLastingKeyError:
            return None
        return digest.hexdigest()


class _NoLastingKeyError(Exception):
    """A part that has no content to be hashed."""


class _StateHasher(NumpyHasher):
    """joblib's hash of content that collects classes and functions instead of naming them."""

    def __init__(self) -> None:
        super().__init__("md5")
        self.code: list[Any] = []

    def save(self, obj: Any) -> None:
        if isinstance(obj, (FunctionType, type)):
            known = [number for number, each in enumerate(self.code) if each is obj]
            self.code += [] if known else [obj]
            obj = ("code", known[0] if known else len(self.code) - 1)
        elif isinstance(obj, MappingProxyType):
            obj = dict(obj)
        elif isinstance(obj, ModuleType):
            obj = ("module", obj.__name__)
        super().save(obj)


def _hash(value: Any) -> tuple[str, list[Any]]:
    """A hash of the content of a value, and the classes and functions in it."""
    hasher = _StateHasher()
    return str(hasher.hash(value)), hasher.code


def _hash_states(states: list[Any]) -> tuple[str, list[Any], list[Any]]:
    try:
        return *_hash(states), []
    except Exception:  # pickling raises whatever the state's own methods raise
        pass
    digests, code, unhashable = [], [], []
    for state in states:
        for part in state if isinstance(state, tuple) else [state]:
            for name, value in sorted(part.items()) if isinstance(part, dict) else [("", part)]:
                try:
                    digest, found = _hash(value)
                    digests.append(f"{name} {digest}")
                    code += found
                except Exception:  # as above
                    digests.append(f"{name} itself")
                    unhashable.append(value)
    return " ".join(digests), code, unhashable


def _state_of(thing: Any, without: tuple[str, ...]) -> Any:
    """What a thing computes with: an estimator's class and attributes; anything else as it is."""
    state: Any = thing.__getstate__() if isinstance(thing, BaseEstimator) else None
    if isinstance(state, dict):
        return type(thing), {name: value for name, value in state.items() if name not in without}
    return thing


def _name(thing: Any) -> str:
    if isinstance(thing, str):
        return thing
    return thing.__qualname__ if isinstance(thing, (FunctionType, type)) else type(thing).__qualname__


def _describe_code(code: list[Any]) -> Iterator[str]:
    """Texts for the code of classes and functions, the same in every process."""
    queue, known = list(code), {id(each) for each in code}
    while queue:
        thing = queue.pop(0)
        module, name = thing.__module__, thing.__qualname__
        if not _is_own(module):
            yield f"{module}.{name} {_version(module)}"
            continue
        yield f"{module}.{name}"
        values = _values_of_class(thing) if isinstance(thing, type) else _values_of_function(thing)
        for value in values:
            try:
                text, found = _hash(value)
            except Exception as error:  # pickling raises whatever the value's own methods raise
                raise _NoLastingKeyError(name) from error
            yield text
            queue += [each for each in found if id(each) not in known]
            known |= {id(each) for each in found}


def _values_of_class(thing: type) -> Iterator[Any]:
    yield thing.__bases__
    for name, value in sorted(vars(thing).items()):
        if isinstance(value, property):
            value = (value.fget, value.fset)
        elif isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        elif name == "_abc_impl" or (name.startswith("__") and not isinstance(value, FunctionType)):
            continue
        yield name
        yield value


def _values_of_function(thing: FunctionType) -> Iterator[Any]:
    yield _code_text(thing.__code__)
    yield thing.__defaults__, thing.__kwdefaults__
    yield from (cell.cell_contents for cell in thing.__closure__ or ())
    yield from _values_of_names(sorted(set(_names(thing.__code__))), thing.__globals__, set())


def _values_of_names(names: list[str], namespace: dict[str, Any], modules: set[str]) -> Iterator[Any]:
    for name in names:
        value = namespace.get(name)
        if not isinstance(value, ModuleType):
            yield value
        elif _is_own(value.__name__) and value.__name__ not in modules:  # of a module, what is named of it
            yield from _values_of_names(names, vars(value), modules | {value.__name__})


def _code_text(code: CodeType) -> str:
    constants = []
    for each in code.co_consts:
        each = sorted(map(repr, each)) if isinstance(each, frozenset) else each  # it has no order of its own
        constants.append(_code_text(each) if isinstance(each, CodeType) else repr(each))
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars} {constants}"


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _version(module: str | None) -> str:
    """The version of the package that a module belongs to."""
    return str(vars(sys.modules.get(str(module).partition(".")[0], sys)).get("__version__"))


@cache
def digest_package() -> str:
    """A digest of the code of memclf itself: it reads, changes and describes cases."""
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _is_own(module: str | None) -> bool:
    """Whether a module is the user's code, not Python's nor that of an installed package."""
    package = str(module).partition(".")[0]
    if package == "memclf" or package in sys.stdlib_module_names:
        return False
    loaded = sys.modules.get(str(module))  # code that was run from a text is in no module
    file = "" if loaded is None else str(vars(loaded).get("__file__"))
    return "site-packages" not in file and "dist-packages" not in file
