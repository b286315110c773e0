"""Measuring classifiers that may answer unknown: on one test set, or under many conditions side by side."""

from memclf.evaluate.contender import Contender
from memclf.evaluate.controls import Ensemble, SoftenedNetwork, StageOne, controls_of
from memclf.evaluate.engine import Watcher, evaluate
from memclf.evaluate.exhibits import write_exhibits
from memclf.evaluate.metrics import (
    RiskCoverage,
    accuracy,
    balanced_accuracy,
    coverage,
    risk_coverage,
    selective_accuracy,
)
from memclf.evaluate.store import Cases, Condition, Name, Row, Store, opened
from memclf.evaluate.summary import Scores, difference, summarise

__all__ = [
    "Cases",
    "Condition",
    "Contender",
    "Ensemble",
    "Name",
    "RiskCoverage",
    "Row",
    "Scores",
    "SoftenedNetwork",
    "StageOne",
    "Store",
    "Watcher",
    "accuracy",
    "balanced_accuracy",
    "controls_of",
    "coverage",
    "difference",
    "evaluate",
    "opened",
    "risk_coverage",
    "selective_accuracy",
    "summarise",
    "write_exhibits",
]
