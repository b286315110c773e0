"""Bounds: how many new cases a fitted memory classifier answers wrongly at most."""

from memclf.bounds.api import bounds_of, generalization_bound
from memclf.bounds.complexity import rademacher
from memclf.bounds.curve import BoundCurve, bound_curve
from memclf.bounds.function_classes import Constants, LinearLabels, Rademacher, Trees
from memclf.bounds.kinds import HELD_OUT, KINDS, TRAINING_KINDS
from memclf.bounds.result import Assumption, Bound, MemoryTerm, Term

__all__ = [
    "HELD_OUT",
    "KINDS",
    "TRAINING_KINDS",
    "Assumption",
    "Bound",
    "BoundCurve",
    "Constants",
    "LinearLabels",
    "MemoryTerm",
    "Rademacher",
    "Term",
    "Trees",
    "bound_curve",
    "bounds_of",
    "generalization_bound",
    "rademacher",
]
