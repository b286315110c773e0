"""Cases of any kind behind one interface. The only package that asks what kind of data X is."""

from memclf.cases.adapter import Cases
from memclf.cases.collection import Collection
from memclf.cases.computation import Computation
from memclf.cases.distinct import distinct
from memclf.cases.memory import Memory

__all__ = ["Cases", "Collection", "Computation", "Memory", "distinct"]
