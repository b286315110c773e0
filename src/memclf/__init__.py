"""Memory classifiers: an expert's notion of likeness, turned into a classifier.

Names are imported when they are first used, so that ``import memclf`` and ``memclf --help`` take no time.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from memclf._version import __version__ as __version__

if TYPE_CHECKING:
    from memclf.cases import Cases
    from memclf.classifier import MemoryClassifier, search_curve
    from memclf.evaluate.inspection import inspect_features
    from memclf.memory import MemorySearchResult, MemorySelector, select_memories
    from memclf.persist import load, save

__all__ = [
    "Cases",
    "MemoryClassifier",
    "MemorySearchResult",
    "MemorySelector",
    "inspect_features",
    "load",
    "save",
    "search_curve",
    "select_memories",
]

_HOMES = {
    "Cases": "memclf.cases",
    "MemoryClassifier": "memclf.classifier",
    "MemorySearchResult": "memclf.memory",
    "MemorySelector": "memclf.memory",
    "inspect_features": "memclf.evaluate.inspection",
    "load": "memclf.persist",
    "save": "memclf.persist",
    "search_curve": "memclf.classifier",
    "select_memories": "memclf.memory",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
        globals()[name] = found
        return found
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")  # a part, as memclf.similarity
    raise AttributeError(f"module 'memclf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
