"""Cases of any kind behind one interface. The only package that asks what kind of data X is."""

from memclf.cases.collection import Cases, Collection
from memclf.cases.distinct import distinct
from memclf.cases.memory import Memory, state_key

__all__ = ["Cases", "Collection", "Memory", "distinct", "state_key"]
