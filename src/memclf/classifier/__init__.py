"""The memory classifier: the one place where the parts are put together."""

from memclf.classifier.estimator import MemoryClassifier

__all__ = ["MemoryClassifier"]
