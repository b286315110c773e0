"""Measuring classifiers that may answer unknown, on one test set or under many conditions."""

from memclf.evaluate.assess import Assessment, assess
from memclf.evaluate.changes import Changes, count_fitted, find_changes
from memclf.evaluate.contender import Contender
from memclf.evaluate.controls import Ensemble, Measured, SoftenedNetwork, StageOne, controls_of
from memclf.evaluate.describe import list_versions
from memclf.evaluate.drift import Drift, measure_drift
from memclf.evaluate.engine import Watcher, evaluate
from memclf.evaluate.exhibits import write_exhibits
from memclf.evaluate.held_out import evaluate_held_out, keep_answered, store_answers
from memclf.evaluate.metrics import (
    RiskCoverage,
    accuracy,
    balanced_accuracy,
    coverage,
    risk_coverage,
    selective_accuracy,
)
from memclf.evaluate.neighbours import Alike, LabelCheck, check_labels, find_alike
from memclf.evaluate.results import Results, difference, summarise
from memclf.evaluate.store import Cases, Condition, ModelId, Row, Store, open_store

__all__ = [
    "Alike",
    "Assessment",
    "Cases",
    "Changes",
    "Condition",
    "Contender",
    "Drift",
    "Ensemble",
    "LabelCheck",
    "Measured",
    "ModelId",
    "Results",
    "RiskCoverage",
    "Row",
    "SoftenedNetwork",
    "StageOne",
    "Store",
    "Watcher",
    "accuracy",
    "assess",
    "balanced_accuracy",
    "check_labels",
    "controls_of",
    "count_fitted",
    "coverage",
    "difference",
    "evaluate",
    "evaluate_held_out",
    "find_alike",
    "find_changes",
    "keep_answered",
    "list_versions",
    "measure_drift",
    "open_store",
    "risk_coverage",
    "selective_accuracy",
    "store_answers",
    "summarise",
    "write_exhibits",
]
