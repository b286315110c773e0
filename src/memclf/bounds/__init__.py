"""What theory promises about a fitted memory classifier."""

from memclf.bounds.bound import KINDS, bounds_of, generalization_bound
from memclf.bounds.complexity import (
    VC,
    Constants,
    Finite,
    Kernel,
    Linear,
    LinearLabels,
    Network,
    Rademacher,
    Trees,
    rademacher,
)
from memclf.bounds.curve import BoundCurve, bound_curve
from memclf.bounds.result import Assumption, Bound, MemoryTerm, Term

__all__ = [
    "KINDS",
    "VC",
    "Assumption",
    "Bound",
    "BoundCurve",
    "Constants",
    "Finite",
    "Kernel",
    "Linear",
    "LinearLabels",
    "MemoryTerm",
    "Network",
    "Rademacher",
    "Term",
    "Trees",
    "bound_curve",
    "bounds_of",
    "generalization_bound",
    "rademacher",
]
