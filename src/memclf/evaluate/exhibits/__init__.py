"""Single cases for the report: chosen, shown and written beside the results."""

from memclf.evaluate.exhibits.collect import FILE, choose_contender, write_exhibits

__all__ = ["FILE", "choose_contender", "write_exhibits"]
