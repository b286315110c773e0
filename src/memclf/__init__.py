"""Memory classifiers: an expert's notion of likeness, turned into a classifier."""

from memclf.classifier import MemoryClassifier
from memclf.memory import MemorySearchResult, select_memories
from memclf.selector import MemorySelector

__version__ = "0.1.0"

from memclf.persist import load, save

__all__ = ["MemoryClassifier", "MemorySearchResult", "MemorySelector", "load", "save", "select_memories"]
