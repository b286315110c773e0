"""Similarities and estimators by name: those of memclf, or module:object of the user."""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from memclf.data.training import Kind
from memclf.exceptions import OptionError
from memclf.own.defaults import CLASSIFIERS, NETWORK, make_encoder, make_estimator, make_measurements, make_similarity
from memclf.similarity import REGISTRY as SIMILARITIES


def find_similarity(asked: Any, kind: Kind, features: Any = None) -> Any:
    """The similarity of a name such as "gower", of module:object, itself, or the default."""
    if asked is None:
        return make_similarity(kind, features)
    if not isinstance(asked, str):
        return asked
    if ":" in asked:
        return import_object(asked, "--similarity")
    names = {
        name.removesuffix("Similarity").lower(): made for name, made in SIMILARITIES.items() if _needs_nothing(made)
    }
    made = names.get(asked.lower().removesuffix("similarity"))
    if made is None:
        raise OptionError(_unknown("--similarity", asked, names))
    if kind == "images":
        return made(features=make_measurements())
    usual = make_similarity(kind)  # which takes columns as they are; others compare numbers
    return usual if isinstance(usual, made) else made(features=make_encoder())


def _needs_nothing(made: type[Any]) -> bool:
    """Whether a similarity compares features, and can be made without arguments."""
    parameters = inspect.signature(made).parameters
    return "features" in parameters and all(each.default is not each.empty for each in parameters.values())


def find_estimator(asked: str | None, kind: Kind, seed: int, features: Any = None) -> Any:
    """The estimator of a name such as "forest", of module:object, or the default."""
    if asked is not None and ":" in asked:
        return import_object(asked, "--estimator")
    names = [*CLASSIFIERS, *([NETWORK] if kind == "images" else [])]
    if asked is not None and asked not in names:
        raise OptionError(_unknown("--estimator", asked, names))
    return make_estimator(kind, asked, seed, features)


def import_object(asked: str, option: str) -> Any:
    """What module:object names; classes, and functions that make an estimator, are called.

    The module may lie in the working folder. Only a user's own words reach this function: what a model folder names is
    imported by `memclf.load`, if the caller trusts it.
    """
    module, _, name = asked.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except ImportError as error:
        raise OptionError(f"{option} {asked}: module {module!r} cannot be imported: {error}") from error
    except AttributeError as error:
        raise OptionError(f"{option} {asked}: module {module!r} has no {name!r}") from error
    finally:
        sys.path.remove(here)
    makes = isinstance(found, type) or (
        option == "--estimator" and not isinstance(found, BaseEstimator) and callable(found)
    )
    return found() if makes else found


def _unknown(option: str, asked: str, names: Iterable[str]) -> str:
    names = list(names)
    near = difflib.get_close_matches(asked.lower(), names, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{option} must be one of {', '.join(names)}, or module:object of your own; got {asked!r}{hint}"
