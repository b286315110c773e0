"""Memory classifiers: an expert's notion of likeness, turned into a classifier."""

from typing import TYPE_CHECKING, Any

from memclf._version import __version__ as __version__
from memclf.cases import Cases
from memclf.classifier import MemoryClassifier, search_curve
from memclf.memory import MemorySearchResult, MemorySelector, select_memories

if TYPE_CHECKING:
    from memclf.persist import load, save

__all__ = [
    "Cases",
    "MemoryClassifier",
    "MemorySearchResult",
    "MemorySelector",
    "load",
    "save",
    "search_curve",
    "select_memories",
]


def __getattr__(name: str) -> Any:
    if name in ("load", "save"):  # skops takes a second to import; most programs never save
        from memclf import persist

        return getattr(persist, name)
    raise AttributeError(f"module 'memclf' has no attribute {name!r}")
