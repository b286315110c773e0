"""The memory classifier: the one place where the parts are put together."""

from memclf.classifier.curve import CurvePoint, SearchCurve, search_curve
from memclf.classifier.estimator import MemoryClassifier

__all__ = ["CurvePoint", "MemoryClassifier", "SearchCurve", "search_curve"]
