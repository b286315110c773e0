"""Choosing the memories."""

from memclf.memory.result import MemorySearchResult, Round
from memclf.memory.search import select_memories

__all__ = ["MemorySearchResult", "Round", "select_memories"]
