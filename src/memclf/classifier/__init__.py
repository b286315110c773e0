"""The memory classifier: the one place where the parts are put together."""

from memclf.classifier.curve import CurvePoint, SearchCurve, search_curve
from memclf.classifier.estimator import MemoryClassifier
from memclf.classifier.training import Edits, Training

__all__ = ["CurvePoint", "Edits", "MemoryClassifier", "SearchCurve", "Training", "search_curve"]
