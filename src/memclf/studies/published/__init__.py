"""The numbers that the paper published."""

from memclf.studies.published.tables import table

__all__ = ["table"]
