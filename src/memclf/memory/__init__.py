"""Choosing the memories."""

from memclf.memory.groups import group_alike
from memclf.memory.result import MemorySearchResult, Round
from memclf.memory.selector import MemorySelector, select_memories

__all__ = ["MemorySearchResult", "MemorySelector", "Round", "group_alike", "select_memories"]
