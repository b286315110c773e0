"""Single cases for the report of an evaluation: chosen, shown and written beside the results."""

from memclf.evaluate.exhibits.collect import FILE, write_exhibits

__all__ = ["FILE", "write_exhibits"]
