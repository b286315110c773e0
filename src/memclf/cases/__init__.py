"""Cases of any kind behind one interface. The only package that depends on the kind of X."""

from memclf.cases.adapter import Cases
from memclf.cases.collection import Collection
from memclf.cases.computation import Computation
from memclf.cases.distinct import distinct
from memclf.cases.memory import Memory
from memclf.cases.parquet import ParquetRows

__all__ = ["Cases", "Collection", "Computation", "Memory", "ParquetRows", "distinct"]
