"""Which measurements will survive the field? Separation, steadiness and overlap of each."""

from memclf.evaluate.inspection.inspect import inspect_features
from memclf.evaluate.inspection.result import FeatureInspection, Inspected

__all__ = ["FeatureInspection", "Inspected", "inspect_features"]
