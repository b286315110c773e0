"""Measuring classifiers that may answer unknown."""

from memclf.evaluate.metrics import (
    RiskCoverage,
    accuracy,
    balanced_accuracy,
    coverage,
    risk_coverage,
    selective_accuracy,
)

__all__ = ["RiskCoverage", "accuracy", "balanced_accuracy", "coverage", "risk_coverage", "selective_accuracy"]
